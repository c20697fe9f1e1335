//! Closes a backfill: from then on its events are to count.

use crate::{
    BackfillId,
    backfill::{Backfill, Effect},
    engine::{
        commands::backfills::checks,
        kernel::{Stop, Transaction, boxed},
        rows,
        time::corrections,
    },
};

#[boxed]
pub(super) async fn close_backfill(
    tx: &mut Transaction<'_>,
    id: BackfillId,
) -> Result<Backfill, Stop> {
    checks::require_backfills(tx).await?;
    let before = rows::backfills::backfill(tx, id).await?;
    checks::check_taking(tx, &before).await?;
    checks::current_owner(tx, &before).await?;
    let after = before.clone().close(tx.now)?;
    rows::backfills::put_backfill(tx, Some(&before), &after).await?;
    corrections::schedule(tx, &after, Effect::Reflect, tx.now).await?;
    Ok(checks::counted(tx, after).await?)
}
