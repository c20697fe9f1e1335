//! What cards of several cadences, with intervals that begin and end in mid-period, adjustments of one
//! price and of several, and quantities that move come to: held against a reading of the rules that
//! knows no groups, no steps and no shortcut. It takes the periods from the grid, whose own oracle is
//! beside it, and counts in whole numbers of 10^-10.

use std::cell::Cell;

use super::*;
use crate::time::INSTANT;

type Exact = i128;
const ONE: Exact = 10_000_000_000;

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) priced: Vec<Priced>,
    pub(super) adjusted: Vec<Adjusted>,
    /// The price, the day and the quantity.
    pub(super) events: Vec<(usize, u64, i32)>,
    now: u64,
}

/// Seats, or parts of them, that one day has added: their price for a whole period, what was charged for
/// them, and what each discount took off that.
#[derive(Clone, Default)]
struct Added {
    level: Exact,
    charged: Exact,
    off: Vec<Exact>,
}

/// Gives some of what was added last back, for an amount, with the share of its discounts: rounded once.
fn give_back(added: &mut Vec<Added>, level: Exact, amount: Exact, off: &mut [Exact]) {
    let mut left = level;
    let mut shares = vec![((0, 1), places(amount).max(2)); off.len()];
    while left != 0 {
        let mut last = added.pop().unwrap();
        let part = if left.abs() < last.level.abs() { left } else { last.level };
        for ((share, digits), own) in shares.iter_mut().zip(&last.off).filter(|(_, own)| **own != 0)
        {
            *digits = (*digits).max(places(*own));
            *share = plus(*share, times((part, level), (*own, last.charged)));
        }
        last.level -= part;
        left -= part;
        if last.level != 0 {
            added.push(last);
        }
    }
    for (sum, (share, digits)) in off.iter_mut().zip(shares) {
        let unit = 10_i128.pow(10 - digits);
        let (number, by) = times(share, (amount, unit));
        *sum += half_up(number, by) * unit;
    }
}

/// A fraction in its lowest terms, with a denominator above zero.
fn lowest((number, by): (Exact, Exact)) -> (Exact, Exact) {
    let (mut of, mut rest) = (number.abs(), by.abs());
    while rest != 0 {
        (of, rest) = (rest, of % rest);
    }
    let of = of.max(1) * by.signum();
    (number / of, by / of)
}

fn times(one: (Exact, Exact), other: (Exact, Exact)) -> (Exact, Exact) {
    let (one, other) = (lowest((one.0, other.1)), lowest((other.0, one.1)));
    lowest((one.0 * other.0, one.1 * other.1))
}

fn plus(one: (Exact, Exact), other: (Exact, Exact)) -> (Exact, Exact) {
    lowest((one.0 * other.1 + other.0 * one.1, one.1 * other.1))
}

/// How many digits a number has behind the point.
fn places(number: Exact) -> u32 {
    (0..=10).find(|places| number % 10_i128.pow(10 - places) == 0).unwrap()
}

fn cents(text: &Decimal) -> Exact {
    let text = text.to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{rest:0<10}");
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    whole.parse::<Exact>().unwrap() * ONE + sign * digits.parse::<Exact>().unwrap()
}

fn half_up(number: Exact, by: Exact) -> Exact {
    let sign = number.signum();
    sign * ((number.abs() * 2 + by) / (by * 2))
}

/// Shares out by largest remainder.
fn share_out(by: Exact, amounts: &[Exact]) -> Vec<Exact> {
    if let [_] = amounts {
        return vec![by];
    }
    let mut weights: Vec<_> = amounts.iter().map(|of| (*of).max(0)).collect();
    if weights.iter().all(|of| *of == 0) {
        weights = vec![ONE; amounts.len()];
    }
    let sum: Exact = weights.iter().sum();
    let unit = 10_i128.pow(10 - places(by).max(places(sum)).max(2));
    let mut shares: Vec<_> =
        weights.iter().map(|of| (by * of).div_euclid(sum * unit) * unit).collect();
    let lost = |place: usize, share: Exact| by * weights[place] - share * sum;
    while shares.iter().sum::<Exact>() < by {
        let most = (0..shares.len()).max_by_key(|at| (lost(*at, shares[*at]), usize::MAX - at));
        shares[most.unwrap()] += unit;
    }
    shares
}

