//! Invoices that other terms bill otherwise (subscriptions 2.7).

use accrue::{
    CivilDate, Decimal, ErrorKind,
    invoice::{Invoice, LineSubject, NewInvoiceLine, Payment},
    subscription::{
        Cancellation, ChangeTiming, FeeQuantityChange, IntervalChanges, IntervalDate,
        NewPriceInterval, PriceIntervalEdit,
    },
};

use crate::{
    changed_plans::on,
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced_with},
    price_intervals::{JANUARY, changed, constraint},
    support::fixture::{at, name, number, refused, run},
};

#[test]
fn subscriptions_2_3_8_and_2_7_what_nobody_has_paid_for_is_void_and_issued_anew() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", JANUARY, "7");
    fixture.tick_at("2027-02-05T00:00:00Z");
    assert_eq!(changed.settled(), ["00001 issued 2027-02-01: usage 14 = 14"]);
    let price = changed.price(fixture.usage_at("3", &changed.metric));
    let changes = IntervalChanges {
        edit: vec![PriceIntervalEdit::ending(changed.of_plan(0), at(JANUARY))],
        add: vec![NewPriceInterval::new(price, at(JANUARY))],
        ..IntervalChanges::default()
    };
    let found = refused(fixture, changed.call(changes.clone()).leaving_invoices());
    constraint(found);
    fixture.messages();
    changed.change(changes);
    let types = fixture.message_types();
    assert_eq!(types, ["invoice.manually_marked_as_void", "invoice.invoice_date_elapsed"]);
    fixture.tick();
    let expected = [
        "00001 void 2027-02-01: usage 14 = 14",
        "00002 issued 2027-02-01: usage 21 = 21",
        "DRAFT draft 2027-03-01: usage 0 = 0",
    ];
    assert_eq!(changed.everything(), expected);
}

#[test]
fn subscriptions_2_7_what_is_paid_is_credited_and_billed_anew() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", JANUARY, "7");
    fixture.tick_at("2027-02-05T00:00:00Z");
    let paid: Invoice = fixture.invoices(SETTLED).remove(0);
    run(fixture.account.mark_invoice_paid(paid.id, Payment::new(at("2027-02-05T00:00:00Z"))))
        .unwrap();
    let price = changed.price(fixture.usage_at("3", &changed.metric));
    let changes = IntervalChanges {
        edit: vec![PriceIntervalEdit::ending(changed.of_plan(0), at(JANUARY))],
        add: vec![NewPriceInterval::new(price, at(JANUARY))],
        ..IntervalChanges::default()
    };
    constraint(refused(fixture, changed.call(changes.clone()).leaving_invoices()));
    changed.change(changes);
    assert_eq!(changed.notes(), ["14"]);
    fixture.tick();
    let expected = [
        "00001 paid 2027-02-01: usage 14 = 14",
        "00002 issued 2027-02-01: usage 21 = 21",
        "DRAFT draft 2027-03-01: usage 0 = 0",
    ];
    assert_eq!(changed.everything(), expected);
    let reissued = fixture.invoices(SETTLED).remove(0);
    assert_eq!(reissued.amount_due, number("7"), "the credit pays for the rest");
}

#[test]
fn subscriptions_2_7_a_fee_of_the_past_has_an_invoice_of_its_own() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    fixture.set("2027-03-10T00:00:00Z");
    let price = changed.price(fixture.advance_fee("31"));
    changed.add(NewPriceInterval::new(price, at("2027-01-16T00:00:00Z")));
    fixture.tick();
    let expected = [
        "00001 issued 2027-01-16: fee 16 = 16",
        "00002 issued 2027-02-01: fee 31 = 31",
        "00003 issued 2027-03-01: fee 31 = 31",
    ];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn subscriptions_2_7_drafts_follow_the_terms() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", JANUARY, "7");
    // In the hours after the boundary late events are still taken.
    fixture.tick_at("2027-02-01T06:00:00Z");
    fixture.messages();
    let price = changed.price(fixture.usage_at("3", &changed.metric));
    changed.add(NewPriceInterval::new(price, at(JANUARY)));
    assert!(fixture.message_types().is_empty());
    fixture.tick_at("2027-02-02T06:00:00Z");
    assert_eq!(changed.settled(), ["00001 issued 2027-02-01: usage 14, usage 21 = 35"]);
}

#[test]
fn subscriptions_2_7_lines_by_hand_go_with_what_is_issued_anew() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", JANUARY, "7");
    fixture.tick();
    let draft = fixture.invoices(DRAFT).remove(0);
    let line = NewInvoiceLine {
        subject: LineSubject::Named(name("by hand")),
        start_date: CivilDate::parse("2027-01-01").unwrap(),
        end_date: CivilDate::parse("2027-01-01").unwrap(),
        quantity: Decimal::from(2),
        amount: number("9"),
    };
    run(fixture.account.create_invoice_line(draft.id, line)).unwrap();
    fixture.tick_at("2027-02-05T00:00:00Z");
    let edit = |start: &str| {
        let start_date = Some(IntervalDate::At(at(start)));
        let edit = PriceIntervalEdit { start_date, ..PriceIntervalEdit::new(changed.of_plan(0)) };
        changed.edit(edit);
        fixture.tick();
    };
    edit("2027-01-02T00:00:00Z");
    edit(JANUARY);
    let expected = [
        "00001 void 2027-02-01: usage 14, by hand 9 = 23",
        "00002 void 2027-02-01: usage 0, by hand 9 = 9",
        "00003 issued 2027-02-01: usage 14, by hand 9 = 23",
        "DRAFT draft 2027-03-01: usage 0 = 0",
    ];
    assert_eq!(changed.everything(), expected, "a change and its reversal leave the figures");
}

