//! Invoices with as much beside their lines as an invoice may have: no row of theirs is too large.

use accrue::{
    Description, ErrorKind, InvoiceId, Metadata, MetadataUpdate, Patch,
    customer::{CustomerUpdate, PaymentProvider},
    invoice::{
        CreditNoteReason, Invoice, InvoiceStatus, InvoiceUpdate, NewCreditNote, NewCreditNoteLine,
        Payment, PaymentOutcome,
    },
    limits,
};

use crate::{
    invoices::SETTLED,
    one_off::{Shop, shop},
    support::fixture::{NOON, at, external, name, number, refused, run},
};

/// Takes four bytes, as long texts may.
const WIDE: char = '\u{1F4B6}';

fn wide(characters: usize) -> String {
    WIDE.to_string().repeat(characters)
}

/// As much metadata as there may be.
fn metadata() -> Metadata {
    let most = limits::METADATA_BYTES / limits::METADATA_ENTRIES - limits::METADATA_KEY_BYTES;
    let value = "v".repeat(most.min(limits::METADATA_VALUE_BYTES));
    let key = |number| format!("{number:0>width$}", width = limits::METADATA_KEY_BYTES);
    (0..limits::METADATA_ENTRIES).map(|number| (key(number), value.clone())).collect()
}

/// An invoice of 1,000 with long texts, to a customer with as many fields as there may be, who pays by a
/// gateway.
fn long() -> (Shop, Invoice) {
    let shop = shop();
    let address = format!("{{\"line1\":\"{}\"}}", "x".repeat(limits::CARRIED_BYTES - 100));
    let update = CustomerUpdate {
        payment_provider: Patch::Set(PaymentProvider::StripeCharge),
        payment_provider_id: Patch::Set(name("cus_1")),
        carried: accrue::CarriedUpdate::new([("billing_address", address)]).unwrap(),
        ..CustomerUpdate::default()
    };
    run(shop.fixture.account.update_customer(external("ada"), update)).unwrap();
    let mut new = shop.invoice_of(NOON, &[("1", "1000")]);
    new.memo = Some(Description::parse(wide(limits::DESCRIPTION_CHARACTERS)).unwrap());
    new.metadata = metadata();
    new.will_auto_issue = true;
    new.auto_collection = Some(false);
    let invoice = shop.create(new);
    shop.fixture.messages();
    (shop, invoice)
}

impl Shop {
    fn decline(&self, id: InvoiceId) -> Invoice {
        let account = &self.fixture.account;
        let begun = run(account.pay_invoice(id, None)).unwrap();
        let attempt = begun.started_payment().unwrap().attempt_id;
        let transaction_id = Some(wide(limits::PROVIDER_CHARACTERS));
        run(account.report_payment(attempt, PaymentOutcome::Declined { transaction_id })).unwrap()
    }
}

fn a_cent(of: &Invoice) -> NewCreditNote {
    let amount = number("0.01");
    let line = NewCreditNoteLine { invoice_line_id: of.lines[0].id, amount, days: None };
    let memo = Some(Description::parse(wide(limits::DESCRIPTION_CHARACTERS)).unwrap());
    NewCreditNote { lines: vec![line], reason: CreditNoteReason::Duplicate, memo, days: None }
}

#[test]
fn invoicing_3_1_an_invoice_with_long_texts_takes_as_many_attempts_and_notes_as_there_may_be() {
    let (shop, invoice) = long();
    assert!(invoice.addressee.get("billing_address").unwrap().len() > limits::CARRIED_BYTES - 100);
    let mut last = invoice.clone();
    for _ in 0..limits::PAYMENT_ATTEMPTS {
        last = shop.decline(invoice.id);
    }
    assert_eq!(last.payment_attempts.len(), limits::PAYMENT_ATTEMPTS);
    let account = &shop.fixture.account;
    let (kind, text) = refused(&shop.fixture, account.pay_invoice(invoice.id, None));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("100 payments of the invoice were attempted, the most"), "{text}");
    // Each moves the balance, since the invoice is paid.
    run(account.mark_invoice_paid(invoice.id, Payment::new(at(NOON)))).unwrap();
    for _ in 0..limits::CREDIT_NOTES {
        run(account.create_credit_note(a_cent(&invoice))).unwrap();
    }
    let (kind, text) = refused(&shop.fixture, account.create_credit_note(a_cent(&invoice)));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("500"), "{text}");

    let found = shop.fetch(&invoice);
    assert_eq!((found.status, &found.memo), (InvoiceStatus::Paid, &invoice.memo));
    assert_eq!((found.metadata.len(), &found.metadata), (limits::METADATA_ENTRIES, &metadata()));
    assert_eq!(found.payment_attempts, last.payment_attempts);
    assert_eq!(found.credit_notes.len(), limits::CREDIT_NOTES);
    assert_eq!(shop.fixture.invoices(SETTLED), [shop.fetch(&invoice)]);
    let update = MetadataUpdate::Clear;
    let update = InvoiceUpdate { metadata: update, ..InvoiceUpdate::default() };
    run(account.update_invoice(invoice.id, update)).unwrap();
    let mut expected = found;
    expected.metadata.clear();
    assert_eq!(shop.fetch(&invoice), expected);
}
