//! What another quantity of a fixed fee costs, and when.

use accrue::{
    Email, PriceId, Zone,
    cost::{Cost, CostQuery},
    customer::NewCustomer,
    price::{BillingMode, Cadence, Charge, Cycle, Discount, Model, NewPrice, Tier, Tiered},
    subscription::{ChangeTiming, FeeQuantityChange, NewSubscription, Subscription},
};
use proptest::{collection::vec, prelude::*};

use crate::support::{
    fixture::{Fixture, at, name, number, run},
    priced::between,
};

/// A subscription to one fee, by the first of the month.
struct Seats {
    fixture: Fixture,
    subscription: Subscription,
    fee: PriceId,
}

impl Seats {
    fn new(zone: &str, start: &str, fee: impl FnOnce(&Fixture) -> NewPrice) -> Self {
        let fixture = Fixture::new();
        let plan = fixture.priced_plan([fee(&fixture).into()]);
        let mut customer = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
        customer.timezone = Some(Zone::parse(zone).unwrap());
        let customer = run(fixture.account.create_customer(customer)).unwrap();
        fixture.set(start);
        let subscription = fixture.create(NewSubscription::new(customer.id, plan.id));
        let fee = fixture.prices_of(&plan)[0];
        Self { fixture, subscription, fee }
    }

    fn change(&self, date: &str, quantity: &str) {
        let when = ChangeTiming::EffectiveDate(at(date));
        let change = FeeQuantityChange { price: self.fee.into(), quantity: number(quantity), when };
        run(self.fixture.account.update_fixed_fee_quantity(self.subscription.id, change)).unwrap();
    }

    fn cost(&self, start: &str, end: &str) -> Cost {
        let query = CostQuery { timeframe: between(start, end).into(), ..CostQuery::default() };
        self.fixture.cost(&self.subscription, &query)
    }

    fn total(&self, start: &str, end: &str) -> String {
        self.cost(start, end).total.to_string()
    }
}

const MODES: [BillingMode; 2] = [BillingMode::InAdvance, BillingMode::InArrear];

/// What the first month of a fee costs that begins with one unit and changes at instants, in advance
/// as in arrears.
fn month(
    zone: &str,
    [start, end]: [&str; 2],
    unit_amount: &str,
    changes: &[(&str, &str)],
) -> String {
    let totals = MODES.map(|mode| {
        let fee = |fixture: &Fixture| fixture.fee_of(unit_amount, Cadence::Monthly, mode);
        let seats = Seats::new(zone, start, fee);
        changes.iter().for_each(|(date, quantity)| seats.change(date, quantity));
        seats.fixture.set("2029-01-01T00:00:00Z");
        seats.total(start, end)
    });
    assert_eq!(totals[0], totals[1], "in advance and in arrears");
    let [total, _] = totals;
    total
}

const MARCH: [&str; 2] = ["2026-03-11T00:00:00Z", "2026-04-01T00:00:00Z"];

#[test]
fn a_change_counts_for_the_days_that_are_left_with_its_own() {
    let march = ["2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z"];
    let check = |changes: &[(&str, &str)], expect: &str| {
        assert_eq!(month("UTC", march, "31", changes), expect, "{changes:?}");
    };
    check(&[], "31");
    // 1 a day for 10 days, 3 a day for 21.
    check(&[("2027-03-11T00:00:00Z", "3")], "73");
    check(&[("2027-03-11T23:59:59.999999Z", "3")], "73");
    check(&[("2027-03-10T23:59:59.999999Z", "3")], "75");
    check(&[("2027-03-31T23:59:59.999999Z", "3")], "33");
    check(&[("2027-04-01T00:00:00Z", "3")], "31");
    // On the first day it is as if it had been so from the beginning.
    check(&[("2027-03-01T00:00:00Z", "3")], "93");
    check(&[("2027-03-01T23:59:59Z", "3")], "93");
    check(&[("2027-03-11T00:00:00Z", "0")], "10");
    check(&[("2027-03-11T00:00:00Z", "0.5")], "20.5");
    // 10 days of 1, 10 of 3, 11 of 2.
    check(&[("2027-03-11T08:00:00Z", "3"), ("2027-03-21T08:00:00Z", "2")], "62");
    // The last one of a day is that of the day.
    check(&[("2027-03-11T08:00:00Z", "50"), ("2027-03-11T20:00:00Z", "3")], "73");
    // In the order of their instants, whatever the order of the requests; the last one of an instant.
    check(&[("2027-03-21T08:00:00Z", "2"), ("2027-03-11T08:00:00Z", "3")], "62");
    check(&[("2027-03-11T08:00:00Z", "9"), ("2027-03-11T08:00:00Z", "3")], "73");
}

