use std::sync::Arc;

use accrue::{
    AccountId,
    invoice::{CreditNote, Invoice, PaymentAttempt},
};

use crate::{Documents, settings::Settings};

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
