//! Blocks that an allocation gives (subscriptions 9.3).

use super::{Block, Book, LedgerEntry, Place, entries::Draft};
use crate::{
    CreditBlockId, Decimal, SubscriptionId, Timestamp, WrittenDecimal,
    credit::{BlockAllocation, BlockSource, CreditBlock, EntryType},
};

impl Book {
    /// Adds a block that an allocation gives, up to an expiry, also where that has passed by the time that it is
    /// given, and where a caller could add none. It pays no overdraft off: what usage of the last period was overdrawn
    /// by is invoiced.
    pub(crate) fn give(
        &mut self,
        amount: Decimal,
        per_unit_cost_basis: WrittenDecimal,
        of: BlockAllocation,
        expiry_date: Option<Timestamp>,
    ) -> LedgerEntry {
        let at = self.instant(of.given_at);
        let blank = self.blank(b"block", at);
        let block = CreditBlock {
            balance: amount.clone(),
            effective_date: Some(of.given_at),
            expiry_date,
            per_unit_cost_basis: Some(per_unit_cost_basis),
            maximum_initial_balance: Some(amount.clone()),
            filters: of.terms.filters.clone(),
            source: BlockSource::Allocation,
            allocation: Some(Box::new(of)),
            ..blank.block
        };
        let block_id = block.id;
        self.add_block(Block { block, ..blank });
        let (entry_type, asked) = (EntryType::Increment, None);
        self.append(Draft { entry_type, amount, block_id, asked }, at).clone()
    }

    /// Returns the open blocks that allocations of a subscription have given.
    pub(crate) fn given_by(&self, id: SubscriptionId) -> Vec<(CreditBlockId, BlockAllocation)> {
        let open = self.order.values().filter_map(|id| self.blocks.get(id));
        let own = open.filter_map(|of| Some((of.block.id, of.block.allocation.as_deref()?)));
        let own = own.filter(|(_, of)| of.subscription_id == id);
        own.map(|(block, of)| (block, of.clone())).collect()
    }

    /// Lets an open block expire at another instant. Tells whether it is another.
    pub(crate) fn let_expire(&mut self, id: CreditBlockId, expiry: Option<Timestamp>) -> bool {
        let Some(block) = self.blocks.get_mut(&id) else { return false };
        if block.block.expiry_date == expiry || !block.is_open() {
            return false;
        }
        self.order.remove(&Place::of(block));
        block.block.expiry_date = expiry;
        self.order.insert(Place::of(block), id);
        self.moved_blocks.insert(id)
    }
}
