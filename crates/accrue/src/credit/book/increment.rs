use super::{Block, Book, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{
    Decimal, Error, Timestamp,
    credit::{CreditBlock, EntryType},
};

/// What holds of a block that is given, as the caller has it.
pub(super) struct Terms<'a> {
    pub(super) effective_date: Option<Timestamp>,
    pub(super) expiry_date: Option<Timestamp>,
    pub(super) per_unit_cost_basis: &'a Option<Decimal>,
}

impl Book {
    /// Gives a new block, which first pays off what was overdrawn.
    pub(super) fn increment(
        &mut self,
        new: &NewLedgerEntry,
        amount: &Decimal,
        terms: Terms<'_>,
        at: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        let effective = terms.effective_date.unwrap_or(at);
        check_dates(effective, terms.expiry_date, at)?;
        self.check_room(0)?;
        let paid = self.overdrawn().min(amount.clone());
        let Block { block, customer_id, number, .. } = self.blank(b"block", at);
        let block = CreditBlock {
            balance: amount.clone() - paid.clone(),
            effective_date: Some(effective),
            expiry_date: terms.expiry_date,
            per_unit_cost_basis: terms.per_unit_cost_basis.clone(),
            maximum_initial_balance: Some(amount.clone()),
            metadata: new.metadata.clone(),
            ..block
        };
        let block_id = block.id;
        self.add_block(Block { block, customer_id, number, drawn: paid.clone() });
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
