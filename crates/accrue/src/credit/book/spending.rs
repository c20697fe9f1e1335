use std::collections::{BTreeMap, BTreeSet};

use super::{Book, Drawn, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{
    CreditBlockId, Decimal, Timestamp,
    credit::{CreditBlock, EntryType},
    price::PriceFilter,
    rating::PriceMove,
    subscription::InForce,
};

impl Book {
    /// Draws what usage of a billing period costs more, price by price; nothing from a ledger without
    /// an entry. What some prices cost less is taken off those that stand last, and what those have drawn
    /// counts for these.
    pub(crate) fn draw(&mut self, prices: &[PriceMove], drawn: &mut Drawn, now: Timestamp) {
        let amount: Decimal = prices.iter().map(|of| of.amount.clone()).sum();
        if !self.ledger.has_begun() || amount.is_negative() {
            return;
        }
        let has_fallen = prices.iter().any(|of| of.amount.is_negative());
        let before = has_fallen.then(|| drawn.by_price());
        let rest = drawn.due(&amount);
        if !rest.is_zero() {
            self.draw_each(prices, rest, drawn, now);
        }
        if let Some(before) = before {
            self.follow_prices(prices, &before, drawn);
        }
    }

    fn draw_each(
        &mut self,
        prices: &[PriceMove],
        mut rest: Decimal,
        drawn: &mut Drawn,
        now: Timestamp,
    ) {
        let at = self.instant(now);
        self.begin_day(at);
        for PriceMove { price, in_force, amount } in prices {
            let mut own = amount.clone().min(rest.clone()).max(Decimal::zero());
            rest -= &own;
            while !own.is_zero() {
                let pays = |of: &CreditBlock| PriceFilter::all_pass(&of.filters, price);
                let (block_id, taken) = self.take_special(&mut own, at, pays);
                drawn.add(block_id, *in_force, &taken);
                self.append_usage(block_id, price.id, taken, at);
            }
        }
    }

    /// Counts what some prices cost less by now, and have drawn, with those that cost more and have not drawn
    /// it: what moves a ledger is the difference alone.
    pub(super) fn follow_prices(
        &self,
        prices: &[PriceMove],
        before: &BTreeMap<InForce, Decimal>,
        drawn: &mut Drawn,
    ) {
        let after = drawn.by_price();
        let moved: BTreeMap<_, _> = prices.iter().map(|of| (of.in_force, &of.amount)).collect();
        let ids: BTreeSet<_> = before.keys().chain(moved.keys()).copied().collect();
        let of = |map: &BTreeMap<InForce, Decimal>, id| map.get(&id).cloned().unwrap_or_default();
        let lacks = ids.into_iter().map(|id| {
            let by = moved.get(&id).map(|by| (*by).clone()).unwrap_or_default();
            (id, by + of(before, id) - of(&after, id))
        });
        let (mut lacking, mut others): (Vec<_>, Vec<_>) =
            lacks.partition(|(_, lacks)| !lacks.is_negative());
        for (from, lacks) in &mut others {
            for (to, by) in &mut lacking {
                let price = prices.iter().find(|of| of.in_force == *to).map(|of| &of.price);
                let pays = |id| {
                    let filters = self.blocks.get(&id).map(|of| of.block.filters.as_slice());
                    filters.is_some_and(|filters| match price {
                        Some(price) => PriceFilter::all_pass(filters, price),
                        None => filters.is_empty(),
                    })
                };
                let most = by.clone().min(-&*lacks);
                let moved = drawn.move_over([*from, *to], &most, pays);
                *by -= &moved;
                *lacks += moved;
            }
        }
    }

    /// Takes the amount that the caller asks for, with an entry for each block, and returns the
    /// last one.
    pub(super) fn decrement(
        &mut self,
        new: &NewLedgerEntry,
        amount: &Decimal,
        at: Timestamp,
    ) -> LedgerEntry {
        let mut rest = amount.clone();
        loop {
            let (block_id, taken) = self.take(self.next(at, |_| true), &mut rest, at);
            let (entry_type, asked) = (EntryType::Decrement, Some(new));
            let entry = self.append(Draft { entry_type, amount: -taken, block_id, asked }, at);
            if rest.is_zero() {
                return entry.clone();
            }
        }
    }

    /// Takes what it can of the rest from the next block with filters that pays, and before one without.
    pub(super) fn take_special(
        &mut self,
        rest: &mut Decimal,
        at: Timestamp,
        pays: impl Fn(&CreditBlock) -> bool,
    ) -> (CreditBlockId, Decimal) {
        let special = self.next(at, |block| !block.filters.is_empty() && pays(block));
        let next = special.or_else(|| self.next(at, |block| block.filters.is_empty()));
        self.take(next, rest, at)
    }

    /// Returns the block that is spent next of some.
    fn next(&self, at: Timestamp, pays: impl Fn(&CreditBlock) -> bool) -> Option<CreditBlockId> {
        let spendable = self.order.iter().filter(|(place, _)| place.is_spendable(at));
        let mut blocks = spendable.filter_map(|(_, id)| self.blocks.get(id));
        blocks.find(|block| pays(&block.block)).map(|block| block.block.id)
    }

    /// Takes what it can of the rest from the block that is spent next, and all of it from the
    /// overdraft where there is none.
    fn take(
        &mut self,
        next: Option<CreditBlockId>,
        rest: &mut Decimal,
        at: Timestamp,
    ) -> (CreditBlockId, Decimal) {
        let (id, taken) = match next.and_then(|id| self.blocks.get(&id)) {
            Some(block) => (block.block.id, block.block.balance.clone().min(rest.clone())),
            None => (self.overdraft(at), rest.clone()),
        };
        self.take_from(id, &taken);
        *rest -= &taken;
        (id, taken)
    }

    /// Returns the overdraft, which the entry that follows makes where there is none yet.
    fn overdraft(&mut self, at: Timestamp) -> CreditBlockId {
        if let Some(id) = self.ledger.overdraft {
            return id;
        }
        let block = self.blank(b"overdraft", at);
        let id = block.block.id;
        self.ledger.overdraft = Some(id);
        self.add_block(block);
        id
    }
}
