//! Invoices that an invoicing provider takes (invoicing 16.2).

use std::sync::Mutex;

use accrue::{
    ErrorKind, InvoiceId, InvoicingProvider, PageRequest, Patch,
    customer::{CustomerUpdate, PaymentProvider},
    invoice::{
        BalanceDirection, Invoice, InvoiceStatus, NewBalanceTransaction, NewCreditNote,
        NewCreditNoteLine, Payment, SyncOutcome, SyncRequest, SyncTold,
    },
    webhook::Body,
};

use crate::{
    invoices::{Invoiced, SETTLED, invoiced_with},
    one_off::shop,
    support::fixture::{Fixture, UNKNOWN, at, block_on, external, name, number, refused, run},
};

const JUNE: &str = "2026-06-01T00:00:00Z";

/// Takes what it is asked for, and notes it.
#[derive(Default)]
struct Takes(Mutex<Vec<SyncRequest>>);

#[async_trait::async_trait]
impl InvoicingProvider for Takes {
    async fn sync(&self, request: &SyncRequest) -> Option<SyncOutcome> {
        self.0.lock().unwrap().push(request.clone());
        Some(SyncOutcome::Succeeded)
    }
}

/// Takes nothing.
struct Fails;

#[async_trait::async_trait]
impl InvoicingProvider for Fails {
    async fn sync(&self, _: &SyncRequest) -> Option<SyncOutcome> {
        Some(SyncOutcome::Failed)
    }
}

/// Does not know yet.
struct Thinks;

#[async_trait::async_trait]
impl InvoicingProvider for Thinks {
    async fn sync(&self, _: &SyncRequest) -> Option<SyncOutcome> {
        None
    }
}

/// Takes an invoice that somebody marks as paid meanwhile.
struct TakesTooLate<'a>(&'a Fixture);

#[async_trait::async_trait]
impl InvoicingProvider for TakesTooLate<'_> {
    async fn sync(&self, request: &SyncRequest) -> Option<SyncOutcome> {
        let payment = Payment::new(at(JUNE));
        self.0.account.mark_invoice_paid(request.invoice.id, payment).await.unwrap();
        Some(SyncOutcome::Succeeded)
    }
}

impl Fixture {
    fn awaiting_sync(&self) -> Vec<InvoiceId> {
        let page = PageRequest::default();
        block_on(self.account.list_invoices_awaiting_sync(&page)).unwrap().data
    }

    fn sync(&self, provider: &dyn InvoicingProvider) -> usize {
        block_on(self.account.sync_invoices(provider)).unwrap()
    }

    fn report(&self, id: InvoiceId, outcome: SyncOutcome) -> Invoice {
        run(self.account.report_sync(id, outcome)).unwrap()
    }

    fn messages_told(&self) -> Vec<Body> {
        self.drain().into_iter().map(|message| message.body).collect()
    }
}

fn pays_through(invoiced: &Invoiced, provider: Option<PaymentProvider>) {
    let fixture = &invoiced.fixture;
    let customer = block_on(fixture.account.fetch_customer(external("ada")));
    let update = CustomerUpdate {
        payment_provider: provider.map_or(Patch::Clear, Patch::Set),
        payment_provider_id: Patch::Set(name("qb_1")),
        ..CustomerUpdate::default()
    };
    run(fixture.account.update_customer(customer.unwrap().id, update)).unwrap();
    fixture.drain();
}

/// A customer that QuickBooks invoices, with an issued invoice of 80.
fn issued() -> (Invoiced, Invoice) {
    issued_of("80")
}

fn issued_of(fee: &str) -> (Invoiced, Invoice) {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee(fee)]);
    invoiced.fixture.set(JUNE);
    pays_through(&invoiced, Some(PaymentProvider::Quickbooks));
    let invoice = issue(&invoiced);
    (invoiced, invoice)
}

fn issue(invoiced: &Invoiced) -> Invoice {
    invoiced.subscribe(JUNE);
    invoiced.fixture.drain();
    invoiced.fixture.invoices(SETTLED).remove(0)
}

