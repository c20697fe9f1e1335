use super::{Block, Book, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{
    Decimal, Error, Timestamp,
    credit::{CreditBlock, EntryType, NewBlock},
};

impl Book {
    /// Adds a new block, which first pays off the overdraft.
    pub(super) fn increment(
        &mut self,
        new: &NewLedgerEntry,
        given: &NewBlock,
        at: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        let NewBlock { amount, expiry_date, per_unit_cost_basis, .. } = given;
        let effective = given.effective_date.unwrap_or(at);
        check_dates(effective, *expiry_date, at)?;
        // What was overdrawn may be for prices that a block with filters does not pay for.
        let owed = if given.filters.is_empty() { self.overdrawn() } else { Decimal::zero() };
        let paid = owed.min(amount.clone());
        if paid < *amount {
            self.check_room(0)?;
        }
        let blank = self.blank(b"block", at);
        let block = CreditBlock {
            balance: amount - &paid,
            effective_date: Some(effective),
            expiry_date: *expiry_date,
            per_unit_cost_basis: per_unit_cost_basis.clone(),
            maximum_initial_balance: Some(amount.clone()),
            filters: given.filters.clone(),
            metadata: new.metadata.clone(),
            ..blank.block
        };
        let block_id = block.id;
        self.add_block(Block { block, drawn: paid.clone(), ..blank });
        if let Some(overdraft) = self.ledger.overdraft.filter(|_| !paid.is_zero()) {
            self.return_to(overdraft, &paid);
            self.ledger.add_payer(block_id, paid);
        }
        let (entry_type, amount, asked) = (EntryType::Increment, amount.clone(), Some(new));
        Ok(self.append(Draft { entry_type, amount, block_id, asked }, at).clone())
    }
}

fn check_dates(
    effective: Timestamp,
    expiry: Option<Timestamp>,
    at: Timestamp,
) -> Result<(), Error> {
    let Some(expiry) = expiry else { return Ok(()) };
    if expiry <= at {
        let detail = format!("found the expiry date {expiry}, expected one after {at}");
        return Err(Error::constraint(detail));
    }
    if expiry <= effective {
        let detail = format!(
            "found the effective date {effective}, expected one before the expiry date {expiry}"
        );
        return Err(Error::constraint(detail));
    }
    Ok(())
}
