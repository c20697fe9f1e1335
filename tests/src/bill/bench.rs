//! The engine and the biller side by side: each step is done by both.

use accrue::{
    AlertId, Currency, CustomerId, ErrorKind, ItemId, MetricId, PlanId, PriceId, SubscriptionId,
    Zone,
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::{NewPlan, NewPlanVersion, PlanPrice, PlanVersion},
    store::MemoryStore,
    subscription::{Cancellation, NewSubscription, ReplacedPrice},
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use super::{
    Biller, Charge, Instant, Message, Opening, Step, Subscribe, When, engine::decimal, span,
};
use crate::{
    host::{Host, customer, instant, micros, name},
    model::{self, AHEAD, Event, Fate, GRACE, MICROS_PER_DAY},
    script::{self, Again, Cancel, EventSpec, Manner, Pause},
    world::{QUARTER, alias, engine_event, nth},
};

/// The engine and the biller.
#[derive(Debug)]
pub struct Bench {
    pub host: Host,
    pub biller: Biller,
    pub(crate) zones: Vec<&'static str>,
    pub(crate) items: Vec<ItemId>,
    pub(crate) metrics: Vec<MetricId>,
    pub(super) plans: Vec<(PlanId, PlanVersion)>,
    pub(super) prices: Vec<Vec<PriceId>>,
    pub(crate) customers: Vec<CustomerId>,
    pub(crate) lives: Vec<SubscriptionId>,
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
    bench.messages = bench.check_messages(&bench.host.drain());
    bench
}

impl Bench {
    /// The engine's id of a price, by its plan and its place there.
    pub(crate) fn price(&self, plan: usize, index: usize) -> PriceId {
        self.prices[plan][index]
    }

    pub(crate) fn at(beginning: &str, opening: &Opening) -> Self {
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
        let (mut plans, mut prices) = (Vec::<(PlanId, PlanVersion)>::new(), Vec::new());
        for of_plan in &opening.plans {
            let mut adjustments = Vec::new();
            let of_plan = of_plan.iter().map(|price| {
                let new = price.to_engine(&items, &metrics);
                if !price.adjustments.are_of_plan {
                    return PlanPrice::from(new);
                }
                let id = block_on(account.create_price(new).into_future()).unwrap().id;
                adjustments.extend(price.of_plan(id, items[0]));
                id.into()
            });
            let of_plan: Vec<_> = of_plan.collect();
            let (plan, version) = match plans.last().filter(|_| opening.is_one_plan) {
                Some((plan, _)) => {
                    let new = NewPlanVersion { adjustments, ..NewPlanVersion::new(of_plan) };
                    let call = account.create_plan_version(*plan, new);
                    (*plan, block_on(call.into_future()).unwrap().version)
                }
                None => {
                    let mut new = NewPlan::new(name("plan"), Currency::parse("USD").unwrap());
                    (new.prices, new.adjustments) = (of_plan, adjustments);
                    let plan = block_on(account.create_plan(new).into_future()).unwrap();
                    (plan.id, plan.version)
                }
            };
            let priced = block_on(account.fetch_plan_version(plan, version)).unwrap();
            prices.push(priced.prices.iter().map(|price| price.id).collect());
            plans.push((plan, version));
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

    pub(crate) fn step(&mut self, step: &Step, sizes: &mut Slice<'_>) {
        match step {
            Step::Subscribe(subscribe) => self.subscribe(subscribe),
            Step::Cancel { life, how } => {
                if let Some(life) = nth(*life, self.lives.len()) {
                    self.cancel(life, *how);
                }
            }
            Step::Unschedule(life) => {
                if let Some(life) = nth(*life, self.lives.len()) {
                    self.unschedule(life);
                }
            }
            Step::Quantity { life, fee, quantity, timing } => {
                if let Some(life) = nth(*life, self.lives.len()) {
                    self.change_quantity(life, *fee, *quantity, *timing);
                }
            }
            Step::Use(specs) => {
                for batch in script::batches(specs, sizes) {
                    self.ingest(batch);
                }
            }
            Step::Pause(pause) => self.pause(*pause),
            Step::Ask(ask) => self.ask(ask),
            Step::CreateAlert { on, terms, thresholds } => {
                self.create_alert(*on, terms, thresholds);
            }
            Step::UpdateAlert { alert, thresholds, filters, overrides } => {
                if let Some(alert) = nth(*alert, self.alerts.len()) {
                    self.update_alert(alert, thresholds, filters.as_ref(), overrides.as_deref());
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
        let (id, version) = self.plans[plan];
        let mut new = NewSubscription::new(self.customers[customer], id);
        new.plan_version = Some(version);
        let start = self.biller.now + subscribe.start;
        new.anchor = subscribe.anchor;
        new.start_date = Some(micros(start));
        new.end_date = subscribe.length.map(|length| micros(start + length));
        let prices = self.biller.plans[plan].iter().zip(&subscribe.quantities);
        let quantities = prices.map(|(price, quantity)| {
            let is_fee = matches!(price.charge, Charge::Fee { .. });
            quantity.filter(|_| is_fee).map(BigDecimal::from)
        });
        let quantities: Vec<_> = quantities.collect();
        let chosen = self.prices[plan].iter().zip(&quantities);
        let chosen = chosen.filter_map(|(id, quantity)| {
            Some(ReplacedPrice::quantity(*id, decimal(quantity.as_ref()?)))
        });
        new.prices.replace = chosen.collect();
        let core = block_on(self.host.account.create_subscription(new).into_future()).unwrap();
        self.lives.push(core.id);
        self.biller.subscribe(customer, plan, core, quantities);
    }

    fn cancel(&mut self, life: usize, how: Cancel) {
        let cancellation = match how {
            Cancel::Immediate => Cancellation::Immediate,
            Cancel::EndOfTerm => Cancellation::EndOfSubscriptionTerm,
            Cancel::At(when) => Cancellation::RequestedDate(micros(self.resolve(when))),
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

    pub(crate) fn set(&mut self, to: Instant) {
        self.host.clock.set(micros(to));
        self.biller.advance_to(to);
    }

    pub(crate) fn resolve(&self, when: When) -> Instant {
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
