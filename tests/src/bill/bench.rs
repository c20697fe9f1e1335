//! The engine and the biller side by side: each step is done by both.

use std::collections::BTreeSet;

use accrue::{
    AlertId, CustomerId, ErrorKind, ItemId, MetricId, PlanId, PriceId, SubscriptionId, Timestamp,
    Zone,
    alert::{AlertUpdate, NewAlert, NewCondition},
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    store::MemoryStore,
    subscription::{Cancellation, NewSubscription},
};
use pollster::block_on;

use super::{
    Alert, Biller, Condition, Filter, Instant, Message, Opening, Scope, Step, Subscribe, Terms,
    When, alerts::Named, span,
};
use crate::{
    host::{Host, customer, instant, micros, name},
    model::{self, AHEAD, Event, Fate, GRACE, MICROS_PER_DAY},
    script::{Again, Cancel, EventSpec, Manner, On, Pause},
    world::{QUARTER, alias, engine_event, engine_thresholds, model_thresholds, nth},
};

/// The engine and the biller.
#[derive(Debug)]
pub struct Bench {
    pub host: Host,
    pub biller: Biller,
    pub(super) zones: Vec<&'static str>,
    pub(super) items: Vec<ItemId>,
    pub(super) metrics: Vec<MetricId>,
    pub(super) plans: Vec<PlanId>,
    pub(super) prices: Vec<Vec<PriceId>>,
    pub(super) customers: Vec<CustomerId>,
    pub(super) lives: Vec<SubscriptionId>,
    pub(super) alerts: Vec<AlertId>,
    /// What the engine told of each subscription, once the script is done.
    pub messages: Vec<Vec<Message>>,
    keys: usize,
}

/// The sizes of batches, in turn.
pub type Slice<'a> = std::iter::Cycle<std::iter::Copied<std::slice::Iter<'a, usize>>>;

/// Runs a script, and compares all messages at its end.
pub fn run(beginning: &str, opening: &Opening, steps: &[Step], manner: &Manner) -> Bench {
    let mut bench = Bench::at(beginning, opening);
    let mut sizes: Slice<'_> = manner.batches.iter().copied().cycle();
    let mut ticks = manner.ticks.iter().copied().cycle();
    for step in steps {
        if ticks.next().unwrap_or(false) {
            bench.host.tick();
        }
        bench.step(step, &mut sizes);
    }
    bench.host.tick();
    bench.messages = bench.check_messages();
    bench
}

impl Bench {
    fn at(beginning: &str, opening: &Opening) -> Self {
        let host = Host::on(MemoryStore::new());
        host.clock.set(instant(beginning));
        let account = &host.account;
        let item = || block_on(account.create_item(NewItem::new(name("item"))).into_future());
        let items: Vec<_> = (0..2).map(|_| item().unwrap().id).collect();
        let metric = |spec: &model::MetricSpec| {
            let query = MetricQuery::parse(&spec.sql()).unwrap();
            let new = NewMetric::new(name("metric"), items[0], query);
            block_on(account.create_metric(new).into_future()).unwrap().id
        };
        let metrics: Vec<_> = opening.metrics.iter().map(metric).collect();
        let (mut plans, mut prices) = (Vec::new(), Vec::new());
        for of_plan in &opening.plans {
            let new_prices = of_plan.iter().map(|price| price.to_engine(&items, &metrics).into());
            let mut new = NewPlan::new(name("plan"), accrue::Currency::parse("USD").unwrap());
            new.prices = new_prices.collect();
            let plan = block_on(account.create_plan(new).into_future()).unwrap();
            let version = block_on(account.fetch_plan_version(plan.id, plan.version)).unwrap();
            prices.push(version.prices.iter().map(|price| price.id).collect());
            plans.push(plan.id);
        }
        let customer = |(index, zone): (usize, &&'static str)| {
            let mut new = customer(&alias(index));
            new.timezone = Some(Zone::parse(zone).unwrap());
            block_on(account.create_customer(new).into_future()).unwrap().id
        };
        let customers = opening.zones.iter().enumerate().map(customer).collect();
        let biller = Biller {
            now: instant(beginning).micros(),
            metrics: opening.metrics.clone(),
            plans: opening.plans.clone(),
            ..Biller::default()
        };
        let (zones, lives, alerts) = (opening.zones.clone(), Vec::new(), Vec::new());
        Self {
            host,
            biller,
            zones,
            items,
            metrics,
            plans,
            prices,
            customers,
            lives,
            alerts,
            messages: Vec::new(),
            keys: 0,
        }
    }

