//! Usage whose billing waits for the end of the period that its price ends within (subscriptions 2.6).

use accrue::{
    CarriedUpdate,
    invoice::InvoiceSource,
    price::{Cadence, NewPrice},
    subscription::{
        Cancellation, IntervalChanges, IntervalDate, NewPriceInterval, PriceIntervalEdit,
        SubscriptionUpdate,
    },
};

use crate::{
    price_intervals::{Changed, changed, editing},
    support::fixture::{at, number, run},
};

const END: &str = "2027-01-10T00:00:00Z";

/// Ends an interval, with its billing at once or later.
fn ending(
    changed: &Changed,
    place: usize,
    end: &str,
    can_defer_billing: bool,
) -> PriceIntervalEdit {
    let edit = PriceIntervalEdit::ending(changed.of_plan(place), at(end));
    PriceIntervalEdit { can_defer_billing: Some(can_defer_billing), ..edit }
}

/// 1,000 units at 0.10 up to 10 January, and 2,000 at 0.08 from then on.
fn replaced(can_defer_billing: bool) -> Changed {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("0.10", metric)]);
    let fixture = changed.fixture();
    let other = changed.price(fixture.usage_at("0.08", &changed.metric));
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "1000");
    let edit = vec![ending(&changed, 0, END, can_defer_billing)];
    let add = vec![NewPriceInterval::new(other, IntervalDate::At(at(END)))];
    changed.change(IntervalChanges { edit, add, ..IntervalChanges::default() });
    fixture.set("2027-01-15T00:00:00Z");
    changed.invoiced.use_at("b", "2027-01-15T00:00:00Z", "2000");
    fixture.tick_at("2027-02-03T00:00:00Z");
    changed
}

#[test]
fn subscriptions_2_6_example_one_invoice_has_both_prices() {
    let at_once = replaced(false);
    let expect =
        ["00001 issued 2027-01-10: usage 100 = 100", "00002 issued 2027-02-01: usage 160 = 160"];
    assert_eq!(at_once.settled(), expect);
    let waiting = replaced(true);
    assert_eq!(waiting.settled(), ["00001 issued 2027-02-01: usage 100, usage 160 = 260"]);
}

#[test]
fn subscriptions_2_6_1_of_prices_that_end_usage_alone_waits() {
    let changed = changed(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.arrear_fee("31"), fixture.advance_fee("62")]
    });
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    let edit = [0, 1, 2].map(|place| ending(&changed, place, "2027-01-11T00:00:00Z", true));
    changed.change(IntervalChanges { edit: edit.into(), ..IntervalChanges::default() });
    assert_eq!(changed.notes(), ["42"], "21 of 31 days go back at once");
    fixture.tick_at("2027-02-03T00:00:00Z");
    let expect = [
        "00001 issued 2027-01-01: fee 62 = 62",
        "00002 issued 2027-01-11: fee 10 = 10",
        "00003 issued 2027-02-01: usage 14 = 14",
    ];
    assert_eq!(changed.settled(), expect);
}

#[test]
fn subscriptions_2_6_2_events_that_come_late_are_on_the_later_invoice() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    changed.change(editing(ending(&changed, 0, END, true)));
    assert_eq!(changed.everything(), ["DRAFT draft 2027-02-01: usage 14 = 14"]);
    fixture.set("2027-01-10T06:00:00Z");
    changed.invoiced.use_at("b", "2027-01-09T23:00:00Z", "1");
    changed.invoiced.use_at("c", END, "100");
    assert_eq!(changed.everything(), ["DRAFT draft 2027-02-01: usage 16 = 16"]);
    fixture.tick_at("2027-01-31T00:00:00Z");
    assert_eq!(changed.settled(), [""; 0]);
    fixture.tick_at("2027-04-03T00:00:00Z");
    assert_eq!(changed.settled(), ["00001 issued 2027-02-01: usage 16 = 16"]);
}

#[test]
fn subscriptions_2_6_4_and_7_an_end_on_a_boundary_and_a_fee_wait_for_nothing() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.arrear_fee("31")]);
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    let edit = vec![
        ending(&changed, 0, "2027-02-01T00:00:00Z", true),
        ending(&changed, 1, "2027-01-11T00:00:00Z", true),
    ];
    let after = changed.change(IntervalChanges { edit, ..IntervalChanges::default() });
    assert!(after.price_intervals.iter().all(|of| of.can_defer_billing));
    fixture.tick_at("2027-03-13T00:00:00Z");
    let expect = ["00001 issued 2027-01-11: fee 10 = 10", "00002 issued 2027-02-01: usage 14 = 14"];
    assert_eq!(changed.settled(), expect);
}

