mod allocation;
mod amendment;
mod blocks;
mod deletion;
mod entries;
mod expiration_change;
mod expiry;
mod giving_back;
mod increment;
mod order;
mod purchase;
mod spending;
mod squaring;
mod void;

use std::collections::{BTreeMap, BTreeSet};

use self::{expiration_change::Extension, order::Place, void::Voided};
pub(crate) use self::{
    giving_back::Returned,
    squaring::{Charge, Charged},
};
use super::{
    Block, Booked, CreditBalance, Drawn, Ledger, LedgerChange, LedgerEntry, NewLedgerEntry, Origin,
};
use crate::{CreditBlockId, CustomerId, Decimal, Error, PricingUnit, Timestamp, Zone};

/// A ledger with the blocks and entries that it takes to move it.
///
/// Every step is a pure decision. What has moved is known, for the engine to save. After each step
///
/// - the balance is the sum of all entries, and of what is left of all blocks, the overdraft's being
///   zero or below;
/// - each entry starts with the balance that the one before it ended with;
/// - entries are in the order of their instants: where the clock is behind the last one, a step is
///   made at the instant of that;
/// - an entry that is committed is what it was.
///
/// Ids are derived from the place in the ledger: what a read computes ahead has the ids that the
/// write will give it.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    ledger: Ledger,
    /// The blocks that are open, the overdraft, and others that were inserted.
    blocks: BTreeMap<CreditBlockId, Block>,
    /// The open blocks, in the order in which they are spent.
    order: BTreeMap<Place, CreditBlockId>,
    /// Blocks of other ledgers of the customer, which the caller has named, and their currencies.
    elsewhere: BTreeMap<CreditBlockId, PricingUnit>,
    /// The pending entries, and those that were made.
    entries: BTreeMap<u64, Booked>,
    /// Number of entries when the book was opened.
    entries_before: u64,
    moved_blocks: BTreeSet<CreditBlockId>,
    moved_entries: BTreeSet<u64>,
}

impl Book {
    /// Opens a ledger without an entry.
    pub(crate) fn new(customer_id: CustomerId, currency: PricingUnit, timezone: Zone) -> Self {
        Self::open(Ledger::new(customer_id, currency, timezone), Vec::new(), Vec::new())
    }

    /// Opens a ledger: with its open blocks, its overdraft, and its pending entries.
    pub(crate) fn open(ledger: Ledger, blocks: Vec<Block>, pending: Vec<Booked>) -> Self {
        let order = blocks.iter().filter(|block| block.is_open());
        let order = order.map(|block| (Place::of(block), block.block.id)).collect();
        let number = |booked: &Booked| booked.entry.ledger_sequence_number;
        Self {
            entries_before: ledger.entries,
            ledger,
            blocks: blocks.into_iter().map(|block| (block.block.id, block)).collect(),
            order,
            elsewhere: BTreeMap::new(),
            entries: pending.into_iter().map(|booked| (number(&booked), booked)).collect(),
            moved_blocks: BTreeSet::new(),
            moved_entries: BTreeSet::new(),
        }
    }

    pub(crate) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the balance; none before the first entry.
    pub(crate) fn balance(&self) -> Option<&Decimal> {
        self.ledger.has_begun().then_some(&self.ledger.balance)
    }

    /// Returns the credit balance at an instant.
    pub(crate) fn credit_balance(&self, now: Timestamp) -> CreditBalance {
        let at = self.instant(now);
        let spendable = self.order.iter().filter(|(place, _)| place.is_spendable(at));
        let spendable = spendable.filter_map(|(_, id)| self.blocks.get(id));
        CreditBalance {
            currency: self.ledger.currency.clone(),
            balance: self.balance().cloned(),
            available: spendable.map(|block| block.block.balance.clone()).sum(),
            overdraft: self.overdrawn(),
        }
    }

