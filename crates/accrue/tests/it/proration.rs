//! What a fee costs where its billing period is not a whole cycle.

use accrue::{
    Email, Zone,
    customer::NewCustomer,
    price::{BillingMode, Cadence, NewPrice},
    subscription::{Cancellation, ChangeTiming, FeeQuantityChange, NewSubscription},
};

use crate::{
    invoices::{Invoiced, SETTLED, invoiced_with},
    support::{
        fixture::{Fixture, name, number, run},
        priced::{cost_alert, priced},
    },
};

/// What a fee of 5 costs in the first period that begins at an instant in a zone, on the first of
/// the month.
fn first_fee(zone: &str, start: &str, cadence: Cadence) -> String {
    let fixture = Fixture::new();
    let fee = fixture.fee_of("5", cadence, BillingMode::InAdvance);
    let plan = fixture.priced_plan([fee.into()]);
    let mut customer = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    customer.timezone = Some(Zone::parse(zone).unwrap());
    let customer = run(fixture.account.create_customer(customer)).unwrap();
    fixture.set(start);
    let subscription = fixture.create(NewSubscription::new(customer.id, plan.id));
    fixture.cost(&subscription, &Default::default()).total.to_string()
}

#[test]
fn the_first_fee_is_prorated_by_the_days_of_the_zone() {
    let check = |zone, start, expect: &str| {
        assert_eq!(first_fee(zone, start, Cadence::Monthly), expect, "{zone} {start}");
    };
    // 22 of 31 days.
    check("UTC", "2026-03-10T12:00:00Z", "3.55");
    check("Europe/Berlin", "2026-03-10T12:00:00Z", "3.55");
    // The clocks go forward on the 29th of March in Berlin: 4, then 3 of 31 days.
    check("Europe/Berlin", "2026-03-28T22:59:59Z", "0.65");
    check("Europe/Berlin", "2026-03-28T23:00:00Z", "0.48");
    check("Europe/Berlin", "2026-03-29T00:59:59Z", "0.48");
    check("Europe/Berlin", "2026-03-29T21:59:59Z", "0.48");
    check("Europe/Berlin", "2026-03-29T22:00:00Z", "0.32");
    check("Europe/Berlin", "2026-03-31T21:59:59Z", "0.16");
    check("Europe/Berlin", "2026-03-31T22:00:00Z", "5");
    // They go back on the 25th of October: 7 of 31 days.
    check("Europe/Berlin", "2026-10-24T22:00:00Z", "1.13");
    check("Europe/Berlin", "2026-10-25T22:59:59Z", "1.13");
    check("Europe/Berlin", "2026-10-25T23:00:00Z", "0.97");
}

#[test]
fn the_first_fee_is_prorated_across_the_ocean_too() {
    let check = |start, expect: &str| {
        assert_eq!(first_fee("America/New_York", start, Cadence::Monthly), expect, "{start}");
    };
    // The day of the change begins the month: it is the first of 30, however late it is.
    check("2026-11-01T03:59:59Z", "0.16");
    check("2026-11-01T04:00:00Z", "5");
    check("2026-11-01T05:30:00Z", "5");
    check("2026-11-01T06:30:00Z", "5");
    check("2026-11-02T04:59:59Z", "5");
    check("2026-11-02T05:00:00Z", "4.83");
    // The clocks go forward on the 14th of March 2027: 18, then 17 of 31 days.
    check("2027-03-14T05:00:00Z", "2.9");
    check("2027-03-15T03:59:59Z", "2.9");
    check("2027-03-15T04:00:00Z", "2.74");
}

#[test]
fn a_quarter_that_has_begun_is_prorated_by_its_own_days() {
    // From the 10th of March to the end of May: 83 of 92 days.
    assert_eq!(first_fee("UTC", "2026-03-10T12:00:00Z", Cadence::Quarterly), "4.51");
}

