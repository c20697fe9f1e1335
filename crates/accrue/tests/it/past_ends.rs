//! Ends of subscriptions that lie in the past (invoicing 6.2).

use accrue::{
    Carried, CivilDate, Decimal, ErrorKind, IdempotencyKey, PageRequest, Patch, Timeframe,
    cost::CostQuery,
    credit::{CreditBlockFilter, NewLedgerEntry},
    customer::{CustomerUpdate, PaymentProvider},
    invoice::{BalanceDirection, InvoiceStatus, LineSubject, NewInvoiceLine, Payment},
    limits,
    subscription::{Cancellation, FeeQuantityChange, Subscription},
    usage::QueryTimeframe,
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced_with, shown},
    support::fixture::{at, block_on, external, name, number, refused, run, usd},
};

const MARCH: &str = "2027-03-01T00:00:00Z";

/// 90 a month in advance from 1 March, and 2 for each unit: 5 are used on the 10th of each month.
fn billed(until: &str) -> (Invoiced, Subscription) {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.advance_fee("90")]
    });
    invoiced.fixture.set(MARCH);
    let subscription = invoiced.subscribe(MARCH);
    for used in ["2027-03-10T00:00:00Z", "2027-04-10T00:00:00Z"] {
        if at(used) <= at(until) {
            invoiced.fixture.tick_at(used);
            invoiced.use_at(used, used, "5");
        }
    }
    invoiced.fixture.tick_at(until);
    invoiced.fixture.messages();
    (invoiced, subscription)
}

fn cancel(
    invoiced: &Invoiced,
    of: &Subscription,
    date: &str,
) -> Result<Subscription, accrue::Error> {
    let when = Cancellation::RequestedDate(at(date));
    run(invoiced.fixture.account.cancel_subscription(of.id, when))
}

fn by_hand() -> NewInvoiceLine {
    NewInvoiceLine {
        subject: LineSubject::Named(name("by hand")),
        start_date: CivilDate::parse("2027-03-01").unwrap(),
        end_date: CivilDate::parse("2027-03-01").unwrap(),
        quantity: Decimal::from(1),
        amount: number("7"),
    }
}

fn everything(invoiced: &Invoiced) -> Vec<String> {
    use InvoiceStatus::{Draft, Issued, Paid, Synced, Void};
    all(&invoiced.fixture.invoices(&[Draft, Issued, Paid, Synced, Void]))
}

fn notes(invoiced: &Invoiced) -> Vec<String> {
    let invoices = invoiced.fixture.invoices(SETTLED);
    let notes = invoices.iter().flat_map(|of| &of.credit_notes);
    notes.map(|of| of.total.to_string()).collect()
}

#[test]
fn invoicing_6_2_as_of_a_day_of_the_period_the_rest_is_credited() {
    let (invoiced, subscription) = billed("2027-03-20T10:00:00Z");
    let ended = cancel(&invoiced, &subscription, "2027-03-17T00:00:00Z").unwrap();
    assert_eq!(ended.end_date, Some(at("2027-03-17T00:00:00Z")));
    assert_eq!(notes(&invoiced), ["43.55"], "15 of 31 days");
    let types = ["subscription.ended", "credit_note.issued", "invoice.invoice_date_elapsed"];
    assert_eq!(invoiced.fixture.message_types(), types);
    invoiced.fixture.tick();
    let expected =
        ["00002 issued 2027-03-17: usage 10 = 10", "00001 issued 2027-03-01: fee 90 = 90"];
    assert_eq!(everything(&invoiced), expected);
    invoiced.fixture.tick_at("2027-06-01T00:00:00Z");
    assert_eq!(everything(&invoiced), expected);
}

#[test]
fn invoicing_6_2_as_of_its_start_the_invoice_is_void_and_nothing_follows() {
    let (invoiced, subscription) = billed("2027-03-20T10:00:00Z");
    cancel(&invoiced, &subscription, MARCH).unwrap();
    assert_eq!(everything(&invoiced), ["00001 void 2027-03-01: fee 90 = 90"]);
    let types = ["subscription.ended", "invoice.manually_marked_as_void"];
    assert_eq!(invoiced.fixture.message_types(), types);
    invoiced.fixture.tick_at("2027-06-01T00:00:00Z");
    assert_eq!(everything(&invoiced), ["00001 void 2027-03-01: fee 90 = 90"]);
    assert_eq!(invoiced.balance(), "0");
}

