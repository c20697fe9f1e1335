//! Quantities of a fee over the life of one of its intervals (subscriptions 2.5), and intervals of a plan that are edited
//! (2.3).

use accrue::{
    Decimal, ErrorKind, PriceIntervalId,
    price::{Charge, NewCharge, NewPrice},
    subscription::{NewPriceInterval, PriceIntervalEdit, Subscription},
};

use crate::{
    invoices::DRAFT,
    price_intervals::{Changed, changed, constraint, editing},
    support::fixture::{Fixture, at, number, refused},
};

/// So many seats.
fn seats(mut new: NewPrice, count: u64) -> NewPrice {
    if let NewCharge::Of(Charge::Fixed { quantity, .. }) = &mut new.charge {
        *quantity = Decimal::from(count);
    }
    new
}

/// On a fee of the plan from 1 January on.
fn on(fee: impl FnOnce(&Fixture) -> NewPrice) -> (Changed, PriceIntervalId) {
    let changed = changed(|fixture, _| vec![fee(fixture)]);
    let id = changed.of_plan(0);
    (changed, id)
}

fn transitions(id: PriceIntervalId, list: &[(&str, &str)]) -> PriceIntervalEdit {
    let quantities = list.iter().map(|(day, of)| (at(&format!("{day}T00:00:00Z")), number(of)));
    PriceIntervalEdit { quantities: Some(quantities.collect()), ..PriceIntervalEdit::new(id) }
}

/// The quantities of the first interval, each with the day of its start.
fn shown(of: &Subscription) -> Vec<String> {
    let stretches = of.fee_schedule(&of.price_intervals[0]);
    stretches
        .iter()
        .map(|of| format!("{} {}", &of.start_date.to_string()[..10], of.quantity))
        .collect()
}

#[test]
fn subscriptions_2_5_1_a_list_takes_the_place_of_the_whole_list() {
    let (changed, id) = on(|fixture| fixture.advance_fee("31"));
    let after = changed.edit(transitions(id, &[("2027-02-01", "2"), ("2027-03-01", "3")]));
    assert_eq!(shown(&after), ["2027-01-01 1", "2027-02-01 2", "2027-03-01 3"]);
    let after = changed.edit(transitions(id, &[("2027-03-01", "4")]));
    assert_eq!(shown(&after), ["2027-01-01 1", "2027-03-01 4"]);
    let after = changed.edit(PriceIntervalEdit::new(id));
    assert_eq!(shown(&after), ["2027-01-01 1", "2027-03-01 4"], "no list changes nothing");
}

#[test]
fn subscriptions_2_5_2_quantities_are_from_zero_on_and_dates_within_the_interval() {
    let (changed, id) = on(|fixture| fixture.advance_fee("31"));
    let fixture = changed.fixture();
    let end = at("2027-06-01T00:00:00Z");
    changed.edit(PriceIntervalEdit::ending(id, end));
    let after = changed.edit(transitions(id, &[("2027-02-01", "0"), ("2027-03-01", "2.5")]));
    assert_eq!(shown(&after), ["2027-01-01 1", "2027-02-01 0", "2027-03-01 2.5"]);
    for outside in ["2026-12-31", "2027-06-01"] {
        let call = changed.call(editing(transitions(id, &[(outside, "1")])));
        constraint(refused(fixture, call));
    }
    let negative = changed.call(editing(transitions(id, &[("2027-02-01", "-1")])));
    assert_eq!(refused(fixture, negative).0, ErrorKind::RequestValidation);
}