fn told_of(invoice: &Invoice) -> SyncTold {
    let Body::InvoiceSyncSucceeded(told) = serde_json::from_value(serde_json::json!({
        "invoice.sync_succeeded": {
            "invoice_id": invoice.id, "payment_provider": "quickbooks", "payment_provider_id": "qb_1",
        },
    }))
    .unwrap() else {
        panic!("another message")
    };
    told
}

#[test]
fn invoicing_4_1_what_a_provider_takes_is_synced() {
    let (invoiced, invoice) = issued();
    let fixture = &invoiced.fixture;
    assert_eq!((invoice.status, invoice.awaits_sync()), (InvoiceStatus::Issued, true));
    assert_eq!(fixture.awaiting_sync(), [invoice.id]);
    let books = Takes::default();
    assert_eq!(fixture.sync(&books), 1);
    let asked = books.0.into_inner().unwrap();
    let [asked] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(asked.invoice, invoice, "whole, with its lines");
    assert_eq!(asked.invoice.lines.len(), 1);
    assert_eq!(asked.provider, PaymentProvider::Quickbooks);
    assert_eq!(asked.provider_id.as_deref(), Some("qb_1"));
    let synced = invoiced.fetch(invoice.id);
    assert_eq!((synced.status, synced.synced_at), (InvoiceStatus::Synced, Some(at(JUNE))));
    assert_eq!((synced.paid_at, synced.sync_failed_at), (None, None));
    assert_eq!(synced.amount_due, number("80"));
    assert_eq!(fixture.messages_told(), [Body::InvoiceSyncSucceeded(told_of(&invoice))]);
    assert_eq!((fixture.awaiting_sync(), fixture.sync(&Takes::default())), (vec![], 0));
    assert_eq!(fixture.report(invoice.id, SyncOutcome::Failed), synced, "it waits no longer");
    assert_eq!(fixture.messages_told(), []);
}

#[test]
fn invoicing_16_2_a_sync_that_fails_is_told_and_tried_again_after_an_hour() {
    let (invoiced, invoice) = issued();
    let fixture = &invoiced.fixture;
    assert_eq!(fixture.sync(&Fails), 0);
    assert_eq!(fixture.messages_told(), [Body::InvoiceSyncFailed(told_of(&invoice))]);
    let failed = invoiced.fetch(invoice.id);
    assert_eq!((failed.status, failed.sync_failed_at), (InvoiceStatus::Issued, Some(at(JUNE))));
    fixture.set("2026-06-01T00:59:59Z");
    assert_eq!(fixture.awaiting_sync(), []);
    fixture.set("2026-06-01T01:00:00Z");
    assert_eq!(fixture.awaiting_sync(), [invoice.id]);
    assert_eq!(fixture.sync(&Takes::default()), 1);
    let synced = invoiced.fetch(invoice.id);
    assert_eq!((synced.status, synced.sync_failed_at), (InvoiceStatus::Synced, Some(at(JUNE))));
}

#[test]
fn invoicing_16_2_without_a_provider_of_the_host_it_stays_issued() {
    let (invoiced, invoice) = issued();
    let fixture = &invoiced.fixture;
    fixture.tick_at("2026-06-20T00:00:00Z");
    assert_eq!(fixture.sync(&Thinks), 0);
    assert_eq!(fixture.messages_told(), []);
    let waiting = invoiced.fetch(invoice.id);
    assert_eq!((waiting.status, waiting.awaits_sync()), (InvoiceStatus::Issued, true));
    assert_eq!(waiting.auto_collection.next_attempt_at, None, "no gateway charges it");
    assert_eq!(fixture.awaiting_sync(), [invoice.id]);
}

#[test]
fn invoicing_7_6_the_balance_does_not_pay_for_it() {
    for (direction, balance) in
        [(BalanceDirection::Increment, "30"), (BalanceDirection::Decrement, "-30")]
    {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
        invoiced.fixture.set(JUNE);
        invoiced.move_balance("30", direction);
        pays_through(&invoiced, Some(PaymentProvider::StripeInvoice));
        let invoice = issue(&invoiced);
        assert_eq!(invoice.amount_due, number("80"));
        assert_eq!(invoice.balance_transactions, []);
        assert_eq!(invoiced.balance(), balance);
    }
}

