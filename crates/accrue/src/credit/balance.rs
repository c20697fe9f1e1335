use serde::{Deserialize, Serialize};

use crate::{Decimal, PricingUnit};

/// Credit balance of a customer in a currency or pricing unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreditBalance {
    /// The currency or pricing unit.
    pub currency: PricingUnit,
    /// Sum of all blocks, less the overdraft: the value that alerts watch. `None` before the first
    /// entry.
    pub balance: Option<Decimal>,
    /// Amount that usage can draw now: the sum of the blocks that are effective.
    pub available: Decimal,
    /// Amount that was taken beyond the last block, and that no increment has paid off yet: zero or
    /// more.
    pub overdraft: Decimal,
}
