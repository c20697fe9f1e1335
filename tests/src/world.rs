//! The engine and the model side by side: each step is done by both, and their answers compared.

mod checks;

pub(crate) use self::checks::big;

use std::collections::BTreeMap;

use accrue::{
    AlertId, CustomerId, Decimal, ErrorKind, EventKey, EventName, IdOr, MetricId, PlanId,
    PropertyName, SubscriptionId, Timeframe, Timestamp,
    alert::{self, NewAlert, Thresholds},
    metric::{MetricQuery, NewMetric},
    store::MemoryStore,
    subscription::{BillingAnchor, Cancellation, NewSubscription},
    usage::{Event, PropertyValue},
    webhook,
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use crate::{
    host::{Host, customer, external, instant, micros, name, number},
    model::{self, Fate, Model, Value},
    script::{self, Again, Cancel, EventSpec, Manner, On, Pause, Step, When},
};

const CUSTOMERS: usize = 3;
const PLANS: usize = 2;
pub(crate) const QUARTER: i64 = 15 * 60 * 1_000_000;

/// The engine and the model.
#[derive(Debug)]
pub struct World {
    pub host: Host,
    pub model: Model,
    item: accrue::ItemId,
    customers: Vec<Option<CustomerId>>,
    plans: Vec<PlanId>,
    metrics: Vec<MetricId>,
    subscriptions: Vec<SubscriptionId>,
    alerts: Vec<AlertId>,
    keys: usize,
}

/// Runs a script, and compares all figures and messages at its end.
pub fn run(beginning: &str, script: &[Step], manner: &Manner) -> World {
    let mut world = World::at(beginning);
    let mut sizes = manner.batches.iter().copied().cycle();
    let mut ticks = manner.ticks.iter().copied().cycle();
    for step in script {
        if ticks.next().unwrap_or(false) {
            world.host.tick();
        }
        world.step(step, &mut sizes);
    }
    world.check_figures();
    world.host.tick();
    world.check_figures();
    world.check_messages();
    world
}

impl World {
    fn at(beginning: &str) -> Self {
        let host = Host::on(MemoryStore::new());
        host.clock.set(instant(beginning));
        let item = accrue::item::NewItem::new(name("item"));
        let item = block_on(host.account.create_item(item).into_future()).unwrap().id;
        let plans = (0..PLANS).map(|_| host.plan().id).collect();
        let mut model = Model::at(instant(beginning).micros());
        model.customers = vec![model::Customer::default(); CUSTOMERS];
        Self {
            host,
            model,
            item,
            customers: vec![None; CUSTOMERS],
            plans,
            metrics: Vec::new(),
            subscriptions: Vec::new(),
            alerts: Vec::new(),
            keys: 0,
        }
    }

    fn step(&mut self, step: &Step, sizes: &mut impl Iterator<Item = usize>) {
        match step {
            Step::CreateCustomer(customer) => self.create_customer(customer % CUSTOMERS),
            Step::CreateMetric(spec) => self.create_metric(spec),
            Step::Subscribe { customer, plan, start, life } => {
                self.subscribe(customer % CUSTOMERS, plan % PLANS, *start, *life);
            }
            Step::Cancel { subscription, how } => {
                if let Some(subscription) = nth(*subscription, self.subscriptions.len()) {
                    self.cancel(subscription, *how);
                }
            }
            Step::Ingest(specs) => {
                for batch in script::batches(specs, sizes) {
                    self.ingest(batch);
                }
            }
            Step::Pause(pause) => self.pause(*pause),
            Step::Tick(limit) => {
                block_on(self.host.billing.tick(*limit)).unwrap();
            }
            Step::Between { customer, metric, ends } => {
                if let Some(metric) = nth(*metric, self.metrics.len()) {
                    self.check_between(customer % CUSTOMERS, metric, *ends);
                }
            }
            Step::Check => self.check_figures(),
            Step::CreateAlert { on, metric, thresholds } => {
                if let Some(metric) = nth(*metric, self.metrics.len()) {
                    self.create_alert(*on, metric, thresholds);
                }
            }
            change => self.change_alert(change),
        }
    }

    fn create_customer(&mut self, index: usize) {
        let new = customer(&alias(index));
        let created = block_on(self.host.account.create_customer(new).into_future());
        if self.model.customers[index].exists {
            assert_eq!(created.unwrap_err().kind(), ErrorKind::DuplicateResource);
        } else {
            self.customers[index] = Some(created.unwrap().id);
            self.model.customers[index].exists = true;
        }
    }

    fn create_metric(&mut self, spec: &model::MetricSpec) {
        let sql = spec.sql();
        let query = MetricQuery::parse(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let new = NewMetric::new(name("metric"), self.item, query);
        let metric = block_on(self.host.account.create_metric(new).into_future()).unwrap();
        self.metrics.push(metric.id);
        self.model.create_metric(spec.clone());
    }

    fn subscribe(&mut self, customer: usize, plan: usize, start: When, life: Option<i64>) {
        let start = self.resolve(start);
        let end = life.map(|life| start + life);
        let mut new = NewSubscription::new(external(&alias(customer)), self.plans[plan]);
        new.anchor = BillingAnchor::SubscriptionStart;
        new.start_date = Some(micros(start));
        new.end_date = end.map(micros);
        let created = block_on(self.host.account.create_subscription(new).into_future());
        if self.model.customers[customer].exists {
            self.subscriptions.push(created.unwrap().id);
            self.model.subscribe(customer, plan, start, end);
        } else {
            assert!(created.unwrap_err().is_not_found());
        }
    }

    fn cancel(&mut self, subscription: usize, how: Cancel) {
        let now = self.model.now;
        let model::Subscription { start, end, .. } = self.model.subscriptions[subscription];
        let has_ended = end.is_some_and(|end| end <= now);
        let (cancellation, expected) = match how {
            Cancel::Immediate => (Cancellation::Immediate, Some(now.max(start))),
            Cancel::EndOfTerm => (
                Cancellation::EndOfSubscriptionTerm,
                self.model.period(subscription, now).map(|(_, end)| end),
            ),
            Cancel::At(when) => {
                let at = self.resolve(when);
                let date = Cancellation::RequestedDate(micros(at));
                (date, (start <= now.min(at)).then_some(at))
            }
        };
        let id = self.subscriptions[subscription];
        let call = self.host.account.cancel_subscription(id, cancellation);
        match (block_on(call.into_future()), expected.filter(|_| !has_ended)) {
            (Ok(cancelled), Some(end)) => {
                assert_eq!(cancelled.end_date.map(Timestamp::micros), Some(end));
                self.model.cancel(subscription, end);
            }
            (Err(error), None) => assert_eq!(error.kind(), ErrorKind::ConstraintViolation),
            (answer, expected) => panic!("found {answer:?}, expected {expected:?}"),
        }
    }

    fn pause(&mut self, pause: Pause) {
        let now = self.model.now;
        let to = match pause {
            Pause::For(micros) => now + micros,
            Pause::PeriodOf(of, by) => self.resolve(When::End(of, by)),
        };
        let to = to.clamp(now, now + 100 * model::MICROS_PER_DAY);
        self.host.clock.set(micros(to));
        self.model.advance_to(to);
    }

    fn resolve(&self, when: When) -> i64 {
        let now = self.model.now;
        let subscriptions = self.subscriptions.len();
        match when {
            When::Now(by) => now + by,
            When::Quarter(back, by) => (now.div_euclid(QUARTER) - back) * QUARTER + by,
            When::Midnight(by) => now - now.rem_euclid(model::MICROS_PER_DAY) + by,
            When::Start(of, by) => nth(of, subscriptions)
                .map_or(now + by, |of| self.model.subscriptions[of].start + by),
            When::End(of, by) => nth(of, subscriptions).map_or(now + by, |of| {
                let period = self.model.period(of, now).map(|(_, end)| end);
                let end = period.or(self.model.subscriptions[of].end);
                end.unwrap_or(self.model.subscriptions[of].start) + by
            }),
        }
    }
}

// Events.

impl World {
    fn ingest(&mut self, specs: &[EventSpec]) {
        let mut batch: Vec<model::Event> = Vec::new();
        let mut fates = Vec::new();
        for spec in specs {
            let event = self.event(spec);
            fates.push(self.model.fate(&event, &batch));
            batch.push(event);
        }
        let pairs = specs.iter().zip(&batch);
        let events: Vec<Event> = pairs.map(|(spec, event)| self.to_engine(spec, event)).collect();
        let answer = block_on(self.host.account.ingest(events).into_future());
        let refused = fates.iter().position(|fate| *fate == Fate::Refused);
        match (answer, refused) {
            (Ok(ingestion), None) => {
                let new = fates.iter().filter(|fate| **fate == Fate::New).count();
                assert_eq!((ingestion.ingested, ingestion.duplicates), (new, specs.len() - new));
                for (event, fate) in batch.into_iter().zip(fates) {
                    if fate == Fate::New {
                        self.model.accept(event);
                    }
                }
            }
            (Err(error), Some(index)) => {
                assert_eq!(error.kind(), ErrorKind::RequestValidation);
                assert_eq!(error.refused_events().first().map(|event| event.index), Some(index));
            }
            (answer, refused) => panic!("found {answer:?}, expected {refused:?} to be refused"),
        }
    }

    fn event(&mut self, spec: &EventSpec) -> model::Event {
        let earlier = |index: usize| nth(index, self.model.events.len());
        let (now, mut at) = (self.model.now, self.resolve(spec.at));
        let mut key = format!("event-{}", self.keys);
        match spec.again {
            Again::Anywhen => {}
            Again::Same(index) => {
                if let Some(index) = earlier(index) {
                    return self.model.events[index].clone();
                }
            }
            Again::Conflicting(index) => {
                if let Some(index) = earlier(index) {
                    key = self.model.events[index].key.clone();
                }
            }
            Again::New => at = at.clamp(now - model::GRACE, now + model::AHEAD),
        }
        self.keys += 1;
        let (customer, properties) = (spec.customer % CUSTOMERS, spec.properties.clone());
        model::Event::new(customer, key, spec.name, at, properties)
    }

    fn to_engine(&self, spec: &EventSpec, event: &model::Event) -> Event {
        let by_id = self.customers[event.customer].filter(|_| spec.by_id).map(IdOr::Id);
        engine_event(event, by_id.unwrap_or_else(|| external(&alias(event.customer)).into()))
    }
}

pub(crate) fn engine_event(event: &model::Event, customer: IdOr<CustomerId>) -> Event {
    let property = |(name, value): &(&str, Value)| {
        let value = match value {
            Value::Null | Value::Instant(_) => PropertyValue::Null,
            Value::Boolean(value) => (*value).into(),
            Value::Number(value) => number(&value.to_plain_string()).into(),
            Value::Text(value) => (*value).into(),
        };
        (PropertyName::parse(*name).unwrap(), value)
    };
    Event {
        idempotency_key: EventKey::parse(event.key.as_str()).unwrap(),
        event_name: EventName::parse(event.name).unwrap(),
        timestamp: micros(event.at),
        properties: event.properties.iter().map(property).collect(),
        customer,
    }
}

// Alerts.

impl World {
    fn create_alert(&mut self, on: On, metric: usize, texts: &[&'static str]) {
        let new = NewAlert::usage_exceeded(self.metrics[metric], engine_thresholds(texts));
        let (scope, call) = match on {
            On::Subscription(of) => {
                let Some(of) = nth(of, self.subscriptions.len()) else { return };
                let id = self.subscriptions[of];
                let call = self.host.account.create_subscription_alert(id, new);
                (model::Scope::Subscription(of), call)
            }
            On::Plan(of) => {
                let call = self.host.account.create_plan_alert(self.plans[of % PLANS], new);
                (model::Scope::Plan(of % PLANS), call)
            }
        };
        let siblings = self.model.alerts.iter();
        let is_taken = siblings
            .filter(|alert| !alert.deleted)
            .any(|alert| alert.scope == scope && alert.metric == metric);
        let created = block_on(call.into_future());
        if is_taken {
            assert_eq!(created.unwrap_err().kind(), ErrorKind::ConstraintViolation);
        } else {
            self.alerts.push(created.unwrap().id);
            self.model.create_alert(scope, metric, model_thresholds(texts));
        }
    }

    fn change_alert(&mut self, change: &Step) {
        let (Step::SetThresholds { alert, .. }
        | Step::Enable(alert)
        | Step::Disable(alert)
        | Step::DeleteAlert(alert)
        | Step::EnableFor { alert, .. }
        | Step::DisableFor { alert, .. }) = change
        else {
            return;
        };
        let Some(alert) = nth(*alert, self.alerts.len()) else { return };
        let (account, id) = (&self.host.account, self.alerts[alert]);
        let model::Alert { scope, deleted, .. } = self.model.alerts[alert];
        let of = |subscription: usize| nth(subscription, self.subscriptions.len());
        // The kind of error where there is to be one.
        let gone = deleted.then_some(ErrorKind::ResourceNotFound);
        match change {
            Step::SetThresholds { thresholds, .. } => {
                let call = account.update_alert(id, engine_thresholds(thresholds));
                if expect(block_on(call.into_future()), gone) {
                    self.model.set_thresholds(alert, model_thresholds(thresholds));
                }
            }
            Step::Enable(_) => {
                let answer = block_on(account.enable_alert(id).into_future());
                if expect(answer, gone) {
                    self.model.enable(alert);
                }
            }
            Step::Disable(_) => {
                let answer = block_on(account.disable_alert(id).into_future());
                if expect(answer, gone) {
                    self.model.disable(alert);
                }
            }
            Step::DeleteAlert(_) => {
                let of_plan = matches!(scope, model::Scope::Plan(_));
                let error = gone.or(of_plan.then_some(ErrorKind::ConstraintViolation));
                if expect(block_on(account.delete_alert(id).into_future()), error) {
                    self.model.delete_alert(alert);
                }
            }
            Step::EnableFor { subscription, .. } | Step::DisableFor { subscription, .. } => {
                let Some(subscription) = of(*subscription) else { return };
                let enables = matches!(change, Step::EnableFor { .. });
                let for_id = self.subscriptions[subscription];
                let call = match enables {
                    true => account.enable_alert_for(id, for_id),
                    false => account.disable_alert_for(id, for_id),
                };
                let reaches = self.model.reaches(alert, subscription);
                let error = gone.or((!reaches).then_some(ErrorKind::ConstraintViolation));
                if !expect(block_on(call.into_future()), error) {
                    return;
                }
                match (scope, enables) {
                    (model::Scope::Subscription(_), true) => self.model.enable(alert),
                    (model::Scope::Subscription(_), false) => self.model.disable(alert),
                    (model::Scope::Plan(_), true) => self.model.enable_for(alert, subscription),
                    (model::Scope::Plan(_), false) => self.model.disable_for(alert, subscription),
                }
            }
            _ => {}
        }
    }
}

/// Tells whether an answer is a success, which it is to be unless an error is expected.
fn expect<T: std::fmt::Debug>(answer: Result<T, accrue::Error>, error: Option<ErrorKind>) -> bool {
    assert_eq!(answer.as_ref().err().map(accrue::Error::kind), error, "{answer:?}");
    answer.is_ok()
}

// Comparisons.

pub(crate) fn alias(customer: usize) -> String {
    format!("customer-{customer}")
}

pub(crate) fn nth(index: usize, count: usize) -> Option<usize> {
    index.checked_rem(count)
}

pub(crate) fn engine_thresholds(texts: &[&str]) -> Thresholds {
    Thresholds::new(texts.iter().map(|text| number(text))).unwrap()
}

pub(crate) fn model_thresholds(texts: &[&str]) -> Vec<BigDecimal> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}