#[test]
fn subscriptions_2_5_3_before_the_first_one_the_prices_own_quantity_holds() {
    let (changed, id) = on(|fixture| seats(fixture.advance_fee("10"), 7));
    let after = changed.edit(transitions(id, &[("2027-03-01", "2")]));
    assert_eq!(shown(&after), ["2027-01-01 7", "2027-03-01 2"]);
    changed.fixture().tick_at("2027-02-01T00:00:00Z");
    changed.fixture().tick_at("2027-03-01T00:00:00Z");
    let expected = [
        "00001 issued 2027-01-01: fee 70 = 70",
        "00002 issued 2027-02-01: fee 70 = 70",
        "00003 issued 2027-03-01: fee 20 = 20",
    ];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn subscriptions_2_5_5_in_mid_period_the_difference_falls_due_at_once() {
    let (changed, id) = on(|fixture| fixture.advance_fee("31"));
    changed.fixture().set("2027-01-11T00:00:00Z");
    changed.edit(transitions(id, &[("2027-01-11", "3")]));
    let expected = ["00001 issued 2027-01-01: fee 31 = 31", "00002 issued 2027-01-11: fee 42 = 42"];
    assert_eq!(changed.settled(), expected, "2 for 21 of 31 days");
    changed.fixture().tick_at("2027-02-01T00:00:00Z");
    assert_eq!(changed.settled()[2], "00003 issued 2027-02-01: fee 93 = 93");
}

#[test]
fn subscriptions_2_5_6_in_arrears_the_period_is_summed_by_days() {
    let (changed, id) = on(|fixture| fixture.arrear_fee("31"));
    changed.fixture().set("2027-01-11T00:00:00Z");
    changed.edit(transitions(id, &[("2027-01-11", "3")]));
    assert!(changed.settled().is_empty(), "nothing at once");
    changed.fixture().tick_at("2027-02-03T00:00:00Z");
    let expected = ["00001 issued 2027-02-01: fee 73 = 73"];
    assert_eq!(changed.settled(), expected, "10 days of 1, and 21 of 3");
}

#[test]
fn subscriptions_2_5_7_of_two_at_one_instant_the_later_one_in_the_list_counts() {
    let (changed, id) = on(|fixture| fixture.advance_fee("31"));
    let twice = [("2027-02-01", "5"), ("2027-03-01", "9"), ("2027-02-01", "2")];
    let after = changed.edit(transitions(id, &twice));
    assert_eq!(shown(&after), ["2027-01-01 1", "2027-02-01 2", "2027-03-01 9"]);
}

#[test]
fn subscriptions_2_5_8_an_empty_list_is_the_prices_own_quantity_throughout() {
    let (changed, id) = on(|fixture| seats(fixture.advance_fee("10"), 7));
    changed.edit(transitions(id, &[("2027-01-01", "2"), ("2027-03-01", "4")]));
    let after = changed.edit(transitions(id, &[]));
    assert_eq!(shown(&after), ["2027-01-01 7"]);
}

#[test]
fn subscriptions_2_5_9_the_quantity_of_the_start_comes_first() {
    let (changed, id) = on(|fixture| seats(fixture.advance_fee("10"), 7));
    let after = changed.edit(transitions(id, &[("2027-03-01", "2"), ("2027-02-01", "4")]));
    assert_eq!(shown(&after), ["2027-01-01 7", "2027-02-01 4", "2027-03-01 2"]);
    let after = changed.edit(transitions(id, &[("2027-01-01", "3")]));
    assert_eq!(shown(&after), ["2027-01-01 3"], "one at the start is that of the start");
}

#[test]
fn subscriptions_2_5_example_ten_seats_become_fourteen() {
    let bills = |day: &str| {
        let changed = changed(|_, _| Vec::new());
        let fixture = changed.fixture();
        fixture.set("2027-02-10T00:00:00Z");
        let price = changed.price(seats(fixture.advance_fee("6.20"), 10));
        let id = changed.add(NewPriceInterval::new(price, at("2027-03-01T00:00:00Z")));
        changed.edit(transitions(id, &[(day, "14")]));
        for now in ["2027-03-01T00:00:00Z", "2027-03-11T00:00:00Z", "2027-04-01T00:00:00Z"] {
            fixture.tick_at(now);
        }
        changed.settled()
    };
    let expected = [
        "00001 issued 2027-03-01: fee 62 = 62",
        "00002 issued 2027-03-11: fee 16.8 = 16.8",
        "00003 issued 2027-04-01: fee 86.8 = 86.8",
    ];
    assert_eq!(bills("2027-03-11"), expected);
    let expected =
        ["00001 issued 2027-03-01: fee 62 = 62", "00002 issued 2027-04-01: fee 86.8 = 86.8"];
    assert_eq!(bills("2027-04-01"), expected);
}

#[test]
fn subscriptions_2_3_15_an_interval_of_the_plan_is_ended_and_edited_like_an_add_on() {
    let (changed, id) = on(|fixture| fixture.advance_fee("31"));
    let fixture = changed.fixture();
    fixture.set("2027-01-10T00:00:00Z");
    let after = changed.edit(PriceIntervalEdit::ending(id, at("2027-01-21T00:00:00Z")));
    assert_eq!(after.price_intervals[0].end_date, Some(at("2027-01-21T00:00:00Z")));
    assert_eq!(changed.notes(), ["11"], "11 of 31 days");
    assert!(fixture.invoices(DRAFT).is_empty());
    let later = PriceIntervalEdit {
        start_date: Some(at("2027-01-11T00:00:00Z").into()),
        ..PriceIntervalEdit::new(id)
    };
    let after = changed.edit(later);
    let only = &after.price_intervals[0];
    assert_eq!((only.id, only.start_date), (id, at("2027-01-11T00:00:00Z")));
    fixture.tick_at("2027-02-03T00:00:00Z");
    let january = changed.cost("2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z");
    assert_eq!(january, number("10"), "from the 11th up to the 21st");
}
