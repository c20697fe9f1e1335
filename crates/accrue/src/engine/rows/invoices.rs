//! Invoices with their lines, and the balance of a customer that they move.

use crate::{
    BalanceTransactionId, CustomerId, Error, IdOr, InvoiceId, Timestamp,
    engine::{
        kernel::{Guard, Transaction},
        rows::{customers, subscriptions},
    },
    invoice::{BalanceTransaction, Invoice, InvoiceLine, InvoiceStatus, Receivables},
    limits,
    schema::{self, CustomerEntry, CustomerHead, InvoiceEntry, InvoiceLines, Nothing, Slot},
    subscription::Subscription,
};

/// Returns an invoice that exists, and whose customer is not deleted: a draft without lines.
pub(in crate::engine) async fn invoice(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
) -> Result<Invoice, Error> {
    let unknown = || Error::not_found("invoice", id);
    let slot = schema::invoice(tx.account, id);
    let InvoiceEntry { mut invoice, parts } = tx.find(&slot).await?.ok_or_else(unknown)?;
    match customers::customer(tx, &IdOr::Id(invoice.customer_id)).await {
        Ok(_) => {}
        Err(error) if error.is_not_found() => return Err(unknown()),
        Err(error) => return Err(error),
    }
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    guard.adopt(tx, &slot);
    invoice.lines = lines(tx, &guard, id, parts).await?;
    Ok(invoice)
}

/// Reads an invoice of a customer under its guard: a draft, which has no lines.
pub(in crate::engine) async fn draft(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    id: InvoiceId,
) -> Result<Invoice, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let entry = guard.get(tx, &schema::invoice(tx.account, id)).await?;
    Ok(entry.ok_or_else(|| Error::corrupt("a draft is missing"))?.invoice)
}

async fn lines(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    id: InvoiceId,
    parts: u16,
) -> Result<Vec<InvoiceLine>, Error> {
    let slots: Vec<_> = slots(tx, id, parts).collect();
    let found: Option<Vec<_>> = guard.get_all(tx, &slots).await?.into_iter().collect();
    let found = found.ok_or_else(|| Error::corrupt("lines of an invoice are missing"))?;
    Ok(found.into_iter().flat_map(|of| of.lines).collect())
}

/// Returns an invoice as a list found it, with its lines.
pub(in crate::engine) async fn peek_lines(
    tx: &Transaction<'_>,
    InvoiceEntry { mut invoice, parts }: InvoiceEntry,
) -> Result<Invoice, Error> {
    let slots: Vec<_> = slots(tx, invoice.id, parts).collect();
    let found: Option<Vec<_>> = tx.peek(&slots).await?.into_iter().collect();
    let found = found.ok_or_else(|| Error::corrupt("lines of an invoice are missing"))?;
    invoice.lines = found.into_iter().flat_map(|of| of.lines).collect();
    Ok(invoice)
}

fn slots(
    tx: &Transaction<'_>,
    id: InvoiceId,
    parts: u16,
) -> impl Iterator<Item = Slot<InvoiceLines, CustomerHead>> {
    let account = tx.account;
    (0..parts).map(move |part| schema::invoice_lines(account, id, part))
}

/// Returns the date of the latest invoice of a subscription that was issued, where that bears an instant or
/// a later date.
pub(in crate::engine) async fn last_issued(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    from: Timestamp,
) -> Result<Option<Timestamp>, Error> {
    let index = schema::Index::invoices_of_customer(tx.account, of.customer_id);
    let scan = index.scan(from, Timestamp::MAX, limits::SCAN_ROWS);
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    let mut slots = Vec::new();
    for (key, _) in guard.range_all(tx, scan).await? {
        let id = InvoiceId::from_bytes(schema::id_at(&schema::position(&key)?));
        slots.push(schema::invoice(tx.account, id));
    }
    let found = guard.get_all(tx, &slots).await?.into_iter().flatten().map(|entry| entry.invoice);
    let is_issued = |invoice: &Invoice| {
        invoice.subscription_id == Some(of.id) && invoice.status != InvoiceStatus::Draft
    };
    Ok(found.filter(is_issued).map(|invoice| invoice.invoice_date).max())
}

