//! What was paid elsewhere for a change that waits (subscriptions 4.6, invoicing 12.3).

use accrue::{
    CarriedUpdate, Description, ErrorKind, ListFilter, PageRequest, Patch, SubscriptionChangeId,
    customer::{CustomerUpdate, PaymentProvider},
    invoice::{BalanceDirection, InvoiceStatus, PaidElsewhere, Payment},
    subscription::{ChangeTiming, NewSubscription},
    webhook::Body,
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, invoiced_with},
    pending_changes::{JUNE, seats},
    support::{
        fixture::{Fixture, at, block_on, external, number, refused, run},
        priced::NOTHING,
    },
    taxes::{Percent, taxed},
};

/// Applies it as something was collected, or is said to be paid.
fn how(collected: Option<&str>, is_paid: bool) -> PaidElsewhere {
    PaidElsewhere {
        collected: collected.map(number),
        paid: is_paid.then(|| Payment::new(at(JUNE))),
        description: None,
    }
}

/// Stages a subscription from June on.
fn stage(invoiced: &Invoiced) -> SubscriptionChangeId {
    let mut new = NewSubscription::new(external("ada"), invoiced.plan.id);
    new.start_date = Some(at(JUNE));
    run(invoiced.fixture.account.create_subscription(new).staged()).unwrap().1.id
}

/// The moves of the balance, oldest first: action, amount with a sign, and what it was of.
fn moves(fixture: &Fixture) -> Vec<String> {
    let page = PageRequest::default();
    let any = ListFilter::default();
    let listed = fixture.account.list_balance_transactions(external("ada"), &any, &page);
    let listed = block_on(listed).unwrap().data;
    let shown = listed.iter().rev().map(|of| {
        let sign = if of.direction == BalanceDirection::Increment { '+' } else { '-' };
        format!("{} {sign}{}", of.action.name(), of.amount)
    });
    shown.collect()
}

fn standing(invoiced: &Invoiced) -> (Vec<String>, String) {
    let invoices = invoiced.fixture.invoices(SETTLED);
    let shown = invoices.iter().map(|of| format!("{} {}", of.status.name(), of.amount_due));
    (shown.collect(), invoiced.balance())
}

/// The example: 100.00 and 13.50 of tax.
#[test]
fn subscriptions_4_6_5_the_example_of_what_was_paid() {
    let check = |collected: Option<&str>, is_paid: bool, invoice: &str, balance: &str| {
        let invoiced = taxed(|fixture, _| vec![fixture.advance_fee("100")]);
        let fixture = &invoiced.fixture;
        let id = stage(&invoiced);
        run(fixture.account.apply_subscription_change(id, how(collected, is_paid))).unwrap();
        assert_eq!(fixture.calculate(&Percent("13.5")), 1);
        let found = standing(&invoiced);
        assert_eq!(
            found,
            (vec![invoice.to_owned()], balance.to_owned()),
            "{collected:?} {is_paid}"
        );
    };
    check(None, false, "issued 113.5", "0");
    check(Some("113.50"), false, "paid 0", "0");
    check(None, true, "paid 113.5", "0");
    check(Some("120.00"), true, "paid 113.5", "6.5");
    check(Some("100.00"), true, "paid 113.5", "-13.5");
}

