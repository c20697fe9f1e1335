use super::SubscriptionStatus;
use crate::{CustomerId, IdOr, InstantRange, PlanId};

/// Which subscriptions of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionFilter {
    /// When they were created.
    pub created: InstantRange,
    /// Of one of these customers, at most 100, in any order; of any where none is named. One that is
    /// not there has none.
    pub customers: Vec<IdOr<CustomerId>>,
    /// Of one plan. One that is not there has none.
    pub plan: Option<IdOr<PlanId>>,
    /// Where they stand now: one of these; anywhere where none is named.
    pub statuses: Vec<SubscriptionStatus>,
}
