//! When time brings something, and for what.

use serde::{Deserialize, Serialize};

use crate::{
    AccountId, BackfillId, CustomerId, MigrationId, PlanId, SubscriptionChangeId, Timestamp,
    plan::PlanVersion,
};

/// Whose deadline it is, and how far its applying has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Deadline {
    pub(crate) at: Timestamp,
    pub(crate) account: AccountId,
    pub(crate) owner: Owner,
    /// The last subscription of a plan that was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<Vec<u8>>,
}

/// What time brings something for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Owner {
    /// What its subscriptions, its ledgers and its corrections bring.
    Customer(CustomerId),
    /// A change to the alerts of a version of a plan.
    Plan(PlanId, PlanVersion),
    /// A change to the alerts on every subscription of the account.
    Alerts,
    /// A backfill for all customers closes, or is being reflected or reverted.
    Backfill(BackfillId),
    /// The account has more metrics than its customers' events are measured by.
    Metrics,
    /// The due dates of the account's invoices are being recalculated.
    DueDates,
    /// Subscriptions of a plan are moved to another version of it.
    Migration(MigrationId),
    /// A change of a subscription expires.
    SubscriptionChange(SubscriptionChangeId),
}
