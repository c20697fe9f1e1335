//! Creates a backfill.

use crate::{
    BackfillId,
    backfill::{Backfill, Effect, NewBackfill},
    engine::{
        commands::backfills::{apart, checks},
        kernel::{Stop, Transaction, boxed},
        rows,
        time::corrections,
    },
};

#[boxed]
pub(super) async fn create_backfill(
    tx: &mut Transaction<'_>,
    new: &NewBackfill,
) -> Result<Backfill, Stop> {
    checks::require_backfills(tx).await?;
    new.check(rows::account::account_entry(tx).await?.configuration.backfill_days, tx.now)?;
    let customer_id = match &new.customer {
        Some(customer) => Some(rows::customers::customer(tx, customer).await?.id),
        None => None,
    };
    let id = BackfillId::generate(tx.now, tx.entropy());
    let backfill = new.clone().decide(id, customer_id, tx.now);
    checks::current_owner(tx, &backfill).await?;
    apart::check_apart(tx, &backfill).await?;
    rows::backfills::put_backfill(tx, None, &backfill).await?;
    if let Some(close_time) = backfill.close_time {
        corrections::schedule(tx, &backfill, Effect::Reflect, close_time).await?;
    }
    Ok(backfill)
}
