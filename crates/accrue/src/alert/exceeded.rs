use serde::{Deserialize, Serialize};

use super::{Alert, Cause};
use crate::{Decimal, SubscriptionId, Timeframe};

/// Firing of an alert on usage, cost or spend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exceeded {
    /// The subscription whose value it is.
    pub subscription_id: SubscriptionId,
    /// The alert as it was when it fired.
    pub alert: Alert,
    /// The value right before; `None` where the period had none yet.
    pub value_before: Option<Decimal>,
    /// The value right after.
    pub value_after: Decimal,
    /// The most advanced of the thresholds crossed.
    pub threshold: Decimal,
    /// All thresholds crossed, smallest first.
    pub thresholds: Vec<Decimal>,
    /// The billing period whose value it is.
    pub timeframe: Timeframe,
    /// Cause that made it fire.
    pub cause: Cause,
}
