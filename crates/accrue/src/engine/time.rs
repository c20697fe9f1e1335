//! What time brings, before anybody finds it undone.

pub(super) mod allocations;
pub(super) mod balances;
pub(super) mod buying;
pub(super) mod collecting;
pub(super) mod corrections;
pub(super) mod crediting;
pub(super) mod current;
pub(super) mod drawing;
mod due;
pub(super) mod due_dates;
pub(super) mod in_order;
pub(super) mod invoicing;
mod issuing;
pub(super) mod judge;
pub(super) mod license_pools;
pub(super) mod metering;
pub(super) mod one_off;
pub(super) mod pending_changes;
pub(super) mod plan_changes;
pub(super) mod purchases;
pub(super) mod rebilling;
pub(super) mod recount;
pub(super) mod rewinding;
mod squaring;
pub(super) mod taxing;
pub(super) mod thresholds;
pub(super) mod transitions;
pub(super) mod trials;
pub(super) mod voiding;

use async_trait::async_trait;

use crate::{
    AccountId, Error,
    engine::{
        kernel::{CatchUp, Patience, Shared},
        time::{corrections::correct_all, in_order::apply_transitions},
    },
    schema::Owner,
};

/// Does what time has brought, as soon as a command finds it.
pub(super) struct Time;

#[async_trait]
impl CatchUp for Time {
    async fn catch_up(
        &self,
        shared: &Shared,
        account: &AccountId,
        owners: &[Owner],
        patience: &mut Patience,
    ) -> Result<(), Error> {
        let mut customers = Vec::new();
        for owner in owners {
            match owner {
                Owner::Customer(id) => customers.push(*id),
                Owner::Backfill(id) => correct_all(shared, account, *id, patience).await?,
                // Nobody waits for these: they are found at each customer.
                Owner::Plan(..)
                | Owner::Alerts
                | Owner::Metrics
                | Owner::DueDates
                | Owner::Migration(_)
                | Owner::SubscriptionChange(_) => {}
            }
        }
        apply_transitions(shared, account, &customers, patience).await
    }
}
