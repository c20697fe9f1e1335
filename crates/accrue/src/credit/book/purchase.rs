//! Blocks that are bought, and wait for their payment (invoicing 13.2).

use super::{Block, Book, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{
    CreditBlockId, Decimal, Error, InvoiceId, Timestamp,
    credit::{BlockStatus, CreditBlock, EntryType, NewBlock, Origin, Unpaid, block::Deletion},
};

impl Book {
    /// Returns the id that a block has that is given next, at an instant.
    pub(crate) fn next_block_id(&self, now: Timestamp) -> CreditBlockId {
        self.blank(b"block", self.instant(now)).block.id
    }

    /// Adds a block that was bought, of which usage draws at once.
    pub(crate) fn buy(
        &mut self,
        new: &NewLedgerEntry,
        given: &NewBlock,
        origin: Origin,
        now: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        self.increment(new, given, origin, self.instant(now))
    }

    /// Adds a block that waits for its payment: its entry is pending, and moves nothing.
    pub(crate) fn await_payment(
        &mut self,
        new: &NewLedgerEntry,
        given: &NewBlock,
        origin: Origin,
        now: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        let at = self.instant(now);
        let block = self.given(new, given, origin, at)?;
        self.check_room(0)?;
        let block = CreditBlock { status: BlockStatus::PendingPayment, ..block };
        let block_id = block.id;
        let blank = self.blank(b"block", at);
        self.add_block(Block { block, purchase: origin.purchase, ..blank });
        let (entry_type, amount, asked) = (EntryType::Increment, given.amount.clone(), Some(new));
        let draft = Draft { entry_type, amount, block_id, asked };
        let entry = self.append_unpaid(draft, at).clone();
        let number = entry.ledger_sequence_number;
        self.ledger.unpaid.push(Unpaid { block_id, number });
        Ok(entry)
    }

    /// Returns the number that the entry of a block has while it waits for its payment.
    pub(crate) fn number_of_unpaid(&self, id: CreditBlockId) -> Option<u64> {
        let mut unpaid = self.ledger.unpaid.iter();
        unpaid.find(|of| of.block_id == id).map(|of| of.number)
    }

    /// Lets usage draw on a block whose invoice is paid: what is overdrawn takes its part, and its entry is
    /// booked, with the number and the balances of now.
    pub(crate) fn activate(
        &mut self,
        id: CreditBlockId,
        pending: &LedgerEntry,
        now: Timestamp,
    ) -> Option<LedgerEntry> {
        let at = self.instant(now);
        let mut block = self.take_unpaid(id)?;
        block.block.status = BlockStatus::Active;
        let amount = block.block.balance.clone();
        let paid = self.share_of_overdraft(&block.block.filters, &amount);
        (block.block.balance, block.drawn) = (&amount - &paid, paid.clone());
        self.add_block(block);
        self.pay_overdraft(id, paid);
        let (entry_type, asked) = (EntryType::Increment, None);
        let draft = Draft { entry_type, amount, block_id: id, asked };
        let number = self.append(draft, at).ledger_sequence_number;
        let booked = self.entries.get_mut(&number)?;
        // It is the entry that was answered when the credits were bought.
        booked.entry.id = pending.id;
        booked.entry.description = pending.description.clone();
        booked.entry.metadata = pending.metadata.clone();
        Some(booked.entry.clone())
    }

    /// Removes a block that nobody pays for any more.
    pub(crate) fn forget_unpaid(&mut self, id: CreditBlockId, now: Timestamp) {
        let at = self.instant(now);
        if let Some(mut block) = self.take_unpaid(id) {
            block.deletion = Some(Deletion { at, instead: Vec::new() });
            self.add_block(block);
        }
    }

    fn take_unpaid(&mut self, id: CreditBlockId) -> Option<Block> {
        self.ledger.unpaid.retain(|of| of.block_id != id);
        self.blocks.remove(&id)
    }

    /// Takes what is left of a block, because the invoice that bought it is void (invoicing 8.6).
    pub(crate) fn void_rest(&mut self, id: CreditBlockId, now: Timestamp) -> Option<LedgerEntry> {
        let at = self.instant(now);
        let block = self.blocks.get(&id).filter(|block| block.is_open())?;
        let left = block.block.balance.clone();
        let (void_amount, void_reason) = (left.clone(), None);
        let entry_type = EntryType::VoidInitiated { void_amount, void_reason };
        let (amount, asked) = (Decimal::zero(), None);
        self.append(Draft { entry_type, amount, block_id: id, asked }, at);
        self.lose_from(id, &left);
        let entry_type = EntryType::Void { void_amount: left.clone(), void_reason };
        Some(self.append(Draft { entry_type, amount: -left, block_id: id, asked }, at).clone())
    }

    /// Names the blocks with something left that an invoice has bought: several where a part was given another
    /// expiry date.
    pub(crate) fn bought_with(&self, invoice: InvoiceId) -> Vec<CreditBlockId> {
        let open = self.order.values().filter_map(|id| self.blocks.get(id));
        let bought = open.filter(|block| block.purchase.is_some_and(|of| of.invoice_id == invoice));
        bought.map(|block| block.block.id).collect()
    }

    /// Tells whether the ledger has room for a further block.
    pub(crate) fn takes_block(&self) -> bool {
        self.check_room(0).is_ok()
    }
}
