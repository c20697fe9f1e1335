//! Writes ledgers, blocks and entries that have moved.

use super::OpenLedger;
use crate::{
    CreditBlockId, CustomerId, Error,
    credit::{Block, Booked, CreditBlock},
    engine::{
        kernel::Transaction,
        rows::{active, balance_alerts, credits},
    },
    schema::{self, BlockMetadata, Nothing},
};

/// The rows of a ledger: its blocks, with their metadata apart, its entries with their indexes, and
/// what of them the customer's credits name.
/// Writes what has moved of some ledgers of a customer, and when time brings the next thing.
pub(in crate::engine) async fn save_ledgers<'l>(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    ledgers: impl Iterator<Item = &'l OpenLedger> + Send,
) -> Result<(), Error> {
    let slot = schema::credits(tx.account, customer);
    let before = tx.get(&slot).await?.unwrap_or_default();
    let mut credits = before.clone();
    for ledger in ledgers {
        save_ledger(tx, ledger)?;
        let of = credits.units.entry(ledger.book.ledger().currency.clone()).or_default();
        (of.has_ledger, of.next_expiry) = (true, ledger.book.next_expiry());
    }
    if credits == before {
        return Ok(());
    }
    credits::put_credits(tx, customer, &credits)?;
    active::reschedule(tx, customer).await
}

fn save_ledger(tx: &mut Transaction<'_>, ledger: &OpenLedger) -> Result<(), Error> {
    let OpenLedger { book, drawn, watch, .. } = ledger;
    let (account, of) = (tx.account, book.ledger());
    if of.entries > 0 {
        for ((subscription_id, period_start), drawn) in drawn {
            let slot = schema::drawn(account, *subscription_id, *period_start, &of.currency);
            tx.put(&slot, drawn)?;
        }
    }
    let (blocks, entries) = book.moved();
    if entries.is_empty() && blocks.is_empty() {
        return Ok(());
    }
    for block in blocks {
        save_block(tx, block, book.is_new_block(block))?;
    }
    for booked in entries {
        save_entry(tx, booked, book.is_new(booked))?;
    }
    balance_alerts::save_balance_watch(tx, watch)?;
    tx.put(&schema::ledger(account, of.customer_id, &of.currency), of)
}

fn save_block(tx: &mut Transaction<'_>, of: &Block, is_new: bool) -> Result<(), Error> {
    let (mut of, id) = (of.clone(), of.block.id);
    let metadata = std::mem::take(&mut of.block.metadata);
    if is_new {
        tx.put(&schema::credit_block_by_time(tx.account, &of), &Nothing {})?;
        if !metadata.is_empty() {
            let slot = schema::credit_block_metadata(tx.account, id);
            tx.put(&slot, &BlockMetadata { metadata })?;
        }
    }
    tx.put(&schema::credit_block(tx.account, id), &of)
}

fn save_entry(tx: &mut Transaction<'_>, booked: &Booked, is_new: bool) -> Result<(), Error> {
    let (account, entry) = (tx.account, &booked.entry);
    if is_new {
        tx.put(&schema::ledger_entry_by_time(account, entry), &Nothing {})?;
        tx.put(&schema::ledger_entry_by_kind(account, entry), &Nothing {})?;
    }
    let number = entry.ledger_sequence_number;
    let slot = schema::ledger_entry(account, entry.customer_id, &entry.currency, number);
    tx.put(&slot, booked)
}

/// Adds the caller's own strings to blocks that are to be shown.
pub(in crate::engine) async fn with_metadata(
    tx: &mut Transaction<'_>,
    blocks: &mut [CreditBlock],
) -> Result<(), Error> {
    let slots = blocks.iter().map(|of| schema::credit_block_metadata(tx.account, of.id));
    let found = tx.get_guarded(&slots.collect::<Vec<_>>()).await?;
    for (block, found) in blocks.iter_mut().zip(found) {
        block.metadata = found.unwrap_or_default().metadata;
    }
    Ok(())
}

/// Gives a new block the strings of the one that it was a part of.
pub(in crate::engine) async fn copy_metadata(
    tx: &mut Transaction<'_>,
    from: CreditBlockId,
    to: CreditBlockId,
) -> Result<(), Error> {
    let slot = schema::credit_block_metadata(tx.account, from);
    match tx.get_guarded(std::slice::from_ref(&slot)).await?.pop().flatten() {
        Some(metadata) => tx.put(&schema::credit_block_metadata(tx.account, to), &metadata),
        None => Ok(()),
    }
}