impl Case {
    /// What the first so many events come to.
    pub(super) fn used<'a>(
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

    fn is_advance(&self, place: usize) -> bool {
        let charge = &self.priced[place].charge;
        matches!(charge, Charge::Fixed { billing_mode: BillingMode::InAdvance, .. })
    }

    /// Tells whether an adjustment reaches what falls due of a price at an instant.
    fn reaches(&self, of: &Adjusted, place: usize, due: Timestamp) -> bool {
        let (start, end) = (day(of.start), of.end.map_or(Timestamp::MAX, day));
        let is_in_force = match self.is_advance(place) {
            true => start <= due && due < end,
            false => start < due && due <= end,
        };
        of.prices.contains(&place) && is_in_force
    }

    /// The amount of a price in a period before adjustments that are shared, as of an instant: when something
    /// falls due, what that is by then, and what a whole period would come to.
    fn due(
        &self,
        card: &RateCard,
        place: usize,
        period: Timeframe,
        to: Timestamp,
    ) -> Vec<(Timestamp, Exact, Exact)> {
        let interval = &card.intervals[place];
        let now = day(self.now);
        let is_charged = |at: Timestamp| at <= now && at < to;
        match &self.priced[place].charge {
            Charge::Usage { model: Model::Unit(unit), .. } => {
                if to <= period.start() {
                    return Vec::new();
                }
                let own = self.events.iter().filter(|(of, at, _)| {
                    *of == place && period.contains(day(*at)) && day(*at) < to
                });
                let used: i32 = own.map(|(_, _, more)| more).sum();
                let off = self.adjusted.iter().filter(|of| self.reaches(of, place, period.end()));
                let off = off.filter_map(|of| match &of.adjustment {
                    Adjustment::Discount(Discount::Usage(units)) => Some(cents(units) / ONE),
                    _ => None,
                });
                let off: Vec<_> = off.collect();
                let used = Exact::from(used).max(0);
                let left =
                    if off.is_empty() { used } else { (used - off.iter().sum::<Exact>()).max(0) };
                let amount = left * cents(unit.unit_amount.number());
                vec![(period.end(), amount, amount)]
            }
            Charge::Fixed { model: Model::Unit(unit), billing_mode, .. } => {
                let quantity_at = |at: Timestamp| {
                    cents(interval.quantities.range(..=at).next_back().unwrap().1) / ONE
                };
                let whole = Exact::from(interval.days(period).whole);
                // What the quantity was on each day, were it to stay from an instant on.
                let amount = |stays: Timestamp| {
                    let mut daily = Vec::new();
                    let mut at = period.start();
                    while at < period.end() {
                        daily.push(quantity_at(at.min(stays)) * cents(unit.unit_amount.number()));
                        at = at.saturating_add(std::time::Duration::from_secs(86_400));
                    }
                    match daily.iter().all(|of| *of == daily[0])
                        && daily.len() == usize::try_from(whole).unwrap()
                    {
                        true => daily[0],
                        false => {
                            half_up(daily.iter().sum::<Exact>(), whole * ONE / 100) * ONE / 100
                        }
                    }
                };
                let changes = interval.quantities.keys().copied().filter(|at| period.contains(*at));
                let instants: std::collections::BTreeSet<_> =
                    changes.chain([period.start()]).collect();
                match billing_mode {
                    BillingMode::InAdvance => {
                        let charged = instants.into_iter().filter(|at| is_charged(*at));
                        let level = |at| quantity_at(at) * cents(unit.unit_amount.number());
                        charged.map(|at| (at, amount(at), level(at))).collect()
                    }
                    BillingMode::InArrear => {
                        let has_ended = period.end() <= to.min(now);
                        has_ended
                            .then(|| (period.end(), amount(period.end()), amount(period.end())))
                            .into_iter()
                            .collect()
                    }
                }
            }
            other => unreachable!("{other:?}"),
        }
    }

