use std::collections::{BTreeMap, BTreeSet};

use super::{Block, Book, Drawn, NewLedgerEntry, entries::Draft};
use crate::{
    CreditBlockId, Decimal, Description, Timestamp,
    credit::{
        EntryType,
        block::Deletion,
        shares::{self, Rank},
    },
    price::PriceFilter,
    rating::PriceMove,
    subscription::InForce,
};

/// Amounts given back to blocks, in the order in which the first of each was.
#[derive(Debug, Default)]
pub(crate) struct Returned {
    given: Vec<(CreditBlockId, Decimal)>,
    /// The blocks from which no way leads to one that can take something back. None does later, since
    /// giving back only makes less of what can be given back.
    exhausted: BTreeSet<CreditBlockId>,
    /// What the entries say of it.
    description: Option<Description>,
}

impl Returned {
    /// Begins with nothing, and what entries will say of it.
    pub(crate) fn said(description: Description) -> Self {
        Self { description: Some(description), ..Self::default() }
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        self.given.is_empty()
    }

    pub(super) fn add(&mut self, block_id: CreditBlockId, amount: &Decimal) {
        match self.given.iter_mut().find(|(id, _)| *id == block_id) {
            Some((_, sum)) => *sum += amount.clone(),
            None => self.given.push((block_id, amount.clone())),
        }
    }
}

impl Book {
    /// Returns the blocks that giving back may move and that are not loaded: once they are inserted,
    /// there may be more that were drawn from instead of those, and none after that, since the blocks
    /// that are deleted are all named at once.
    pub(crate) fn missing(&self, drawn: &Drawn) -> Vec<CreditBlockId> {
        let mut ahead: Vec<_> = drawn.shares().into_iter().map(|(id, _)| id).collect();
        ahead.extend(self.ledger.payers.iter().map(|(id, _)| *id));
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
        let deleted = &self.ledger.deleted;
        if deleted.iter().any(|id| missing.contains(id)) {
            missing.extend(deleted.iter().filter(|id| !self.blocks.contains_key(*id)));
        }
        missing.into_iter().collect()
    }

    /// Gives back what usage of a billing period costs less, at most what it has drawn: to the
    /// blocks that it was drawn from, first to those with filters that pay for one of the prices that
    /// cost less, then to those without filters, then to others, of each the last one first. It is
    /// still to be booked.
    ///
    /// The amount that no block can take, since it was given back already, makes no credit:
    /// [`Drawn`] knows how much that is. The same holds for usage before the ledger had an entry.
    pub(crate) fn hand_back(
        &mut self,
        prices: &[PriceMove],
        drawn: &mut Drawn,
        returned: &mut Returned,
    ) {
        let amount: Decimal = prices.iter().map(|of| -of.amount.clone()).sum();
        if !self.ledger.has_begun() || amount <= Decimal::zero() {
            return;
        }
        let ids = drawn.shares().into_iter().map(|(id, _)| id);
        let ranks: BTreeMap<_, _> = ids.map(|id| (id, self.rank(id, prices))).collect();
        let rank = |id| ranks.get(&id).copied().unwrap_or(Rank::Common);
        let fallen = |price: InForce| {
            prices.iter().any(|of| of.in_force == price && of.amount.is_negative())
        };
        let before = drawn.by_price();
        drawn.hand_back(&amount, fallen, rank, |id, most| self.give_for(id, &most, returned));
        self.follow_prices(prices, &before, drawn);
    }

    fn rank(&self, id: CreditBlockId, prices: &[PriceMove]) -> Rank {
        let filters = self.blocks.get(&id).map(|block| &block.block.filters);
        let Some(filters) = filters.filter(|filters| !filters.is_empty()) else {
            return Rank::Common;
        };
        let mut fallen = prices.iter().filter(|of| of.amount.is_negative());
        if fallen.any(|of| PriceFilter::all_pass(filters, &of.price)) {
            Rank::Own
        } else {
            Rank::Foreign
        }
    }

