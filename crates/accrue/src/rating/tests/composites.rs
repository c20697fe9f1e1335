//! Prices of what others come to: what they come to themselves, and what follows them event by event.

use std::cell::Cell;

use super::*;
use crate::price::{MinimumComposite, Percent};

/// Prices of which the last two are composite, what was used of them, and when that is asked.
#[derive(Clone, Debug)]
struct Case {
    priced: Vec<Priced>,
    /// A minimum that the first usage and a composite price share.
    shared: Option<u32>,
    /// The price, the day and the quantity.
    events: Vec<(usize, u64, i32)>,
    now: u64,
}

fn cadence() -> impl Strategy<Value = Cadence> {
    prop::sample::select(vec![
        Cadence::Monthly,
        Cadence::Quarterly,
        Cadence::Custom(Cycle::Days(9)),
        Cadence::Monthly,
    ])
}

fn priced(charge: impl Strategy<Value = Charge>) -> impl Strategy<Value = Priced> {
    let dates = (0_u64..30, prop::option::of(30_u64..90));
    let quantities = prop::collection::btree_map(0_u64..90, 0_u32..4, 0..3);
    (charge, cadence(), dates, any::<bool>(), quantities).prop_map(
        |(charge, cadence, (start, end), is_whole, quantities)| {
            let (start, end) = if is_whole { (0, None) } else { (start, end) };
            let quantities = quantities.into_iter().filter(|(at, _)| start < *at).collect();
            Priced { charge, cadence, start, end, quantities, can_defer: false }
        },
    )
}

fn fees() -> impl Strategy<Value = Charge> {
    (any::<bool>(), -5_i32..40).prop_map(|(in_advance, amount)| {
        let mode = if in_advance { BillingMode::InAdvance } else { BillingMode::InArrear };
        fee(&amount.to_string(), mode)
    })
}

