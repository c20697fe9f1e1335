//! Invoices with their lines, and the balance of a customer that they move.

use crate::{
    BalanceTransactionId, CustomerId, Error, IdOr, InvoiceId, InvoiceLineId, PaymentAttemptId,
    Timestamp,
    engine::{
        kernel::Transaction,
        rows::{
            active, credit_notes, customers, invoice_lines,
            invoice_lines::all_of,
            invoice_rest::{self, Rest},
        },
    },
    invoice::{BalanceTransaction, Invoice, InvoiceStatus, Receivables},
    limits,
    schema::{self, ActiveIds, CustomerEntry, CustomerHead, InvoiceEntry, Nothing, Slot},
    subscription::Subscription,
};

/// Returns an invoice that exists, and whose customer is not deleted: a draft with its lines by hand alone.
pub(in crate::engine) async fn invoice(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
) -> Result<Invoice, Error> {
    let unknown = || Error::not_found("invoice", id);
    let slot = schema::invoice(tx.account, id);
    let entry = tx.find(&slot).await?.ok_or_else(unknown)?;
    let rest = rest_of(&entry);
    let InvoiceEntry { mut invoice, parts, transactions, credit_notes, .. } = entry;
    match customers::customer(tx, &IdOr::Id(invoice.customer_id)).await {
        Ok(_) => {}
        Err(error) if error.is_not_found() => return Err(unknown()),
        Err(error) => return Err(error),
    }
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    invoice_lines::read(tx, &guard, &mut invoice, parts).await?;
    invoice_rest::read(tx, &guard, &mut invoice, rest).await?;
    let slots = transaction_slots(tx, &invoice, &transactions);
    invoice.balance_transactions = all_of(guard.get_all(tx, &slots).await?)?;
    invoice.credit_notes = credit_notes::of_invoice(tx, &guard, &credit_notes).await?;
    Ok(invoice)
}

/// Returns the invoice that a line is of, as [`invoice`] does. What falls due on a draft is not kept: one
/// that begins alike has it.
pub(in crate::engine) async fn invoice_of_line(
    tx: &mut Transaction<'_>,
    id: InvoiceLineId,
) -> Result<Invoice, Error> {
    let has_it = |invoice: &Invoice| {
        invoice.status == InvoiceStatus::Draft || invoice.lines.iter().any(|line| line.id == id)
    };
    let found = invoice_of_part(tx, id.as_bytes(), has_it).await?;
    found.ok_or_else(|| Error::not_found("invoice line item", id))
}

/// Returns the invoice that an attempt is to collect, as [`invoice`] does.
pub(in crate::engine) async fn invoice_of_attempt(
    tx: &mut Transaction<'_>,
    id: PaymentAttemptId,
) -> Result<Invoice, Error> {
    let has_it = |invoice: &Invoice| {
        invoice.started_payment().is_some_and(|of| of.attempt_id == id)
            || invoice.payment_attempts.iter().any(|of| of.id == id)
    };
    let found = invoice_of_part(tx, id.as_bytes(), has_it).await?;
    found.ok_or_else(|| Error::not_found("payment attempt", id))
}

/// Returns the invoice that has a part: the ids of both begin alike.
async fn invoice_of_part(
    tx: &mut Transaction<'_>,
    part: &[u8; 16],
    has_it: impl Fn(&Invoice) -> bool,
) -> Result<Option<Invoice>, Error> {
    let Some(first) = part.first_chunk() else { return Ok(None) };
    let scan = schema::invoices_of_part(tx.account, first, limits::SCAN_ROWS);
    for key in tx.keys_now(&scan).await? {
        let invoice = invoice(tx, schema::invoice_id(&key)?).await?;
        if has_it(&invoice) {
            return Ok(Some(invoice));
        }
    }
    Ok(None)
}

/// Reads the invoices of a subscription that bear an instant or a later date, drafts too, by date.
pub(in crate::engine) async fn of_subscription_from(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    from: Timestamp,
) -> Result<Vec<Invoice>, Error> {
    let mut found = Vec::new();
    for id in ids_from(tx, of.customer_id, from).await? {
        found.push(invoice(tx, id).await?);
    }
    found.retain(|invoice| invoice.subscription_id == Some(of.id));
    Ok(found)
}

/// Returns the ids of a customer's invoices that bear an instant or a later date, by date.
async fn ids_from(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    from: Timestamp,
) -> Result<Vec<InvoiceId>, Error> {
    let index = schema::Index::invoices_of_customer(tx.account, customer);
    let scan = index.scan(from, Timestamp::MAX, limits::SCAN_ROWS);
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let rows = guard.range_all(tx, scan).await?;
    let id = |key| Ok(InvoiceId::from_bytes(schema::id_at(&schema::position(key)?)));
    rows.iter().map(|(key, _)| id(key)).collect()
}

