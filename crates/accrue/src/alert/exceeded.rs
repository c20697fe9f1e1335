use serde::{Deserialize, Serialize};

use super::Alert;
use crate::{AlertId, Decimal, EventKey, SubscriptionId, Timeframe, Timestamp};

/// An alert on usage, cost or spend fired.
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
    /// What made it fire.
    pub cause: Cause,
}

/// What made an alert fire, with its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// A usage event.
    Event {
        /// Its key.
        idempotency_key: EventKey,
        /// Its instant.
        timestamp: Timestamp,
    },
    /// The alert was created, enabled, or given other thresholds.
    Configuration {
        /// The alert.
        alert_id: AlertId,
    },
    /// A billing period began or ended, and fees or a minimum fell due.
    Period {
        /// When.
        timestamp: Timestamp,
    },
    /// The subscription was created over usage that there was already, or was cancelled.
    Subscription {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
}