#[test]
fn invoicing_12_2_nobody_moves_a_balance_that_pays_for_nothing() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    pays_through(&invoiced, Some(PaymentProvider::Quickbooks));
    let direction = BalanceDirection::Increment;
    let new = NewBalanceTransaction { amount: number("10"), direction, description: None };
    let call = invoiced.fixture.account.create_balance_transaction(external("ada"), new);
    let (kind, text) = refused(&invoiced.fixture, call);
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("pays for nothing"), "{text}");
}

#[test]
fn invoicing_7_6_an_invoice_below_zero_moves_it() {
    let shop = shop();
    let through = CustomerUpdate {
        payment_provider: Patch::Set(PaymentProvider::StripeInvoice),
        payment_provider_id: Patch::Set(name("cus_1")),
        ..CustomerUpdate::default()
    };
    run(shop.fixture.account.update_customer(shop.ada.id, through)).unwrap();
    let mut new = shop.invoice_of("2026-03-10T00:00:00Z", &[("1", "-8")]);
    new.will_auto_issue = true;
    let invoice = shop.create(new);
    let found = (invoice.status, invoice.amount_due.to_string(), invoice.awaits_sync());
    assert_eq!(found, (InvoiceStatus::Paid, "0".to_owned(), false));
    let ada = block_on(shop.fixture.account.fetch_customer(shop.ada.id)).unwrap();
    assert_eq!(ada.balance, number("8"));
}

#[test]
fn invoicing_4_1_nothing_is_synced_where_nothing_is_due() {
    let (invoiced, invoice) = issued_of("0");
    assert_eq!((invoice.status, invoice.awaits_sync()), (InvoiceStatus::Paid, false));
    assert_eq!(invoiced.fixture.awaiting_sync(), []);
}

#[test]
fn invoicing_16_2_a_gateway_is_given_no_invoices() {
    for provider in [None, Some(PaymentProvider::Adyen), Some(PaymentProvider::StripeCharge)] {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
        invoiced.fixture.set(JUNE);
        pays_through(&invoiced, provider);
        assert!(!issue(&invoiced).awaits_sync());
        assert_eq!(invoiced.fixture.awaiting_sync(), []);
    }
}

#[test]
fn invoicing_16_2_who_is_invoiced_through_no_provider_by_now_is_not_asked_for() {
    let (invoiced, invoice) = issued();
    let fixture = &invoiced.fixture;
    pays_through(&invoiced, None);
    assert_eq!(block_on(fixture.account.sync_request(invoice.id)).unwrap(), None);
    assert_eq!(fixture.sync(&Takes::default()), 0);
    let left = invoiced.fetch(invoice.id);
    assert_eq!((left.status, left.awaits_sync()), (InvoiceStatus::Issued, false));
    assert_eq!((fixture.awaiting_sync(), fixture.messages_told()), (vec![], vec![]));
    run(fixture.account.void_invoice(invoice.id)).unwrap();
}

#[test]
fn invoicing_8_5_what_is_synced_is_marked_as_paid_and_asked_for_again_where_that_is_undone() {
    let (invoiced, invoice) = issued();
    let fixture = &invoiced.fixture;
    fixture.sync(&Takes::default());
    let payment = Payment::new(at(JUNE));
    let paid = run(fixture.account.mark_invoice_paid(invoice.id, payment)).unwrap();
    assert_eq!((paid.status, fixture.awaiting_sync()), (InvoiceStatus::Paid, vec![]));
    let undone = run(fixture.account.undo_mark_invoice_paid(invoice.id)).unwrap();
    assert_eq!((undone.status, undone.awaits_sync()), (InvoiceStatus::Issued, true));
    let (_, detail) = refused(fixture, fixture.account.void_invoice(invoice.id));
    assert_eq!(detail, "the invoice was synced at 2026-06-01T00:00:00.000000Z");
    assert_eq!(fixture.sync(&Takes::default()), 1);
    assert_eq!(invoiced.fetch(invoice.id).status, InvoiceStatus::Synced);
}

