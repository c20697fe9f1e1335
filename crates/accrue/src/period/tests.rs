//! The transition, held against the rater: whatever happens, and in which order.

mod gathered;
mod layout;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use proptest::prelude::*;

use super::*;
use crate::{
    AdjustmentIntervalId, AlertId, Currency, CustomerId, Decimal, EventKey, ItemId, MetricId, Name,
    PriceId, PriceIntervalId, PricingUnit, SubscriptionId, Timeframe, Timestamp, Zone,
    alert::{Alert, Cause, Condition, Scope, Thresholds},
    plan::PlanVersion,
    price::{
        Adjustment, Adjustments, Cadence, Charge, Cycle, Discount, Model, NewPrice, Price,
        Quantity, Tier, Tiered,
    },
    rating::{RateCard, rate},
    subscription::{
        AdjustmentInterval, Cut, Lane, PriceInterval, Subscription, SubscriptionEntry, sample,
    },
    time::INSTANT,
    usage::{Aggregate, Amount, Reading, Seen, Total},
};

const METRIC: MetricId = MetricId::from_bytes([7; 16]);
const ON_USAGE: AlertId = AlertId::from_bytes([1; 16]);
const ON_COST: AlertId = AlertId::from_bytes([2; 16]);
const DAYS: u64 = 70;

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn usd() -> Currency {
    Currency::parse("USD").unwrap()
}

/// The midnight so many days after the tenth of March.
fn day(n: u64) -> Timestamp {
    let start = Timestamp::parse("2026-03-10T00:00:00Z").unwrap();
    start.saturating_add(Duration::from_secs(n * 86_400))
}

fn key(n: usize) -> EventKey {
    EventKey::parse(format!("event-{n}").as_str()).unwrap()
}

/// Prices of some cadences, each in force for some days, and what is spread over all of them.
#[derive(Clone, Debug)]
struct Terms(Vec<(Cadence, u64, Option<u64>, Option<u32>)>, Vec<(Adjustment, u64, Option<u64>)>);

fn terms() -> impl Strategy<Value = Terms> {
    let cadence = prop::sample::select(vec![
        Cadence::Monthly,
        Cadence::Quarterly,
        Cadence::Custom(Cycle::Days(7)),
        Cadence::Custom(Cycle::Days(10)),
    ]);
    let life = (0..DAYS / 2, prop::option::of(1..DAYS / 2));
    let price = (cadence, life, prop::option::of(0_u32..40));
    let price = price.prop_map(|(cadence, (start, length), minimum)| {
        (cadence, start, length.map(|length| start + length), minimum)
    });
    let amount = || (0_u32..60).prop_map(|of| Decimal::from(u64::from(of)));
    let shared = prop_oneof![
        amount().prop_map(|of| Adjustment::Discount(Discount::Amount(of))),
        amount().prop_map(Adjustment::Minimum),
        amount().prop_map(Adjustment::Maximum),
    ];
    let shared = (shared, 0..DAYS / 2, prop::option::of(DAYS / 2..DAYS));
    (prop::collection::vec(price, 1..4), prop::collection::vec(shared, 0..3))
        .prop_map(|(prices, shared)| Terms(prices, shared))
}

/// What happens.
#[derive(Clone, Debug)]
enum Step {
    /// An event of some days ago adds units.
    Event(u64, u32),
    /// Time goes on by some days, one after the other.
    Time(u64),
    /// An alert is judged at once.
    Watch,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u64..9, 0_u32..20).prop_map(|(ago, units)| Step::Event(ago, units)),
        2 => (1_u64..8).prop_map(Step::Time),
        1 => Just(Step::Watch),
    ]
}

/// A subscription, the states of all of its billing periods, and the events that it was told of.
#[derive(Clone)]
struct Story {
    entry: SubscriptionEntry,
    card: Arc<RateCard>,
    periods: Periods,
    now: Timestamp,
    events: Vec<(Timestamp, Decimal)>,
    /// What credits have paid for, by the start of a price's period.
    drawn: BTreeMap<Timestamp, Decimal>,
    fired: BTreeSet<(AlertId, Timestamp, Decimal)>,
    /// The greatest values that there were.
    highest: BTreeMap<(AlertId, Timestamp), Decimal>,
}