    fn discount(&self, of: &Adjusted, places: &[usize], amounts: &mut [Exact], due: Timestamp) {
        let reached: Vec<_> =
            (0..places.len()).filter(|at| self.reaches(of, places[*at], due)).collect();
        let positive: Exact = reached.iter().map(|at| amounts[*at].max(0)).sum();
        let percent = |of: &Fraction| cents(of.as_decimal());
        let off = match &of.adjustment {
            Adjustment::Discount(Discount::Percentage(fraction)) => {
                for at in reached {
                    amounts[at] -= amounts[at].max(0) * percent(fraction) / ONE;
                }
                return;
            }
            Adjustment::Discount(Discount::Amount(off)) => cents(off).min(positive),
            Adjustment::Discount(Discount::TieredPercentage(tiers)) => {
                let off = tiers.iter().map(|tier| {
                    let upper = tier.upper_bound.as_ref().map_or(positive, cents).min(positive);
                    (upper - cents(&tier.lower_bound)).max(0) * percent(&tier.percentage) / ONE
                });
                off.sum()
            }
            _ => return,
        };
        self.spread(-off, &reached, amounts);
    }

    fn spread(&self, by: Exact, reached: &[usize], amounts: &mut [Exact]) {
        if by == 0 || reached.is_empty() {
            return;
        }
        let before: Vec<_> = reached.iter().map(|at| amounts[*at]).collect();
        for (at, share) in reached.iter().zip(share_out(by, &before)) {
            amounts[*at] += share;
        }
    }

    fn ordered(&self) -> Vec<&Adjusted> {
        let mut all: Vec<_> = self.adjusted.iter().enumerate().collect();
        all.sort_by_key(|(place, of)| {
            (rank(&of.adjustment), of.prices.len() > 1, of.start, *place)
        });
        all.into_iter().map(|(_, of)| of).collect()
    }

    /// What each price has come to up to an instant, all of its life.
    fn cumulative(&self, card: &RateCard, to: Timestamp) -> Vec<Exact> {
        let mut sums = vec![0; self.priced.len()];
        let life = span_of(day(0), day(400));
        // What falls due together, of one cadence and mode.
        let mut together = BTreeMap::<_, Vec<(usize, Timeframe)>>::new();
        for place in 0..self.priced.len() {
            for period in card.intervals[place].periods_in(life) {
                let is_advance = self.is_advance(place);
                let due = if is_advance { period.start() } else { period.end() };
                let cadence = format!("{:?}", self.priced[place].cadence);
                together.entry((due, is_advance, cadence)).or_default().push((place, period));
            }
        }
        for ((first_due, _, _), members) in together {
            let places: Vec<_> = members.iter().map(|(place, _)| *place).collect();
            let charges: Vec<_> =
                members.iter().map(|(place, period)| self.due(card, *place, *period, to)).collect();
            let instants: std::collections::BTreeSet<_> =
                charges.iter().flatten().map(|(at, ..)| *at).collect();
            let mut amounts = vec![0; places.len()];
            let as_of = |at: Timestamp| {
                let latest = |of: &Vec<(Timestamp, Exact, Exact)>| {
                    of.iter().rfind(|(due, ..)| *due <= at).map_or((0, 0), |of| (of.1, of.2))
                };
                charges.iter().map(latest).collect::<Vec<_>>()
            };
            let mut added = vec![Vec::<Added>::new(); places.len()];
            for at in instants {
                let (after, before) = (as_of(at), as_of(at.saturating_sub(INSTANT)));
                let fall = |place: usize| before[place].1 - after[place].1;
                let falls = |place: usize| fall(place) * before[place].1 > 0;
                let mut from: Vec<_> = before.iter().map(|of| of.0).collect();
                let mut to: Vec<_> = (0..places.len())
                    .map(|place| if falls(place) { from[place] } else { after[place].0 })
                    .collect();
                let mut off = vec![Vec::new(); places.len()];
                for of in self.ordered() {
                    let was: Vec<_> = to.iter().zip(&from).map(|(to, from)| to - from).collect();
                    self.discount(of, &places, &mut from, at);
                    self.discount(of, &places, &mut to, at);
                    for (place, off) in off.iter_mut().enumerate() {
                        off.push(to[place] - from[place] - was[place]);
                    }
                }
                for (place, own) in off.iter_mut().enumerate() {
                    let amount = after[place].0 - before[place].0;
                    let (rest, level) = (&mut added[place], -fall(place));
                    if level == 0 || falls(place) {
                        let last = rest.last_mut().map(|last| &mut last.off);
                        last.into_iter().flatten().zip(&*own).for_each(|(sum, off)| *sum += off);
                    } else {
                        rest.push(Added { level, charged: amount, off: own.clone() });
                    }
                    if falls(place) {
                        give_back(rest, -level, amount, own);
                    }
                    amounts[place] += amount + own.iter().sum::<Exact>();
                }
            }
            for of in self.ordered() {
                let reached: Vec<_> = (0..places.len())
                    .filter(|at| self.reaches(of, places[*at], first_due))
                    .collect();
                let periods = reached.iter().map(|at| members[*at].1);
                let Some(start) = periods.clone().map(|of| of.start()).min() else { continue };
                let end = periods.map(|of| of.end()).max().unwrap();
                let days = card.intervals[places[0]].days(span_of(start, end));
                let bound = |of: &Decimal| {
                    half_up(cents(of) * Exact::from(days.part), Exact::from(days.whole) * ONE / 100)
                        * ONE
                        / 100
                };
                let bound =
                    |of: &Decimal| if days.part == days.whole { cents(of) } else { bound(of) };
                let sum: Exact = reached.iter().map(|at| amounts[*at]).sum();
                match &of.adjustment {
                    Adjustment::Minimum(least) if end <= to.min(day(self.now)) => {
                        self.spread((bound(least) - sum).max(0), &reached, &mut amounts);
                    }
                    Adjustment::Maximum(most) => {
                        self.spread((bound(most) - sum).min(0), &reached, &mut amounts);
                    }
                    _ => {}
                }
            }
            for (place, amount) in places.iter().zip(amounts) {
                sums[*place] += amount;
            }
        }
        sums
    }
}

