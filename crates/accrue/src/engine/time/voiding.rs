//! Invoices that become void (invoicing 8.6).

use crate::{
    BalanceTransactionId, Error, Timestamp,
    customer::Customer,
    engine::{
        kernel::Transaction,
        rows::{
            invoices::{self, Books},
            outbox,
        },
        time::collecting,
    },
    invoice::{BalanceTransaction, Invoice, Receivables},
    webhook::Body,
};

/// Makes an invoice void, and returns to the balance of the customer what it took of that; credits that it
/// has bought stay.
pub(in crate::engine) async fn void(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
) -> Result<(), Error> {
    void_by(tx, invoice, Invoice::void).await
}

/// Makes an invoice void that nobody has paid for, because its subscription ends before it (invoicing 6.2).
pub(super) async fn take_back(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
) -> Result<(), Error> {
    void_by(tx, invoice, Invoice::take_back).await
}

/// Makes an invoice void in the books of a customer.
type Voids = fn(
    &mut Invoice,
    &mut Customer,
    &mut Receivables,
    BalanceTransactionId,
    Timestamp,
) -> Result<Option<BalanceTransaction>, Error>;

async fn void_by(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    void: Voids,
) -> Result<(), Error> {
    let (before, customer_id, invoice_id) = (invoice.status, invoice.customer_id, invoice.id);
    let mut books = invoices::books(tx, customer_id).await?;
    let Books { entry, receivables } = &mut books;
    let id = invoices::transaction_id(tx);
    let transaction = void(invoice, &mut entry.customer, receivables, id, tx.now)?;
    invoices::save_books(tx, &books, transaction.as_ref()).await?;
    outbox::tell(tx, customer_id, tx.now, Body::InvoiceMarkedAsVoid { invoice_id }).await?;
    if let Some(transaction) = transaction {
        let body = Body::BalanceTransactionCreated { transaction: Box::new(transaction) };
        outbox::tell(tx, customer_id, tx.now, body).await?;
    }
    let now = tx.now;
    collecting::conclude(tx, invoice, now).await?;
    invoices::save(tx, before, invoice).await
}
