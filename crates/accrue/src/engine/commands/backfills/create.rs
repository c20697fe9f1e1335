//! Creates a backfill.

use crate::{
    BackfillId,
    backfill::{Backfill, Effect, NewBackfill},
    engine::kernel::{Stop, Transaction},
};

pub(super) async fn create_backfill(
    tx: &mut Transaction<'_>,
    new: &NewBackfill,
) -> Result<Backfill, Stop> {
    tx.require_backfills().await?;
    new.check(tx.configuration().await?.backfill_days, tx.now)?;
    let customer_id = match &new.customer {
        Some(customer) => Some(tx.customer(customer).await?.id),
        None => None,
    };
    let id = BackfillId::generate(tx.now, tx.entropy());
    let backfill = new.clone().decide(id, customer_id, tx.now);
    tx.current_owner(&backfill).await?;
    tx.check_apart(&backfill).await?;
    tx.put_backfill(None, &backfill).await?;
    if let Some(close_time) = backfill.close_time {
        tx.schedule(&backfill, Effect::Reflect, close_time).await?;
    }
    Ok(backfill)
}
