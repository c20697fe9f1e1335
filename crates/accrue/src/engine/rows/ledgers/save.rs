//! Writes ledgers, blocks and entries that have moved.

use super::OpenLedger;
use crate::{
    CreditBlockId, CustomerId, Error,
    credit::{Block, Booked, CreditBlock},
    engine::kernel::Transaction,
    limits,
    schema::{self, BlockMetadata, Credits, Nothing},
};

/// The rows of a ledger: its blocks, with their metadata apart, its entries with their indexes, and
/// what of them the customer's credits name.
impl Transaction<'_> {
    /// Writes what has moved of some ledgers of a customer, and when time brings the next thing.
    pub(in crate::engine) async fn save_ledgers<'l>(
        &mut self,
        customer: CustomerId,
        ledgers: impl Iterator<Item = &'l OpenLedger> + Send,
    ) -> Result<(), Error> {
        let slot = schema::credits(self.account, customer);
        let before = self.get(&slot).await?.unwrap_or_default();
        let mut credits = before.clone();
        for ledger in ledgers {
            self.save_ledger(ledger)?;
            let of = credits.units.entry(ledger.book.ledger().currency.clone()).or_default();
            (of.has_ledger, of.next_expiry) = (true, ledger.book.next_expiry());
        }
        if credits == before {
            return Ok(());
        }
        self.put_credits(customer, &credits)?;
        self.reschedule(customer).await
    }

    /// Writes what a customer has of credits, which was read.
    pub(in crate::engine) fn put_credits(
        &mut self,
        customer: CustomerId,
        credits: &Credits,
    ) -> Result<(), Error> {
        let (found, most) = (credits.units.len(), limits::LEDGERS);
        if found > most {
            let detail = format!(
                "the customer would have credits and alerts on them in {found} currencies and \
                 pricing units, expected at most {most}"
            );
            return Err(Error::constraint(detail));
        }
        self.put(&schema::credits(self.account, customer), credits)
    }

    fn save_ledger(&mut self, ledger: &OpenLedger) -> Result<(), Error> {
        let OpenLedger { book, drawn, watch, .. } = ledger;
        let (account, of) = (self.account, book.ledger());
        if of.entries > 0 {
            for ((subscription_id, period_start), drawn) in drawn {
                let slot = schema::drawn(account, *subscription_id, *period_start, &of.currency);
                self.put(&slot, drawn)?;
            }
        }
        let (blocks, entries) = book.moved();
        if entries.is_empty() && blocks.is_empty() {
            return Ok(());
        }
        for block in blocks {
            self.save_block(block, book.is_new_block(block))?;
        }
        for booked in entries {
            self.save_entry(booked, book.is_new(booked))?;
        }
        self.save_balance_watch(watch)?;
        self.put(&schema::ledger(account, of.customer_id, &of.currency), of)
    }

    fn save_block(&mut self, of: &Block, is_new: bool) -> Result<(), Error> {
        let (mut of, id) = (of.clone(), of.block.id);
        let metadata = std::mem::take(&mut of.block.metadata);
        if is_new {
            self.put(&schema::credit_block_by_time(self.account, &of), &Nothing {})?;
            if !metadata.is_empty() {
                let slot = schema::credit_block_metadata(self.account, id);
                self.put(&slot, &BlockMetadata { metadata })?;
            }
        }
        self.put(&schema::credit_block(self.account, id), &of)
    }

    fn save_entry(&mut self, booked: &Booked, is_new: bool) -> Result<(), Error> {
        let (account, entry) = (self.account, &booked.entry);
        if is_new {
            self.put(&schema::ledger_entry_by_time(account, entry), &Nothing {})?;
            self.put(&schema::ledger_entry_by_kind(account, entry), &Nothing {})?;
        }
        let number = entry.ledger_sequence_number;
        let slot = schema::ledger_entry(account, entry.customer_id, &entry.currency, number);
        self.put(&slot, booked)
    }

    /// Adds the caller's own strings to blocks that are to be shown.
    pub(in crate::engine) async fn with_metadata(
        &mut self,
        blocks: &mut [CreditBlock],
    ) -> Result<(), Error> {
        let slots = blocks.iter().map(|of| schema::credit_block_metadata(self.account, of.id));
        let found = self.get_guarded(&slots.collect::<Vec<_>>()).await?;
        for (block, found) in blocks.iter_mut().zip(found) {
            block.metadata = found.unwrap_or_default().metadata;
        }
        Ok(())
    }

    /// Gives a new block the strings of the one that it was a part of.
    pub(in crate::engine) async fn copy_metadata(
        &mut self,
        from: CreditBlockId,
        to: CreditBlockId,
    ) -> Result<(), Error> {
        let slot = schema::credit_block_metadata(self.account, from);
        match self.get_guarded(std::slice::from_ref(&slot)).await?.pop().flatten() {
            Some(metadata) => self.put(&schema::credit_block_metadata(self.account, to), &metadata),
            None => Ok(()),
        }
    }
}
