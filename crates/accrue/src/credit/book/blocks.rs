use super::{Block, Book, Place};
use crate::{
    CreditBlockId, Decimal, Error, Metadata, Timestamp,
    credit::{BlockSource, BlockStatus, CreditBlock},
    limits,
};

impl Book {
    /// Finds a block that the caller names.
    pub(super) fn named(&self, id: CreditBlockId) -> Result<&Block, Error> {
        if let Some(currency) = self.elsewhere.get(&id) {
            let expected = &self.ledger.currency;
            let detail = format!("the credit block {id} is in {currency}, expected {expected}");
            return Err(Error::constraint(detail));
        }
        let found = self.blocks.get(&id).filter(|block| block.deletion.is_none());
        found.ok_or_else(|| Error::not_found("credit block", id))
    }

    /// Finds a block that the caller names, and that must not have expired.
    pub(super) fn named_unexpired(
        &self,
        id: CreditBlockId,
        at: Timestamp,
    ) -> Result<&Block, Error> {
        let block = self.named(id)?;
        if block.block.is_pending() {
            let detail = format!("the credit block {id} waits for its invoice to be paid");
            return Err(Error::constraint(detail));
        }
        match block.block.expiry_date.filter(|expiry| *expiry <= at) {
            Some(expiry) => {
                let detail = format!("the credit block {id} has expired at {expiry}");
                Err(Error::constraint(detail))
            }
            None => Ok(block),
        }
    }

    /// Refuses one open block more than there may be. `closing` of them are about to close.
    pub(super) fn check_room(&self, closing: usize) -> Result<(), Error> {
        let waiting = self.ledger.unpaid.len();
        let open = self.ledger.open.len().saturating_sub(closing).saturating_add(waiting);
        if open < limits::CREDIT_BLOCKS {
            return Ok(());
        }
        let (would, most) = (open.saturating_add(1), limits::CREDIT_BLOCKS);
        let detail = format!(
            "the ledger would have {would} blocks with something left, expected at most {most}"
        );
        Err(Error::constraint(detail))
    }

    /// Creates a block with a balance of zero, with the number of the next entry.
    pub(super) fn blank(&self, word: &[u8], at: Timestamp) -> Block {
        let number = self.next_number();
        let block = CreditBlock {
            id: CreditBlockId::derived(at, &self.names(word, &number.to_be_bytes())),
            currency: self.ledger.currency.clone(),
            balance: Decimal::zero(),
            effective_date: None,
            expiry_date: None,
            per_unit_cost_basis: None,
            maximum_initial_balance: None,
            filters: Vec::new(),
            metadata: Metadata::new(),
            created_at: at,
            status: BlockStatus::Active,
            source: BlockSource::Manual,
            allocation: None,
        };
        let customer_id = self.ledger.customer_id;
        Block { block, customer_id, number, drawn: Decimal::zero(), deletion: None, purchase: None }
    }

    /// Adds a block that was made.
    pub(super) fn add_block(&mut self, block: Block) {
        let id = block.block.id;
        if block.is_open() {
            self.order.insert(Place::of(&block), id);
            self.ledger.open.push(id);
        }
        self.blocks.insert(id, block);
        self.moved_blocks.insert(id);
    }

    /// Takes an amount from a block that can be given back to it.
    pub(super) fn take_from(&mut self, id: CreditBlockId, amount: &Decimal) {
        self.shift(id, -amount, amount.clone());
    }

    /// Returns an amount to the block from which it was taken.
    pub(super) fn return_to(&mut self, id: CreditBlockId, amount: &Decimal) {
        self.shift(id, amount.clone(), -amount);
    }

    /// Takes an amount from a block for good.
    pub(super) fn lose_from(&mut self, id: CreditBlockId, amount: &Decimal) {
        self.shift(id, -amount, Decimal::zero());
    }

    /// Adds to what is left of a block and to what was drawn from it: it may close, or open again.
    fn shift(&mut self, id: CreditBlockId, left: Decimal, drawn: Decimal) {
        let Some(block) = self.blocks.get_mut(&id) else { return };
        let was_open = block.is_open();
        block.block.balance += left;
        block.drawn += drawn;
        match (was_open, block.is_open()) {
            (true, false) => {
                self.order.remove(&Place::of(block));
                self.ledger.open.retain(|open| *open != id);
            }
            (false, true) => {
                self.order.insert(Place::of(block), id);
                self.ledger.open.push(id);
            }
            (true, true) | (false, false) => {}
        }
        self.moved_blocks.insert(id);
    }
}
