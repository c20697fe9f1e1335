use super::SubscriptionStatus;
use crate::{CustomerId, IdOr, InstantRange, PlanId};

/// Filter of a list of subscriptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionFilter {
    /// Range of the instants at which they were created.
    pub created: InstantRange,
    /// Customers that they belong to, at most 100, in any order; any where none is named. One that does
    /// not exist has none.
    pub customers: Vec<IdOr<CustomerId>>,
    /// Plan that they are on. One that does not exist has none.
    pub plan: Option<IdOr<PlanId>>,
    /// Statuses of which they have one now; any where none is named.
    pub statuses: Vec<SubscriptionStatus>,
}
