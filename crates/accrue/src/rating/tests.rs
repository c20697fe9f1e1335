//! The rater: what it makes of hand-made cards, and what follows it event by event.

mod adjustments;
mod composites;
mod conversion;
mod due;
mod groups;
mod models;
mod oracle;

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;

use self::{
    conversion::{conversion_rate, converted},
    models::model,
};
use super::*;
use crate::{
    AdjustmentIntervalId, Currency, Decimal, Fraction, ItemId, MetricId, Name, PriceId,
    PropertyName,
    meter::{CellId, InGroup, MeterId, Values},
    price::{
        Adjustment, Adjustments, BillingMode, Bulk, BulkTier, Cadence, Charge, Cycle, Discount,
        DiscountTier, Matrix, MatrixCell, Model, NewPrice, Package, Tier, Tiered, Unit,
    },
    subscription::{
        AdjustmentInterval, BillingAnchor, Cut, Lane, PriceInterval,
        sample::{cut, subscription},
    },
    usage::{Aggregate, Total},
};

/// A cell, with its group where it is of one.
type Place = (CellId, Option<(MeterId, Values)>);

fn in_group((cell, group): &Place) -> InGroup<'_> {
    InGroup { cell: *cell, group: group.as_ref().map(|(meter, values)| (*meter, values)) }
}

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn span(start: &str, end: &str) -> Timeframe {
    Timeframe::new(at(start), at(end)).unwrap()
}

fn price(charge: Charge, cadence: Cadence, adjustments: Adjustments) -> Arc<crate::price::Price> {
    let usd = Currency::parse("USD").unwrap();
    let item = ItemId::from_bytes([1; 16]);
    let name = Name::parse("price").unwrap();
    let mut new = NewPrice::builder(name, item).billed(cadence, usd).charge(charge);
    new.adjustments = adjustments;
    Arc::new(new.decide(PriceId::from_bytes([1; 16]), None, at("2026-03-01T00:00:00Z")).unwrap())
}

const METRIC: MetricId = MetricId::from_bytes([7; 16]);

fn card(charge: Charge, cadence: Cadence, adjustments: Adjustments) -> Arc<RateCard> {
    let (price, mut of) = (price(charge, cadence, adjustments), subscription());
    let cut = cut(&of);
    let (interval, adjustments) = (cut.interval(&price), cut.adjustments(&price).collect());
    of.price_intervals.push(interval);
    of.adjustment_intervals = adjustments;
    Arc::new(RateCard::new(&of, vec![price]))
}

/// A price of several, while it is in force; a fee has other quantities from some days on.
#[derive(Clone, Debug)]
struct Priced {
    charge: Charge,
    cadence: Cadence,
    start: u64,
    end: Option<u64>,
    quantities: BTreeMap<u64, u32>,
    can_defer: bool,
}

/// An adjustment of some of the prices, from one day up to another.
#[derive(Clone, Debug)]
struct Adjusted {
    adjustment: Adjustment,
    prices: Vec<usize>,
    start: u64,
    end: Option<u64>,
}

fn price_id(place: usize) -> PriceId {
    PriceId::from_bytes([u8::try_from(place).unwrap() + 1; 16])
}

fn several(priced: &[Priced], adjusted: &[Adjusted]) -> Arc<RateCard> {
    let mut of = subscription();
    let mut prices = Vec::new();
    for (place, own) in priced.iter().enumerate() {
        let mut price = price(own.charge.clone(), own.cadence, Adjustments::default());
        Arc::make_mut(&mut price).id = price_id(place);
        let cut = Cut { start_date: day(own.start), ..cut(&of) };
        let mut interval = cut.interval(&price);
        interval.end_date = own.end.map(day);
        interval.can_defer_billing = own.can_defer;
        let later = own.quantities.iter().map(|(at, of)| (day(*at), Decimal::from(u64::from(*of))));
        if interval.is_fee() {
            interval.quantities.extend(later);
        }
        of.price_intervals.push(interval);
        prices.push(price);
    }
    let adjusted = adjusted.iter().enumerate().map(|(place, own)| AdjustmentInterval {
        id: AdjustmentIntervalId::from_bytes([u8::try_from(place).unwrap(); 16]),
        adjustment: own.adjustment.clone(),
        price_ids: own.prices.iter().map(|place| price_id(*place)).collect(),
        lane: Lane::FIRST,
        plan_version: of.plan_version,
        coupon_id: None,
        is_trial: false,
        delayed_from: None,
        scope: None,
        start_date: day(own.start),
        end_date: own.end.map(day),
    });
    of.adjustment_intervals = adjusted.collect();
    Arc::new(RateCard::new(&of, prices))
}