#[test]
fn what_is_prorated_is_rounded_once_half_away_from_zero() {
    let march = ["2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z"];
    let check = |unit_amount, changes: &[(&str, &str)], expect: &str| {
        assert_eq!(month("UTC", march, unit_amount, changes), expect, "{changes:?}");
    };
    // 10 + 10 * 21 / 31 = 16.774…
    check("10", &[("2027-03-11T00:00:00Z", "2")], "16.77");
    // 10 * 10 / 31 = 3.2258…
    check("10", &[("2027-03-11T00:00:00Z", "0")], "3.23");
    // 3.1 * (10 + 21 * 0.05) / 31 = 1.105
    check("3.1", &[("2027-03-11T00:00:00Z", "0.05")], "1.11");
    // 0.1 + 0.1 * (15 + 14) / 31 = 0.1935…, though each of the two is over 0.045.
    check("0.1", &[("2027-03-17T00:00:00Z", "2"), ("2027-03-18T00:00:00Z", "3")], "0.19");
    // Back before a day is over: nothing was changed, and an amount of parts of a cent stays exact.
    let and_back = [("2027-03-11T08:00:00Z", "2"), ("2027-03-11T09:00:00Z", "1")];
    check("0.3333", &and_back, "0.3333");
    check("0.3333", &[("2027-03-11T08:00:00Z", "2"), ("2027-03-12T08:00:00Z", "1")], "0.34");
}

#[test]
fn a_month_that_has_begun_is_prorated_with_its_changes() {
    // 21 of 31 days: 10 of 1, 11 of 3.
    assert_eq!(month("UTC", MARCH, "31", &[("2026-03-21T12:00:00Z", "3")]), "43");
    assert_eq!(month("UTC", MARCH, "10", &[("2026-03-21T12:00:00Z", "3")]), "13.87");
}

#[test]
fn short_and_leap_months_have_their_own_days() {
    let short = ["2027-02-01T00:00:00Z", "2027-03-01T00:00:00Z"];
    assert_eq!(month("UTC", short, "28", &[("2027-02-28T10:00:00Z", "2")]), "29");
    assert_eq!(month("UTC", short, "28", &[("2027-02-01T10:00:00Z", "2")]), "56");
    let leap = ["2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"];
    assert_eq!(month("UTC", leap, "29", &[("2028-02-28T10:00:00Z", "2")]), "31");
    assert_eq!(month("UTC", leap, "29", &[("2028-02-29T23:59:59Z", "2")]), "30");
}

#[test]
fn days_are_those_of_the_zone_also_where_its_clocks_change() {
    let check = |month_of: [&str; 2], date: &str, expect: &str| {
        let found = month("Europe/Berlin", month_of, "31", &[(date, "2")]);
        assert_eq!(found, expect, "{date}");
    };
    // They go forward on the 29th of March: a day of 23 hours, the third but last.
    let march = ["2026-03-31T22:00:00Z", "2026-04-30T22:00:00Z"];
    assert_eq!(month("Europe/Berlin", march, "30", &[("2026-04-30T21:59:59Z", "2")]), "31");
    let march = ["2027-02-28T23:00:00Z", "2027-03-31T22:00:00Z"];
    check(march, "2027-03-27T22:59:59Z", "36");
    check(march, "2027-03-27T23:00:00Z", "35");
    check(march, "2027-03-28T21:59:59Z", "35");
    check(march, "2027-03-28T22:00:00Z", "34");
    check(march, "2027-03-31T21:59:59Z", "32");
    // They go back on the 25th of October: a day of 25 hours, the last but six.
    let october = ["2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z"];
    check(october, "2026-10-24T21:59:59Z", "39");
    check(october, "2026-10-24T22:00:00Z", "38");
    check(october, "2026-10-25T22:59:59Z", "38");
    check(october, "2026-10-25T23:00:00Z", "37");
}

