use std::collections::{BTreeMap, BTreeSet};

use super::{Block, Booked, CreditBalance, Drawn, Ledger, LedgerEntry, NewLedgerEntry};
use crate::{CreditBlockId, CustomerId, Decimal, Error, PricingUnit, Timestamp, Zone};

/// A ledger with the blocks and entries that it takes to move it.
///
/// Every step is a pure decision. What has moved is known, for the engine to save.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    ledger: Ledger,
    /// The blocks that are open, the overdraft, and others that were inserted.
    blocks: BTreeMap<CreditBlockId, Block>,
    /// The pending entries, and those that were made.
    entries: BTreeMap<u64, Booked>,
    moved_blocks: BTreeSet<CreditBlockId>,
    moved_entries: BTreeSet<u64>,
}

impl Book {
    /// A ledger without an entry.
    pub(crate) fn new(customer_id: CustomerId, currency: PricingUnit, timezone: Zone) -> Self {
        todo!()
    }

    /// Opens a ledger: with its open blocks, its overdraft, and its pending entries.
    pub(crate) fn open(ledger: Ledger, blocks: Vec<Block>, pending: Vec<Booked>) -> Self {
        todo!()
    }

    pub(crate) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the balance; none before the first entry.
    pub(crate) fn balance(&self) -> Option<&Decimal> {
        todo!()
    }

    /// Returns what there is at an instant.
    pub(crate) fn credit_balance(&self, now: Timestamp) -> CreditBalance {
        todo!()
    }

    /// Returns the blocks that are loaded.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.values()
    }

    /// Returns what has to be saved: the blocks and the entries that have moved, and of the entries
    /// whether they are new.
    pub(crate) fn moved(&self) -> (Vec<&Block>, Vec<&Booked>) {
        todo!()
    }

    /// Adds blocks that are not open.
    pub(crate) fn insert(&mut self, blocks: impl IntoIterator<Item = Block>) {
        todo!()
    }

    /// Returns when the next block expires that has something left.
    pub(crate) fn next_expiry(&self) -> Option<Timestamp> {
        todo!()
    }

    /// Lists the blocks with something left that expire until an instant, in the order in which
    /// they do.
    pub(crate) fn expiring(&self, until: Timestamp) -> Vec<(Timestamp, CreditBlockId)> {
        todo!()
    }

    /// Books the expiry of a block, at the instant at which it expires.
    pub(crate) fn expire(&mut self, block: CreditBlockId) {
        todo!()
    }

    /// Books what the caller asks for. A block that it names was inserted where there is one.
    pub(crate) fn book(
        &mut self,
        new: &NewLedgerEntry,
        now: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        todo!()
    }

    /// Draws what usage of a billing period costs.
    pub(crate) fn draw(&mut self, amount: &Decimal, drawn: &mut Drawn, now: Timestamp) {
        todo!()
    }

    /// Returns the blocks that giving back may move and that are not loaded.
    pub(crate) fn missing(&self, drawn: &Drawn) -> Vec<CreditBlockId> {
        todo!()
    }

    /// Gives back what usage of a billing period costs less, at most what it has drawn: to the
    /// blocks that it was drawn from, the last one first.
    pub(crate) fn give_back(&mut self, amount: &Decimal, drawn: &mut Drawn, now: Timestamp) {
        todo!()
    }
}