fn fee(unit_amount: &str, billing_mode: BillingMode) -> Charge {
    let model = Model::Unit(Unit::new(number(unit_amount)));
    Charge::Fixed { quantity: Decimal::from(1), model, billing_mode }
}

/// What a card comes to in one timeframe.
fn rate_one(card: &RateCard, used: &Used<'_>, timeframe: Timeframe, now: Timestamp) -> Vec<Line> {
    rate(card, used, &[timeframe], now).remove(0)
}

fn nothing<'a>(_: Timeframe, _: Timestamp) -> Option<Cow<'a, Total>> {
    None
}

/// Adds to the figures of an interval.
fn add(total: &mut Total, interval: &RatedInterval, more: i32) {
    for own in interval.figures.places() {
        total.add_in(in_group(&own), Aggregate::Sum(number(&more.to_string())));
    }
}

/// A total of so much of the metric.
fn metric<'a>(figure: Decimal) -> Option<Cow<'a, Total>> {
    let mut total = Total::default();
    total.add(METRIC.into(), Aggregate::Sum(figure));
    Some(Cow::Owned(total))
}

#[test]
fn fees_fall_on_the_start_or_the_end_of_their_period() {
    let check = |mode, timeframe: Timeframe, now: &str, expect: Option<&str>| {
        let card = card(fee("31", mode), Cadence::Monthly, Adjustments::default());
        let lines = rate_one(&card, &nothing, timeframe, at(now));
        assert_eq!(lines[0].amounts().total, expect.map(number), "{mode:?} {timeframe:?} {now}");
    };
    let (first, march) = ("2026-03-10T00:00:00Z", "2026-03-15T00:00:00Z");
    let (april, may) = ("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z");
    // The first period has 22 of 31 days.
    check(BillingMode::InAdvance, span(first, april), first, Some("22"));
    check(BillingMode::InAdvance, span(march, april), may, None);
    check(BillingMode::InAdvance, span(april, may), march, None);
    check(BillingMode::InAdvance, span(first, may), may, Some("53"));
    check(BillingMode::InArrear, span(first, april), march, None);
    check(BillingMode::InArrear, span(first, april), april, Some("22"));
    check(BillingMode::InArrear, span(april, may), april, None);
    check(BillingMode::InArrear, span(march, may), may, Some("53"));
}

#[test]
fn a_minimum_falls_on_the_end_and_has_the_days_of_its_period() {
    let model = Model::Unit(Unit::new(number("0.5")));
    let charge = Charge::Usage { metric_id: METRIC, model };
    let adjustments = Adjustments { minimum: Some(number("31")), ..Adjustments::default() };
    let card = card(charge, Cadence::Monthly, adjustments);
    let used = |_: Timeframe, _: Timestamp| metric(Decimal::from(10));
    let (first, end) = ("2026-03-10T00:00:00Z", "2026-04-01T00:00:00Z");
    let check = |used: &Used<'_>, now: &str, subtotal: Option<&str>, total: Option<&str>| {
        let amounts = rate_one(&card, used, span(first, end), at(now))[0].amounts();
        let [subtotal, total] = [subtotal, total].map(|of| of.map(number));
        let expect = Amounts { spent: subtotal.clone(), subtotal, total, in_tiers: None };
        assert_eq!(amounts, expect);
    };
    check(&used, "2026-03-31T23:59:59Z", Some("5"), Some("5"));
    check(&used, end, Some("5"), Some("22"));
    check(&nothing, "2026-03-31T23:59:59Z", None, None);
    check(&nothing, end, None, Some("22"));
}

