use serde::{Deserialize, Serialize};

use super::{Alert, Cause};
use crate::{Decimal, SubscriptionId, Timeframe, limits, text::json_bytes};

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

impl GroupExceeded {
    /// Parts groups, in their order, so that what a message tells is bounded.
    pub(crate) fn parts(groups: Vec<Self>) -> Vec<Vec<Self>> {
        let (mut parts, mut bytes) = (Vec::<Vec<Self>>::new(), 0_usize);
        for group in groups {
            let own = group.bytes();
            bytes = bytes.saturating_add(own);
            match parts.last_mut().filter(|_| bytes <= limits::GROUPS_TOLD_BYTES) {
                Some(part) => part.push(group),
                None => {
                    parts.push(vec![group]);
                    bytes = own;
                }
            }
        }
        parts
    }

    /// Returns about how many bytes it has in a message.
    fn bytes(&self) -> usize {
        const NAMES: usize = 120;
        let values = self.group_values.iter().map(|value| json_bytes(value).saturating_add(3));
        let numbers = self.thresholds.iter().chain(&self.value_before);
        let numbers = numbers.chain([&self.value_after, &self.threshold]);
        let numbers = numbers.map(|number| number.to_string().len().saturating_add(3));
        values.chain(numbers).fold(NAMES, usize::saturating_add)
    }
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
