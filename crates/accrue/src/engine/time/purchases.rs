//! What becomes of credits with the invoices that bought them, and the other way round
//! (`docs/decisions/credits-that-are-bought.md`).

use crate::{
    CreditBlockId, Error, Timestamp,
    alert::Cause,
    credit::{Block, LedgerEntry, Purchase},
    engine::{
        kernel::Transaction,
        rows::{
            invoices,
            ledgers::{self, OpenLedger},
            top_ups,
        },
        time::{balances, buying, crediting, voiding},
    },
    invoice::{Invoice, InvoiceStatus},
    schema::{self, CustomerHead},
};

/// Follows an invoice that may have been paid: credits that waited for that become part of the balance.
pub(in crate::engine) async fn follow(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    if invoice.status != InvoiceStatus::Paid {
        return Ok(());
    }
    let Some((mut ledger, Block { block, .. })) = bought(tx, invoice).await? else {
        return Ok(());
    };
    let Some(pending) = pending_entry(tx, &ledger, block.id).await? else { return Ok(()) };
    let before = ledger.book.balance().cloned();
    let Some(entry) = ledger.book.activate(block.id, &pending, at) else { return Ok(()) };
    ledgers::remove_entry(tx, &pending).await?;
    buying::tell_of(tx, &ledger, block.id, at).await?;
    if let Some(state) = ledger.top_up.as_mut().filter(|of| of.awaits == Some(block.id)) {
        // It is judged again.
        (state.awaits, state.has_more) = (None, true);
        let state = state.clone();
        let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
        top_ups::save(tx, &guard, &state)?;
    }
    let cause = Cause::Credit { entry_id: entry.id };
    balances::judge_at(tx, &mut ledger, before, &cause, at).await?;
    if block.has_expired(at) {
        let before = ledger.book.balance().cloned();
        ledger.book.expire(block.id);
        let cause = Cause::Expiry { block_id: block.id };
        balances::judge_at(tx, &mut ledger, before, &cause, at).await?;
    }
    ledgers::save_ledgers(tx, invoice.customer_id, std::iter::once(&ledger)).await
}

/// Follows an invoice that is void: credits that waited for it are gone, what is left of others is taken
/// back, and a top-up that it came from ends (invoicing 8.6).
pub(in crate::engine) async fn follow_void(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<(), Error> {
    let Some((mut ledger, block)) = bought(tx, invoice).await? else { return Ok(()) };
    end_top_up(tx, &mut ledger, &block).await?;
    if !forget(tx, &mut ledger, &block).await? {
        void_rest(tx, &mut ledger, &block).await?;
    }
    ledgers::save_ledgers(tx, invoice.customer_id, std::iter::once(&ledger)).await
}

/// Makes void what is left of the credits that were bought with a block.
pub(in crate::engine) async fn void_rest(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    block: &Block,
) -> Result<(), Error> {
    let Some(Purchase { invoice_id, .. }) = block.purchase else { return Ok(()) };
    for id in ledger.book.bought_with(invoice_id) {
        let before = ledger.book.balance().cloned();
        if let Some(entry) = ledger.book.void_rest(id, tx.now) {
            let cause = Cause::Credit { entry_id: entry.id };
            balances::judge(tx, ledger, before, &cause).await?;
        }
    }
    Ok(())
}

/// Removes a block that waits for its payment, with its entry; tells whether it was one.
pub(in crate::engine) async fn forget(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    block: &Block,
) -> Result<bool, Error> {
    let id = block.block.id;
    let Some(pending) = pending_entry(tx, ledger, id).await? else { return Ok(false) };
    ledgers::remove_entry(tx, &pending).await?;
    ledger.book.forget_unpaid(id, tx.now);
    ledgers::remove_from_lists(tx, block).await?;
    Ok(true)
}

/// Takes back the invoice for a block that is deleted: a draft is deleted, one that is issued void, one that
/// is paid credited in full (invoicing 13.3).
///
/// # Errors
///
/// Where it is synced, or a payment is under way.
pub(in crate::engine) async fn take_back(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    block: &Block,
) -> Result<(), Error> {
    let Some(Purchase { invoice_id, .. }) = block.purchase else { return Ok(()) };
    let mut invoice = invoices::invoice(tx, invoice_id).await?;
    match invoice.status {
        InvoiceStatus::Draft => {
            invoices::remove(tx, &invoice).await?;
            end_top_up(tx, ledger, block).await
        }
        InvoiceStatus::Issued => {
            voiding::void(tx, &mut invoice).await?;
            end_top_up(tx, ledger, block).await
        }
        InvoiceStatus::Paid => crediting::credit_lines(tx, invoice, |_| true).await,
        InvoiceStatus::Synced => {
            let number = invoice.invoice_number;
            Err(Error::constraint(format!("the invoice {number} of the credit block is synced")))
        }
        InvoiceStatus::Void => Ok(()),
    }
}

/// Ends the top-up that bought a block.
async fn end_top_up(
    tx: &mut Transaction<'_>,
    ledger: &mut OpenLedger,
    block: &Block,
) -> Result<(), Error> {
    let Some(id) = block.purchase.and_then(|of| of.top_up) else { return Ok(()) };
    let found = top_ups::top_up(tx, block.customer_id, id).await?;
    let Some(state) = found.filter(|of| of.deactivated_at.is_none()) else { return Ok(()) };
    ledger.top_up = ledger.top_up.take().filter(|of| of.top_up.id != id);
    top_ups::deactivate(tx, state).await
}

/// Reads the block that an invoice is for, in its ledger; none where it is for something else, or the block
/// is deleted.
async fn bought(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<Option<(OpenLedger, Block)>, Error> {
    let Some(id) = invoice.bought else { return Ok(None) };
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let block = guard.get(tx, &schema::credit_block(tx.account, id)).await?;
    let Some(block) = block.filter(|of| of.deletion.is_none()) else { return Ok(None) };
    let ledger = with_block(tx, &block).await?;
    Ok(Some((ledger, block)))
}

/// Opens the ledger of a block, with the block.
pub(in crate::engine) async fn with_block(
    tx: &mut Transaction<'_>,
    block: &Block,
) -> Result<OpenLedger, Error> {
    let ledger = ledgers::ledger(tx, block.customer_id, &block.block.currency).await?;
    let mut ledger = ledger.ok_or_else(|| Error::corrupt("a block has no ledger"))?;
    ledger.book.insert([block.clone()]);
    Ok(ledger)
}

/// Reads the entry of a block that waits for its payment; none where it does not.
async fn pending_entry(
    tx: &mut Transaction<'_>,
    ledger: &OpenLedger,
    id: CreditBlockId,
) -> Result<Option<LedgerEntry>, Error> {
    let Some(number) = ledger.book.number_of_unpaid(id) else { return Ok(None) };
    let of = ledger.book.ledger();
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    let slot = schema::ledger_entry(tx.account, of.customer_id, &of.currency, number);
    let booked = guard.get(tx, &slot).await?;
    let booked = booked.ok_or_else(|| Error::corrupt("the entry of a pending block is missing"))?;
    Ok(Some(booked.entry))
}
