use serde::{Deserialize, Serialize};

use crate::{CreditBlockId, CustomerId, Decimal, PricingUnit, Timestamp, Zone};

/// A ledger without its blocks and entries, as its row has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    pub(crate) customer_id: CustomerId,
    pub(crate) currency: PricingUnit,
    /// The customer's zone, which says when its days end.
    pub(crate) timezone: Zone,
    pub(crate) balance: Decimal,
    /// How many entries there are.
    pub(crate) entries: u64,
    /// When the last one was made.
    pub(crate) latest: Timestamp,
    /// The blocks that have something left, and have not expired.
    pub(crate) open: Vec<CreditBlockId>,
    /// The block of what was overdrawn, where something ever was.
    pub(crate) overdraft: Option<CreditBlockId>,
    /// The blocks that have paid an overdraft off, and how much; the last one stands last.
    pub(crate) payers: Vec<(CreditBlockId, Decimal)>,
    /// The entries that usage still adds to, in the order of their numbers.
    pub(crate) pending: Vec<Pending>,
    /// When the day of the pending entries ends.
    pub(crate) day_end: Timestamp,
}

/// An entry that usage still adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) block_id: CreditBlockId,
    pub(crate) number: u64,
}