#[test]
fn a_prorated_fee_is_judged_as_it_is() {
    let priced = priced(|fixture, _| [fixture.advance_fee("5")]);
    priced.plan_alert(cost_alert(&["3.55", "3.56"]));
    priced.fixture.tick();
    priced.fixture.drain();
    priced.fixture.create(NewSubscription::new(priced.customer, priced.plan.id));
    assert_eq!(priced.told(), ["cost 3.55: 3.55 -> 3.55 by subscription"]);
    priced.fixture.set("2026-04-01T00:00:00Z");
    priced.fixture.tick();
    let expect = "cost 3.55 3.56: none -> 5 by period 2026-04-01T00:00:00Z";
    assert_eq!(priced.told(), [expect]);
}

#[test]
fn a_one_time_fee_is_never_prorated() {
    let priced =
        priced(|fixture, _| [fixture.fee_of("5", Cadence::OneTime, BillingMode::InAdvance)]);
    let new = NewSubscription::new(priced.customer, priced.plan.id);
    let subscription = priced.fixture.create(new);
    assert_eq!(priced.fixture.cost(&subscription, &Default::default()).total, number("5"));
}

#[test]
fn invoicing_7_8_the_table_of_proration() {
    const JUNE: &str = "2026-06-01T00:00:00Z";
    let invoiced_from_june = |price: fn(&Fixture) -> NewPrice| {
        let invoiced = invoiced_with(|fixture, _| vec![price(fixture)]);
        invoiced.fixture.set(JUNE);
        let subscription = invoiced.subscribe(JUNE);
        (invoiced, subscription)
    };
    let totals = |invoiced: &Invoiced| {
        let invoices = invoiced.fixture.invoices(SETTLED);
        let notes = invoices.iter().flat_map(|of| &of.credit_notes);
        let notes: Vec<_> = notes.map(|note| note.total.to_string()).collect();
        let totals: Vec<_> = invoices.iter().map(|of| of.total.to_string()).collect();
        (totals, notes)
    };

    // A fee in arrears that ends on the tenth, a started day.
    let (invoiced, subscription) = invoiced_from_june(|fixture| fixture.arrear_fee("300"));
    invoiced.fixture.tick_at("2026-06-10T10:00:00Z");
    let now = Cancellation::Immediate;
    run(invoiced.fixture.account.cancel_subscription(subscription.id, now)).unwrap();
    invoiced.fixture.tick_at("2026-06-12T00:00:00Z");
    assert_eq!(totals(&invoiced), (vec!["100".to_owned()], vec![]));

    // One in advance that ends on the eleventh at ten.
    let (invoiced, subscription) = invoiced_from_june(|fixture| fixture.advance_fee("300"));
    invoiced.fixture.tick_at("2026-06-11T10:00:00Z");
    let now = Cancellation::Immediate;
    run(invoiced.fixture.account.cancel_subscription(subscription.id, now)).unwrap();
    invoiced.fixture.tick_at("2026-07-12T00:00:00Z");
    assert_eq!(totals(&invoiced), (vec!["300".to_owned()], vec!["190".to_owned()]));

    // Seats from the 21st on.
    for (before, after, expect) in
        [("5", "8", (vec!["30".to_owned()], vec![])), ("8", "5", (vec![], vec!["30".to_owned()]))]
    {
        let (invoiced, subscription) = invoiced_from_june(|fixture| fixture.advance_fee("30"));
        let seats = |quantity: &str| {
            let change = FeeQuantityChange {
                price: subscription.price_intervals[0].price_id.into(),
                quantity: number(quantity),
                when: ChangeTiming::Immediate,
            };
            let account = &invoiced.fixture.account;
            run(account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
        };
        invoiced.fixture.tick_at("2026-06-02T00:00:00Z");
        seats(before);
        let begun = totals(&invoiced).0.len();
        invoiced.fixture.tick_at("2026-06-21T00:00:00Z");
        seats(after);
        let (mut invoices, notes) = totals(&invoiced);
        invoices.truncate(invoices.len() - begun);
        assert_eq!((invoices, notes), expect, "{before} to {after}");
    }
}
