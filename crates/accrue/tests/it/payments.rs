//! Invoices that are collected: attempts, retries, and payments by hand (invoicing 8).

use std::sync::Mutex;

use accrue::{
    Decimal, ErrorKind, PageRequest, PaymentAttemptId, PaymentGateway,
    customer::{CustomerUpdate, PaymentProvider},
    invoice::{
        CreditNoteReason, DunningStatus, Invoice, InvoiceStatus, InvoiceUpdate, NewCreditNote,
        NewCreditNoteLine, Payment, PaymentFailure, PaymentInstrument, PaymentOutcome,
        StartedPayment,
    },
    subscription::Cancellation,
};

use crate::{
    invoices::{Invoiced, SETTLED, invoiced_with},
    support::fixture::{UNKNOWN, at, block_on, external, name, number, refused, run},
};

const JUNE: &str = "2026-06-01T00:00:00Z";

/// A customer that pays by a gateway, and gets an invoice of 80 on the first of June.
pub(crate) fn collected() -> (Invoiced, Invoice) {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    invoiced.fixture.set(JUNE);
    pays_by_gateway(&invoiced);
    invoiced.subscribe(JUNE);
    let invoice = invoiced.fixture.invoices(SETTLED).remove(0);
    (invoiced, invoice)
}

pub(crate) fn pays_by_gateway(invoiced: &Invoiced) {
    let update = CustomerUpdate {
        payment_provider: accrue::Patch::Set(PaymentProvider::StripeCharge),
        payment_provider_id: accrue::Patch::Set(name("cus_1")),
        ..CustomerUpdate::default()
    };
    run(invoiced.fixture.account.update_customer(external("ada"), update)).unwrap();
    invoiced.fixture.messages();
}

pub(crate) fn started(invoiced: &Invoiced) -> Vec<StartedPayment> {
    let page = PageRequest::default();
    block_on(invoiced.fixture.account.list_started_payments(&page)).unwrap().data
}

pub(crate) fn succeeded(at_: &str) -> PaymentOutcome {
    PaymentOutcome::Succeeded { received_at: at(at_), transaction_id: Some("pi_1".to_owned()) }
}

pub(crate) fn declined() -> PaymentOutcome {
    PaymentOutcome::Declined { transaction_id: None }
}

impl Invoiced {
    pub(crate) fn report(&self, id: PaymentAttemptId, outcome: PaymentOutcome) -> Invoice {
        run(self.fixture.account.report_payment(id, outcome)).unwrap()
    }
}

#[test]
fn invoicing_8_2_an_invoice_is_collected_when_it_is_due() {
    let (invoiced, invoice) = collected();
    let fixture = &invoiced.fixture;
    assert!(invoice.auto_collection.enabled, "who pays by a provider is collected from");
    assert_eq!(invoice.auto_collection.next_attempt_at, Some(at(JUNE)));
    fixture.messages();
    fixture.tick();
    assert_eq!(fixture.message_types(), ["invoice.payment_processing"]);
    let [payment] = started(&invoiced).try_into().unwrap();
    assert_eq!((payment.invoice_id, &payment.amount), (invoice.id, &number("80")));
    assert_eq!(payment.instrument, PaymentInstrument::OfProvider(name("cus_1")));
    let under_way = invoiced.fetch(invoice.id);
    assert_eq!(
        (under_way.status, under_way.auto_collection.num_attempts),
        (InvoiceStatus::Issued, 1)
    );
    assert_eq!(under_way.payment_started_at, Some(at(JUNE)));
    assert_eq!(under_way.payment_attempts, [], "it has neither succeeded nor failed");
    assert_eq!(under_way.auto_collection.next_attempt_at, None);

    fixture.set("2026-06-01T01:00:00Z");
    let paid = invoiced.report(payment.attempt_id, succeeded("2026-06-01T00:30:00Z"));
    assert_eq!(paid, invoiced.fetch(invoice.id));
    assert_eq!((paid.status, &paid.amount_due), (InvoiceStatus::Paid, &number("80")));
    assert_eq!(paid.paid_at, Some(at("2026-06-01T01:00:00Z")));
    assert_eq!(paid.payment_received_at, Some(at("2026-06-01T00:30:00Z")));
    let [attempt] = paid.payment_attempts.as_slice() else { panic!("{paid:?}") };
    assert!(attempt.succeeded);
    assert_eq!(attempt.payment_provider_id.as_deref(), Some("pi_1"));
    assert_eq!(attempt.payment_provider, Some(PaymentProvider::StripeCharge));
    assert_eq!(fixture.message_types(), ["invoice.payment_succeeded"]);
    // Whoever says it again changes nothing.
    assert_eq!(invoiced.report(payment.attempt_id, succeeded(JUNE)), paid);
    assert_eq!(invoiced.report(payment.attempt_id, declined()), paid);
    assert_eq!((fixture.message_types(), started(&invoiced)), (Vec::<&str>::new(), Vec::new()));
    let unknown: PaymentAttemptId = UNKNOWN.parse().unwrap();
    let (kind, _) = refused(fixture, fixture.account.report_payment(unknown, declined()));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}