fn adjustments() -> impl Strategy<Value = Adjustments> {
    let half = || Fraction::parse("0.5").unwrap();
    let bands = prop::option::of((1_u32..30).prop_map(move |end| {
        let end = Decimal::from(u64::from(end));
        let tier = |lower_bound, upper_bound, percentage| DiscountTier {
            lower_bound,
            upper_bound,
            percentage,
        };
        let first = tier(Decimal::zero(), Some(end.clone()), half());
        let last = tier(end, None, Fraction::parse("0.25").unwrap());
        Discount::TieredPercentage(vec![first, last])
    }));
    let off = || prop::option::of((0_u32..20).prop_map(|off| Decimal::from(u64::from(off))));
    let bound = || prop::option::of((0_u32..60).prop_map(|of| Decimal::from(u64::from(of))));
    (bands, off(), off(), any::<bool>(), bound(), bound()).prop_map(
        move |(bands, amount, units, is_halved, minimum, more)| {
            let mut discounts: Vec<_> = bands.into_iter().collect();
            discounts.extend(is_halved.then(|| Discount::Percentage(half())));
            discounts.extend(amount.map(Discount::Amount));
            discounts.extend(units.map(Discount::Usage));
            let least = minimum.clone().unwrap_or_default();
            Adjustments { discounts, minimum, maximum: more.map(|more| more + least) }
        },
    )
}

/// The midnight so many days after the subscription's start.
fn day(n: u64) -> Timestamp {
    at("2026-03-10T00:00:00Z").saturating_add(std::time::Duration::from_secs(n * 86_400))
}

#[test]
fn timeframes_need_not_adjoin() {
    let tier = |first: &str, last_unit: Option<&str>, each: &str| {
        Tier::new(number(first), last_unit.map(number), number(each))
    };
    let tiers = vec![tier("0", Some("60"), "1"), tier("60", None, "2")];
    let charge = Charge::Usage { metric_id: METRIC, model: Model::Tiered(Tiered::new(tiers)) };
    let card = card(charge, Cadence::Quarterly, Adjustments::default());
    // One unit a day.
    let used = |period: Timeframe, to: Timestamp| {
        let days = to.to_jiff().duration_since(period.start().to_jiff()).as_hours() / 24;
        metric(Decimal::from(days))
    };
    let days = |from, to| Timeframe::new(day(from), day(to)).unwrap();
    // The first quarter ends with May: 83 days.
    let timeframes = [days(5, 10), days(50, 70), days(70, 75), days(100, 110)];
    let lines = rate(&card, &used, &timeframes, day(200));
    let amounts: Vec<_> = lines.iter().map(|of| of[0].subtotal.to_string()).collect();
    assert_eq!(amounts, ["5", "30", "10", "10"]);
}