    /// Returns what was taken beyond the last block and not paid off yet.
    pub(crate) fn overdrawn(&self) -> Decimal {
        let overdraft = self.ledger.overdraft.and_then(|id| self.blocks.get(&id));
        overdraft.map(|block| -&block.block.balance).unwrap_or_default()
    }

    /// Returns the blocks that are loaded.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.values()
    }

    /// Returns the entries that usage still adds to, on the day that they were made.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Booked> {
        let pending = self.ledger.pending.iter();
        pending.filter_map(|pending| self.entries.get(&pending.number))
    }

    /// Returns the blocks and the entries that have moved and are to be saved.
    /// [`is_new_block`](Self::is_new_block) and [`is_new`](Self::is_new) tell which of them are
    /// new.
    pub(crate) fn moved(&self) -> (Vec<&Block>, Vec<&Booked>) {
        let blocks = self.moved_blocks.iter().filter_map(|id| self.blocks.get(id));
        let entries = self.moved_entries.iter().filter_map(|number| self.entries.get(number));
        (blocks.collect(), entries.collect())
    }

    /// Tells whether an entry was made since the book was opened.
    pub(crate) const fn is_new(&self, booked: &Booked) -> bool {
        booked.entry.ledger_sequence_number > self.entries_before
    }

    /// Tells whether a block was made since the book was opened.
    pub(crate) const fn is_new_block(&self, block: &Block) -> bool {
        block.number > self.entries_before
    }

    /// Tells whether nothing has become of an earlier state of it but that entries which were there have
    /// grown, by amounts of at most one block, which has something left. Days begin, and the last instant
    /// moves, with a new entry alone.
    pub(crate) fn has_only_grown_from(&self, before: &Self) -> bool {
        before.moved_blocks.is_empty()
            && self.moved_blocks.len() <= 1
            && self.ledger.entries == before.ledger.entries
            && self.ledger.pending == before.ledger.pending
            && self.order.len() == before.order.len()
    }

    /// Adds blocks that are not open. One that is loaded stays as it is.
    ///
    /// A block that the caller has named may be of another ledger of the customer, which is told
    /// apart from one that does not exist; that of another customer does not exist.
    pub(crate) fn insert(&mut self, blocks: impl IntoIterator<Item = Block>) {
        let of_customer = |block: &Block| block.customer_id == self.ledger.customer_id;
        for block in blocks.into_iter().filter(of_customer) {
            if block.block.currency == self.ledger.currency {
                self.blocks.entry(block.block.id).or_insert(block);
            } else {
                self.elsewhere.insert(block.block.id, block.block.currency);
            }
        }
    }

    /// Books the entry that the caller asks for. A block that it names was inserted where there is
    /// one.
    ///
    /// # Errors
    ///
    /// If the block does not exist, or is not in the state that it takes. Nothing has moved then.
    pub(crate) fn book(
        &mut self,
        new: &NewLedgerEntry,
        now: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        let at = self.instant(now);
        match &new.change {
            LedgerChange::Increment(block) => self.increment(new, block, Origin::default(), at),
            LedgerChange::Decrement { amount } => Ok(self.decrement(new, amount, at)),
            LedgerChange::ExpirationChange {
                target_expiry_date,
                amount,
                block_id,
                expiry_date,
            } => {
                let extension = Extension {
                    target_expiry_date: *target_expiry_date,
                    amount: amount.as_ref(),
                    block_id: *block_id,
                    expiry_date: *expiry_date,
                };
                self.change_expiration(new, extension, at)
            }
            LedgerChange::Void { amount, block_id, void_reason } => {
                let (block_id, void_reason) = (*block_id, *void_reason);
                self.void(new, Voided { amount, block_id, void_reason }, at)
            }
            LedgerChange::Amendment { amount, block_id } => self.amend(new, *block_id, amount, at),
        }
    }

    /// Returns the instant at which a step is made: now, and never before the one before it.
    fn instant(&self, now: Timestamp) -> Timestamp {
        now.max(self.ledger.latest)
    }
}

#[cfg(test)]
mod tests;
