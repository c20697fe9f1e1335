use super::{Book, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{
    CreditBlockId, Decimal, Error, Timestamp,
    credit::{EntryType, VoidReason},
};

/// Void that the caller asks for.
pub(super) struct Voided<'a> {
    pub(super) amount: &'a Decimal,
    pub(super) block_id: CreditBlockId,
    pub(super) void_reason: Option<VoidReason>,
}

impl Book {
    /// Makes an amount that is left of a block void, and returns the first of the two entries that
    /// say so.
    pub(super) fn void(
        &mut self,
        new: &NewLedgerEntry,
        voided: Voided<'_>,
        at: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        let Voided { amount, block_id, void_reason } = voided;
        self.check_void(block_id, amount, at)?;
        let (asked, void_amount) = (Some(new), amount.clone());
        let entry_type = EntryType::VoidInitiated { void_amount, void_reason };
        let draft = Draft { entry_type, amount: Decimal::zero(), block_id, asked };
        let initiated = self.append(draft, at).clone();
        self.lose_from(block_id, amount);
        let entry_type = EntryType::Void { void_amount: amount.clone(), void_reason };
        self.append(Draft { entry_type, amount: -amount, block_id, asked }, at);
        Ok(initiated)
    }

    fn check_void(&self, id: CreditBlockId, amount: &Decimal, at: Timestamp) -> Result<(), Error> {
        let block = &self.named_unexpired(id, at)?.block;
        if block.is_overdraft() {
            let detail = format!("the credit block {id} is the overdraft, which cannot be void");
            return Err(Error::constraint(detail));
        }
        if block.balance < *amount {
            let left = &block.balance;
            let detail =
                format!("the credit block {id} has {left} left, expected at least {amount}");
            return Err(Error::constraint(detail));
        }
        Ok(())
    }
}
