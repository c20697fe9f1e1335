use serde::{Deserialize, Serialize};

use super::shares;
use crate::{CreditBlockId, CustomerId, Decimal, PriceId, PricingUnit, Timestamp, Zone, limits};

/// A ledger without its blocks and entries, as its row has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    pub(crate) customer_id: CustomerId,
    pub(crate) currency: PricingUnit,
    /// Time zone of the customer, in which its days end.
    pub(crate) timezone: Zone,
    pub(crate) balance: Decimal,
    /// Number of entries.
    pub(crate) entries: u64,
    /// Instant at which the last one was made.
    pub(crate) latest: Timestamp,
    /// The blocks that have something left, and have not expired.
    pub(crate) open: Vec<CreditBlockId>,
    /// The block of what was overdrawn, where something ever was.
    pub(crate) overdraft: Option<CreditBlockId>,
    /// The blocks that have paid an overdraft off, and how much; the last one stands last.
    pub(crate) payers: Vec<(CreditBlockId, Decimal)>,
    /// The deleted blocks instead of which something was drawn that has not been given back since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) deleted: Vec<CreditBlockId>,
    /// The entries that usage still adds to, in the order of their numbers.
    pub(crate) pending: Vec<Pending>,
    /// Instant at which the day of the pending entries ends.
    pub(crate) day_end: Timestamp,
    /// Blocks that wait for a payment, with the numbers of their entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unpaid: Vec<Unpaid>,
    /// Count of the numbers that entries had while they waited for a payment: nothing was booked with them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) apart: u64,
}

/// A block that waits for a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unpaid {
    pub(crate) block_id: CreditBlockId,
    /// Number of its entry until it is paid.
    pub(crate) number: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Ledger {
    /// Creates a ledger without an entry.
    pub(crate) fn new(customer_id: CustomerId, currency: PricingUnit, timezone: Zone) -> Self {
        Self {
            customer_id,
            currency,
            timezone,
            balance: Decimal::zero(),
            entries: 0,
            latest: Timestamp::MIN,
            open: Vec::new(),
            overdraft: None,
            payers: Vec::new(),
            deleted: Vec::new(),
            pending: Vec::new(),
            day_end: Timestamp::MIN,
            unpaid: Vec::new(),
            apart: 0,
        }
    }

    /// Tells whether anything was ever booked: what only waits for a payment is not drawn on.
    pub(crate) const fn has_begun(&self) -> bool {
        self.entries > self.apart
    }

    /// Records that a block has paid an overdraft off.
    pub(super) fn add_payer(&mut self, id: CreditBlockId, paid: Decimal) {
        self.payers.push((id, paid));
        shares::fold_oldest(&mut self.payers, limits::PAYERS);
    }
}

/// An entry that usage still adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) block_id: CreditBlockId,
    #[serde(default)]
    pub(crate) price_id: Option<PriceId>,
    pub(crate) number: u64,
}
