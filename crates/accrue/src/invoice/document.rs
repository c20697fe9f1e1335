//! Documents of invoices and receipts: the instants that they show (invoicing 4.7).

use super::{Invoice, InvoiceStatus, PaymentAttempt};
use crate::{Error, Timestamp};

impl Invoice {
    /// Returns the instant that the document of it shows: when it was issued, or when its document was last
    /// renewed. A draft has no document.
    #[must_use]
    pub fn document_at(&self) -> Option<Timestamp> {
        self.document_renewed_at.or(self.issued_at)
    }

    /// Renews its document: from now on it shows what has become of the invoice until now.
    pub(crate) fn renew_document(&mut self, now: Timestamp) -> Result<(), Error> {
        self.check_status(&[
            InvoiceStatus::Issued,
            InvoiceStatus::Paid,
            InvoiceStatus::Synced,
            InvoiceStatus::Void,
        ])?;
        self.document_renewed_at = Some(now);
        Ok(())
    }

    /// Renews the receipt of the latest payment that has succeeded.
    pub(crate) fn renew_receipt(&mut self, now: Timestamp) -> Result<(), Error> {
        self.check_status(&[InvoiceStatus::Paid])?;
        let payment = self.payment_attempts.iter_mut().rev().find(|of| of.succeeded);
        let none =
            || Error::constraint("the invoice has no receipt, as no payment attempt has paid it");
        payment.ok_or_else(none)?.receipt_at = Some(now);
        Ok(())
    }
}

impl PaymentAttempt {
    /// Returns the instant that its receipt shows: where the money came, when that was told, or when the
    /// receipt was last renewed.
    #[must_use]
    pub fn document_at(&self) -> Option<Timestamp> {
        // One that was paid before receipts were known has the instant at which it began.
        self.succeeded.then(|| self.receipt_at.unwrap_or(self.created_at))
    }
}