fn price(index: usize, cadence: Cadence, minimum: Option<u32>, beyond: &str) -> Arc<Price> {
    let tier = |first: &str, last_unit: Option<&str>, each: &str| {
        Tier::new(number(first), last_unit.map(number), number(each))
    };
    let model =
        Model::Tiered(Tiered::new(vec![tier("0", Some("20"), "1"), tier("20", None, beyond)]));
    let item = ItemId::from_bytes([1; 16]);
    let new = NewPrice::builder(Name::parse("price").unwrap(), item).billed(cadence, usd());
    let mut new = new.charge(Charge::Usage { metric_id: METRIC, model });
    let minimum = minimum.map(|minimum| Decimal::from(u64::from(minimum)));
    new.adjustments = Adjustments { minimum, ..Adjustments::default() };
    let id = PriceId::from_bytes([u8::try_from(index).unwrap(); 16]);
    Arc::new(new.decide(id, None, day(0)).unwrap())
}

fn alert(id: AlertId, condition: Condition) -> Alert {
    let values = ["5", "12", "30", "60"].map(number).to_vec();
    let scope = Scope::Subscription {
        subscription_id: SubscriptionId::from_bytes([1; 16]),
        customer_id: CustomerId::from_bytes([1; 16]),
    };
    Alert {
        id,
        condition,
        thresholds: Some(Thresholds::new(values).unwrap()),
        threshold_overrides: Vec::new(),
        scope,
        enabled: true,
        created_at: day(0),
        balance_alert_status: Vec::new(),
    }
}

impl Story {
    fn new(terms: &Terms) -> Self {
        Self::priced(terms, "1.5")
    }

    /// The same with another amount of a unit behind the twentieth.
    fn priced(Terms(terms, shared): &Terms, beyond: &str) -> Self {
        let timezone = Zone::parse("Europe/Berlin").unwrap();
        let mut of = Subscription { timezone, ..sample::subscription() };
        let mut prices = Vec::new();
        for (index, (cadence, start, end, minimum)) in terms.iter().enumerate() {
            let price = price(index, *cadence, *minimum, beyond);
            let cut = Cut { start_date: day(*start), ..sample::cut(&of) };
            let id = PriceIntervalId::from_bytes([u8::try_from(index).unwrap(); 16]);
            let end_date = end.map(day);
            of.price_intervals.push(PriceInterval { id, end_date, ..cut.interval(&price) });
            of.adjustment_intervals.extend(cut.adjustments(&price));
            prices.push(price);
        }
        let shared =
            shared.iter().enumerate().map(|(place, (adjustment, start, end))| AdjustmentInterval {
                id: AdjustmentIntervalId::from_bytes([u8::try_from(place).unwrap(); 16]),
                adjustment: adjustment.clone(),
                price_ids: prices.iter().map(|price: &Arc<Price>| price.id).collect(),
                lane: Lane::FIRST,
                plan_version: PlanVersion::FIRST,
                coupon_id: None,
                is_trial: false,
                delayed_from: None,
                scope: None,
                start_date: day(*start),
                end_date: end.map(day),
            });
        of.adjustment_intervals.extend(shared);
        let card = Arc::new(RateCard::new(&of, prices));
        let mut entry = sample::entry(of);
        // Every part there will be, so that none has to begin.
        if !entry.subscription.has_one_grid() {
            entry.parts_until = billing_start_at(&entry, day(DAYS));
        }
        let mut story = Self {
            periods: Periods::new(entry.subscription.id, Vec::new(), BTreeMap::new(), Vec::new()),
            entry,
            card,
            now: day(0),
            events: Vec::new(),
            drawn: BTreeMap::new(),
            fired: BTreeSet::new(),
            highest: BTreeMap::new(),
        };
        story.periods = story.loaded();
        story
    }

