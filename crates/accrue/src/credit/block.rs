use serde::{Deserialize, Serialize};

use crate::{CreditBlockId, CustomerId, Decimal, Metadata, PricingUnit, Timestamp};

/// A block of credits (wire 4.4): what was given at once, and what is left of it.
///
/// What usage takes beyond the last block stands in a block of its own, the overdraft: its balance
/// is zero or below, and it has no dates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreditBlock {
    /// Its id.
    pub id: CreditBlockId,
    /// What it is in.
    pub currency: PricingUnit,
    /// What is left of it.
    pub balance: Decimal,
    /// From when on usage draws on it. `None` of an overdraft.
    pub effective_date: Option<Timestamp>,
    /// When what is left of it is lost, if ever.
    pub expiry_date: Option<Timestamp>,
    /// What the customer paid for one of them.
    pub per_unit_cost_basis: Option<Decimal>,
    /// What was given. `None` of an overdraft.
    pub maximum_initial_balance: Option<Decimal>,
    /// The caller's own strings.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// When it was created.
    pub created_at: Timestamp,
}

impl CreditBlock {
    /// Tells whether it is what was taken beyond the last block.
    #[must_use]
    pub const fn is_overdraft(&self) -> bool {
        self.maximum_initial_balance.is_none()
    }

    /// Tells whether what is left of it is lost at an instant.
    pub(crate) fn has_expired(&self, at: Timestamp) -> bool {
        self.expiry_date.is_some_and(|expiry| expiry <= at)
    }
}

/// A block, and what the engine keeps beside it in the same row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    pub(crate) block: CreditBlock,
    pub(crate) customer_id: CustomerId,
    /// The number of the entry that made it: of two blocks, the one with the lower number is older.
    pub(crate) number: u64,
    /// What was taken from it and not given back: the most that can be.
    pub(crate) drawn: Decimal,
    /// That it was deleted. Its entries still name it, and usage that drew from it remembers so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deletion: Option<Deletion>,
}

/// That a block was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Deletion {
    pub(crate) at: Timestamp,
    /// What was drawn anew instead of what had been drawn from it, block by block, and has not been
    /// given back since.
    pub(crate) instead: Vec<(CreditBlockId, Decimal)>,
}

impl Block {
    /// Lists the blocks that were drawn from instead of this one.
    pub(crate) fn instead(&self) -> &[(CreditBlockId, Decimal)] {
        self.deletion.as_ref().map(|deletion| deletion.instead.as_slice()).unwrap_or_default()
    }

    /// Tells whether something is left of it: what is left is booked out when it expires.
    pub(crate) fn is_open(&self) -> bool {
        self.block.balance > Decimal::zero()
    }
}
