use std::sync::Arc;

use accrue::{
    AccountId,
    invoice::{CreditNote, Invoice, PaymentAttempt},
};

use crate::settings::Settings;

/// Documents of a host: where the customers of an account find their invoices, receipts and credit notes
/// (invoicing 4.7).
///
/// It is asked whenever an answer shows one of these, and must answer at once: an address that can be told
/// from the ids and instants that it is given, and that nobody else can guess. What is found there is made
/// when somebody asks for it. `None` where there is no such document.
///
/// To ensure correctness:
///
/// - The same document has the same address, whenever it is asked for.
/// - A document shows the instant [`document_at`](Invoice::document_at), and its address depends on that:
///   where a document is renewed, the former one stays where it was.
pub trait Documents: Send + Sync {
    /// Returns the address of an invoice as a file, which is no draft.
    fn invoice_pdf(&self, account: &AccountId, invoice: &Invoice) -> Option<String>;

    /// Returns the address of the page on which a customer sees how an invoice stands, which is no draft.
    fn hosted_invoice(&self, account: &AccountId, invoice: &Invoice) -> Option<String>;

    /// Returns the address of the receipt of a payment that has succeeded.
    fn receipt_pdf(
        &self,
        account: &AccountId,
        invoice: &Invoice,
        payment: &PaymentAttempt,
    ) -> Option<String>;

    /// Returns the address of a credit note as a file.
    fn credit_note_pdf(&self, account: &AccountId, note: &CreditNote) -> Option<String>;
}

impl<D: Documents + ?Sized> Documents for Arc<D> {
    fn invoice_pdf(&self, account: &AccountId, invoice: &Invoice) -> Option<String> {
        (**self).invoice_pdf(account, invoice)
    }

    fn hosted_invoice(&self, account: &AccountId, invoice: &Invoice) -> Option<String> {
        (**self).hosted_invoice(account, invoice)
    }

    fn receipt_pdf(
        &self,
        account: &AccountId,
        invoice: &Invoice,
        payment: &PaymentAttempt,
    ) -> Option<String> {
        (**self).receipt_pdf(account, invoice, payment)
    }

    fn credit_note_pdf(&self, account: &AccountId, note: &CreditNote) -> Option<String> {
        (**self).credit_note_pdf(account, note)
    }
}

/// Addresses of the documents of an account, where the host has some.
#[derive(Clone)]
pub(crate) struct Links {
    account: AccountId,
    settings: Arc<Settings>,
}

impl Links {
    pub(crate) fn of(account: &AccountId, settings: &Arc<Settings>) -> Self {
        Self { account: account.clone(), settings: Arc::clone(settings) }
    }

    pub(crate) fn invoice_pdf(&self, invoice: &Invoice) -> Option<String> {
        invoice.document_at()?;
        self.documents()?.invoice_pdf(&self.account, invoice)
    }

    pub(crate) fn hosted_invoice(&self, invoice: &Invoice) -> Option<String> {
        invoice.document_at()?;
        self.documents()?.hosted_invoice(&self.account, invoice)
    }

    pub(crate) fn receipt_pdf(&self, invoice: &Invoice, of: &PaymentAttempt) -> Option<String> {
        of.document_at()?;
        self.documents()?.receipt_pdf(&self.account, invoice, of)
    }

    pub(crate) fn credit_note_pdf(&self, note: &CreditNote) -> Option<String> {
        self.documents()?.credit_note_pdf(&self.account, note)
    }

    fn documents(&self) -> Option<&dyn Documents> {
        self.settings.documents.as_deref()
    }
}