/// Reads an invoice of a customer under its guard: a draft, with its lines by hand alone.
pub(in crate::engine) async fn draft(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    id: InvoiceId,
) -> Result<Invoice, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let entry = guard.get(tx, &schema::invoice(tx.account, id)).await?;
    let entry = entry.ok_or_else(|| Error::corrupt("a draft is missing"))?;
    let rest = rest_of(&entry);
    let InvoiceEntry { mut invoice, parts, .. } = entry;
    invoice_lines::read(tx, &guard, &mut invoice, parts).await?;
    invoice_rest::read(tx, &guard, &mut invoice, rest).await?;
    Ok(invoice)
}

const fn rest_of(&InvoiceEntry { has_texts, attempts, .. }: &InvoiceEntry) -> Rest {
    Rest { has_texts, attempts }
}

fn transaction_slots(
    tx: &Transaction<'_>,
    of: &Invoice,
    numbers: &[u64],
) -> Vec<Slot<BalanceTransaction, CustomerHead>> {
    let slot = |number: &u64| schema::balance_transaction(tx.account, of.customer_id, *number);
    numbers.iter().map(slot).collect()
}

/// Returns an invoice as a list found it, with its lines.
pub(in crate::engine) async fn peek_lines(
    tx: &Transaction<'_>,
    entry: InvoiceEntry,
) -> Result<Invoice, Error> {
    let rest = rest_of(&entry);
    let InvoiceEntry { mut invoice, parts, transactions, credit_notes, .. } = entry;
    invoice_lines::peek(tx, &mut invoice, parts).await?;
    invoice_rest::peek(tx, &mut invoice, rest).await?;
    let slots = transaction_slots(tx, &invoice, &transactions);
    invoice.balance_transactions = all_of(tx.peek(&slots).await?)?;
    invoice.credit_notes = credit_notes::peek_of_invoice(tx, &credit_notes).await?;
    Ok(invoice)
}

/// Returns the invoices of a customer that bear an instant or a later date, drafts too, by date: without
/// their lines and texts, and what else is beside their rows.
pub(in crate::engine) async fn heads_from(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    from: Timestamp,
) -> Result<Vec<Invoice>, Error> {
    let ids = ids_from(tx, customer, from).await?;
    let slots: Vec<_> = ids.into_iter().map(|id| schema::invoice(tx.account, id)).collect();
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let found = guard.get_all(tx, &slots).await?.into_iter().flatten();
    Ok(found.map(|entry| entry.invoice).collect())
}