#[test]
fn invoicing_4_1_what_is_paid_or_void_meanwhile_is_not_synced() {
    let payment = || Payment::new(at(JUNE));
    let (invoiced, invoice) = issued();
    run(invoiced.fixture.account.mark_invoice_paid(invoice.id, payment())).unwrap();
    assert_eq!(invoiced.fixture.awaiting_sync(), []);
    let after = invoiced.fixture.report(invoice.id, SyncOutcome::Succeeded);
    assert_eq!((after.status, after.synced_at), (InvoiceStatus::Paid, None));
    let (invoiced, invoice) = issued();
    run(invoiced.fixture.account.void_invoice(invoice.id)).unwrap();
    assert_eq!(invoiced.fixture.awaiting_sync(), []);
    let after = invoiced.fixture.report(invoice.id, SyncOutcome::Failed);
    assert_eq!((after.status, after.sync_failed_at), (InvoiceStatus::Void, None));
}

#[test]
fn invoicing_4_1_what_is_paid_while_a_provider_is_asked_is_not_counted() {
    let (invoiced, invoice) = issued();
    let fixture = &invoiced.fixture;
    assert_eq!(fixture.sync(&TakesTooLate(fixture)), 0);
    let paid = invoiced.fetch(invoice.id);
    assert_eq!((paid.status, paid.synced_at), (InvoiceStatus::Paid, None));
}

#[test]
fn invoicing_16_2_a_payment_that_is_under_way_comes_first() {
    let (invoiced, invoice) = issued();
    let fixture = &invoiced.fixture;
    let token = Some("spt_1".to_owned());
    let paying = run(fixture.account.pay_invoice(invoice.id, token)).unwrap();
    assert_eq!((paying.awaits_sync(), fixture.awaiting_sync()), (false, vec![]));
    let after = fixture.report(invoice.id, SyncOutcome::Succeeded);
    assert_eq!(after.status, InvoiceStatus::Issued);
    let attempt = paying.started_payment().unwrap().attempt_id;
    let declined = accrue::invoice::PaymentOutcome::Declined { transaction_id: None };
    run(fixture.account.report_payment(attempt, declined)).unwrap();
    assert_eq!(fixture.awaiting_sync(), [invoice.id]);
}

#[test]
fn invoicing_10_3_a_note_of_what_is_synced_is_refused() {
    let (invoiced, invoice) = issued();
    let fixture = &invoiced.fixture;
    fixture.sync(&Takes::default());
    let line = invoice.lines[0].id;
    let note = NewCreditNote {
        lines: vec![NewCreditNoteLine { invoice_line_id: line, amount: number("1"), days: None }],
        reason: accrue::invoice::CreditNoteReason::OrderChange,
        memo: None,
        days: None,
    };
    let (_, detail) = refused(fixture, fixture.account.create_credit_note(note));
    assert_eq!(detail, "the invoice is synced, expected issued or paid");
    let (_, detail) = refused(fixture, fixture.account.void_invoice(invoice.id));
    assert_eq!(detail, "the invoice is synced, expected issued");
}

#[test]
fn invoicing_16_2_all_that_wait_are_asked_for() {
    let (invoiced, _) = issued();
    let fixture = &invoiced.fixture;
    for _ in 0..24 {
        issue(&invoiced);
    }
    assert_eq!(fixture.sync(&Takes::default()), 25, "more than a page of them");
    assert_eq!(fixture.awaiting_sync(), []);
}

#[test]
fn a_sync_of_no_invoice_is_refused() {
    let (invoiced, _) = issued();
    let account = &invoiced.fixture.account;
    let unknown = UNKNOWN.parse::<InvoiceId>().unwrap();
    let kind = run(account.report_sync(unknown, SyncOutcome::Failed)).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::ResourceNotFound);
    let kind = block_on(account.sync_request(unknown)).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}