    /// All billing periods, with nothing used.
    fn loaded(&self) -> Periods {
        let all = Timeframe::new(day(0), day(DAYS)).unwrap();
        let billing: Vec<_> = self.entry.subscription.periods().overlapping(all).collect();
        // As long ago as nothing is too old.
        let stretches = self.entry.stretches(&billing, day(0));
        let states = stretches.into_iter();
        let states = states
            .map(|(key, of)| (key, PeriodState::new(of, Total::default(), Stored::default())));
        let id = self.entry.subscription.id;
        let billing = billing.into_iter().map(|of| BillingPeriod::new(of, BTreeMap::new()));
        let mut periods = Periods::new(id, Vec::new(), states.collect(), billing.collect());
        let currency = PricingUnit::from(usd());
        periods.alerts = vec![
            alert(ON_USAGE, Condition::UsageExceeded { metric_id: METRIC }),
            alert(ON_COST, Condition::CostExceeded { currency: currency.clone() }),
        ];
        periods.draws_in = vec![currency];
        periods.rate(&self.card, self.now);
        periods
    }

    fn apply(&mut self, step: &Step) {
        let before = self.now;
        match step {
            Step::Event(ago, units) => {
                let ago = Duration::from_secs(ago * 86_400 + 1);
                let at = before.saturating_sub(ago).max(day(0));
                let units = Decimal::from(u64::from(*units));
                let amount = Amount::Plain(Aggregate::Sum(units.clone()));
                let reading = Reading { cell: METRIC.into(), meter: None, group: None, amount };
                let (key, readings, seen) = (key(self.events.len()), [reading], Seen::new());
                let change = Change::Event { at, key: &key, readings: &readings, seen: &seen };
                let effects = self.periods.advance(change);
                self.events.push((at, units));
                self.take(effects);
            }
            Step::Time(days) => {
                for _ in 0..*days {
                    self.now = self.now.saturating_add(Duration::from_secs(86_400)).min(day(DAYS));
                    self.turn(self.now);
                    self.check();
                }
            }
            Step::Watch => {
                let cause = Cause::Configuration { alert_id: ON_USAGE };
                let effects = self.periods.advance(Change::Watched { cause: &cause });
                self.take(effects);
            }
        }
    }

    fn turn(&mut self, at: Timestamp) {
        let mut next = self.periods.clone();
        next.rate(&self.card, at);
        let cause = Cause::Period { timestamp: at };
        let next = Change::Next { next: Box::new(next), cause: &cause };
        let effects = self.periods.advance(next);
        self.take(effects);
    }

    fn take(&mut self, effects: Effects) {
        for draw_down in effects.draw_downs {
            *self.drawn.entry(draw_down.period_start).or_default() += draw_down.amount();
        }
        for exceeded in effects.exceeded {
            let start = exceeded.timeframe.start();
            for threshold in exceeded.thresholds {
                let is_new = self.fired.insert((exceeded.alert.id, start, threshold));
                assert!(is_new, "a threshold fires once in a billing period");
            }
        }
    }

    fn used(&self, period: Timeframe, to: Timestamp) -> Option<Decimal> {
        let within = |at: &Timestamp| period.start() <= *at && *at < to;
        let events = self.events.iter().filter(|(at, _)| within(at));
        let mut sums = events.map(|(_, units)| units.clone()).peekable();
        sums.peek().is_some().then_some(())?;
        Some(sums.sum())
    }

