//! Figures by group equal those of a recomputation, whatever happens to the events.

use std::sync::Arc;

use pollster::block_on;
use proptest::prelude::*;

use super::*;
use crate::{
    AccountId, Billing, Currency, Decimal, Email, Error, ErrorKind, EventKey, EventName,
    ExternalId, ManualClock, Name, PropertyName, SeededEntropy, SubscriptionId, Timestamp,
    alert::{NewAlert, Thresholds},
    backfill::NewBackfill,
    customer::NewCustomer,
    engine::{
        Account,
        rows::{figures, metrics, prices, subscriptions, totals},
    },
    item::NewItem,
    meter::{CellId, Meter},
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    price::{Cadence, DailyAmount, DailyCreditAllowance, Model, NewPrice},
    store::MemoryStore,
    subscription::NewSubscription,
    usage::{Amendment, Event, Properties, PropertyValue},
};

/// A customer whose calls are counted by user, and apart in Europe.
struct Grouped {
    billing: Billing,
    clock: ManualClock,
    account: Account,
    customer: CustomerId,
    meter: Meter,
    subscription: Option<SubscriptionId>,
    events: BTreeMap<String, (Timestamp, Option<usize>, bool)>,
}

fn name(text: &str) -> PropertyName {
    PropertyName::parse(text).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

impl Grouped {
    fn new(query: &str) -> Self {
        Self::made(query, true)
    }

    fn made(query: &str, is_subscribed: bool) -> Self {
        let store = Arc::new(MemoryStore::new());
        let clock = ManualClock::at(at("2026-03-10T12:00:00Z"));
        let billing = Billing::new(Arc::clone(&store), clock.clone(), SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("acme").unwrap());
        let text = |text| Name::parse(text).unwrap();
        let mut new = NewCustomer::new(text("ada"), Email::parse("a@example.com").unwrap());
        new.external_customer_id = Some(ExternalId::parse("ada").unwrap());
        let customer = block_on(account.create_customer(new).into_future()).unwrap().id;
        let item = block_on(account.create_item(NewItem::new(text("item"))).into_future()).unwrap();
        let new = NewMetric::new(text("calls"), item.id, MetricQuery::parse(query).unwrap());
        let metric = block_on(account.create_metric(new).into_future()).unwrap();

        let price = |cadence| {
            let model = Model::DailyCreditAllowance(DailyCreditAllowance {
                event_day_property: name("user"),
                dimensions: vec![Some(name("region"))],
                default_unit_amount: Decimal::from(2).into(),
                daily_allowance: Decimal::from(3).into(),
                matrix_values: vec![DailyAmount {
                    dimension_values: vec![Some("eu".to_owned())],
                    unit_amount: Decimal::from(1).into(),
                }],
            });
            let usd = Currency::parse("USD").unwrap();
            NewPrice::builder(text("calls"), item.id).billed(cadence, usd).usage(metric.id, model)
        };
        let prices = [Cadence::Monthly, Cadence::Quarterly].map(|of| price(of).into());
        let mut new = NewPlan::new(text("plan"), Currency::parse("USD").unwrap());
        new.prices = prices.into();
        let plan = block_on(account.create_plan(new).into_future()).unwrap();
        let subscription = is_subscribed.then(|| {
            let new = NewSubscription::new(customer, plan.id);
            let of = block_on(account.create_subscription(new).into_future()).unwrap();
            let watch = NewAlert::cost_exceeded(Thresholds::new([Decimal::from(50)]).unwrap());
            block_on(account.create_subscription_alert(of.id, watch).into_future()).unwrap();
            of.id
        });
        let mut tx = account.reading();
        let meters = block_on(metrics::meters(&mut tx)).unwrap();
        let [meter] = meters.divided.as_slice() else { panic!("{meters:?}") };
        let meter = meter.clone();
        let events = BTreeMap::new();
        Self { billing, clock, account, customer, meter, subscription, events }
    }

    fn properties(user: Option<usize>, in_europe: bool) -> Properties {
        let user = user.map(|user| (name("user"), format!("user-{user}").as_str().into()));
        let region: PropertyValue = if in_europe { "eu" } else { "us" }.into();
        user.into_iter().chain([(name("region"), region)]).collect()
    }

    fn event(&self, key: &str, at: Timestamp, user: Option<usize>, in_europe: bool) -> Event {
        Event {
            idempotency_key: EventKey::parse(key).unwrap(),
            event_name: EventName::parse("call").unwrap(),
            timestamp: at,
            properties: Self::properties(user, in_europe),
            customer: self.customer.into(),
        }
    }

    fn ingest(&mut self, key: &str, user: Option<usize>, in_europe: bool) -> Result<(), Error> {
        let now = crate::Clock::now(&self.clock);
        let event = self.event(key, now, user, in_europe);
        block_on(self.account.ingest([event]).into_future())?;
        self.events.insert(key.to_owned(), (now, user, in_europe));
        Ok(())
    }

    /// Compares what is kept of the groups of each stretch of the subscription with what they add up to.
    fn check_stretches(&self) {
        let Some(id) = self.subscription else { return };
        let mut tx = self.account.reading();
        let check = async {
            let entry = subscriptions::subscription_entry(&mut tx, id).await?;
            let card = prices::card(&mut tx, &entry).await?;
            let meters = metrics::meters(&mut tx).await?;
            let past = Timeframe::nothing_at(entry.subscription.start_date)
                .until(tx.now.saturating_add(crate::time::INSTANT));
            let billing: Vec<_> = entry.subscription.periods().overlapping(past).collect();
            for (key, stretch) in entry.stretches(&billing, tx.now) {
                let known = totals::total(&mut tx, &entry, key).await?;
                let expect =
                    figures::total_between(&mut tx, self.customer, &meters, stretch).await?;
                assert_eq!(known.groups, expect.groups, "{stretch:?}");
                let slot = schema::group_sums(tx.account, id, key.start, key.end);
                let guard = tx.guard::<schema::CustomerHead>(self.customer).await?;
                let kept = guard.get(&mut tx, &slot).await?.unwrap_or_default();
                let meter = expect.groups.meters().next();
                let counts = meter.map(|meter| (meter, expect.groups.count(meter)));
                assert_eq!(kept.counts, counts.into_iter().collect());
                let sums = card.group_sums(stretch, &expect.groups);
                for (id, sum) in &kept.sums {
                    assert_eq!(Some(sum), sums.get(id), "{stretch:?}");
                }
            }
            Ok::<_, Error>(())
        };
        block_on(check).unwrap();
    }

    /// Compares what each group and cell has in some timeframes.
    fn check(&self) {
        self.check_stretches();
        let now = crate::Clock::now(&self.clock).saturating_add(std::time::Duration::from_secs(1));
        let days = [at("2026-03-10T12:07:00Z"), at("2026-03-11T00:00:00Z"), now];
        for start in [at("2026-03-10T00:00:00Z"), days[0], days[1]] {
            for end in days.into_iter().filter(|end| start < *end) {
                let timeframe = Timeframe::new(start, end).unwrap();
                let found = self.figures(timeframe);
                let mut expect = BTreeMap::<_, Decimal>::new();
                for (_, user, in_europe) in
                    self.events.values().filter(|(at, ..)| timeframe.contains(*at))
                {
                    let user = user.map(|user| format!("user-{user}"));
                    let cell = usize::from(!in_europe);
                    *expect.entry((vec![user], cell)).or_default() += Decimal::from(1);
                }
                assert_eq!(found, expect, "{timeframe:?}");
            }
        }
    }

    /// The figures of all groups, by cell: Europe, and all others.
    fn figures(&self, timeframe: Timeframe) -> BTreeMap<(Values, usize), Decimal> {
        let mut tx = self.account.reading();
        let figures = async {
            let meters = metrics::meters(&mut tx).await?;
            let total = figures::total_between(&mut tx, self.customer, &meters, timeframe).await?;
            let mut found = BTreeMap::new();
            for (_, values, cells) in total.groups.each() {
                for (index, cell) in self.meter.all_cells(values).into_iter().enumerate() {
                    let CellId::Cell(cell) = cell else { panic!("{cell:?}") };
                    let figure = cells.get(&cell).map(|of| of.figure());
                    found.extend(figure.map(|figure| ((values.clone(), index), figure)));
                }
            }
            Ok::<_, Error>(found)
        };
        block_on(figures).unwrap()
    }

    fn tick(&self) {
        while block_on(self.billing.tick(10)).unwrap().more {}
    }
}

#[derive(Clone, Debug)]
enum Step {
    Ingest(Option<usize>, bool),
    Amend(usize, Option<usize>, bool),
    Deprecate(usize),
    /// A backfill in place of what there is, and whether it is reverted.
    Replace(Option<usize>, bool),
    Pause(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let user = || prop::option::weighted(0.8, 0_usize..4);
    prop_oneof![
        4 => (user(), any::<bool>()).prop_map(|(user, eu)| Step::Ingest(user, eu)),
        1 => (any::<usize>(), user(), any::<bool>())
            .prop_map(|(index, user, eu)| Step::Amend(index, user, eu)),
        1 => any::<usize>().prop_map(Step::Deprecate),
        1 => (user(), any::<bool>()).prop_map(|(user, reverts)| Step::Replace(user, reverts)),
        2 => (1_u64..30_000).prop_map(Step::Pause),
        1 => (1_u64..3_000_000).prop_map(Step::Pause),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn each_group_has_what_its_events_add_up_to(steps in prop::collection::vec(step(), 1..16)) {
        let mut grouped = Grouped::new("SELECT count(*) FROM events");
        for (index, step) in steps.into_iter().enumerate() {
            let known: Vec<_> = grouped.events.keys().cloned().collect();
            match step {
                Step::Ingest(user, eu) => {
                    grouped.ingest(&format!("event-{index}"), user, eu).unwrap();
                }
                Step::Amend(of, user, eu) if !known.is_empty() => {
                    let key = &known[of % known.len()];
                    let (at, ..) = grouped.events[key];
                    let amendment = Amendment {
                        event_name: EventName::parse("call").unwrap(),
                        timestamp: at,
                        properties: Grouped::properties(user, eu),
                        customer: grouped.customer.into(),
                    };
                    let id = EventKey::parse(key.as_str()).unwrap();
                    // It is refused where the billing period takes no events any more.
                    let amend = grouped.account.amend_event(id, amendment);
                    if block_on(amend.into_future()).is_ok() {
                        grouped.events.insert(key.clone(), (at, user, eu));
                    }
                }
                Step::Deprecate(of) if !known.is_empty() => {
                    let key = &known[of % known.len()];
                    let id = EventKey::parse(key.as_str()).unwrap();
                    if block_on(grouped.account.deprecate_event(id).into_future()).is_ok() {
                        grouped.events.remove(key);
                    }
                }
                Step::Replace(user, reverts) => {
                    let timeframe =
                        Timeframe::new(at("2026-03-10T00:00:00Z"), at("2026-03-11T00:00:00Z"));
                    let mut new = NewBackfill::new(timeframe.unwrap());
                    new.replace_existing_events = true;
                    let account = &grouped.account;
                    let id = block_on(account.create_backfill(new).into_future()).unwrap().id;
                    let (key, noon) = (format!("event-{index}"), at("2026-03-10T12:00:00Z"));
                    let event = grouped.event(&key, noon, user, true);
                    block_on(account.ingest_backfill(id, [event]).into_future()).unwrap();
                    block_on(account.close_backfill(id).into_future()).unwrap();
                    grouped.tick();
                    let mut before = grouped.events.clone();
                    grouped.events.retain(|_, (at, ..)| !timeframe.unwrap().contains(*at));
                    grouped.events.insert(key, (noon, user, true));
                    grouped.check();
                    if reverts {
                        block_on(account.revert_backfill(id).into_future()).unwrap();
                        grouped.tick();
                        std::mem::swap(&mut grouped.events, &mut before);
                    }
                }
                Step::Pause(seconds) => {
                    grouped.clock.advance(std::time::Duration::from_secs(seconds));
                }
                Step::Amend(..) | Step::Deprecate(_) => {}
            }
            grouped.check();
        }
    }
}

#[test]
fn a_customer_has_1000_groups_in_four_weeks_at_most() {
    let mut grouped = Grouped::made("SELECT count(*) FROM events", false);
    let event = |user| {
        let now = crate::Clock::now(&grouped.clock);
        grouped.event(&format!("event-{user}"), now, Some(user), true)
    };
    let events: Vec<_> = (0..1_000).map(event).collect();
    for some in events.chunks(250) {
        block_on(grouped.account.ingest(some.to_vec()).into_future()).unwrap();
    }
    let error = grouped.ingest("one-more", Some(1_000), true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
    assert!(error.to_string().contains("more than 1000 groups"), "{error}");
    grouped.ingest("again", Some(999), false).unwrap();
    grouped.clock.advance(std::time::Duration::from_secs(28 * 86_400));
    grouped.ingest("later", Some(1_000), true).unwrap();
}

#[test]
fn distinct_values_are_counted_by_group() {
    let mut grouped = Grouped::new("SELECT count(DISTINCT region) FROM events");
    for (key, user, eu) in [("a", 0, true), ("b", 0, true), ("c", 1, true), ("d", 1, false)] {
        grouped.ingest(key, Some(user), eu).unwrap();
    }
    grouped.check_stretches();
    let day = Timeframe::new(at("2026-03-10T00:00:00Z"), at("2026-03-11T00:00:00Z")).unwrap();
    let user = |user: usize| vec![Some(format!("user-{user}"))];
    let one = || Decimal::from(1);
    let expect = [((user(0), 0), one()), ((user(1), 0), one()), ((user(1), 1), one())];
    assert_eq!(grouped.figures(day), BTreeMap::from(expect));
}