fn rank(adjustment: &Adjustment) -> u8 {
    match adjustment {
        Adjustment::Discount(Discount::Usage(_)) => 0,
        Adjustment::Discount(Discount::Amount(_)) => 1,
        Adjustment::Discount(Discount::Percentage(_)) => 2,
        Adjustment::Discount(Discount::TieredPercentage(_)) => 3,
        Adjustment::Minimum(_) => 4,
        Adjustment::Maximum(_) => 5,
    }
}

fn priced() -> impl Strategy<Value = Vec<Priced>> {
    let unit = || (-50_i32..400).prop_map(|of| Unit::new(number(&format!("{of}e-2"))));
    let fee = move |billing_mode| {
        (unit(), 0_u32..4).prop_map(move |(unit, of)| {
            let quantity = Decimal::from(u64::from(of));
            Charge::Fixed { quantity, model: Model::Unit(unit), billing_mode }
        })
    };
    let metered =
        unit().prop_map(|unit| Charge::Usage { metric_id: METRIC, model: Model::Unit(unit) });
    let charge = prop_oneof![3 => metered, 1 => fee(BillingMode::InAdvance), 1 => fee(BillingMode::InArrear)];
    let cadence = prop::sample::select(vec![
        Cadence::Monthly,
        Cadence::Monthly,
        Cadence::Quarterly,
        Cadence::Custom(Cycle::Days(11)),
    ]);
    let quantities = prop::collection::btree_map(0_u64..90, 0_u32..5, 0..3);
    let life = (prop_oneof![Just(0), 0_u64..60], prop::option::of(1_u64..60), any::<bool>());
    let one = (charge, cadence, life, quantities);
    let one = one.prop_map(|(charge, cadence, (start, life, can_defer), quantities)| {
        let quantities = quantities.into_iter().filter(|(at, _)| *at > start).collect();
        Priced { charge, cadence, start, end: life.map(|life| start + life), quantities, can_defer }
    });
    // Each has a metric of its own.
    prop::collection::vec(one, 1..5).prop_map(|mut all| {
        for (place, of) in all.iter_mut().enumerate() {
            if let Charge::Usage { metric_id, .. } = &mut of.charge {
                *metric_id = MetricId::from_bytes([u8::try_from(place).unwrap() + 1; 16]);
            }
        }
        all
    })
}