    fn step(&mut self, step: &Step, sizes: &mut Slice<'_>) {
        match step {
            Step::Subscribe(subscribe) => self.subscribe(subscribe),
            Step::Cancel { life, how } => {
                if let Some(life) = nth(*life, self.lives.len()) {
                    self.cancel(life, *how);
                }
            }
            Step::Use(specs) => {
                let mut rest = specs.as_slice();
                while !rest.is_empty() {
                    let size = sizes.next().unwrap_or(rest.len()).min(rest.len());
                    let (batch, others) = rest.split_at(size);
                    self.ingest(batch);
                    rest = others;
                }
            }
            Step::Pause(pause) => self.pause(*pause),
            Step::Ask(ask) => self.ask(ask),
            Step::CreateAlert { on, terms, thresholds } => {
                self.create_alert(*on, terms, thresholds);
            }
            Step::UpdateAlert { alert, thresholds, filters } => {
                if let Some(alert) = nth(*alert, self.alerts.len()) {
                    self.update_alert(alert, thresholds, filters.as_ref());
                }
            }
            Step::Enable(alert) | Step::Disable(alert) => {
                if let Some(alert) = nth(*alert, self.alerts.len()) {
                    self.switch(alert, matches!(step, Step::Enable(_)));
                }
            }
        }
    }

    fn subscribe(&mut self, subscribe: &Subscribe) {
        let customer = subscribe.customer % self.customers.len();
        let plan = subscribe.plan % self.plans.len();
        let mut new = NewSubscription::new(self.customers[customer], self.plans[plan]);
        let start = self.biller.now + subscribe.start;
        new.anchor = subscribe.anchor;
        new.start_date = Some(micros(start));
        new.end_date = subscribe.length.map(|length| micros(start + length));
        let core = block_on(self.host.account.create_subscription(new).into_future()).unwrap();
        self.lives.push(core.id);
        self.biller.subscribe(customer, plan, core);
    }

    fn cancel(&mut self, life: usize, how: Cancel) {
        let cancellation = match how {
            Cancel::Immediate => Cancellation::Immediate,
            Cancel::EndOfTerm => Cancellation::EndOfSubscriptionTerm,
            Cancel::At(when) => {
                let end = self.biller.lives[life].core.end_date.unwrap_or(Timestamp::MAX);
                Cancellation::RequestedDate(micros(self.resolve(when)).min(end))
            }
        };
        let call = self.host.account.cancel_subscription(self.lives[life], cancellation);
        match block_on(call.into_future()) {
            Ok(core) => self.biller.cancel(life, core),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConstraintViolation),
        }
    }

    fn pause(&mut self, pause: Pause) {
        let now = self.biller.now;
        let to = match pause {
            Pause::For(micros) => now + micros,
            Pause::PeriodOf(of, by) => self.resolve(When::End(of, by)),
        };
        self.set(to.clamp(now, now + 100 * MICROS_PER_DAY));
    }

    fn set(&mut self, to: Instant) {
        self.host.clock.set(micros(to));
        self.biller.advance_to(to);
    }

    pub(super) fn resolve(&self, when: When) -> Instant {
        let now = self.biller.now;
        let life = |of: usize| nth(of, self.lives.len()).map(|of| &self.biller.lives[of]);
        match when {
            When::Now(by) => now + by,
            When::Quarter(back, by) => (now.div_euclid(QUARTER) - back) * QUARTER + by,
            When::Midnight(by) => now - now.rem_euclid(MICROS_PER_DAY) + by,
            When::Start(of, by) => life(of).map_or(now, |life| life.core.start_date.micros()) + by,
            When::End(of, by) => {
                let period = life(of).and_then(|life| life.core.periods().containing(micros(now)));
                period.map_or(now, |period| span(period).1) + by
            }
        }
    }
}

// Events.

impl Bench {
    fn ingest(&mut self, specs: &[EventSpec]) {
        let mut batch = Vec::<Event>::new();
        let mut new = Vec::new();
        for spec in specs {
            let event = self.event(spec, &batch);
            let known = self.biller.events.iter().chain(&batch).any(|of| of.key == event.key);
            new.push(if known { Fate::Duplicate } else { Fate::New });
            batch.push(event);
        }
        let of = |event: &Event| engine_event(event, self.customers[event.customer].into());
        let events: Vec<_> = batch.iter().map(of).collect();
        block_on(self.host.account.ingest(events).into_future()).unwrap();
        for (event, fate) in batch.into_iter().zip(new) {
            if fate == Fate::New {
                self.biller.accept(event);
            }
        }
    }

    fn event(&mut self, spec: &EventSpec, batch: &[Event]) -> Event {
        if let Again::Same(index) = spec.again
            && let Some(index) = nth(index, self.biller.events.len() + batch.len())
        {
            let mut known = self.biller.events.iter().chain(batch);
            return known.nth(index).unwrap().clone();
        }
        self.keys += 1;
        let at = self.resolve(spec.at).clamp(self.biller.now - GRACE, self.biller.now + AHEAD);
        let customer = spec.customer % self.customers.len();
        let key = format!("event-{}", self.keys);
        Event::new(customer, key, spec.name, at, spec.properties.clone())
    }
}

// Alerts.

