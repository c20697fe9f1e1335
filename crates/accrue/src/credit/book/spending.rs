use super::{Book, Drawn, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{
    CreditBlockId, Decimal, Timestamp,
    credit::{CreditBlock, EntryType, PriceMove},
    price::PriceFilter,
};

impl Book {
    /// Draws what usage of a billing period costs more, price by price; nothing from a ledger without
    /// an entry. What some prices cost less is taken off those that stand last.
    pub(crate) fn draw(&mut self, prices: &[PriceMove], drawn: &mut Drawn, now: Timestamp) {
        let amount: Decimal = prices.iter().map(|(_, amount)| amount.clone()).sum();
        if !self.ledger.has_begun() || amount <= Decimal::zero() {
            return;
        }
        let mut rest = drawn.due(&amount);
        if rest.is_zero() {
            return;
        }
        let at = self.instant(now);
        self.begin_day(at);
        for (price, amount) in prices {
            let mut own = amount.clone().min(rest.clone()).max(Decimal::zero());
            rest -= &own;
            while !own.is_zero() {
                let pays = |of: &CreditBlock| PriceFilter::all_pass(&of.filters, price);
                let (block_id, taken) = self.take_special(&mut own, at, pays);
                drawn.add(block_id, taken.clone());
                self.append_usage(block_id, price.id, taken, at);
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

    /// Returns what was taken beyond the last block and not paid off yet.
    pub(super) fn overdrawn(&self) -> Decimal {
        let overdraft = self.ledger.overdraft.and_then(|id| self.blocks.get(&id));
        overdraft.map(|block| -&block.block.balance).unwrap_or_default()
    }
}