    /// What the alerts watch in each billing period, as it is rated anew.
    fn values(&self) -> BTreeMap<(AlertId, Timestamp), Decimal> {
        let used = |period: Timeframe, to: Timestamp| {
            let mut total = Total::default();
            total.add(METRIC.into(), Aggregate::Sum(self.used(period, to)?));
            Some(Cow::Owned(total))
        };
        let mut values = BTreeMap::new();
        for billing in &self.periods.billing {
            let of = billing.timeframe;
            let lines = rate(&self.card, &used, &[of], self.now).remove(0);
            let cost = lines.iter().map(|line| line.total.clone()).sum();
            let value = self.used(of, of.end()).unwrap_or_default();
            let [on_usage, on_cost] = self.periods.alerts.as_slice() else { panic!() };
            values.extend([((on_usage.id, of.start()), value), ((on_cost.id, of.start()), cost)]);
        }
        values
    }

    /// Holds the state against what is rated anew, and what has fired against the values that were.
    fn check(&mut self) {
        let values = self.values();
        for (place, value) in &values {
            let highest = self.highest.entry(*place).or_default();
            *highest = highest.clone().max(value.clone());
        }
        for billing in &self.periods.billing {
            let [_, on_cost] = self.periods.alerts.as_slice() else { panic!() };
            let (start, found) = (billing.timeframe.start(), billing.cost(on_cost));
            assert_eq!(found.unwrap_or_default(), values[&(on_cost.id, start)], "{billing:?}");
        }
        for ((id, start), highest) in &self.highest {
            for threshold in ["5", "12", "30", "60"].map(number) {
                let has_fired = self.fired.contains(&(*id, *start, threshold.clone()));
                assert_eq!(has_fired, *highest >= threshold, "{id} of {start}: {highest}");
            }
        }
        let mut expect = BTreeMap::<_, Decimal>::new();
        let all = Timeframe::new(day(0), day(2 * DAYS)).unwrap();
        for interval in &self.card.intervals {
            for period in interval.periods_in(all) {
                let figure = self.used(period, period.end()).unwrap_or_default();
                let amount = interval.price.charge.model().amount(&Quantity::One(figure));
                *expect.entry(period.start()).or_default() += amount;
            }
        }
        let drawn = |of: &BTreeMap<Timestamp, Decimal>| -> Vec<_> {
            let some = of.iter().filter(|(_, amount)| **amount != Decimal::zero());
            some.map(|(start, amount)| (*start, amount.clone())).collect()
        };
        assert_eq!(drawn(&self.drawn), drawn(&expect));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// After anything, billing periods have come to what is rated, and every threshold that was reached has
    /// fired once; credits have paid for what usage costs.
    #[test]
    fn billing_periods_come_to_what_is_rated(
        terms in terms(),
        steps in prop::collection::vec(step(), 1..24),
    ) {
        let mut story = Story::new(&terms);
        for step in &steps {
            story.apply(step);
            story.check();
        }
    }

    /// Two changes at one instant leave the same in either order. Only a cost that adjustments spread over
    /// prices of several cadences may fall again when more is used, so that the thresholds it came by on its
    /// way depend on the order: they are held to its values above.
    #[test]
    fn changes_of_one_instant_have_one_outcome(
        terms in terms(),
        steps in prop::collection::vec(step(), 0..12),
        (one, other) in (step(), step()),
    ) {
        let mut story = Story::new(&terms);
        for step in &steps {
            story.apply(step);
            story.check();
        }
        let at_once = |step: &Step| match step {
            Step::Time(_) => Step::Time(0),
            other => other.clone(),
        };
        let outcome = |order: [&Step; 2]| {
            let mut story = story.clone();
            let soon = story.now.saturating_add(INSTANT).min(day(DAYS));
            for step in order {
                match at_once(step) {
                    Step::Time(_) => story.turn(soon),
                    step => story.apply(&step),
                }
            }
            // Whoever has not been told of the instant is now.
            story.turn(soon);
            let totals: Vec<_> = story.periods.states.into_values().map(|of| of.total).collect();
            let Terms(_, spread) = &terms;
            story.fired.retain(|(id, _, _)| spread.is_empty() || *id == ON_USAGE);
            (totals, story.drawn, story.fired)
        };
        prop_assert_eq!(outcome([&one, &other]), outcome([&other, &one]));
    }
}
