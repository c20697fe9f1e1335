use serde::{Deserialize, Serialize};

use crate::{Decimal, PricingUnit};

/// What a customer has of a currency or pricing unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreditBalance {
    /// The currency or pricing unit.
    pub currency: PricingUnit,
    /// All of it, less what was overdrawn: what alerts watch. `None` before the first entry.
    pub balance: Option<Decimal>,
    /// What of it usage can draw now: the blocks that are effective.
    pub available: Decimal,
    /// What usage took beyond the last block, and no increment has paid off yet: zero or more.
    pub overdraft: Decimal,
}