/// The example of invoicing 12.3, without a tax: payable 100.00.
#[test]
fn invoicing_12_3_one_transaction_is_of_what_was_collected() {
    let check = |collected: Option<&str>, is_paid: bool, due: &str, expect: &[&str]| {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("100")]);
        let fixture = &invoiced.fixture;
        fixture.set(JUNE);
        let id = stage(&invoiced);
        let call = fixture.account.apply_subscription_change(id, how(collected, is_paid));
        let applied = run(call).unwrap();
        let [issued, draft] = applied.resources.created_invoices.as_slice() else { panic!() };
        assert_eq!(draft.status, InvoiceStatus::Draft, "the next one");
        assert_eq!(format!("{} {}", issued.status.name(), issued.amount_due), due);
        assert_eq!(moves(fixture), expect, "{collected:?} {is_paid}");
        issued.balance_transactions.len()
    };
    check(None, false, "issued 100", &[]);
    check(Some("0"), false, "issued 100", &[]);
    let both = ["external_payment +100", "applied_to_invoice -100"];
    assert_eq!(check(Some("100.00"), false, "paid 0", &both), 1);
    let less = ["external_payment +40", "applied_to_invoice -40"];
    check(Some("40"), false, "issued 60", &less);
    check(None, true, "paid 100", &[]);
    check(Some("0"), true, "paid 100", &[]);
    check(Some("120.00"), true, "paid 100", &["external_payment +20"]);
    check(Some("90.00"), true, "paid 100", &["external_payment -10"]);
    check(Some("100.00"), true, "paid 100", &[]);
}

#[test]
fn subscriptions_4_6_4_a_balance_of_before_pays_for_nothing_that_is_marked_as_paid() {
    let check = |before: BalanceDirection, is_paid: bool, due: &str, balance: &str| {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("100")]);
        invoiced.fixture.set(JUNE);
        invoiced.move_balance("30", before);
        let id = stage(&invoiced);
        let call = invoiced.fixture.account.apply_subscription_change(id, how(None, is_paid));
        run(call).unwrap();
        assert_eq!(standing(&invoiced), (vec![due.to_owned()], balance.to_owned()));
    };
    use BalanceDirection::{Decrement, Increment};
    check(Increment, true, "paid 100", "30");
    check(Increment, false, "issued 70", "0");
    check(Decrement, true, "paid 100", "-30");
}

#[test]
fn subscriptions_4_6_6_a_negative_balance_is_added_to_the_next_invoice() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("100")]);
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    let id = stage(&invoiced);
    run(fixture.account.apply_subscription_change(id, how(Some("90"), true))).unwrap();
    fixture.tick_at("2026-07-02T00:00:00Z");
    let (invoices, balance) = standing(&invoiced);
    assert_eq!(
        (invoices, balance.as_str()),
        (vec!["issued 110".to_owned(), "paid 100".to_owned()], "0")
    );
}

#[test]
fn subscriptions_4_6_3_what_somebody_would_issue_is_issued_at_once_where_something_was_paid() {
    let check = |collected: Option<&str>, is_paid: bool, expect: &[&str], drafts: usize| {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("100")]);
        let fixture = &invoiced.fixture;
        let carried = CarriedUpdate::new([("auto_issuance", "false")]).unwrap();
        let by_hand = CustomerUpdate { carried, ..CustomerUpdate::default() };
        run(fixture.account.update_customer(external("ada"), by_hand)).unwrap();
        fixture.set(JUNE);
        let id = stage(&invoiced);
        run(fixture.account.apply_subscription_change(id, how(collected, is_paid))).unwrap();
        assert_eq!(standing(&invoiced).0, expect, "{collected:?} {is_paid}");
        assert_eq!(fixture.invoices(DRAFT).len(), drafts);
    };
    check(None, false, &[], 2);
    check(Some("100"), false, &["paid 0"], 1);
    check(None, true, &["paid 100"], 1);
    check(Some("100"), true, &["paid 100"], 1);
}

#[test]
fn subscriptions_4_6_3_usage_is_not_paid_ahead() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.advance_fee("100")]
    });
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    let id = stage(&invoiced);
    run(fixture.account.apply_subscription_change(id, how(None, true))).unwrap();
    invoiced.use_at("one", JUNE, "7");
    fixture.tick_at("2026-07-03T00:00:00Z");
    assert_eq!(standing(&invoiced).0, ["issued 114", "paid 100"], "the next one is paid by itself");
}

