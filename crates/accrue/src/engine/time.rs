//! What time brings, before anybody finds it undone.

use async_trait::async_trait;

use super::{
    corrections::correct_all,
    kernel::{CatchUp, Patience, Shared},
    transitions::apply_transitions,
};
use crate::{AccountId, Error, schema::Owner};

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
                Owner::Plan(..) | Owner::Metrics => {}
            }
        }
        apply_transitions(shared, account, &customers, patience).await
    }
}
