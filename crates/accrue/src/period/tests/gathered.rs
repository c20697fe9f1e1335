//! Events that billing periods take together, beside the same one by one.

use super::*;
use crate::{credit::DrawDown, subscription::Threshold};

impl Terms {
    /// Drops what may take off more of a cost that is more.
    fn without_adjustments(self) -> Self {
        let Self(prices, _) = self;
        let plain = |(cadence, start, end, _)| (cadence, start, end, None);
        Self(prices.into_iter().map(plain).collect(), Vec::new())
    }
}

/// Events of some days in one batch: what each adds to a sum, to a greatest value, or to what rises only
/// where it is of the kind.
fn amounts() -> impl Strategy<Value = Vec<(u64, Vec<(u8, Aggregate)>)>> {
    let of = |n: i32| Decimal::from(i64::from(n));
    let amount = prop_oneof![
        8 => (0_i32..13).prop_map(move |n| (7, Aggregate::Sum(of(n)))),
        1 => (-2_i32..0).prop_map(move |n| (7, Aggregate::Sum(of(n)))),
        3 => (0_u64..3).prop_map(|n| (8, Aggregate::Count(n))),
        2 => (0_i32..9).prop_map(move |n| (9, Aggregate::Max(of(n)))),
        1 => (0_i32..9).prop_map(move |n| (10, Aggregate::Min(of(n)))),
    ];
    prop::collection::vec((0_u64..9, prop::collection::vec(amount, 0..3)), 0..9)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Where billing periods take events together, they come to what they come to one by one: no alert
    /// fires on the way, and as much is drawn.
    #[test]
    fn events_that_are_taken_together_fire_nothing_and_draw_the_same_one_by_one(
        terms in prop_oneof![1 => terms(), 3 => terms().prop_map(Terms::without_adjustments)],
        on_cost: bool,
        draws: bool,
        threshold in prop::option::of(1_u64..60),
        gets_cheaper: bool,
        watched in 7_u8..12,
        events in amounts(),
        before in amounts(),
    ) {
        let mut story = Story::priced(&terms, if gets_cheaper { "0.1" } else { "1.5" });
        story.now = day(9);
        let watched = MetricId::from_bytes([watched; 16]);
        let on_usage = alert(ON_USAGE, Condition::UsageExceeded { metric_id: watched });
        let cost = Condition::CostExceeded { currency: PricingUnit::from(usd()) };
        let on_cost = on_cost.then(|| alert(ON_COST, cost));
        let mut periods = story.loaded();
        periods.draws_in.retain(|_| draws);
        periods.alerts = [on_usage].into_iter().chain(on_cost).collect();
        let current = periods.billing.iter().map(|of| of.timeframe).find(|of| of.contains(story.now));
        let threshold = threshold.zip(current);
        periods.threshold =
            threshold.map(|(amount, period)| Threshold::new(amount.into(), period, None));
        periods.rate(&story.card, story.now);
        let readings = |of: &[(u8, Aggregate)]| -> Vec<_> {
            let reading = |(metric, amount): &(u8, Aggregate)| Reading {
                cell: MetricId::from_bytes([*metric; 16]).into(),
                meter: None,
                group: None,
                amount: Amount::Plain(amount.clone()),
            };
            of.iter().map(reading).collect()
        };
        let one_by_one = |periods: &mut Periods, events: &[(u64, Vec<(u8, Aggregate)>)]| {
            let (mut exceeded, mut draw_downs) = (Vec::new(), Vec::new());
            let mut reached = Vec::new();
            for (days, amounts) in events {
                let (readings, seen) = (readings(amounts), Seen::new());
                let (at, key) = (day(*days), key(0));
                let change = Change::Event { at, key: &key, readings: &readings, seen: &seen };
                let effects = periods.advance(change);
                exceeded.extend(effects.exceeded);
                draw_downs.extend(effects.draw_downs);
                reached.extend(effects.reached);
            }
            (exceeded, draw_downs, reached)
        };
        let drawn = |draw_downs: &[DrawDown]| {
            let mut drawn = BTreeMap::<_, Decimal>::new();
            for DrawDown { period_start, prices, .. } in draw_downs {
                for of in prices {
                    *drawn.entry((*period_start, of.in_force)).or_default() += &of.amount;
                }
            }
            drawn
        };
        one_by_one(&mut periods, &before);
        let mut gathered = Gathered::new(&periods);
        for (days, amounts) in &events {
            gathered.add(day(*days), &readings(amounts));
        }
        if let Some((together, draw_downs)) = gathered.taken(story.now) {
            let (exceeded, drawn_one_by_one, reached) = one_by_one(&mut periods, &events);
            prop_assert!(exceeded.is_empty() && reached.is_empty());
            let evaluated = |of: &Periods| of.evaluated().map(|(_, evaluated)| evaluated);
            prop_assert_eq!(evaluated(&together), evaluated(&periods));
            prop_assert!(draw_downs.iter().all(|of| of.amount() > Decimal::zero()));
            prop_assert_eq!(drawn(&draw_downs), drawn(&drawn_one_by_one));
            for (one, other) in together.states.values().zip(periods.states.values()) {
                prop_assert_eq!((&one.total, one.has_moved), (&other.total, other.has_moved));
            }
            for alert in &periods.alerts {
                for index in 0..periods.billing.len() {
                    // Events before the start of a price are the first value of its cost where it is
                    // rated anew: zero.
                    let [one, other] =
                        [&together, &periods].map(|of| of.value(index, alert).unwrap_or_default());
                    prop_assert_eq!(one, other);
                }
            }
        }
    }
}

/// A week pays what it adds to a month that began before it: where units get cheaper, that falls with every
/// unit which is used before the week.
#[test]
fn an_alert_on_the_cost_of_a_difference_is_judged_event_by_event() {
    let week = Cadence::Custom(Cycle::Days(7));
    let fired = |cadences: &[Cadence]| {
        let terms = Terms(cadences.iter().map(|of| (*of, 0, None, None)).collect(), Vec::new());
        let mut periods = Story::priced(&terms, "0.1").loaded();
        periods.draws_in = Vec::new();
        periods.alerts.retain(|alert| alert.id == ON_COST);
        let reading = |units: u64| Reading {
            cell: METRIC.into(),
            meter: None,
            group: None,
            amount: Amount::Plain(Aggregate::Sum(Decimal::from(units))),
        };
        let one = |periods: &mut Periods, (at, units): (u64, u64)| {
            let (key, readings, seen) = (key(0), [reading(units)], Seen::new());
            let (at, key) = (day(at), &key);
            let change = Change::Event { at, key, readings: &readings, seen: &seen };
            periods.advance(change).exceeded.len()
        };
        one(&mut periods, (1, 16));
        let batch = [(8, 3), (2, 9)];
        let mut gathered = Gathered::new(&periods);
        batch.iter().for_each(|(at, units)| gathered.add(day(*at), &[reading(*units)]));
        let is_taken = gathered.taken(day(9)).is_some();
        (is_taken, batch.map(|event| one(&mut periods, event)))
    };
    assert_eq!(fired(&[week]), (true, [0, 0]));
    // Six for the three units, of which three are the month's: 0.3 once the month has 25 before the week.
    assert_eq!(fired(&[week, Cadence::Monthly]), (false, [1, 0]));
}