    /// Books what was given back, one entry for each block. It is lost again at once where the block
    /// has expired.
    pub(crate) fn book_returned(&mut self, returned: Returned, now: Timestamp) {
        let (at, currency) = (self.instant(now), self.ledger.currency.clone());
        for (block_id, amount) in returned.given {
            let description = returned.description.clone();
            let asked = description.is_some().then(|| NewLedgerEntry {
                description,
                ..NewLedgerEntry::amendment(currency.clone(), amount.clone(), block_id)
            });
            let (entry_type, given, asked) = (EntryType::Amendment, amount.clone(), asked.as_ref());
            self.append(Draft { entry_type, amount: given, block_id, asked }, at);
            if self.blocks.get(&block_id).is_some_and(|of| of.block.has_expired(at)) {
                self.lose(block_id, amount, at);
            }
        }
    }

    /// Gives back what was drawn from a block, to itself or to those that stand for it, and returns
    /// the amount.
    ///
    /// Each turn but the last uses up a share or what was drawn from a block, and looks at no block
    /// twice: so the work is bounded by the bounds of the lists, however their ways meet.
    pub(super) fn give_for(
        &mut self,
        id: CreditBlockId,
        most: &Decimal,
        returned: &mut Returned,
    ) -> Decimal {
        let mut rest = most.clone();
        while !rest.is_zero() {
            let Some(way) = self.way(id, &mut returned.exhausted) else { break };
            let given = self.give_along(&way, &rest);
            if let Some(last) = way.last() {
                returned.add(*last, &given);
            }
            rest += -given;
        }
        most - rest
    }

    /// Finds the first block that something can be given back to for a block, and those by way of
    /// which it is, that block first.
    ///
    /// The overdraft can have been paid off by a block that was deleted and for which it stands: a
    /// way never comes to a block again.
    pub(super) fn way(
        &self,
        from: CreditBlockId,
        exhausted: &mut BTreeSet<CreditBlockId>,
    ) -> Option<Vec<CreditBlockId>> {
        let (mut way, mut seen) = (Vec::new(), BTreeSet::new());
        let mut ahead = vec![(0, from)];
        while let Some((depth, id)) = ahead.pop() {
            if exhausted.contains(&id) || !seen.insert(id) {
                continue;
            }
            way.truncate(depth);
            way.push(id);
            if self.blocks.get(&id).is_some_and(|block| block.drawn > Decimal::zero()) {
                return Some(way);
            }
            // The last one is tried first.
            ahead.extend(self.stand_ins(id).iter().map(|(id, _)| (way.len(), *id)));
        }
        // Whatever these lead to is among them.
        exhausted.append(&mut seen);
        None
    }

    /// Gives back to the last block of a way at most what was drawn from it, and what each on the way
    /// has as its share of the one before it. Returns how much that is.
    fn give_along(&mut self, way: &[CreditBlockId], most: &Decimal) -> Decimal {
        let Some(last) = way.last().and_then(|id| self.blocks.get(id)) else {
            return Decimal::zero();
        };
        let last_id = last.block.id;
        let mut given = most.min(&last.drawn).clone();
        for (from, to) in way.iter().zip(way.iter().skip(1)) {
            let share = self.stand_ins(*from).iter().find(|(id, _)| id == to);
            given = share.map(|(_, share)| share.clone()).unwrap_or_default().min(given);
        }
        for (from, to) in way.iter().zip(way.iter().skip(1)) {
            self.reduce_share(*from, *to, &given);
        }
        self.return_to(last_id, &given);
        given
    }

    /// Lists those that stand for a block once nothing can be given back to itself, and their shares:
    /// the blocks that were drawn from instead of one that was deleted; for the overdraft, those that
    /// have paid it off.
    fn stand_ins(&self, id: CreditBlockId) -> &[(CreditBlockId, Decimal)] {
        if self.ledger.overdraft == Some(id) {
            return &self.ledger.payers;
        }
        self.blocks.get(&id).map(Block::instead).unwrap_or_default()
    }

    /// Reduces the share that one block has of another that it stands for.
    fn reduce_share(&mut self, of: CreditBlockId, id: CreditBlockId, amount: &Decimal) {
        if self.ledger.overdraft == Some(of) {
            return shares::reduce(&mut self.ledger.payers, id, amount);
        }
        let deletion = self.blocks.get_mut(&of).and_then(|block| block.deletion.as_mut());
        let Some(Deletion { instead, .. }) = deletion else { return };
        shares::reduce(instead, id, amount);
        if instead.is_empty() {
            self.ledger.deleted.retain(|deleted| *deleted != of);
        }
        self.moved_blocks.insert(of);
    }
}
