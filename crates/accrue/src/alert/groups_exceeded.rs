use serde::{Deserialize, Serialize};

use super::{Alert, Cause};
use crate::{Decimal, SubscriptionId, Timeframe};

/// Firing of an alert on the cost of groups (subscriptions 8.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupsExceeded {
    /// The subscription whose usage is in the groups.
    pub subscription_id: SubscriptionId,
    /// The alert as it was when it fired.
    pub alert: Alert,
    /// The groups that fired, in the order of their values: the one of an event, or all where they are judged at once.
    pub groups: Vec<GroupExceeded>,
    /// The billing period whose costs they are.
    pub timeframe: Timeframe,
    /// Cause that made it fire.
    pub cause: Cause,
}

/// Group that fired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupExceeded {
    /// Values of the alert's keys, in their order.
    pub group_values: Vec<String>,
    /// Its cost right before; `None` where it had no usage yet.
    pub value_before: Option<Decimal>,
    /// Its cost right after.
    pub value_after: Decimal,
    /// The most advanced of the thresholds crossed.
    pub threshold: Decimal,
    /// All thresholds crossed, smallest first.
    pub thresholds: Vec<Decimal>,
}

/// An alert on the cost of groups that is disabled for a subscription: it has usage in too many groups
/// (subscriptions 8.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AlertDisabled {
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// The alert, as the subscription sees it: disabled.
    pub alert: Alert,
    /// Groups that have usage in the billing period.
    pub cardinality: u64,
    /// The most groups that it watches in a billing period.
    pub cardinality_limit: u64,
}