#[test]
fn invoicing_6_2_as_of_a_boundary_its_invoice_is_made_anew() {
    let (invoiced, subscription) = billed("2027-04-20T10:00:00Z");
    let call = invoiced.fixture.account.cancel_subscription(
        subscription.id,
        Cancellation::RequestedDate(at("2027-04-01T00:00:00Z")),
    );
    let (_, changed) = run(call.with_changed_resources()).unwrap();
    assert_eq!(all(&changed.voided_invoices), ["00002 void 2027-04-01: usage 10, fee 90 = 100"]);
    assert_eq!(all(&changed.created_invoices), ["DRAFT draft 2027-04-01: usage 10 = 10"]);
    assert_eq!(changed.created_credit_notes, []);
    invoiced.fixture.tick();
    let expected = [
        "00003 issued 2027-04-01: usage 10 = 10",
        "00002 void 2027-04-01: usage 10, fee 90 = 100",
        "00001 issued 2027-03-01: fee 90 = 90",
    ];
    let mut found = everything(&invoiced);
    found.sort_by(|one, other| other.cmp(one));
    assert_eq!(found, expected);
    let life = Timeframe::new(at(MARCH), at("2027-06-01T00:00:00Z")).unwrap();
    let query = CostQuery { timeframe: QueryTimeframe::Between(life), ..CostQuery::default() };
    let costs = block_on(invoiced.fixture.account.subscription_costs(subscription.id, &query));
    let total: Decimal = costs.unwrap().iter().map(|of| &of.total).sum();
    assert_eq!(total, number("100"), "what was used in April is nobody's");
}

#[test]
fn invoicing_6_2_what_is_paid_between_stays() {
    let (invoiced, subscription) = billed("2027-04-20T10:00:00Z");
    let fixture = &invoiced.fixture;
    let latest = fixture.invoices(SETTLED).remove(0);
    run(fixture.account.mark_invoice_paid(latest.id, Payment::new(at(MARCH)))).unwrap();
    let before = fixture.dump();
    for date in ["2027-04-01T00:00:00Z", "2027-03-17T00:00:00Z", MARCH] {
        let error = cancel(&invoiced, &subscription, date).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
        let number = &latest.invoice_number;
        assert_eq!(
            error.to_string(),
            format!("{number} of 2027-04-01T00:00:00.000000Z is paid, and stays")
        );
    }
    assert_eq!(fixture.dump(), before);
    // It is credited where it was dated before.
    cancel(&invoiced, &subscription, "2027-04-11T00:00:00Z").unwrap();
    assert_eq!(notes(&invoiced), ["60"], "20 of 30 days");
    assert_eq!(invoiced.balance(), "60");
}

#[test]
fn invoicing_6_2_who_allows_neither_is_refused() {
    let (invoiced, subscription) = billed("2027-04-20T10:00:00Z");
    let fixture = &invoiced.fixture;
    let before = fixture.dump();
    for date in [MARCH, "2027-03-17T00:00:00Z", "2027-04-01T00:00:00Z", "2027-04-11T00:00:00Z"] {
        let when = Cancellation::RequestedDate(at(date));
        let call = fixture.account.cancel_subscription(subscription.id, when);
        let (kind, _) = refused(fixture, call.leaving_invoices());
        assert_eq!(kind, ErrorKind::ConstraintViolation, "{date}");
    }
    let call = fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate);
    refused(fixture, call.leaving_invoices());
    let fee = subscription.price_intervals[1].price_id;
    let fewer = FeeQuantityChange::immediate(fee, Decimal::zero());
    refused(
        fixture,
        fixture.account.update_fixed_fee_quantity(subscription.id, fewer).leaving_invoices(),
    );
    assert_eq!(fixture.dump(), before);
    let term = Cancellation::EndOfSubscriptionTerm;
    run(fixture.account.cancel_subscription(subscription.id, term).leaving_invoices()).unwrap();
}

#[test]
fn invoicing_6_2_a_key_is_of_one_of_the_two() {
    let (invoiced, subscription) = billed("2027-04-20T10:00:00Z");
    let account = &invoiced.fixture.account;
    let key = || IdempotencyKey::parse("one").unwrap();
    let call = || account.cancel_subscription(subscription.id, Cancellation::EndOfSubscriptionTerm);
    block_on(call().leaving_invoices().keyed(key()).into_future()).unwrap();
    block_on(call().leaving_invoices().keyed(key()).into_future()).unwrap();
    let error = block_on(call().keyed(key()).into_future()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceConflict);
}

#[test]
fn invoicing_6_2_an_end_lies_in_the_life_and_cuts_off_a_hundred_periods_at_most() {
    let (invoiced, subscription) = billed("2027-04-20T10:00:00Z");
    let error = cancel(&invoiced, &subscription, "2027-02-28T23:59:59Z").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
    invoiced.fixture.tick_at("2035-07-02T00:00:00Z");
    let error = cancel(&invoiced, &subscription, MARCH).unwrap_err();
    assert_eq!(
        error.to_string(),
        "more than 100 billing periods lie behind 2027-03-01T00:00:00.000000Z"
    );
    cancel(&invoiced, &subscription, "2027-05-01T00:00:00Z").unwrap();
    invoiced.fixture.tick();
    assert_eq!(invoiced.fixture.invoices(SETTLED).len(), 3);
}

