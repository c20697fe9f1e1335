use serde::{Deserialize, Serialize};

use crate::{
    CustomerId, Decimal,
    alert::{Alert, Cause},
};

/// Firing of an alert on a credit balance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BalanceCrossed {
    /// The customer whose balance it is.
    pub customer_id: CustomerId,
    /// The alert as it was when it fired, with its status right after.
    pub alert: Alert,
    /// The balance right before; `None` where there was no ledger yet.
    pub value_before: Option<Decimal>,
    /// The balance right after.
    pub value_after: Decimal,
    /// The most advanced of the thresholds crossed: the smallest. `None` for an alert without
    /// thresholds, which watches zero.
    pub threshold: Option<Decimal>,
    /// All thresholds crossed, greatest first. Empty for an alert without thresholds.
    pub thresholds: Vec<Decimal>,
    /// Cause that made it fire.
    pub cause: Cause,
}