/// Writes a draft that is new, and where it is found.
pub(in crate::engine) async fn put_new(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<(), Error> {
    tx.put(&schema::invoice_by_customer(tx.account, invoice), &Nothing {})?;
    tx.put(&schema::invoice_by_status(tx.account, invoice), &Nothing {})?;
    save_collection(tx, None, invoice, Some(invoice)).await?;
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let parts = invoice_lines::put(tx, &guard, invoice.id, 0, &invoice.by_hand)?;
    put(tx, invoice, parts, Rest::default()).await
}

/// Writes a draft whose lines by hand have changed.
pub(in crate::engine) async fn save_lines_by_hand(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let known = guard.get(tx, &schema::invoice(tx.account, invoice.id)).await?;
    let rest = known.as_ref().map(rest_of).unwrap_or_default();
    let before = known.map_or(0, |entry| entry.parts);
    let parts = invoice_lines::put(tx, &guard, invoice.id, before, &invoice.by_hand)?;
    put(tx, invoice, parts, rest).await
}

/// Writes an invoice that had another status or date, or lines that it had not.
pub(in crate::engine) async fn save(
    tx: &mut Transaction<'_>,
    before: InvoiceStatus,
    invoice: &Invoice,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let slot = schema::invoice(tx.account, invoice.id);
    let known = guard.get(tx, &slot).await?;
    let mut parts = known.as_ref().map_or(0, |entry| entry.parts);
    let rest = known.as_ref().map(rest_of).unwrap_or_default();
    let known = known.map(|entry| entry.invoice);
    save_collection(tx, known.as_ref(), invoice, Some(invoice)).await?;
    // Nothing changes lines once they are issued.
    if before == InvoiceStatus::Draft && invoice.status != InvoiceStatus::Draft {
        parts = invoice_lines::put(tx, &guard, invoice.id, parts, &invoice.lines)?;
    }
    let date = known.map_or(invoice.invoice_date, |known| known.invoice_date);
    let is_dated_anew = date != invoice.invoice_date;
    if before != invoice.status || is_dated_anew {
        let old = Invoice {
            status: before,
            invoice_date: date,
            lines: Vec::new(),
            by_hand: Vec::new(),
            ..invoice.clone()
        };
        tx.delete(&schema::invoice_by_status(tx.account, &old));
        tx.put(&schema::invoice_by_status(tx.account, invoice), &Nothing {})?;
        if is_dated_anew {
            tx.delete(&schema::invoice_by_customer(tx.account, &old));
            tx.put(&schema::invoice_by_customer(tx.account, invoice), &Nothing {})?;
        }
    }
    put(tx, invoice, parts, rest).await
}

/// Removes a draft, with its lines by hand.
pub(in crate::engine) async fn remove(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    tx.delete(&schema::invoice_by_customer(tx.account, invoice));
    tx.delete(&schema::invoice_by_status(tx.account, invoice));
    save_collection(tx, Some(invoice), invoice, None).await?;
    let slot = schema::invoice(tx.account, invoice.id);
    let known = guard.get(tx, &slot).await?;
    let rest = known.as_ref().map(rest_of).unwrap_or_default();
    let parts = known.map_or(0, |entry| entry.parts);
    invoice_lines::delete(tx, &guard, invoice.id, 0..parts)?;
    invoice_rest::delete(tx, &guard, invoice.id, rest)?;
    let prices = invoice.by_hand.iter().map(|line| line.price_id);
    invoice_lines::delete_prices(tx, &guard, prices)?;
    guard.delete(tx, &slot)
}

/// Moves an invoice to where those are found that time brings something.
async fn save_collection(
    tx: &mut Transaction<'_>,
    before: Option<&Invoice>,
    of: &Invoice,
    after: Option<&Invoice>,
) -> Result<(), Error> {
    let (account, customer, id) = (tx.account, of.customer_id, of.id);
    let next = |of: &Invoice| of.next_collection().map(|(at, _)| at);
    let started = |of: &Invoice| of.started_payment().map(|of| of.started_at);
    let places = [before.and_then(started), after.and_then(started)];
    move_row(tx, places, |at| schema::started_payment(account, at, id))?;
    let places = [before, after].map(|of| of.and_then(|of| of.asks_tax_at));
    move_row(tx, places, |at| schema::awaited_tax(account, at, id))?;
    let places = [before, after].map(|of| of.and_then(Invoice::asks_sync_at));
    move_row(tx, places, |at| schema::awaited_sync(account, at, id))?;
    let (old, new) = (before.and_then(next), after.and_then(next));
    if old == new {
        return Ok(());
    }
    old.iter().for_each(|at| tx.delete(&schema::collection(account, customer, *at, id)));
    let slot = new.map(|at| schema::collection(account, customer, at, id));
    slot.iter().try_for_each(|slot| tx.put(slot, &Nothing {}))?;
    let collection = next_collection(tx, customer).await?.map(|(at, _)| at);
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let slot = schema::active_subscriptions(account, customer);
    let active = guard.get(tx, &slot).await?.unwrap_or_default();
    guard.put(tx, &slot, &ActiveIds { collection, ..active })?;
    active::reschedule(tx, customer).await
}

/// Moves a row that says no more than that it is at an instant.
fn move_row(
    tx: &mut Transaction<'_>,
    [from, to]: [Option<Timestamp>; 2],
    slot: impl Fn(Timestamp) -> Slot<Nothing>,
) -> Result<(), Error> {
    if from != to {
        from.map(&slot).iter().for_each(|slot| tx.delete(slot));
        to.map(&slot).iter().try_for_each(|slot| tx.put(slot, &Nothing {}))?;
    }
    Ok(())
}

/// Returns the invoice of a customer that is collected next, and when.
pub(in crate::engine) async fn next_collection(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Option<(Timestamp, InvoiceId)>, Error> {
    let index = schema::Index::collections(tx.account, customer);
    let mut rest = Some(index.scan(Timestamp::MIN, Timestamp::MAX, 1));
    let guard = tx.guard::<CustomerHead>(customer).await?;
    while let Some(scan) = rest {
        let part = guard.range(tx, &scan).await?;
        if let Some((key, _)) = part.rows.first() {
            let position = schema::position(key)?;
            let id = InvoiceId::from_bytes(schema::id_at(&position));
            return Ok(schema::instant_at(&position).map(|at| (at, id)));
        }
        // Those that it begins with go away here.
        rest = part.rest;
    }
    Ok(None)
}

async fn put(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
    parts: u16,
    before: Rest,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let Rest { has_texts, attempts } = invoice_rest::put(tx, &guard, invoice, before).await?;
    let credit_notes = invoice.credit_notes.iter().map(|note| note.id).collect();
    let transactions = invoice.balance_transactions.iter().map(|of| of.number).collect();
    let slot = schema::invoice(tx.account, invoice.id);
    let invoice = Invoice { lines: Vec::new(), by_hand: Vec::new(), ..invoice.clone() };
    let entry = InvoiceEntry { invoice, parts, has_texts, attempts, transactions, credit_notes };
    guard.put(tx, &slot, &entry)
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

/// Writes the numbers of a customer's invoices, and its balance with the transactions that have moved it.
pub(in crate::engine) async fn save_books(
    tx: &mut Transaction<'_>,
    books: &Books,
    transactions: impl IntoIterator<Item = &BalanceTransaction>,
) -> Result<(), Error> {
    let Books { entry, receivables } = books;
    let id = entry.customer.id;
    let guard = tx.guard::<CustomerHead>(id).await?;
    guard.put(tx, &schema::receivables(tx.account, id), receivables)?;
    for of in transactions {
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
    for id in ids_from(tx, customer, Timestamp::MIN).await? {
        let draft = draft(tx, customer, id).await?;
        remove(tx, &draft).await?;
    }
    Ok(())
}

/// Draws the id of a transaction.
pub(in crate::engine) fn transaction_id(tx: &Transaction<'_>) -> BalanceTransactionId {
    BalanceTransactionId::generate(tx.now, tx.entropy())
}
