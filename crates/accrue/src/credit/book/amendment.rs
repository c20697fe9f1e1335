use super::{Book, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{CreditBlockId, Decimal, Error, Timestamp, credit::EntryType};

impl Book {
    /// Returns an amount to the block from which it was taken: the block may open again.
    pub(super) fn amend(
        &mut self,
        new: &NewLedgerEntry,
        block_id: CreditBlockId,
        amount: &Decimal,
        at: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        self.check_amendment(block_id, amount, at)?;
        self.return_to(block_id, amount);
        let (entry_type, amount, asked) = (EntryType::Amendment, amount.clone(), Some(new));
        Ok(self.append(Draft { entry_type, amount, block_id, asked }, at).clone())
    }

    fn check_amendment(
        &self,
        id: CreditBlockId,
        amount: &Decimal,
        at: Timestamp,
    ) -> Result<(), Error> {
        let block = self.named_unexpired(id, at)?;
        if block.drawn < *amount {
            let drawn = &block.drawn;
            let detail = format!(
                "{drawn} was taken from the credit block {id} and not given back, expected at \
                 least {amount}"
            );
            return Err(Error::constraint(detail));
        }
        let opens = !block.is_open() && !block.block.is_overdraft();
        if opens { self.check_room(0) } else { Ok(()) }
    }
}
