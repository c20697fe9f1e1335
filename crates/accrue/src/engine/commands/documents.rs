//! Documents of invoices: which instants they show. What they look like, and where they are found, is
//! the host's.

use crate::{
    Error, InvoiceId, Timestamp,
    engine::{
        Account, Call,
        commands::invoices::current_invoice,
        kernel::{Op, Stop, Transaction, boxed},
        rows::invoices,
    },
    invoice::Invoice,
};

impl Account {
    /// Renews the document of an invoice (invoicing 4.7): from now on
    /// [`document_at`](Invoice::document_at) is this instant.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is a draft.
    pub fn renew_invoice_document(&self, id: InvoiceId) -> Call<Invoice> {
        let run =
            Op::new("renew_invoice_document", id, |tx, id| renew(tx, *id, Invoice::renew_document));
        Call::new(self, run)
    }

    /// Renews the receipt of the latest payment of an invoice that has succeeded (invoicing 4.7).
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is not paid, or by no payment
    /// attempt.
    pub fn renew_receipt(&self, id: InvoiceId) -> Call<Invoice> {
        let run = Op::new("renew_receipt", id, |tx, id| renew(tx, *id, Invoice::renew_receipt));
        Call::new(self, run)
    }
}

type Renewal = fn(&mut Invoice, Timestamp) -> Result<(), Error>;

#[boxed]
async fn renew(tx: &mut Transaction<'_>, id: InvoiceId, renew: Renewal) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    renew(&mut invoice, tx.now)?;
    invoices::save(tx, invoice.status, &invoice).await?;
    Ok(invoice)
}
