//! Writes ledgers, blocks and entries that have moved.

use super::OpenLedger;
use crate::{
    CreditBlockId, CustomerId, Error,
    credit::{Block, Booked, CreditBlock, LedgerEntry},
    engine::{
        kernel::{Guard, Transaction},
        rows::{active, balance_alerts, credits},
    },
    schema::{self, BlockMetadata, CustomerHead, Nothing},
};

/// Writes what has moved of some ledgers of a customer, and when time brings the next thing: the blocks,
/// with their metadata apart, the entries with their indexes, and what the customer's credits name of them.
pub(in crate::engine) async fn save_ledgers<'l>(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    ledgers: impl Iterator<Item = &'l OpenLedger> + Send,
) -> Result<(), Error> {
    let slot = schema::credits(tx.account, customer);
    let guard = tx.guard(customer).await?;
    let before = guard.get(tx, &slot).await?.unwrap_or_default();
    let mut credits = before.clone();
    for ledger in ledgers {
        save_ledger(tx, &guard, ledger)?;
        let of = credits.units.entry(ledger.book.ledger().currency.clone()).or_default();
        (of.has_ledger, of.next_expiry) = (true, ledger.book.next_expiry());
    }
    if credits == before {
        return Ok(());
    }
    credits::put_credits(tx, &guard, &credits)?;
    active::reschedule(tx, customer).await
}

fn save_ledger(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    ledger: &OpenLedger,
) -> Result<(), Error> {
    let OpenLedger { book, drawn, watch, .. } = ledger;
    let (account, of) = (tx.account, book.ledger());
    if of.has_begun() {
        for ((subscription_id, period_start), drawn) in drawn {
            let slot = schema::drawn(account, *subscription_id, *period_start, &of.currency);
            guard.put(tx, &slot, drawn)?;
        }
    }
    let (blocks, entries) = book.moved();
    if entries.is_empty() && blocks.is_empty() {
        return Ok(());
    }
    for block in blocks {
        save_block(tx, guard, block, book.is_new_block(block))?;
    }
    for booked in entries {
        save_entry(tx, guard, booked, book.is_new(booked))?;
    }
    balance_alerts::save_balance_watch(tx, guard, watch)?;
    guard.put(tx, &schema::ledger(account, of.customer_id, &of.currency), of)
}

fn save_block(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    of: &Block,
    is_new: bool,
) -> Result<(), Error> {
    let (mut of, id) = (of.clone(), of.block.id);
    let metadata = std::mem::take(&mut of.block.metadata);
    if is_new {
        tx.put(&schema::credit_block_by_time(tx.account, &of), &Nothing {})?;
        if !metadata.is_empty() {
            let slot = schema::credit_block_metadata(tx.account, id);
            guard.put(tx, &slot, &BlockMetadata { metadata })?;
        }
    }
    guard.put(tx, &schema::credit_block(tx.account, id), &of)
}

fn save_entry(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    booked: &Booked,
    is_new: bool,
) -> Result<(), Error> {
    let (account, entry) = (tx.account, &booked.entry);
    if is_new {
        tx.put(&schema::ledger_entry_by_time(account, entry), &Nothing {})?;
        tx.put(&schema::ledger_entry_by_kind(account, entry), &Nothing {})?;
    }
    let number = entry.ledger_sequence_number;
    let slot = schema::ledger_entry(account, entry.customer_id, &entry.currency, number);
    guard.put(tx, &slot, booked)
}

/// Removes a block that is deleted from its list, and its metadata.
pub(in crate::engine) async fn remove_from_lists(
    tx: &mut Transaction<'_>,
    of: &Block,
) -> Result<(), Error> {
    tx.delete(&schema::credit_block_by_time(tx.account, of));
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    let slot = schema::credit_block_metadata(tx.account, of.block.id);
    match guard.get(tx, &slot).await? {
        Some(_) => guard.delete(tx, &slot),
        None => Ok(()),
    }
}

/// Removes an entry that waited for a payment: nothing was booked with its number.
pub(in crate::engine) async fn remove_entry(
    tx: &mut Transaction<'_>,
    entry: &LedgerEntry,
) -> Result<(), Error> {
    tx.delete(&schema::ledger_entry_by_time(tx.account, entry));
    tx.delete(&schema::ledger_entry_by_kind(tx.account, entry));
    let number = entry.ledger_sequence_number;
    let slot = schema::ledger_entry(tx.account, entry.customer_id, &entry.currency, number);
    tx.guard::<CustomerHead>(entry.customer_id).await?.delete(tx, &slot)
}

/// Adds the caller's own strings to blocks that are to be shown.
pub(in crate::engine) async fn with_metadata(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    blocks: &mut [CreditBlock],
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let slots = blocks.iter().map(|of| schema::credit_block_metadata(tx.account, of.id));
    let slots: Vec<_> = slots.collect();
    let found = guard.get_all(tx, &slots).await?;
    for (block, found) in blocks.iter_mut().zip(found) {
        block.metadata = found.unwrap_or_default().metadata;
    }
    Ok(())
}

/// Gives a new block the strings of the one that it was a part of.
pub(in crate::engine) async fn copy_metadata(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    from: CreditBlockId,
    to: CreditBlockId,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let slot = schema::credit_block_metadata(tx.account, from);
    match guard.get(tx, &slot).await? {
        Some(metadata) => guard.put(tx, &schema::credit_block_metadata(tx.account, to), &metadata),
        None => Ok(()),
    }
}