fn composites() -> impl Strategy<Value = Charge> {
    let bound = || prop::option::of(0_u32..40);
    (any::<bool>(), 1_u32..=10, bound(), bound(), any::<bool>()).prop_map(
        |(is_percent, tenths, least, more, prorated)| {
            let written = |of: u32| Decimal::from(u64::from(of)).into();
            let model = if is_percent {
                Model::Percent(Percent {
                    percent: number(&format!("{tenths}e-1")),
                    minimum_amount: least.map(written),
                    maximum_amount: more.map(|more| written(more + least.unwrap_or_default())),
                    prorated,
                })
            } else {
                let minimum_amount = written(least.unwrap_or(30));
                Model::MinimumComposite(MinimumComposite { minimum_amount, prorated })
            };
            Charge::Composite { model }
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let usage = || model().prop_map(|model| Charge::Usage { metric_id: METRIC, model });
    let prices = (
        [priced(usage()), priced(usage())],
        [priced(fees()), priced(fees())],
        [priced(composites()), priced(composites())],
    );
    let events = prop::collection::vec((0_usize..2, 0_u64..90, -10_i32..40), 0..8);
    (prices, prop::option::of(0_u32..60), events, 0_u64..100).prop_map(
        |((usage, fees, composites), shared, events, now)| {
            let priced = usage.into_iter().chain(fees).chain(composites).collect();
            Case { priced, shared, events, now }
        },
    )
}

impl Case {
    fn card(&self) -> Arc<RateCard> {
        let minimum = self.shared.map(|of| Adjusted {
            adjustment: Adjustment::Minimum(Decimal::from(u64::from(of))),
            prices: vec![0, 4],
            start: 0,
            end: None,
        });
        several(&self.priced, &minimum.into_iter().collect::<Vec<_>>())
    }

    /// What the first so many events come to.
    fn used<'a>(
        &'a self,
        card: &'a RateCard,
        known: &'a Cell<usize>,
    ) -> impl Fn(Timeframe, Timestamp) -> Option<Cow<'a, Total>> + 'a {
        |period, to| {
            let mut total = Total::default();
            let own = self.events.iter().take(known.get());
            own.filter(|(_, at, _)| period.contains(day(*at)) && day(*at) < to)
                .for_each(|(place, _, more)| add(&mut total, &card.intervals[*place], *more));
            Some(Cow::Owned(total))
        }
    }

    /// What a composite price has come to by an instant in one of its periods: the other prices rated one by one,
    /// over what falls due in it.
    fn slow(&self, place: usize, period: Timeframe, to: Timestamp) -> Decimal {
        if to <= period.start() {
            return Decimal::zero();
        }
        let now = day(self.now);
        let to = to.min(period.end());
        let mut base = Decimal::zero();
        for other in 0..4 {
            let card = several(&self.priced[..4], &[]);
            let known = Cell::new(self.events.len());
            let used = self.used(&card, &known);
            let subtotal = |start: Timestamp, end: Timestamp| {
                let lines = rate_one(&card, &used, span_of(start, end), now);
                lines[other].subtotal.clone()
            };
            if other >= 2 {
                base += subtotal(period.start(), to);
                continue;
            }
            for own in card.intervals[other].periods_in(period) {
                if own.end() <= period.end() && own.start() < to {
                    base += subtotal(own.start(), to.min(own.end()));
                }
            }
        }
        let days = self.card().intervals[place].days(period);
        let has_ended = period.end() <= to.min(now);
        match self.priced[place].charge.model() {
            Model::Percent(of) => {
                let mut amount = (base * &of.percent).max(Decimal::zero());
                if let Some(least) = of.minimum_amount.as_ref().filter(|_| has_ended) {
                    let least = match of.prorated {
                        true => least.number().prorate(days.part, days.whole, 2),
                        false => least.number().clone(),
                    };
                    amount = amount.max(least);
                }
                match &of.maximum_amount {
                    Some(most) => amount.min(most.number().clone()),
                    None => amount,
                }
            }
            Model::MinimumComposite(of) if has_ended => {
                let least = match of.prorated {
                    true => of.minimum_amount.number().prorate(days.part, days.whole, 2),
                    false => of.minimum_amount.number().clone(),
                };
                (least - base).max(Decimal::zero())
            }
            Model::MinimumComposite(_) => Decimal::zero(),
            other => unreachable!("{other:?}"),
        }
    }
}

proptest! {
    #[test]
    fn price_models_6_composites_see_what_other_prices_come_to(
        case in case(),
        (start, more) in (0_u64..60, 1_u64..40),
    ) {
        let (card, known) = (case.card(), Cell::new(case.events.len()));
        let used = case.used(&card, &known);
        let [start, end] = [start, start + more].map(day);
        let lines = rate_one(&card, &used, span_of(start, end), day(case.now));
        for place in [4, 5] {
            let periods = card.intervals[place].periods_in(span_of(start, end)).into_iter();
            let expect: Decimal = periods
                .map(|period| case.slow(place, period, end) - case.slow(place, period, start))
                .sum();
            prop_assert_eq!(&lines[place].subtotal, &expect, "{}", place);
        }
    }

    /// Event by event, in whichever order they come.
    #[test]
    fn price_models_6_what_follows_composites_comes_to_what_is_rated(
        case in case(),
        month in 0_usize..3,
    ) {
        let (card, known) = (case.card(), Cell::new(0));
        let used = case.used(&card, &known);
        let months = ["2026-03-10", "2026-04-01", "2026-05-01", "2026-06-01"];
        let [start, end] = [month, month + 1].map(|of| at(&format!("{}T00:00:00Z", months[of])));
        let (timeframe, now) = (span_of(start, end), day(case.now));
        let mut running = Running::new(Arc::clone(&card), timeframe, &used, now);
        for (event, (place, at, _)) in case.events.iter().enumerate() {
            known.set(event + 1);
            let places = card.intervals[*place].figures.places();
            let moved: Vec<_> = places.iter().map(in_group).collect();
            running.follow(day(*at), &moved, &used);
            let lines = rate_one(&card, &used, timeframe, now);
            for (place, (_, amounts)) in running.lines().enumerate() {
                let found = amounts.subtotal.clone().unwrap_or_default();
                prop_assert_eq!(&found, &lines[place].subtotal, "{}", place);
                let found = amounts.total.clone().unwrap_or_default();
                prop_assert_eq!(&found, &lines[place].total, "{}", place);
            }
            for place in [4, 5] {
                let (_, amounts) = running.lines().nth(place).unwrap();
                let expect = lines[place].amounts();
                prop_assert_eq!(&amounts.subtotal, &expect.subtotal);
                prop_assert_eq!(&amounts.spent, &expect.spent);
            }
        }
    }

    #[test]
    fn price_models_6_timeframes_of_composites_that_adjoin_add_up(
        case in case(),
        cuts in prop::collection::btree_set(1_u64..90, 0..5),
    ) {
        let (card, known) = (case.card(), Cell::new(case.events.len()));
        let used = case.used(&card, &known);
        let bounds: Vec<_> = [0].into_iter().chain(cuts).chain([90]).map(day).collect();
        let slots: Vec<_> = bounds.windows(2).map(|of| span_of(of[0], of[1])).collect();
        let now = day(case.now);
        let whole = rate_one(&card, &used, span_of(day(0), day(90)), now);
        let parts = rate(&card, &used, &slots, now);
        for (place, whole) in whole.iter().enumerate() {
            let sum: Decimal = parts.iter().map(|lines| lines[place].total.clone()).sum();
            prop_assert_eq!(&sum, &whole.total);
        }
    }
}

#[test]
fn subscriptions_9_4_5_composites_see_no_composites_and_no_other_currency() {
    let usage = |amount| {
        let model = Model::Unit(Unit::new(number(amount)));
        Charge::Usage { metric_id: METRIC, model }
    };
    let percent = || Charge::Composite { model: Model::Percent(Percent::new(number("0.1"))) };
    let monthly = |charge| Priced {
        charge,
        cadence: Cadence::Monthly,
        start: 0,
        end: None,
        quantities: BTreeMap::new(),
        can_defer: false,
    };
    let mut card = several(&[usage("2"), usage("5"), percent(), percent()].map(monthly), &[]);
    let other = &mut Arc::make_mut(&mut card).intervals[1];
    Arc::make_mut(&mut other.price).currency = Currency::parse("EUR").unwrap().into();
    let used = |_: Timeframe, _: Timestamp| metric(Decimal::from(100));
    let april = span("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z");
    let lines = rate_one(&card, &used, april, april.end());
    let subtotals: Vec<_> = lines.iter().map(|of| of.subtotal.to_string()).collect();
    assert_eq!(subtotals, ["200", "500", "20", "20"]);
}