#[test]
fn subscriptions_4_6_a_change_of_what_is_there_is_paid_too() {
    let seats = seats();
    let fixture = seats.fixture();
    let change = run(seats.quantity("3", ChangeTiming::Immediate).staged()).unwrap().1;
    run(fixture.account.apply_subscription_change(change.id, how(Some("30"), false))).unwrap();
    assert_eq!(standing(&seats.invoiced), (vec!["paid 0".into(), "issued 30".into()], "0".into()));
    fixture.set("2026-06-17T00:00:00Z");
    let change = run(seats.quantity("4", ChangeTiming::Immediate).staged()).unwrap().1;
    run(fixture.account.apply_subscription_change(change.id, how(None, true))).unwrap();
    assert_eq!(standing(&seats.invoiced).0, ["paid 14", "paid 0", "issued 30"]);
}

#[test]
fn subscriptions_4_6_what_is_said_of_the_payment_is_told() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("100")]);
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    let id = stage(&invoiced);
    let payment = Payment {
        received_at: at("2026-05-30T00:00:00Z"),
        external_id: Some("till 7".to_owned()),
        notes: Some("in cash".to_owned()),
    };
    let description = Some(Description::parse("at the till").unwrap());
    let (collected, paid) = (Some(number("120")), Some(payment.clone()));
    let how = PaidElsewhere { collected, paid, description: description.clone() };
    let applied = run(fixture.account.apply_subscription_change(id, how)).unwrap();
    let issued = &applied.resources.created_invoices[0];
    assert_eq!(issued.payment_received_at, Some(payment.received_at));
    assert_eq!(issued.paid_at, Some(at(JUNE)));
    let messages = fixture.messages();
    let types: Vec<_> = messages.iter().map(|message| message.message_type()).collect();
    let expect = [
        "subscription.created",
        "subscription.started",
        "invoice.invoice_date_elapsed",
        "invoice.issued",
        "invoice.manually_marked_as_paid",
        "customer.balance_transaction_created",
    ];
    assert_eq!(types, expect);
    for message in &messages {
        match &message.body {
            Body::InvoiceIssued { automatically_marked_as_paid, .. } => {
                assert!(!automatically_marked_as_paid, "somebody said so");
            }
            Body::InvoiceMarkedAsPaid { payment_received_date, external_id, notes, .. } => {
                assert_eq!(*payment_received_date, payment.received_at);
                assert_eq!((external_id, notes), (&payment.external_id, &payment.notes));
            }
            Body::BalanceTransactionCreated { transaction } => {
                assert_eq!(transaction.description, description);
                assert_eq!(transaction.invoice_id, None);
            }
            _ => {}
        }
    }
}

#[test]
fn subscriptions_4_6_no_provider_takes_what_was_paid() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("100")]);
    let fixture = &invoiced.fixture;
    let update = CustomerUpdate {
        payment_provider: Patch::Set(PaymentProvider::StripeInvoice),
        ..CustomerUpdate::default()
    };
    run(fixture.account.update_customer(external("ada"), update)).unwrap();
    fixture.set(JUNE);
    let id = stage(&invoiced);
    // Its balance would pay for nothing.
    let collected = fixture.account.apply_subscription_change(id, how(Some("100"), false));
    assert_eq!(refused(fixture, collected).0, ErrorKind::ConstraintViolation);
    run(fixture.account.apply_subscription_change(id, how(None, true))).unwrap();
    let [issued] = fixture.invoices(SETTLED).try_into().unwrap();
    assert_eq!((issued.status, issued.awaits_sync()), (InvoiceStatus::Paid, false));
}

#[test]
fn subscriptions_4_6_an_amount_that_is_none_is_refused() {
    let seats = seats();
    let fixture = seats.fixture();
    let id = run(seats.quantity("3", ChangeTiming::Immediate).staged()).unwrap().1.id;
    for wrong in ["-0.01", "10.005"] {
        for is_paid in [false, true] {
            let call = fixture.account.apply_subscription_change(id, how(Some(wrong), is_paid));
            let (kind, text) = refused(fixture, call);
            assert_eq!(kind, ErrorKind::RequestValidation, "{text}");
            assert!(text.contains("previously_collected_amount"), "{text}");
        }
    }
    assert_eq!(moves(fixture), NOTHING);
}