#[test]
fn subscriptions_2_6_5_it_waits_for_its_own_period_and_no_longer_one() {
    let changed = changed(|fixture, metric| {
        let quarterly = NewPrice { cadence: Cadence::Quarterly, ..fixture.usage_at("5", metric) };
        vec![quarterly, fixture.usage_at("2", metric)]
    });
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    let edit = [0, 1].map(|place| ending(&changed, place, END, true));
    changed.change(IntervalChanges { edit: edit.into(), ..IntervalChanges::default() });
    fixture.tick_at("2027-05-13T00:00:00Z");
    let expect =
        ["00001 issued 2027-02-01: usage 14 = 14", "00002 issued 2027-04-01: usage 35 = 35"];
    assert_eq!(changed.settled(), expect);
}

#[test]
fn subscriptions_2_6_what_waits_is_billed_where_the_subscription_ends() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    changed.change(editing(ending(&changed, 0, END, true)));
    let cancellation = Cancellation::RequestedDate(at("2027-01-20T00:00:00Z"));
    run(fixture.account.cancel_subscription(changed.subscription.id, cancellation)).unwrap();
    fixture.tick_at("2027-03-13T00:00:00Z");
    assert_eq!(changed.settled(), ["00001 issued 2027-01-20: usage 14 = 14"]);
}

#[test]
fn subscriptions_2_6_3_and_2_7_what_was_billed_at_its_end_can_wait_and_come_back() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    changed.change(editing(ending(&changed, 0, END, false)));
    fixture.tick_at("2027-01-12T00:00:00Z");
    assert_eq!(changed.settled(), ["00001 issued 2027-01-10: usage 14 = 14"]);
    let defers = |can_defer_billing| {
        let edit = PriceIntervalEdit::new(changed.of_plan(0));
        changed.change(editing(PriceIntervalEdit {
            can_defer_billing: Some(can_defer_billing),
            ..edit
        }));
    };
    defers(true);
    let voided = "00001 void 2027-01-10: usage 14 = 14";
    assert_eq!(changed.everything(), [voided, "DRAFT draft 2027-02-01: usage 14 = 14"]);
    defers(false);
    fixture.tick_at("2027-01-13T00:00:00Z");
    assert_eq!(changed.everything(), [voided, "00002 issued 2027-01-10: usage 14 = 14"]);
    fixture.tick_at("2027-03-13T00:00:00Z");
    assert_eq!(changed.everything().len(), 2);
}

#[test]
fn subscriptions_2_6_what_it_costs_does_not_wait() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    let costs = || {
        let days = ["2027-01-04T00:00:00Z", "2027-01-06T00:00:00Z", END, "2027-02-01T00:00:00Z"];
        days.windows(2).map(|of| changed.cost(of[0], of[1]).to_string()).collect::<Vec<_>>()
    };
    changed.change(editing(ending(&changed, 0, END, true)));
    fixture.set("2027-01-15T00:00:00Z");
    assert_eq!(costs(), ["14", "0", "0"]);
}

#[test]
fn subscriptions_1_10_5_a_threshold_invoice_has_what_waits_and_bills_it_once() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("0.10", metric)]);
    let fixture = changed.fixture();
    let carried = CarriedUpdate::new([("invoicing_threshold", "\"150\"")]).unwrap();
    let update = SubscriptionUpdate { carried, ..SubscriptionUpdate::default() };
    run(fixture.account.update_subscription(changed.subscription.id, update)).unwrap();
    let other = changed.price(fixture.usage_at("0.08", &changed.metric));
    fixture.set("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "1000");
    let edit = vec![ending(&changed, 0, END, true)];
    let add = vec![NewPriceInterval::new(other, IntervalDate::At(at(END)))];
    changed.change(IntervalChanges { edit, add, ..IntervalChanges::default() });
    fixture.tick_at("2027-01-14T00:00:00Z");
    assert_eq!(changed.settled(), [""; 0], "100 wait, below the threshold");
    fixture.set("2027-01-15T00:00:00Z");
    changed.invoiced.use_at("b", "2027-01-15T00:00:00Z", "1000");
    let partial = "00001 issued 2027-01-15: usage 100, usage 80 = 180";
    assert_eq!(changed.settled(), [partial]);
    changed.invoiced.use_at("c", "2027-01-15T00:00:00Z", "500");
    fixture.tick_at("2027-02-03T00:00:00Z");
    let invoices = fixture.invoices(&[]);
    let [last, first] = invoices.as_slice() else { panic!("{invoices:?}") };
    assert_eq!(first.source, InvoiceSource::Partial);
    assert_eq!((&last.total, last.invoice_date), (&number("40"), at("2027-02-01T00:00:00Z")));
    let figures = |of: &accrue::invoice::InvoiceLine| (of.subtotal.clone(), of.amount.clone());
    let billed: Vec<_> = last.lines.iter().map(figures).filter(|(_, of)| !of.is_zero()).collect();
    assert_eq!(billed, [(number("120"), number("40"))]);
}