#[test]
fn subscriptions_2_7_what_somebody_made_void_is_not_billed_by_itself() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", JANUARY, "7");
    fixture.tick_at("2027-02-05T00:00:00Z");
    let issued = fixture.invoices(SETTLED).remove(0);
    run(fixture.account.void_invoice(issued.id)).unwrap();
    let start_date = Some(IntervalDate::At(at("2027-01-02T00:00:00Z")));
    changed.edit(PriceIntervalEdit { start_date, ..PriceIntervalEdit::new(changed.of_plan(0)) });
    fixture.tick();
    let expected = ["00001 void 2027-02-01: usage 14 = 14", "DRAFT draft 2027-03-01: usage 0 = 0"];
    assert_eq!(changed.everything(), expected);
}

#[test]
fn subscriptions_2_7_more_seats_are_invoiced_at_once_and_in_the_past_billed_anew() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("30")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-06-01T00:00:00Z");
    let price = subscription.price_intervals[0].price_id;
    let change = |quantity: &str, when| {
        let change = FeeQuantityChange { price: price.into(), quantity: number(quantity), when };
        fixture.account.update_fixed_fee_quantity(subscription.id, change)
    };
    fixture.set("2026-06-21T00:00:00Z");
    run(change("4", ChangeTiming::Immediate)).unwrap();
    assert_eq!(all(&fixture.invoices(SETTLED))[0], "00002 issued 2026-06-21: fee 30 = 30");
    // What was invoiced otherwise is billed anew, and stays where that is refused (subscriptions 2.7).
    let past = || change("9", ChangeTiming::EffectiveDate(at("2026-06-11T00:00:00Z")));
    let (kind, text) = refused(fixture, past().leaving_invoices());
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    run(past()).unwrap();
    let mut found = all(&fixture.invoices(SETTLED));
    found.sort();
    assert_eq!(
        found,
        ["00001 issued 2026-06-01: fee 30 = 30", "00003 issued 2026-06-11: fee 160 = 160"]
    );
    let notes = fixture.invoices(SETTLED).into_iter().flat_map(|of| of.credit_notes);
    let notes: Vec<_> = notes.map(|of| of.total.to_string()).collect();
    assert_eq!(notes, ["50"], "from 21 June on there are four again");
    // A change that is scheduled has a draft of its own.
    run(change("5", ChangeTiming::EffectiveDate(at("2026-06-26T00:00:00Z")))).unwrap();
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-06-26: fee 5 = 5"]);
}

#[test]
fn what_was_billed_of_a_price_that_has_no_interval_any_more_is_no_line_by_hand() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.advance_fee("310")]);
    let fixture = changed.fixture();
    fixture.tick_at("2027-02-08T00:00:00Z");
    let edit = |place: usize, start: &str| {
        let start_date = Some(at(start).into());
        let edit =
            PriceIntervalEdit { start_date, ..PriceIntervalEdit::new(changed.of_plan(place)) };
        changed.change(IntervalChanges { edit: vec![edit], ..IntervalChanges::default() })
    };
    edit(1, "2027-03-01T00:00:00Z");
    assert_eq!(changed.notes(), ["310", "310"], "of February, and of January");
    let next = changed.plan([fixture.advance_fee("62")]);
    changed.to(on(&next, "2027-03-01T00:00:00Z"));
    edit(0, "2027-02-08T00:00:00Z");
    let february = changed.settled().into_iter().filter(|of| of.contains("2027-02-01"));
    let february: Vec<_> = february.collect();
    assert!(february.iter().all(|of| !of.contains("fee 310")), "{february:?}");
}

#[test]
fn a_quantity_that_changes_twice_at_one_instant_is_billed_as_it_is_left() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("310")]);
    let fixture = changed.fixture();
    fixture.tick_at("2027-01-02T00:00:00Z");
    let fee = changed.subscription.price_intervals[0].price_id;
    for quantity in ["0", "1"] {
        let change = FeeQuantityChange::immediate(fee, number(quantity));
        run(fixture.account.update_fixed_fee_quantity(changed.subscription.id, change)).unwrap();
    }
    assert_eq!(changed.notes(), Vec::<String>::new(), "the note of the first is void");
    let end = Cancellation::EndOfSubscriptionTerm;
    run(fixture.account.cancel_subscription(changed.subscription.id, end)).unwrap();
    fixture.tick_at("2027-02-03T00:00:00Z");
    let total: Decimal = fixture.invoices(SETTLED).iter().map(|of| of.total.clone()).sum();
    assert_eq!(total, number("310"));
}
