use std::collections::BTreeSet;

use super::{super::shares, Book, Drawn, entries::Draft};
use crate::{CreditBlockId, Decimal, Timestamp, credit::EntryType};

impl Book {
    /// Returns the blocks that giving back may move and that are not loaded.
    pub(crate) fn missing(&self, drawn: &Drawn) -> Vec<CreditBlockId> {
        let shares = drawn.shares().iter().chain(&self.ledger.payers);
        let missing = shares.map(|(id, _)| *id).filter(|id| !self.blocks.contains_key(id));
        missing.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Gives back what usage of a billing period costs less, at most what it has drawn: to the
    /// blocks that it was drawn from, the last one first.
    ///
    /// What no block can take, since it was given back already, is dropped: no credit is made.
    pub(crate) fn give_back(&mut self, amount: &Decimal, drawn: &mut Drawn, now: Timestamp) {
        if *amount <= Decimal::zero() {
            return;
        }
        let at = self.instant(now);
        drawn.hand_back(amount, |id, most| {
            if self.ledger.overdraft == Some(id) {
                self.give_to_overdraft(id, &most, at)
            } else {
                self.give_to(id, &most, at)
            }
        });
    }

    /// Gives back to the overdraft what is outstanding, and the rest to the blocks that have paid it
    /// off. Returns how much that is.
    fn give_to_overdraft(&mut self, id: CreditBlockId, most: &Decimal, at: Timestamp) -> Decimal {
        let outstanding = self.give_to(id, most, at);
        let mut payers = std::mem::take(&mut self.ledger.payers);
        let paid = most.clone() - outstanding.clone();
        let paid = shares::hand_back(&mut payers, &paid, |id, most| self.give_to(id, &most, at));
        self.ledger.payers = payers;
        outstanding + paid
    }

    /// Gives back to a block at most what was taken from it, and returns how much that is. It is
    /// lost again at once where the block has expired.
    fn give_to(&mut self, block_id: CreditBlockId, most: &Decimal, at: Timestamp) -> Decimal {
        let Some(block) = self.blocks.get(&block_id) else { return Decimal::zero() };
        let (given, has_expired) = (most.min(&block.drawn).clone(), block.block.has_expired(at));
        if given.is_zero() {
            return given;
        }
        self.return_to(block_id, &given);
        let (entry_type, amount) = (EntryType::Amendment, given.clone());
        self.append(Draft { entry_type, amount, block_id, asked: None }, at);
        if has_expired {
            self.lose(block_id, given.clone(), at);
        }
        given
    }
}
