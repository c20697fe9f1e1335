use super::{Book, LedgerEntry, entries::Draft};
use crate::{
    CreditBlockId, Decimal, Error, Timestamp,
    credit::{EntryType, block::Deletion, shares},
    limits,
    price::PriceFilter,
};

impl Book {
    /// Deletes a block, as if it had never been given: what was drawn from it goes back to it, all
    /// that it has then is void, and what was drawn is drawn anew from the blocks that are there, and
    /// beyond them from the overdraft.
    ///
    /// Returns the last of the entries that say so; none where nothing was drawn or left.
    ///
    /// # Errors
    ///
    /// If the block does not exist, is the overdraft, or was drawn from and the ledger remembers as
    /// many such deletions as it can. Nothing has moved then.
    pub(crate) fn delete(
        &mut self,
        id: CreditBlockId,
        now: Timestamp,
    ) -> Result<Option<LedgerEntry>, Error> {
        let at = self.instant(now);
        let block = self.named(id)?;
        if block.block.is_overdraft() {
            let detail = format!("the credit block {id} is the overdraft, which cannot be deleted");
            return Err(Error::constraint(detail));
        }
        let (left, drawn) = (block.block.balance.clone(), block.drawn.clone());
        if !drawn.is_zero() {
            self.check_deletions()?;
        }
        let void = left + &drawn;
        let entries = self.ledger.entries;
        if !drawn.is_zero() {
            self.return_to(id, &drawn);
            self.book_of(id, EntryType::Amendment, drawn.clone(), at);
        }
        if !void.is_zero() {
            let (void_amount, void_reason) = (void.clone(), None);
            let initiated = EntryType::VoidInitiated { void_amount, void_reason };
            self.book_of(id, initiated, Decimal::zero(), at);
            self.lose_from(id, &void);
            let done = EntryType::Void { void_amount: void.clone(), void_reason };
            self.book_of(id, done, -void, at);
        }
        let filters = self.blocks.get(&id).map(|block| block.block.filters.clone());
        let instead = self.draw_instead(drawn, &filters.unwrap_or_default(), at);
        if !instead.is_empty() {
            self.ledger.deleted.push(id);
        }
        if let Some(block) = self.blocks.get_mut(&id) {
            block.deletion = Some(Deletion { at, instead });
            self.moved_blocks.insert(id);
        }
        let last = self.entries.get(&self.ledger.entries);
        Ok(last.filter(|_| self.ledger.entries > entries).map(|booked| booked.entry.clone()))
    }

    /// Refuses one deletion more than may be remembered: what is drawn instead of one block can be
    /// drawn instead of the next, and giving back has to follow all of it.
    fn check_deletions(&self) -> Result<(), Error> {
        let (found, most) = (self.ledger.deleted.len(), limits::DELETED_BLOCKS);
        if found < most {
            return Ok(());
        }
        let would = found.saturating_add(1);
        let detail = format!(
            "the ledger would have {would} deleted blocks that others were drawn from instead of, \
             expected at most {most}"
        );
        Err(Error::constraint(detail))
    }

    /// Draws anew what was drawn from a block that is no longer there, with an entry for each block: of
    /// those with filters only from blocks with the same.
    fn draw_instead(
        &mut self,
        amount: Decimal,
        filters: &[PriceFilter],
        at: Timestamp,
    ) -> Vec<(CreditBlockId, Decimal)> {
        let (mut rest, mut instead) = (amount, Vec::new());
        while !rest.is_zero() {
            let (id, taken) = self.take_special(&mut rest, at, |block| {
                PriceFilter::are_the_same(&block.filters, filters)
            });
            self.book_of(id, EntryType::Decrement, -&taken, at);
            instead.push((id, taken));
        }
        shares::fold_oldest(&mut instead, limits::INSTEAD_BLOCKS);
        instead
    }

    fn book_of(
        &mut self,
        block_id: CreditBlockId,
        entry_type: EntryType,
        amount: Decimal,
        at: Timestamp,
    ) {
        self.append(Draft { entry_type, amount, block_id, asked: None }, at);
    }
}