#[test]
fn in_advance_the_difference_falls_due_with_the_change() {
    let seats = Seats::new("UTC", "2027-03-01T00:00:00Z", |fixture| fixture.advance_fee("31"));
    seats.change("2027-03-11T08:00:00Z", "5");
    seats.change("2027-03-11T20:00:00Z", "2");
    seats.fixture.set("2028-01-01T00:00:00Z");
    let check = |[start, end]: [&str; 2], expect: (&str, &str)| {
        let cost = seats.cost(start, end);
        let expect = (number(expect.0), number(expect.1));
        assert_eq!(cost.lines[0].subtotal, cost.total, "{start} {end}");
        assert_eq!((cost.lines[0].quantity.clone(), cost.total), expect, "{start} {end}");
    };
    check(["2027-03-01T00:00:00Z", "2027-03-11T08:00:00Z"], ("1", "31"));
    check(["2027-03-11T08:00:00Z", "2027-03-11T08:00:00.000001Z"], ("4", "84"));
    check(["2027-03-11T08:00:00.000001Z", "2027-03-11T20:00:00Z"], ("0", "0"));
    check(["2027-03-11T20:00:00Z", "2027-04-01T00:00:00Z"], ("-3", "-63"));
    check(["2027-04-01T00:00:00Z", "2027-05-01T00:00:00Z"], ("2", "62"));
}

#[test]
fn in_arrears_all_of_it_falls_due_when_the_period_ends() {
    let seats = Seats::new("UTC", "2027-03-01T00:00:00Z", |fixture| fixture.arrear_fee("31"));
    seats.change("2027-03-11T08:00:00Z", "3");
    seats.fixture.set("2028-01-01T00:00:00Z");
    assert_eq!(seats.total("2027-03-01T00:00:00Z", "2027-03-31T23:59:59.999999Z"), "0");
    let cost = seats.cost("2027-03-31T23:59:59.999999Z", "2027-04-01T00:00:00Z");
    assert_eq!((&cost.lines[0].quantity, cost.total), (&number("3"), number("73")));
}

#[test]
fn what_is_in_the_future_is_not_yet_there() {
    let seats = Seats::new("UTC", "2027-03-01T00:00:00Z", |fixture| fixture.advance_fee("31"));
    seats.change("2027-03-11T08:00:00Z", "3");
    let march = || seats.total("2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z");
    seats.fixture.set("2027-03-11T07:59:59.999999Z");
    assert_eq!(march(), "31");
    seats.fixture.set("2027-03-11T08:00:00Z");
    assert_eq!(march(), "73");
}

#[test]
fn quantities_are_rated_by_the_model() {
    let seats = Seats::new("UTC", "2027-03-01T00:00:00Z", |fixture| {
        let tier = |first, last: Option<&str>, amount| {
            Tier::new(number(first), last.map(number), number(amount))
        };
        let tiered = Tiered::new(vec![tier("0", Some("2"), "31"), tier("2", None, "15.5")]);
        let mut fee = fixture.advance_fee("1");
        fee.charge = Charge::Fixed {
            quantity: number("1"),
            model: Model::Tiered(tiered),
            billing_mode: BillingMode::InAdvance,
        }
        .into();
        fee
    });
    seats.change("2027-03-11T08:00:00Z", "4");
    seats.fixture.set("2028-01-01T00:00:00Z");
    // Four are 93: 10 days of 1 a day, 21 of 3.
    assert_eq!(seats.total("2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z"), "73");
}

#[test]
fn adjustments_are_of_what_the_period_comes_to() {
    let adjusted = |discount: &str, minimum: Option<&str>, maximum: Option<&str>, mode| {
        let seats = Seats::new("UTC", "2027-03-01T00:00:00Z", |fixture| {
            let mut fee = fixture.fee_of("31", Cadence::Monthly, mode);
            fee.adjustments.discounts =
                vec![Discount::Percentage(accrue::Fraction::parse(discount).unwrap())];
            fee.adjustments.minimum = minimum.map(number);
            fee.adjustments.maximum = maximum.map(number);
            fee
        });
        seats.change("2027-03-11T00:00:00Z", "3");
        seats.change("2027-03-21T00:00:00Z", "0");
        seats.fixture.set("2028-01-01T00:00:00Z");
        let instants = [
            "2027-03-01T00:00:00Z",
            "2027-03-11T00:00:00Z",
            "2027-03-21T00:00:00Z",
            "2027-03-31T23:59:59.999999Z",
            "2027-04-01T00:00:00Z",
        ];
        let totals = instants.windows(2).map(|pair| seats.total(pair[0], pair[1]));
        totals.collect::<Vec<_>>().join(" ")
    };
    let [advance, arrears] = MODES;
    // 31, then 73, then 10 + 30, all less a tenth.
    assert_eq!(adjusted("0.1", None, None, advance), "27.9 37.8 -29.7 0");
    assert_eq!(adjusted("0.1", None, None, arrears), "0 0 0 36");
    assert_eq!(adjusted("0.1", None, Some("60"), advance), "27.9 32.1 -24 0");
    assert_eq!(adjusted("0.1", Some("50"), Some("60"), advance), "27.9 32.1 -24 14");
    assert_eq!(adjusted("0.1", Some("50"), Some("60"), arrears), "0 0 0 50");
}