/// Writes a draft that is new, and where it is found.
pub(in crate::engine) async fn put_new(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<(), Error> {
    tx.put(&schema::invoice_by_customer(tx.account, invoice), &Nothing {})?;
    tx.put(&schema::invoice_by_status(tx.account, invoice), &Nothing {})?;
    put(tx, invoice, 0).await
}

/// Writes an invoice that had another status, or lines that it had not.
pub(in crate::engine) async fn save(
    tx: &mut Transaction<'_>,
    before: InvoiceStatus,
    invoice: &Invoice,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let slot = schema::invoice(tx.account, invoice.id);
    // Nothing changes lines once they are written.
    let mut parts = guard.get(tx, &slot).await?.map_or(0, |entry| entry.parts);
    if before == InvoiceStatus::Draft && invoice.status != InvoiceStatus::Draft {
        for lines in in_parts(&invoice.lines)? {
            guard.put(tx, &schema::invoice_lines(tx.account, invoice.id, parts), &lines)?;
            parts = parts.saturating_add(1);
        }
    }
    if before != invoice.status {
        let old = Invoice { status: before, lines: Vec::new(), ..invoice.clone() };
        tx.delete(&schema::invoice_by_status(tx.account, &old));
        tx.put(&schema::invoice_by_status(tx.account, invoice), &Nothing {})?;
    }
    put(tx, invoice, parts).await
}

/// Removes a draft.
pub(in crate::engine) async fn remove(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    tx.delete(&schema::invoice_by_customer(tx.account, invoice));
    tx.delete(&schema::invoice_by_status(tx.account, invoice));
    guard.delete(tx, &schema::invoice(tx.account, invoice.id))
}

async fn put(tx: &mut Transaction<'_>, invoice: &Invoice, parts: u16) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let invoice = Invoice { lines: Vec::new(), ..invoice.clone() };
    guard.put(tx, &schema::invoice(tx.account, invoice.id), &InvoiceEntry { invoice, parts })
}

/// Cuts lines into parts that each fit a row.
fn in_parts(lines: &[InvoiceLine]) -> Result<Vec<InvoiceLines>, Error> {
    let (mut parts, mut room) = (Vec::<InvoiceLines>::new(), 0_usize);
    for line in lines {
        let text =
            serde_json::to_string(line).map_err(|error| Error::corrupt(error.to_string()))?;
        let bytes = text.len().saturating_add(1);
        match parts.last_mut().filter(|_| bytes <= room) {
            Some(part) => part.lines.push(line.clone()),
            None => {
                parts.push(InvoiceLines { lines: vec![line.clone()] });
                room = limits::TERMS_BYTES;
            }
        }
        room = room.saturating_sub(bytes);
    }
    Ok(parts)
}

/// A customer with its balance, and the numbers of its invoices.
pub(in crate::engine) struct Books {
    pub(in crate::engine) entry: CustomerEntry,
    pub(in crate::engine) receivables: Receivables,
}

/// Reads a customer with the numbers of its invoices; of one that was never invoiced, those that it begins
/// with.
pub(in crate::engine) async fn books(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Books, Error> {
    let (guard, entry) = customers::entry(tx, customer).await?;
    let entry = entry.ok_or_else(|| Error::corrupt("the customer of an invoice is missing"))?;
    let found = guard.get(tx, &schema::receivables(tx.account, customer)).await?;
    let receivables = found.unwrap_or_else(|| {
        let mut letters = [0; 6];
        tx.entropy().fill(&mut letters);
        Receivables::new(letters)
    });
    Ok(Books { entry, receivables })
}

/// Writes the numbers of a customer's invoices, and its balance with the transaction that has moved it.
pub(in crate::engine) async fn save_books(
    tx: &mut Transaction<'_>,
    books: &Books,
    transaction: Option<&BalanceTransaction>,
) -> Result<(), Error> {
    let Books { entry, receivables } = books;
    let id = entry.customer.id;
    let guard = tx.guard::<CustomerHead>(id).await?;
    guard.put(tx, &schema::receivables(tx.account, id), receivables)?;
    if let Some(of) = transaction {
        customers::put(tx, entry).await?;
        guard.put(tx, &schema::balance_transaction(tx.account, id, of.number), of)?;
        tx.put(&schema::balance_transaction_by_time(tx.account, of), &Nothing {})?;
    }
    Ok(())
}

/// Removes the drafts of a customer that is deleted: one that was given an invoice is not (wire 4.1).
pub(in crate::engine) async fn forget(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let known = guard.get(tx, &schema::receivables(tx.account, customer)).await?;
    let Some(Receivables { invoices, .. }) = known else { return Ok(()) };
    if invoices > 0 {
        return Err(Error::constraint(format!("the customer was given {invoices} invoices")));
    }
    for entry in subscriptions::every_subscription(tx, customer).await? {
        for of in entry.invoicing.iter().flat_map(|of| &of.drafts) {
            let draft = draft(tx, customer, of.id).await?;
            remove(tx, &draft).await?;
        }
    }
    Ok(())
}

/// Draws the id of a transaction.
pub(in crate::engine) fn transaction_id(tx: &Transaction<'_>) -> BalanceTransactionId {
    BalanceTransactionId::generate(tx.now, tx.entropy())
}