#[test]
fn invoicing_6_2_a_hundred_invoices_at_most() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set(MARCH);
    let subscription = invoiced.subscribe_with(MARCH, |new| {
        let threshold = [("invoicing_threshold", "\"1\"".to_owned())];
        new.carried = Carried::new(threshold).unwrap();
    });
    for number in 0..=limits::REWOUND {
        fixture.clock.advance(std::time::Duration::from_secs(60));
        fixture.use_now("ada", &format!("key {number}"), "1");
    }
    let call = Cancellation::RequestedDate(at(MARCH));
    let call = fixture.account.cancel_subscription(subscription.id, call);
    let (kind, text) = refused(fixture, call);
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("101 invoices are dated 2027-03-01"), "{text}");
    let newest = fixture.invoices(SETTLED).remove(0);
    run(fixture.account.void_invoice(newest.id)).unwrap();
    cancel(&invoiced, &subscription, MARCH).unwrap();
    assert_eq!(fixture.invoices(SETTLED), []);
    fixture.tick_at("2027-06-01T00:00:00Z");
    assert_eq!(fixture.invoices(SETTLED), []);
    assert_eq!(invoiced.balance(), "0");
}

#[test]
fn invoicing_6_2_who_loses_a_race_with_a_boundary_ends_it_behind_that() {
    const BEHIND: &str = "2027-04-01T00:00:01Z";
    let ended = |now: &str| {
        let (invoiced, subscription) = billed(BEHIND);
        // Where it is before the boundary, the clock was read before that.
        invoiced.fixture.set(now);
        let immediate = Cancellation::Immediate;
        let ended = run(invoiced.fixture.account.cancel_subscription(subscription.id, immediate));
        assert_eq!(ended.unwrap().end_date, Some(at(BEHIND)));
        invoiced.fixture.tick_at("2027-06-01T00:00:00Z");
        (everything(&invoiced), notes(&invoiced), invoiced.balance())
    };
    let found = ended("2027-03-31T23:59:59Z");
    assert_eq!(found.0[1], "00002 issued 2027-04-01: usage 10, fee 3 = 13");
    assert_eq!(found, ended(BEHIND));
}

#[test]
fn invoicing_6_2_a_draft_of_the_very_boundary_keeps_its_lines() {
    // In its grace period.
    let (invoiced, subscription) = billed("2027-04-01T10:00:00Z");
    let fixture = &invoiced.fixture;
    let drafts = fixture.invoices(DRAFT);
    let draft = drafts.iter().find(|of| of.invoice_date == at("2027-04-01T00:00:00Z")).unwrap();
    run(fixture.account.create_invoice_line(draft.id, by_hand())).unwrap();
    cancel(&invoiced, &subscription, "2027-04-01T00:00:00Z").unwrap();
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2027-04-01: usage 10, by hand 7 = 17"]);
    fixture.tick_at("2027-04-02T00:00:00Z");
    assert_eq!(
        all(&fixture.invoices(SETTLED))[0],
        "00002 issued 2027-04-01: usage 10, by hand 7 = 17"
    );
    assert_eq!(fixture.invoices(DRAFT), []);
}

#[test]
fn invoicing_6_2_what_came_to_nothing_does_not_stand_in_the_way() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = &invoiced.fixture;
    fixture.set(MARCH);
    let subscription = invoiced.subscribe(MARCH);
    invoiced.move_balance("4", BalanceDirection::Increment);
    for (used, n) in [("2027-03-10T00:00:00Z", "1"), ("2027-03-30T00:00:00Z", "1")] {
        fixture.tick_at(used);
        invoiced.use_at(used, used, n);
    }
    fixture.tick_at("2027-05-20T10:00:00Z");
    let before = ["00002 paid 2027-05-01: usage 0 = 0", "00001 paid 2027-04-01: usage 4 = 4"];
    assert_eq!(everything(&invoiced)[1..], before);
    assert_eq!(invoiced.balance(), "0");
    cancel(&invoiced, &subscription, "2027-03-17T00:00:00Z").unwrap();
    fixture.tick();
    let void = fixture.invoices(&[InvoiceStatus::Void]);
    assert!(void.len() == 2 && void.iter().all(|of| of.paid_at.is_none()));
    assert_eq!(all(&fixture.invoices(SETTLED)), ["00003 paid 2027-03-17: usage 2 = 2"]);
    assert_eq!(invoiced.balance(), "2");
}

