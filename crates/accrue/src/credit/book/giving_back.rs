use std::collections::BTreeSet;

use super::{super::shares, Book, Drawn, entries::Draft};
use crate::{CreditBlockId, Decimal, Timestamp, credit::EntryType};

/// What was given back to blocks, in the order in which the first of each was.
#[derive(Debug, Default)]
pub(crate) struct Returned(Vec<(CreditBlockId, Decimal)>);

impl Returned {
    fn add(&mut self, block_id: CreditBlockId, amount: &Decimal) {
        match self.0.iter_mut().find(|(id, _)| *id == block_id) {
            Some((_, sum)) => *sum += amount.clone(),
            None => self.0.push((block_id, amount.clone())),
        }
    }
}

impl Book {
    /// Returns the blocks that giving back may move and that are not loaded: once they are inserted,
    /// there may be more that were drawn from instead of those.
    pub(crate) fn missing(&self, drawn: &Drawn) -> Vec<CreditBlockId> {
        let shares = drawn.shares().iter().chain(&self.ledger.payers);
        let mut ahead: Vec<_> = shares.map(|(id, _)| *id).collect();
        let (mut seen, mut missing) = (BTreeSet::new(), BTreeSet::new());
        while let Some(id) = ahead.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.blocks.get(&id) {
                Some(block) => ahead.extend(block.instead().iter().map(|(id, _)| *id)),
                None => drop(missing.insert(id)),
            }
        }
        missing.into_iter().collect()
    }

    /// Gives back what usage of a billing period costs less, at most what it has drawn: to the
    /// blocks that it was drawn from, the last one first. It is still to be booked.
    ///
    /// What no block can take, since it was given back already, is dropped: no credit is made.
    pub(crate) fn hand_back(
        &mut self,
        amount: &Decimal,
        drawn: &mut Drawn,
        returned: &mut Returned,
    ) {
        if *amount <= Decimal::zero() {
            return;
        }
        drawn.hand_back(amount, |id, most| self.give_for(id, &most, returned));
    }

    /// Books what was given back, one entry for each block. It is lost again at once where the block
    /// has expired.
    pub(crate) fn book_returned(&mut self, returned: Returned, now: Timestamp) {
        let at = self.instant(now);
        for (block_id, amount) in returned.0 {
            let (entry_type, given) = (EntryType::Amendment, amount.clone());
            self.append(Draft { entry_type, amount: given, block_id, asked: None }, at);
            if self.blocks.get(&block_id).is_some_and(|of| of.block.has_expired(at)) {
                self.lose(block_id, amount, at);
            }
        }
    }

    /// Gives back what was drawn from a block, and returns how much that is: to itself, or to those
    /// that stand for it.
    fn give_for(&mut self, id: CreditBlockId, most: &Decimal, returned: &mut Returned) -> Decimal {
        if self.ledger.overdraft == Some(id) {
            return self.give_to_overdraft(id, most, returned);
        }
        match self.blocks.get_mut(&id).and_then(|block| block.deletion.as_mut()) {
            // They are empty meanwhile, so that nothing goes in circles: an overdraft among them may
            // have been paid off by the block itself.
            Some(deletion) => {
                let instead = std::mem::take(&mut deletion.instead);
                self.give_instead(id, instead, most, returned)
            }
            None => self.give_to(id, most, returned),
        }
    }

    /// Gives back to the blocks that were drawn from instead of one that was deleted, the last one
    /// first.
    fn give_instead(
        &mut self,
        id: CreditBlockId,
        mut instead: Vec<(CreditBlockId, Decimal)>,
        most: &Decimal,
        returned: &mut Returned,
    ) -> Decimal {
        let give = |id, most: Decimal| self.give_for(id, &most, returned);
        let given = shares::hand_back(&mut instead, most, give);
        if let Some(deletion) = self.blocks.get_mut(&id).and_then(|of| of.deletion.as_mut()) {
            deletion.instead = instead;
        }
        if !given.is_zero() {
            self.moved_blocks.insert(id);
        }
        given
    }

    /// Gives back to the overdraft what is outstanding, and the rest to the blocks that have paid it
    /// off. Returns how much that is.
    fn give_to_overdraft(
        &mut self,
        id: CreditBlockId,
        most: &Decimal,
        returned: &mut Returned,
    ) -> Decimal {
        let outstanding = self.give_to(id, most, returned);
        let mut payers = std::mem::take(&mut self.ledger.payers);
        let paid = most.clone() - outstanding.clone();
        let give = |id, most: Decimal| self.give_for(id, &most, returned);
        let paid = shares::hand_back(&mut payers, &paid, give);
        self.ledger.payers = payers;
        outstanding + paid
    }

    /// Gives back to a block at most what was taken from it, and returns how much that is.
    fn give_to(
        &mut self,
        block_id: CreditBlockId,
        most: &Decimal,
        returned: &mut Returned,
    ) -> Decimal {
        let Some(block) = self.blocks.get(&block_id) else { return Decimal::zero() };
        let given = most.min(&block.drawn).clone();
        if !given.is_zero() {
            self.return_to(block_id, &given);
            returned.add(block_id, &given);
        }
        given
    }
}