fn adjusted() -> impl Strategy<Value = Adjusted> {
    let number = |of: u32| number(&format!("{of}e-2"));
    let fraction = || {
        prop::sample::select(vec!["0.5", "0.1", "0.25"]).prop_map(|of| Fraction::parse(of).unwrap())
    };
    let tiers = (fraction(), fraction(), 1_u32..20_000).prop_map(move |(one, other, end)| {
        let tier = |lower_bound, upper_bound, percentage| DiscountTier {
            lower_bound,
            upper_bound,
            percentage,
        };
        let first = tier(Decimal::zero(), Some(number(end)), one);
        Discount::TieredPercentage(vec![first, tier(number(end), None, other)])
    });
    let adjustment = prop_oneof![
        (1_u64..30).prop_map(|of| Adjustment::Discount(Discount::Usage(Decimal::from(of)))),
        (1_u32..9_000).prop_map(move |of| Adjustment::Discount(Discount::Amount(number(of)))),
        fraction().prop_map(|of| Adjustment::Discount(Discount::Percentage(of))),
        tiers.prop_map(Adjustment::Discount),
        (1_u32..30_000).prop_map(move |of| Adjustment::Minimum(number(of))),
        (1_u32..30_000).prop_map(move |of| Adjustment::Maximum(number(of))),
    ];
    let prices = prop::collection::btree_set(0_usize..4, 1..4);
    let term = (prop_oneof![Just(0), 0_u64..70], prop::option::of(1_u64..60));
    (adjustment, prices, term).prop_map(|(adjustment, prices, (start, life))| Adjusted {
        adjustment,
        prices: prices.into_iter().collect(),
        start,
        end: life.map(|life| start + life),
    })
}

pub(super) fn case() -> impl Strategy<Value = Case> {
    let events = prop::collection::vec((0_usize..4, 0_u64..100, -5_i32..60), 0..12);
    let adjusted = prop::collection::vec(adjusted(), 0..5);
    (priced(), adjusted, events, 0_u64..130).prop_map(|(priced, mut adjusted, mut events, now)| {
        for of in &mut adjusted {
            of.prices.retain(|place| *place < priced.len());
            // Units are taken off one price each (price models 7.5).
            if matches!(of.adjustment, Adjustment::Discount(Discount::Usage(_))) {
                of.prices.truncate(1);
            }
        }
        // Two percentages and two bands have more digits than are counted here.
        let mut seen = std::collections::BTreeMap::<u8, u32>::new();
        adjusted.retain(|of| {
            let count = seen.entry(rank(&of.adjustment)).or_default();
            *count += 1;
            !of.prices.is_empty() && (*count == 1 || !matches!(rank(&of.adjustment), 2 | 3))
        });
        events.retain(|(place, ..)| *place < priced.len());
        Case { priced, adjusted, events, now }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever the terms and wherever the cuts are, lines are as by the rules, and what follows usage event
    /// by event comes to the same.
    #[test]
    fn lines_equal_an_independent_oracle(
        case in case(),
        cuts in prop::collection::btree_set(0_u64..130, 1..5),
    ) {
        let card = several(&case.priced, &case.adjusted);
        let bounds: Vec<_> = cuts.into_iter().map(day).chain([day(140)]).collect();
        let slots: Vec<_> = bounds.windows(2).map(|of| span_of(of[0], of[1])).collect();
        let now = day(case.now);
        let known = Cell::new(0);
        let used = case.used(&card, &known);
        let mut running: Vec<_> =
            slots.iter().map(|slot| Running::new(Arc::clone(&card), *slot, &used, now)).collect();
        for (place, at, _) in &case.events {
            known.set(known.get() + 1);
            let own = card.intervals[*place].figures.places();
            let moved: Vec<_> = own.iter().map(in_group).collect();
            running.iter_mut().for_each(|of| drop(of.follow(day(*at), &moved, &used)));
        }
        let rated = rate(&card, &used, &slots, now);
        let totals = |at: Timestamp| case.cumulative(&card, at);
        for ((slot, lines), running) in slots.iter().zip(&rated).zip(&running) {
            let (before, after) = (totals(slot.start()), totals(slot.end()));
            for (place, line) in lines.iter().enumerate() {
                prop_assert_eq!(cents(&line.total), after[place] - before[place], "{} of {:?}", place, slot);
                let (_, amounts) = running.lines().nth(place).unwrap();
                if let Some(total) = &amounts.total {
                    prop_assert_eq!(total, &line.total, "{} of {:?}", place, slot);
                } else {
                    prop_assert!(line.total.is_zero() || line.charges == 0, "{} of {:?}", place, slot);
                }
            }
        }
    }
}