#[test]
fn invoicing_6_2_what_somebody_made_void_at_the_boundary_is_not_billed_anew() {
    let (invoiced, subscription) = billed("2027-04-20T10:00:00Z");
    let fixture = &invoiced.fixture;
    run(fixture.account.void_invoice(fixture.invoices(SETTLED)[0].id)).unwrap();
    cancel(&invoiced, &subscription, "2027-04-01T00:00:00Z").unwrap();
    fixture.tick_at("2027-06-20T10:00:00Z");
    let expected =
        ["00002 void 2027-04-01: usage 10, fee 90 = 100", "00001 issued 2027-03-01: fee 90 = 90"];
    assert_eq!(everything(&invoiced), expected);
}

#[test]
fn invoicing_6_2_lines_by_hand_of_the_next_draft_go_to_the_closing_invoice() {
    let (invoiced, subscription) = billed("2027-03-20T10:00:00Z");
    let fixture = &invoiced.fixture;
    let draft = fixture.invoices(DRAFT).remove(0);
    run(fixture.account.create_invoice_line(draft.id, by_hand())).unwrap();
    cancel(&invoiced, &subscription, "2027-03-17T00:00:00Z").unwrap();
    fixture.tick();
    assert_eq!(
        all(&fixture.invoices(SETTLED))[0],
        "00002 issued 2027-03-17: usage 10, by hand 7 = 17"
    );
}

#[test]
fn invoicing_6_2_the_balance_comes_back() {
    let (invoiced, subscription) = billed("2027-03-20T10:00:00Z");
    invoiced.move_balance("60", BalanceDirection::Increment);
    invoiced.fixture.tick_at("2027-04-03T00:00:00Z");
    assert_eq!(invoiced.balance(), "0");
    cancel(&invoiced, &subscription, "2027-03-17T00:00:00Z").unwrap();
    assert_eq!(invoiced.balance(), "60");
    invoiced.fixture.tick();
    assert_eq!(invoiced.balance(), "50", "the closing invoice is paid by it");
}

#[test]
fn invoicing_6_2_credits_that_later_usage_drew_come_back() {
    let (invoiced, subscription) = billed("2027-03-02T00:00:00Z");
    let fixture = &invoiced.fixture;
    let given = NewLedgerEntry::increment(usd().into(), number("100"));
    run(fixture.account.create_ledger_entry(external("ada"), given)).unwrap();
    let left = || {
        let usd = usd().into();
        let page = PageRequest::default();
        let blocks = block_on(fixture.account.list_credit_blocks(
            external("ada"),
            &usd,
            &CreditBlockFilter::default(),
            &page,
        ));
        blocks.unwrap().data.iter().map(|of| of.balance.to_string()).collect::<Vec<_>>()
    };
    for (used, n) in [
        ("2027-03-10T00:00:00Z", "1"),
        ("2027-03-30T00:00:00Z", "2"),
        ("2027-04-10T00:00:00Z", "4"),
        ("2027-05-10T00:00:00Z", "8"),
    ] {
        fixture.tick_at(used);
        invoiced.use_at(used, used, n);
    }
    fixture.tick_at("2027-08-20T00:00:00Z");
    assert_eq!(left(), ["70"]);
    cancel(&invoiced, &subscription, "2027-03-17T00:00:00Z").unwrap();
    assert_eq!(left(), ["98"]);
    fixture.tick();
    let closing = fixture.invoices(SETTLED).remove(0);
    assert_eq!(shown(&closing), "00007 paid 2027-03-17: usage 0 = 0");
    assert_eq!(closing.lines[0].credits_applied, number("2"));
    fixture.tick_at("2027-12-01T00:00:00Z");
    assert_eq!(left(), ["98"]);
}

#[test]
fn invoicing_10_6_whose_balance_pays_for_nothing_is_not_credited() {
    let (invoiced, subscription) = billed("2027-03-20T10:00:00Z");
    let fixture = &invoiced.fixture;
    let update = CustomerUpdate {
        payment_provider: Patch::Set(PaymentProvider::Quickbooks),
        ..CustomerUpdate::default()
    };
    run(fixture.account.update_customer(external("ada"), update)).unwrap();
    let now = || fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate);
    assert_eq!(refused(fixture, now()).0, ErrorKind::ConstraintViolation);
    let fee = subscription.price_intervals[1].price_id;
    let fewer = FeeQuantityChange::immediate(fee, Decimal::zero());
    refused(fixture, fixture.account.update_fixed_fee_quantity(subscription.id, fewer));
    let term = Cancellation::EndOfSubscriptionTerm;
    run(fixture.account.cancel_subscription(subscription.id, term)).unwrap();
}