impl Bench {
    fn create_alert(&mut self, on: On, terms: &Terms, thresholds: &[&'static str]) {
        let (scope, plan) = match on {
            On::Subscription(of) => {
                let Some(of) = nth(of, self.lives.len()) else { return };
                (Scope::Subscription(of), self.biller.lives[of].plan)
            }
            On::Plan(of) => (Scope::Plan(of % self.plans.len()), of % self.plans.len()),
        };
        let condition = match terms {
            Terms::Usage(metric) => Condition::Usage(metric % self.metrics.len()),
            Terms::Cost(unit) => Condition::Cost(unit.unwrap_or("USD")),
            Terms::Spend(unit, filters) => Condition::Spend(unit, self.known(plan, filters)),
        };
        let unit = |unit: &str| accrue::PricingUnit::parse(unit).unwrap();
        let wanted = match &condition {
            Condition::Usage(metric) => {
                NewCondition::UsageExceeded { metric_id: self.metrics[*metric] }
            }
            Condition::Cost(_) => {
                let Terms::Cost(currency) = terms else { return };
                NewCondition::CostExceeded { currency: currency.map(unit) }
            }
            Condition::Spend(currency, filters) => NewCondition::SpendExceeded {
                currency: unit(currency),
                price_filters: self.engine_filters(plan, filters),
            },
        };
        // Ids of one millisecond have no order, and alerts that fire together are in that of ids.
        self.set(self.biller.now + 1_000);
        self.leave_turns(scope);
        let new = NewAlert { condition: wanted, thresholds: engine_thresholds(thresholds) };
        let account = &self.host.account;
        let call = match scope {
            Scope::Subscription(of) => account.create_subscription_alert(self.lives[of], new),
            Scope::Plan(of) => account.create_plan_alert(self.plans[of], new),
        };
        let created = block_on(call.into_future());
        let excludes = |alert: &Alert| alert.scope == scope && alert.condition.excludes(&condition);
        if self.biller.alerts.iter().any(excludes) {
            assert_eq!(created.unwrap_err().kind(), ErrorKind::ConstraintViolation);
            return;
        }
        self.alerts.push(created.unwrap().id);
        let thresholds = model_thresholds(thresholds);
        self.biller.alerts.push(Alert { scope, condition, thresholds, enabled: true });
        self.biller.configured(self.alerts.len() - 1);
    }

    fn update_alert(
        &mut self,
        alert: usize,
        thresholds: &[&'static str],
        filters: Option<&BTreeSet<Filter>>,
    ) {
        let mut after = self.biller.alerts[alert].clone();
        after.thresholds = model_thresholds(thresholds);
        let plan = match after.scope {
            Scope::Subscription(of) => self.biller.lives[of].plan,
            Scope::Plan(of) => of,
        };
        let mut update = AlertUpdate::from(engine_thresholds(thresholds));
        if let (Condition::Spend(_, filters), Some(new)) = (&mut after.condition, filters) {
            *filters = self.known(plan, new);
            update.price_filters = Some(self.engine_filters(plan, filters));
        }
        self.leave_turns(after.scope);
        let call = self.host.account.update_alert(self.alerts[alert], update);
        let updated = block_on(call.into_future());
        let mut others = self.biller.alerts.iter().enumerate();
        if others.any(|(index, other)| {
            index != alert
                && other.scope == after.scope
                && other.condition.excludes(&after.condition)
        }) {
            assert_eq!(updated.unwrap_err().kind(), ErrorKind::ConstraintViolation);
            return;
        }
        updated.unwrap();
        self.biller.alerts[alert] = after;
        self.biller.configured(alert);
    }

    fn switch(&mut self, alert: usize, enabled: bool) {
        self.leave_turns(self.biller.alerts[alert].scope);
        let (account, id) = (&self.host.account, self.alerts[alert]);
        let call = if enabled { account.enable_alert(id) } else { account.disable_alert(id) };
        block_on(call.into_future()).unwrap();
        if self.biller.alerts[alert].enabled != enabled {
            self.biller.alerts[alert].enabled = enabled;
            self.biller.configured(alert);
        }
    }

    /// Lets an instant pass where a plan's alerts would change together with a turn: which of the
    /// two comes first depends on whether the turn was settled.
    fn leave_turns(&mut self, scope: Scope) {
        if let Scope::Plan(plan) = scope {
            while self.biller.turns_now(plan) {
                self.set(self.biller.now + 1);
            }
        }
    }

    /// The filters with those prices alone that a plan has.
    fn known(&self, plan: usize, filters: &BTreeSet<Filter>) -> BTreeSet<Filter> {
        let prices = self.prices[plan].len();
        let known = |filter: &Filter| {
            let mut filter = filter.clone();
            if let Named::Prices(of) = &mut filter.named {
                *of = of.iter().map(|index| index % prices).collect();
            }
            filter
        };
        filters.iter().map(known).collect()
    }

    fn engine_filters(
        &self,
        plan: usize,
        filters: &BTreeSet<Filter>,
    ) -> Vec<accrue::alert::PriceFilter> {
        filters.iter().map(|filter| filter.to_engine(&self.prices[plan], &self.items)).collect()
    }
}