#[test]
fn invoicing_8_2_net_terms_put_it_off() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    pays_by_gateway(&invoiced);
    let carried = accrue::Carried::new([("net_terms", "30")]).unwrap();
    invoiced.subscribe_with(JUNE, |new| new.carried = carried);
    fixture.tick_at("2026-06-30T23:59:59Z");
    assert_eq!(started(&invoiced), []);
    fixture.tick_at("2026-07-01T00:00:00Z");
    let due = started(&invoiced);
    assert!(due.iter().any(|of| of.started_at == at("2026-07-01T00:00:00Z")), "{due:?}");
}

#[test]
fn invoicing_8_2_without_an_instrument_an_attempt_fails_at_once() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    let carried = accrue::Carried::new([("auto_collection", "true")]).unwrap();
    invoiced.subscribe_with(JUNE, |new| new.carried = carried);
    let invoice = fixture.invoices(SETTLED).remove(0);
    fixture.tick_at("2026-06-29T00:00:00Z");
    let failed = invoiced.fetch(invoice.id);
    assert_eq!(failed.payment_attempts.len(), 4, "and each retry as well");
    let failures = failed.payment_attempts.iter().map(|of| of.failure);
    assert!(failures.clone().all(|of| of == Some(PaymentFailure::NoInstrument)), "{failed:?}");
    assert_eq!(failed.dunning.unwrap().status, DunningStatus::Exhausted);
}

#[test]
fn invoicing_8_2_money_for_what_is_owed_no_more_goes_to_the_balance() {
    let (invoiced, invoice) = collected();
    let fixture = &invoiced.fixture;
    fixture.tick();
    let payment = started(&invoiced).remove(0);
    let line =
        NewCreditNoteLine { invoice_line_id: invoice.lines[0].id, amount: number("1"), days: None };
    let (lines, reason) = (vec![line], CreditNoteReason::Duplicate);
    let note = NewCreditNote { lines, reason, memo: None, days: None };
    let (kind, text) = refused(fixture, fixture.account.create_credit_note(note));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("a payment of the invoice is under way"), "{text}");
    let (kind, text) = refused(fixture, fixture.account.void_invoice(invoice.id));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    run(fixture.account.mark_invoice_paid(invoice.id, Payment::new(at(JUNE)))).unwrap();
    fixture.messages();
    let again = invoiced.report(payment.attempt_id, succeeded(JUNE));
    assert_eq!((again.status, again.payment_attempts[0].succeeded), (InvoiceStatus::Paid, true));
    assert_eq!(invoiced.balance(), "80");
    assert_eq!(again.balance_transactions[0].action.name(), "overpayment_refund");
    let types = ["invoice.payment_succeeded", "customer.balance_transaction_created"];
    assert_eq!(fixture.message_types(), types);
    assert_eq!(invoiced.report(payment.attempt_id, succeeded(JUNE)), again, "once");
    assert_eq!(invoiced.balance(), "80");
    run(fixture.account.undo_mark_invoice_paid(invoice.id)).unwrap();
    run(fixture.account.void_invoice(invoice.id)).unwrap();
    assert_eq!(invoiced.balance(), "80", "it is the customer's money");
}

#[test]
fn invoicing_8_3_what_nobody_reports_has_failed_after_a_week() {
    let (invoiced, invoice) = collected();
    let fixture = &invoiced.fixture;
    fixture.tick();
    let payment = started(&invoiced).remove(0);
    fixture.tick_at("2026-06-07T23:59:59Z");
    assert_eq!(started(&invoiced).len(), 1);
    fixture.tick_at("2026-06-08T00:00:00Z");
    assert_eq!(started(&invoiced), []);
    let failed = invoiced.fetch(invoice.id);
    assert_eq!(failed.payment_attempts[0].failure, Some(PaymentFailure::NotReported));
    assert_eq!(failed.auto_collection.next_attempt_at, Some(at("2026-06-09T00:00:00Z")));
    // A bank that says so late has the last word.
    let paid = invoiced.report(payment.attempt_id, succeeded("2026-06-08T12:00:00Z"));
    assert_eq!((paid.status, paid.payment_attempts.len()), (InvoiceStatus::Paid, 1));
    assert!(paid.payment_attempts[0].succeeded);
    assert_eq!(paid.auto_collection.next_attempt_at, None);
}