#[test]
fn what_bills_once_counts_as_a_whole() {
    for (mode, expect) in MODES.into_iter().zip(["5 10 0 0", "0 0 15 0"]) {
        let seats = Seats::new("UTC", "2027-03-01T00:00:00Z", |fixture| {
            fixture.fee_of("5", Cadence::OneTime, mode)
        });
        seats.change("2027-03-11T00:00:00Z", "3");
        seats.fixture.set("2028-01-01T00:00:00Z");
        let instants = [
            "2027-03-01T00:00:00Z",
            "2027-03-11T00:00:00Z",
            "2027-03-31T23:59:59.999999Z",
            "2027-04-01T00:00:00Z",
            "2028-01-01T00:00:00Z",
        ];
        let totals = instants.windows(2).map(|pair| seats.total(pair[0], pair[1]));
        assert_eq!(totals.collect::<Vec<_>>().join(" "), expect);
    }
}

#[test]
fn an_end_cuts_what_is_left_and_drops_what_lies_behind_it() {
    let seats = Seats::new("UTC", "2027-03-01T00:00:00Z", |fixture| fixture.advance_fee("31"));
    seats.change("2027-03-11T08:00:00Z", "3");
    seats.change("2027-03-25T08:00:00Z", "100");
    let cancel = accrue::subscription::Cancellation::RequestedDate(at("2027-03-21T00:00:00Z"));
    let id = seats.subscription.id;
    run(seats.fixture.account.cancel_subscription(id, cancel)).unwrap();
    seats.fixture.set("2028-01-01T00:00:00Z");
    seats.fixture.tick();
    // 10 days of 1, 10 of 3.
    assert_eq!(seats.total("2027-03-01T00:00:00Z", "2028-01-01T00:00:00Z"), "40");
}

/// Fees of several rhythms, in advance and in arrears.
fn fee(fixture: &Fixture, kind: usize) -> NewPrice {
    let cadences = [Cadence::Monthly, Cadence::Custom(Cycle::Days(9)), Cadence::Quarterly];
    let mut fee = fixture.fee_of("9.99", cadences[kind % 3], MODES[kind / 3 % 2]);
    if kind >= 6 {
        fee.adjustments.discounts = vec![Discount::Amount(number("3"))];
        fee.adjustments.minimum = Some(number("4"));
        fee.adjustments.maximum = Some(number("25"));
    }
    fee
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Timeframes that adjoin add up, and changes of a cent are lost in none.
    #[test]
    fn timeframes_that_adjoin_add_up(
        kind in 0_usize..12,
        zone in prop::sample::select(&["UTC", "Europe/Berlin", "America/New_York"][..]),
        changes in vec((0_u64..120 * 24 * 60, 0_u64..5), 0..12),
        cuts in vec(0_u64..150 * 24 * 60, 0..8),
    ) {
        let start = "2026-10-05T07:00:00Z";
        let seats = Seats::new(zone, start, |fixture| fee(fixture, kind));
        let later = |minutes: u64| {
            at(start).saturating_add(std::time::Duration::from_secs(minutes * 60)).to_string()
        };
        for (minutes, quantity) in &changes {
            seats.change(&later(*minutes), &quantity.to_string());
        }
        seats.fixture.set(&later(150 * 24 * 60));
        let mut ends: Vec<_> = cuts.into_iter().chain([0, 150 * 24 * 60]).collect();
        ends.sort_unstable();
        let whole = seats.cost(start, &later(150 * 24 * 60));
        let parts = ends.windows(2).map(|pair| seats.cost(&later(pair[0]), &later(pair[1])));
        let parts: Vec<_> = parts.collect();
        let sum = |of: fn(&Cost) -> &accrue::Decimal| -> accrue::Decimal {
            parts.iter().map(|part| of(part).clone()).sum()
        };
        prop_assert_eq!(sum(|cost| &cost.total), whole.total);
        prop_assert_eq!(sum(|cost| &cost.subtotal), whole.subtotal);
        prop_assert_eq!(sum(|cost| &cost.lines[0].quantity), whole.lines[0].quantity.clone());
    }
}
