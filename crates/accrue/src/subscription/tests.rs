//! The edits of a subscription's terms, and what is due of it.

use std::collections::BTreeSet;

use super::{sample::*, *};
use crate::{
    AdjustmentIntervalId, Decimal, ErrorKind, ItemId, MetricId, PriceId, PriceIntervalId,
    price::{
        Adjustment, Adjustments, BillingMode, Cadence, Charge, Discount, Model, NewPrice, Price,
        Unit,
    },
};

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn id(place: u8) -> PriceId {
    PriceId::from_bytes([place; 16])
}

fn price(place: u8, cadence: Cadence, charge: Charge, minimum: Option<&str>) -> Price {
    let (name, item) = (Name::parse("price").unwrap(), ItemId::from_bytes([1; 16]));
    let usd = Currency::parse("USD").unwrap();
    let mut new = NewPrice::builder(name, item).billed(cadence, usd).charge(charge);
    new.adjustments = Adjustments { minimum: minimum.map(number), ..Adjustments::default() };
    new.decide(id(place), None, at("2026-03-01T00:00:00Z")).unwrap()
}

fn unit(amount: &str) -> Model {
    Model::Unit(Unit::new(number(amount)))
}

fn fee(quantity: &str) -> Charge {
    let (quantity, billing_mode) = (number(quantity), BillingMode::InAdvance);
    Charge::Fixed { quantity, model: unit("1"), billing_mode }
}

fn usage() -> Charge {
    Charge::Usage { metric_id: MetricId::from_bytes([7; 16]), model: unit("1") }
}

/// A subscription to prices, each from its own instant on.
fn to<const N: usize>(prices: [(&Price, &str); N]) -> Subscription {
    let mut of = subscription();
    for (place, (price, start)) in prices.into_iter().enumerate() {
        let cut = Cut { start_date: at(start), ..cut(&of) };
        let (mut interval, own) = (cut.interval(price), cut.adjustments(price).collect::<Vec<_>>());
        interval.id = PriceIntervalId::from_bytes([u8::try_from(place).unwrap(); 16]);
        of.price_intervals.push(interval);
        of.adjustment_intervals.extend(own);
    }
    of
}

const START: &str = "2026-03-10T00:00:00Z";
const END: &str = "2026-06-10T00:00:00Z";

#[test]
fn a_life_is_from_its_start_up_to_its_end() {
    let mut of = subscription();
    assert!(!of.covers(Timestamp::MIN));
    assert!(of.covers(at(START)) && of.covers(Timestamp::MAX));
    of.end_date = Some(at(END));
    assert!(of.covers(at("2026-06-09T23:59:59Z")));
    assert!(!of.covers(at(END)) && !of.covers(Timestamp::MAX));
}

#[test]
fn the_billing_day_is_that_of_the_anchor() {
    let mut of = subscription();
    let mut day = |anchor| {
        of.anchor = anchor;
        of.billing_cycle_day()
    };
    assert_eq!(day(BillingAnchor::FirstOfMonth), 1);
    assert_eq!(day(BillingAnchor::SubscriptionStart), 10);
    assert_eq!(day(BillingAnchor::Day { day: 31, month: None, year: None }), 31);
}

#[test]
fn a_subscription_has_so_many_bytes_at_most_without_its_intervals() {
    let mut of = to([(&price(1, Cadence::Monthly, usage(), Some("10")), START)]);
    let padded = |bytes: usize| Metadata::from([("pad".to_owned(), "-".repeat(bytes))]);
    of.metadata = padded(0);
    let alone = Subscription { metadata: padded(0), ..subscription() };
    let rest = limits::SUBSCRIPTION_BYTES - serde_json::to_string(&alone).unwrap().len();
    of.metadata = padded(rest);
    of.check_size().unwrap();
    of.metadata = padded(rest + 1);
    assert_eq!(of.check_size().unwrap_err().kind(), ErrorKind::ResourceTooLarge);
}

#[test]
fn a_turn_is_due_with_every_interval_that_begins_in_a_life() {
    let (first, second) =
        (price(1, Cadence::Monthly, usage(), None), price(2, Cadence::Monthly, usage(), None));
    let next = |start: &str, rated: Option<&str>, end: Option<&str>| {
        let mut of = to([(&first, START), (&second, start)]);
        of.end_date = end.map(at);
        let mut entry = entry(of);
        entry.rated_until = rated.map(at);
        entry.next_turn()
    };
    let (mid, april) = ("2026-03-20T00:00:00Z", "2026-04-01T00:00:00Z");
    assert_eq!(next(mid, None, None), Some(at(START)));
    assert_eq!(next(mid, None, Some(END)), Some(at(START)));
    assert_eq!(next(mid, Some(START), None), Some(at(mid)));
    assert_eq!(next(mid, Some(mid), None), Some(at(april)));
    // None begins with the end of the life, or behind it.
    let (early, late) = ("2026-03-15T00:00:00Z", "2026-03-16T00:00:00Z");
    assert_eq!(next(early, Some(START), Some(late)), Some(at(early)));
    assert_eq!(next(late, Some(START), Some(late)), Some(at(late)));
    assert_eq!(next(late, Some(late), Some(late)), None);
    assert_eq!(next(mid, Some(late), Some(late)), None);
    // A life that is empty has no turn.
    assert_eq!(next(mid, None, Some(START)), None);
}