#[test]
fn invoicing_8_4_an_invoice_is_paid_when_somebody_asks() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    let subscription = invoiced.subscribe(JUNE);
    let invoice = fixture.invoices(SETTLED).remove(0);
    let check = |token: Option<&str>, text: &str| {
        let pay = fixture.account.pay_invoice(invoice.id, token.map(str::to_owned));
        let (kind, detail) = refused(fixture, pay);
        assert_eq!(kind, ErrorKind::ConstraintViolation);
        assert!(detail.contains(text), "{detail}");
    };
    check(None, "nothing to pay with");
    let begun = run(fixture.account.pay_invoice(invoice.id, Some("spt_1".to_owned()))).unwrap();
    assert_eq!((begun.status, begun.payment_started_at), (InvoiceStatus::Issued, Some(at(JUNE))));
    let payment = started(&invoiced).remove(0);
    assert_eq!(payment.instrument, PaymentInstrument::Token("spt_1".to_owned()));
    check(Some("spt_2"), "a payment of the invoice is under way");
    let failed = invoiced.report(payment.attempt_id, declined());
    assert_eq!(
        (&failed.dunning, failed.auto_collection.next_attempt_at),
        (&None, None),
        "no retries"
    );
    let token = r#"{"payment_providers":[{"default_shared_payment_token":"spt_3"}]}"#;
    let carried = accrue::CarriedUpdate::new([("payment_configuration", token)]).unwrap();
    let update = CustomerUpdate { carried, ..CustomerUpdate::default() };
    run(fixture.account.update_customer(external("ada"), update)).unwrap();
    run(fixture.account.pay_invoice(invoice.id, None)).unwrap();
    let payment = started(&invoiced).remove(0);
    assert_eq!(payment.instrument, PaymentInstrument::Token("spt_3".to_owned()));
    let paid = invoiced.report(payment.attempt_id, succeeded(JUNE));
    assert_eq!(paid.auto_collection.num_attempts, 2);
    check(None, "the invoice is paid, expected issued");
    let draft = invoiced.upcoming(&subscription);
    let (kind, _) = refused(fixture, fixture.account.pay_invoice(draft.id, None));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
}

#[test]
fn invoicing_8_5_a_mark_of_payment_is_taken_back() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    invoiced.subscribe(JUNE);
    let invoice = fixture.invoices(SETTLED).remove(0);
    let (kind, text) = refused(fixture, fixture.account.undo_mark_invoice_paid(invoice.id));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    run(fixture.account.mark_invoice_paid(invoice.id, Payment::new(at(JUNE)))).unwrap();
    fixture.messages();
    let undone = run(fixture.account.undo_mark_invoice_paid(invoice.id)).unwrap();
    assert_eq!(undone, invoiced.fetch(invoice.id));
    assert_eq!((undone.status, undone.paid_at), (InvoiceStatus::Issued, None));
    assert_eq!((undone.payment_received_at, undone.auto_collection.next_attempt_at), (None, None));
    assert_eq!(fixture.message_types(), ["invoice.undo_mark_as_paid"]);
    run(fixture.account.pay_invoice(invoice.id, Some("spt_1".to_owned()))).unwrap();
    invoiced.report(started(&invoiced)[0].attempt_id, succeeded(JUNE));
    let (_, text) = refused(fixture, fixture.account.undo_mark_invoice_paid(invoice.id));
    assert!(text.contains("was not marked as paid by hand"), "{text}");
}

#[test]
fn invoicing_8_1_a_draft_says_whether_it_is_collected() {
    let (invoiced, _) = collected();
    let fixture = &invoiced.fixture;
    let draft = fixture.invoices(crate::invoices::DRAFT).remove(0);
    let off = InvoiceUpdate { auto_collection: Some(false), ..InvoiceUpdate::default() };
    let draft = run(fixture.account.update_invoice(draft.id, off)).unwrap();
    assert!(!draft.auto_collection.enabled);
    fixture.tick_at("2026-07-03T00:00:00Z");
    let issued = invoiced.fetch(draft.id);
    assert_eq!((issued.status, issued.payment_started_at), (InvoiceStatus::Issued, None));
}

#[test]
fn invoicing_8_2_ticks_in_any_rhythm_collect_alike() {
    let of = |days: usize| {
        let (invoiced, _) = collected();
        for day in (1..=60).step_by(days).chain([60]) {
            let day = std::time::Duration::from_secs(day * 86_400);
            invoiced.fixture.clock.set(at(JUNE).saturating_add(day));
            invoiced.fixture.tick();
        }
        let messages = invoiced.fixture.messages();
        let told: Vec<_> =
            messages.iter().map(|of| (of.message_type().to_owned(), of.created_at)).collect();
        let invoices = invoiced.fixture.invoices(SETTLED);
        let attempts =
            invoices.iter().map(|of| (of.auto_collection.clone(), of.payment_attempts.len()));
        (told, attempts.collect::<Vec<_>>())
    };
    let daily = of(1);
    assert_eq!(daily.1.len(), 2);
    assert_eq!(of(7), daily);
    assert_eq!(of(60), daily);
}

