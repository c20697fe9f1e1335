use super::{Block, Book, LedgerEntry, NewLedgerEntry, entries::Draft};
use crate::{
    CreditBlockId, Decimal, Error, Timestamp,
    credit::{BlockAllocation, CreditBlock, EntryType},
};

/// Expiration change that the caller asks for.
pub(super) struct Extension<'a> {
    pub(super) target_expiry_date: Timestamp,
    pub(super) amount: Option<&'a Decimal>,
    pub(super) block_id: Option<CreditBlockId>,
    pub(super) expiry_date: Option<Timestamp>,
}

/// The most blocks that an error names.
const NAMED: usize = 10;

impl Book {
    /// Moves what is left of a block, or a part of it, to a new one that expires at another date.
    pub(super) fn change_expiration(
        &mut self,
        new: &NewLedgerEntry,
        extension: Extension<'_>,
        at: Timestamp,
    ) -> Result<LedgerEntry, Error> {
        let source = self.source(&extension, at)?;
        let moved = extension.amount.unwrap_or(&source.block.balance).clone();
        let (new_block_expiry_date, source_id) = (extension.target_expiry_date, source.block.id);
        check_extension(source, new_block_expiry_date, &moved, at)?;
        self.check_room(usize::from(source.block.balance == moved))?;
        let blank = self.blank(b"block", at);
        let block = CreditBlock {
            balance: moved.clone(),
            effective_date: source.block.effective_date,
            expiry_date: Some(new_block_expiry_date),
            per_unit_cost_basis: source.block.per_unit_cost_basis.clone(),
            maximum_initial_balance: Some(moved.clone()),
            filters: source.block.filters.clone(),
            source: source.block.source,
            allocation: source.block.allocation.clone().map(|of| {
                Box::new(BlockAllocation { expiry_date: Some(new_block_expiry_date), ..*of })
            }),
            ..blank.block
        };
        let purchase = source.purchase;
        let new_block_id = block.id;
        self.lose_from(source_id, &moved);
        self.add_block(Block { block, purchase, ..blank });
        let entry_type = EntryType::ExpirationChange { moved, new_block_id, new_block_expiry_date };
        let (amount, block_id, asked) = (Decimal::zero(), source_id, Some(new));
        Ok(self.append(Draft { entry_type, amount, block_id, asked }, at).clone())
    }

    /// Finds the open block that the caller means.
    fn source(&self, extension: &Extension<'_>, at: Timestamp) -> Result<&Block, Error> {
        match extension.block_id {
            Some(id) => self.named_source(id, extension.expiry_date, at),
            None => self.only_source(extension.expiry_date, at),
        }
    }

    fn named_source(
        &self,
        id: CreditBlockId,
        expiry_date: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<&Block, Error> {
        let block = self.named_unexpired(id, at)?;
        if block.block.is_overdraft() {
            let detail = format!("the credit block {id} is the overdraft, which does not expire");
            return Err(Error::constraint(detail));
        }
        if let Some(expected) = expiry_date.filter(|date| block.block.expiry_date != Some(*date)) {
            let expires = spell(block.block.expiry_date);
            let detail = format!("the credit block {id} {expires}, expected at {expected}");
            return Err(Error::constraint(detail));
        }
        if !block.is_open() {
            return Err(Error::constraint(format!("the credit block {id} has nothing left")));
        }
        Ok(block)
    }

    fn only_source(&self, expiry: Option<Timestamp>, at: Timestamp) -> Result<&Block, Error> {
        let is_meant = |block: &&Block| {
            !block.block.has_expired(at)
                && expiry.is_none_or(|expiry| block.block.expiry_date == Some(expiry))
        };
        let open = self.order.values().filter_map(|id| self.blocks.get(id));
        let meant: Vec<_> = open.filter(is_meant).collect();
        match meant.as_slice() {
            [block] => Ok(block),
            [] => {
                let which = expiry.map(|expiry| format!(" and expires at {expiry}"));
                let which = which.unwrap_or_default();
                Err(Error::constraint(format!("no credit block has something left{which}")))
            }
            several => {
                let count = several.len();
                let ids = several.iter().take(NAMED).map(|block| block.block.id.to_string());
                let ids = ids.collect::<Vec<_>>().join(", ");
                let detail = format!("found {count} credit blocks, expected the id of one: {ids}");
                Err(Error::constraint(detail))
            }
        }
    }
}

fn check_extension(
    source: &Block,
    target: Timestamp,
    amount: &Decimal,
    at: Timestamp,
) -> Result<(), Error> {
    let CreditBlock { id, balance, effective_date, .. } = &source.block;
    let earliest = effective_date.map_or(at, |effective| effective.max(at));
    if target <= earliest {
        let detail =
            format!("found the target expiry date {target}, expected one after {earliest}");
        return Err(Error::constraint(detail));
    }
    if balance < amount {
        let detail =
            format!("the credit block {id} has {balance} left, expected at least {amount}");
        return Err(Error::constraint(detail));
    }
    Ok(())
}

fn spell(expiry_date: Option<Timestamp>) -> String {
    expiry_date.map_or_else(|| "never expires".to_owned(), |date| format!("expires at {date}"))
}