#[test]
fn what_never_began_ends_at_once() {
    let mut entry = entry(subscription());
    let mut next = |notified, end: Option<&str>| {
        (entry.notified, entry.subscription.end_date) = (notified, end.map(at));
        entry.next_notified()
    };
    assert_eq!(next(Notified::Created, None), Some((at(START), Notified::Started)));
    assert_eq!(next(Notified::Created, Some(END)), Some((at(START), Notified::Started)));
    assert_eq!(next(Notified::Created, Some(START)), Some((at(START), Notified::Ended)));
    assert_eq!(next(Notified::Started, Some(END)), Some((at(END), Notified::Ended)));
    assert_eq!(next(Notified::Started, None), None);
    assert_eq!(next(Notified::Ended, Some(END)), None);
}

#[test]
fn the_interval_of_a_fee_is_the_one_that_holds_an_instant_or_the_one_before() {
    let (one, other) =
        (price(1, Cadence::Monthly, fee("3"), None), price(2, Cadence::Monthly, fee("5"), None));
    let (may, july) = ("2026-05-01T00:00:00Z", "2026-07-01T00:00:00Z");
    let mut of = to([(&one, july), (&other, START), (&one, may)]);
    of.price_intervals[2].end_date = Some(at("2026-06-01T00:00:00Z"));
    let found = |instant: &str| {
        let interval = of.fee_interval(one.id, at(instant)).unwrap();
        interval.start_date
    };
    assert_eq!(found(START), at(may));
    assert_eq!(found(may), at(may));
    assert_eq!(found("2026-06-15T00:00:00Z"), at(may));
    assert_eq!(found(july), at(july));
    assert_eq!(of.fee_interval(id(9), at(may)), None);
}

#[test]
fn another_price_comes_with_its_own_adjustments_and_has_its_share_of_others() {
    let before = price(1, Cadence::Monthly, fee("3"), Some("10"));
    let beside = price(2, Cadence::Monthly, fee("5"), Some("20"));
    let after = price(3, Cadence::Quarterly, fee("7"), Some("30"));
    let april = "2026-04-01T00:00:00Z";
    let mut of = to([(&before, april), (&beside, START)]);
    of.adjustment_intervals.push(AdjustmentInterval {
        id: AdjustmentIntervalId::from_bytes([9; 16]),
        adjustment: Adjustment::Discount(Discount::Amount(number("1"))),
        price_ids: [before.id, beside.id].into(),
        lane: Lane::FIRST,
        plan_version: PlanVersion::FIRST,
        coupon_id: None,
        is_trial: false,
        delayed_from: None,
        scope: None,
        start_date: at(START),
        end_date: None,
    });
    let version = PlanVersion::FIRST.next().unwrap();
    of.replace_price(&before, &after, version);
    let prices: Vec<_> = of.price_intervals.iter().map(|of| (of.price_id, of.cadence)).collect();
    assert_eq!(prices, [(after.id, Cadence::Quarterly), (beside.id, Cadence::Monthly)]);
    let adjustments = of.adjustment_intervals.iter();
    let adjustments: Vec<_> = adjustments
        .map(|of| (of.adjustment.clone(), of.price_ids.clone(), of.plan_version, of.start_date))
        .collect();
    let least = |amount: &str| Adjustment::Minimum(number(amount));
    let shared = Adjustment::Discount(Discount::Amount(number("1")));
    let ids = |ids: &[PriceId]| ids.iter().copied().collect::<BTreeSet<_>>();
    let first = PlanVersion::FIRST;
    assert_eq!(
        adjustments,
        [
            (least("20"), ids(&[beside.id]), first, at(START)),
            (shared, ids(&[after.id, beside.id]), first, at(START)),
            // From where the ones that it replaces began.
            (least("30"), ids(&[after.id]), version, at(april)),
        ]
    );
}

#[test]
fn a_quantity_that_is_not_the_prices_own_outlives_the_price() {
    let replaced = |quantity: &str, after: Charge| {
        let before = price(1, Cadence::Monthly, fee("3"), None);
        let mut of = to([(&before, START)]);
        of.change_fee(before.id, at(START), number(quantity)).unwrap();
        let after = price(2, Cadence::Monthly, after, None);
        of.replace_price(&before, &after, PlanVersion::FIRST);
        of.price_intervals[0].quantity(at(START)).map(ToString::to_string)
    };
    assert_eq!(replaced("3", fee("7")).as_deref(), Some("7"));
    assert_eq!(replaced("4", fee("7")).as_deref(), Some("4"));
    assert_eq!(replaced("4", usage()), None);
}