proptest! {
    /// The shortcut of each model, with all adjustments: whatever is used, and however long the price's
    /// periods are, it comes to what is rated.
    #[test]
    fn what_follows_usage_comes_to_what_is_rated(
        model in model(),
        mut adjustments in adjustments(),
        cadence in prop::sample::select(vec![
            Cadence::Monthly,
            Cadence::Quarterly,
            Cadence::Custom(Cycle::Days(9)),
        ]),
        steps in prop::collection::vec((0_usize..3, 0_u64..60, -30_i32..60), 0..12),
        rate in prop::option::of(conversion_rate()),
        (month, now) in (0_usize..3, 0_u64..100),
    ) {
        if model.is_divided() {
            adjustments.discounts.retain(|discount| !matches!(discount, Discount::Usage(_)));
        }
        let charge = Charge::Usage { metric_id: METRIC, model };
        let card = converted(card(charge, cadence, adjustments), rate);
        let places = card.intervals[0].figures.places();
        let months = ["2026-03-10", "2026-04-01", "2026-05-01", "2026-06-01"];
        let [start, end] = [month, month + 1].map(|of| at(&format!("{}T00:00:00Z", months[of])));
        let (timeframe, now) = (span_of(start, end), day(now));
        let log = std::cell::RefCell::new(Vec::new());
        let used = |period: Timeframe, to: Timestamp| {
            let mut total = Total::default();
            let within = |of: &&(Timestamp, usize, Decimal)| period.start() <= of.0 && of.0 < to;
            for (_, place, more) in log.borrow().iter().filter(within) {
                total.add_in(in_group(&places[*place]), Aggregate::Sum(more.clone()));
            }
            (!total.is_empty()).then_some(Cow::Owned(total))
        };
        let mut running = Running::new(Arc::clone(&card), timeframe, &used, now);
        let mut moved_by = Decimal::zero();
        for (cell, at, more) in steps {
            let place = cell.min(places.len() - 1);
            log.borrow_mut().push((day(at), place, number(&more.to_string())));
            let moved = running.follow(day(at), &[in_group(&places[place])], &used);
            let drawn = running.drawn_in(&Currency::parse("USD").unwrap().into(), &moved);
            moved_by += drawn.into_iter().map(|of| of.amount).sum::<Decimal>();
            let line = &rate_one(&card, &used, timeframe, now)[0];
            let is_charged = !card.intervals[0].periods_in(timeframe).is_empty();
            let is_used = is_charged && log.borrow().iter().any(|of| timeframe.contains(of.0));
            let is_used = is_used || line.charges > 0;
            let spent = &line.subtotal - &line.top_up;
            let expect = Amounts {
                subtotal: is_used.then(|| line.subtotal.clone()),
                spent: is_used.then(|| spent.clone()),
                total: (is_used || line.top_ups > 0).then(|| line.total.clone()),
                in_tiers: line.in_tiers.clone(),
            };
            let (_, amounts) = running.lines().next().unwrap();
            prop_assert_eq!(amounts, &expect);
            let is_own = card.intervals[0].periods_in(timeframe) == [timeframe];
            prop_assert_eq!(&moved_by, if is_own { &spent } else { &moved_by });
            prop_assert!(is_own || moved_by == Decimal::zero());
        }
    }

    /// Timeframes that adjoin cost what the whole does.
    #[test]
    fn what_adjoins_adds_up(
        in_advance in any::<bool>(),
        cuts in prop::collection::btree_set(0_u64..80, 0..6),
        minimum in prop::option::of(0_u32..60),
        weeks in any::<bool>(),
    ) {
        let mode = if in_advance { BillingMode::InAdvance } else { BillingMode::InArrear };
        let minimum = minimum.map(|of| Decimal::from(u64::from(of)));
        let adjustments = Adjustments { minimum, ..Adjustments::default() };
        let cadence = if weeks { Cadence::Custom(Cycle::Days(7)) } else { Cadence::Monthly };
        let card = card(fee("20", mode), cadence, adjustments);
        let start = day(0);
        let now = day(60);
        let bounds: Vec<_> = [0].into_iter().chain(cuts).chain([80]).map(day).collect();
        let slots: Vec<_> =
            bounds.windows(2).filter_map(|of| Timeframe::new(of[0], of[1]).ok()).collect();
        let whole = rate_one(&card, &nothing, span_of(start, day(80)), now);
        let parts = rate(&card, &nothing, &slots, now);
        let sum: Decimal = parts.iter().map(|lines| lines[0].total.clone()).sum();
        prop_assert_eq!(&sum, &whole[0].total);
        for (slot, lines) in slots.iter().zip(&parts) {
            let alone = rate_one(&card, &nothing, *slot, now);
            prop_assert_eq!(&alone[0].amounts(), &lines[0].amounts());
        }
    }
}

fn span_of(start: Timestamp, end: Timestamp) -> Timeframe {
    Timeframe::new(start, end).unwrap()
}