#[test]
fn a_gateway_is_asked_for_what_is_under_way() {
    struct Cards(Mutex<Vec<Decimal>>);

    #[async_trait::async_trait]
    impl PaymentGateway for Cards {
        async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome> {
            self.0.lock().unwrap().push(payment.amount.clone());
            let received_at = payment.started_at;
            Some(PaymentOutcome::Succeeded { received_at, transaction_id: None })
        }
    }

    let (invoiced, invoice) = collected();
    let account = &invoiced.fixture.account;
    let cards = Cards(Mutex::default());
    assert_eq!(block_on(account.collect_payments(&cards)).unwrap(), 0, "nothing has begun");
    invoiced.fixture.tick();
    assert_eq!(block_on(account.collect_payments(&cards)).unwrap(), 1);
    assert_eq!(invoiced.fetch(invoice.id).status, InvoiceStatus::Paid);
    assert_eq!(block_on(account.collect_payments(&cards)).unwrap(), 0);
    assert_eq!(*cards.0.lock().unwrap(), [number("80")]);
}

#[test]
fn invoicing_10_6_what_was_paid_after_a_cancellation_is_owed_when_it_is_taken_back() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let (fixture, account) = (&invoiced.fixture, &invoiced.fixture.account);
    fixture.set(JUNE);
    pays_by_gateway(&invoiced);
    let carried = accrue::Carried::new([("net_terms", "1")]).unwrap();
    let subscription = invoiced.subscribe_with(JUNE, |new| new.carried = carried).id;
    let invoice = fixture.invoices(SETTLED).remove(0);
    let end = Cancellation::RequestedDate(at("2026-06-16T00:00:00Z"));
    run(account.cancel_subscription(subscription, end)).unwrap();
    fixture.tick_at("2026-06-02T00:00:00Z");
    let payment = started(&invoiced).remove(0);
    assert_eq!(payment.amount, number("40"));
    let check = || {
        let paid = invoiced.fetch(invoice.id);
        assert_eq!(
            (paid.status, paid.amount_due.to_string().as_str()),
            (InvoiceStatus::Paid, "40")
        );
        assert_eq!(invoiced.balance(), "-40", "the next invoice asks for it");
    };
    // While the payment is under way, and once it was made.
    run(account.unschedule_cancellation(subscription)).unwrap();
    invoiced.report(payment.attempt_id, succeeded(JUNE));
    check();
    run(account.cancel_subscription(subscription, end)).unwrap();
    assert_eq!(invoiced.balance(), "0");
    run(account.unschedule_cancellation(subscription)).unwrap();
    check();
}

#[test]
fn invoicing_10_6_what_is_to_be_paid_after_all_is_collected() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    pays_by_gateway(&invoiced);
    invoiced.move_balance("40", accrue::invoice::BalanceDirection::Increment);
    let carried = accrue::Carried::new([("net_terms", "10")]).unwrap();
    let subscription = invoiced.subscribe_with(JUNE, |new| new.carried = carried);
    let invoice = fixture.invoices(SETTLED).remove(0);
    let end = Cancellation::RequestedDate(at("2026-06-16T00:00:00Z"));
    run(fixture.account.cancel_subscription(subscription.id, end)).unwrap();
    let paid = invoiced.fetch(invoice.id);
    assert_eq!((paid.status, paid.auto_collection.next_attempt_at), (InvoiceStatus::Paid, None));
    run(fixture.account.unschedule_cancellation(subscription.id)).unwrap();
    let issued = invoiced.fetch(invoice.id);
    assert_eq!(
        (issued.status, issued.amount_due.to_string().as_str()),
        (InvoiceStatus::Issued, "40")
    );
    let due = Some(at("2026-06-11T00:00:00Z"));
    assert_eq!(issued.auto_collection.next_attempt_at, due);
}

#[test]
fn words_of_providers_have_a_bound() {
    let (invoiced, invoice) = collected();
    let account = &invoiced.fixture.account;
    let long = Some("x".repeat(501));
    invoiced.fixture.tick();
    let outcome = PaymentOutcome::Declined { transaction_id: long.clone() };
    let id = started(&invoiced)[0].attempt_id;
    let (kind, text) = refused(&invoiced.fixture, account.report_payment(id, outcome));
    assert_eq!(kind, ErrorKind::RequestValidation, "{text}");
    let (kind, _) = refused(&invoiced.fixture, account.pay_invoice(invoice.id, long));
    assert_eq!(kind, ErrorKind::RequestValidation);
}
