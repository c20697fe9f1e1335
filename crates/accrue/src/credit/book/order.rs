use super::Block;
use crate::{Decimal, Timestamp};

/// The place of a block in the order in which blocks are spent: the soonest expiry, then the lower
/// cost basis, the earlier effective date, the older block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    expiry: Expiry,
    cost_basis: Decimal,
    effective_date: Option<Timestamp>,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Expiry {
    At(Timestamp),
    Never,
}

impl Place {
    pub(super) fn of(block: &Block) -> Self {
        let Block { block, number, .. } = block;
        Self {
            expiry: block.expiry_date.map_or(Expiry::Never, Expiry::At),
            cost_basis: block.per_unit_cost_basis.clone().map(Decimal::from).unwrap_or_default(),
            effective_date: block.effective_date,
            number: *number,
        }
    }

    /// Tells whether a block there is effective at an instant, and has not expired.
    pub(super) fn is_spendable(&self, at: Timestamp) -> bool {
        self.effective_date.is_none_or(|effective| effective <= at) && Expiry::At(at) < self.expiry
    }

    /// Returns the instant at which a block there expires, if ever.
    pub(super) const fn expiry_date(&self) -> Option<Timestamp> {
        match self.expiry {
            Expiry::At(expiry) => Some(expiry),
            Expiry::Never => None,
        }
    }
}
