use super::{Block, Book, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{
    CreditBlockId, Decimal, Error, Timestamp,
    credit::{CreditBlock, EntryType, NewBlock, Origin},
    price::PriceFilter,
};

impl Book {
    /// Adds a new block, which first pays off the overdraft.
    pub(super) fn increment(
        &mut self,
        new: &NewLedgerEntry,
        given: &NewBlock,
        origin: Origin,
        at: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        let block = self.given(new, given, origin, at)?;
        let amount = given.amount.clone();
        let paid = self.share_of_overdraft(&given.filters, &amount);
        if paid < amount {
            self.check_room(0)?;
        }
        let (block_id, purchase) = (block.id, origin.purchase);
        let block = CreditBlock { balance: &amount - &paid, ..block };
        let blank = self.blank(b"block", at);
        self.add_block(Block { block, drawn: paid.clone(), purchase, ..blank });
        self.pay_overdraft(block_id, paid);
        let (entry_type, asked) = (EntryType::Increment, Some(new));
        Ok(self.append(Draft { entry_type, amount, block_id, asked }, at).clone())
    }

    /// Makes the block that an increment asks for, before what is overdrawn takes a part of it.
    pub(super) fn given(
        &self,
        new: &NewLedgerEntry,
        given: &NewBlock,
        origin: Origin,
        at: Timestamp,
    ) -> Result<CreditBlock, Error> {
        let effective = given.effective_date.unwrap_or(at);
        check_dates(effective, given.expiry_date, at)?;
        Ok(CreditBlock {
            balance: given.amount.clone(),
            effective_date: Some(effective),
            expiry_date: given.expiry_date,
            per_unit_cost_basis: given.per_unit_cost_basis.clone(),
            maximum_initial_balance: Some(given.amount.clone()),
            filters: given.filters.clone(),
            metadata: new.metadata.clone(),
            source: origin.source,
            ..self.blank(b"block", at).block
        })
    }

    /// Returns how much of a block goes to what is overdrawn.
    pub(super) fn share_of_overdraft(&self, filters: &[PriceFilter], amount: &Decimal) -> Decimal {
        // What was overdrawn may be for prices that a block with filters does not pay for.
        let owed = if filters.is_empty() { self.overdrawn() } else { Decimal::zero() };
        owed.min(amount.clone())
    }

    /// Pays off so much of the overdraft with a block that it was taken from already.
    pub(super) fn pay_overdraft(&mut self, block_id: CreditBlockId, paid: Decimal) {
        if let Some(overdraft) = self.ledger.overdraft.filter(|_| !paid.is_zero()) {
            self.return_to(overdraft, &paid);
            self.ledger.add_payer(block_id, paid);
        }
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
