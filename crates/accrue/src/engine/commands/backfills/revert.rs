//! Reverts a backfill, or gives one up that is open.

use crate::{
    BackfillId,
    backfill::{Backfill, Effect},
    engine::{
        commands::backfills::{apart, checks},
        kernel::{Stop, Transaction, boxed},
        rows,
        time::corrections,
    },
};

#[boxed]
pub(super) async fn revert_backfill(
    tx: &mut Transaction<'_>,
    id: BackfillId,
) -> Result<Backfill, Stop> {
    checks::require_backfills(tx).await?;
    let before = rows::backfills::backfill(tx, id).await?;
    corrections::current_backfill(tx, &before).await?;
    checks::current_owner(tx, &before).await?;
    let after = before.clone().revert(tx.now)?;
    if after.is_open() {
        apart::check_apart(tx, &after).await?;
        rows::backfills::put_backfill(tx, Some(&before), &after).await?;
        corrections::schedule(tx, &after, Effect::Revert, tx.now).await?;
    } else {
        rows::backfills::put_backfill(tx, Some(&before), &after).await?;
        corrections::unschedule(tx, &after).await?;
    }
    Ok(checks::counted(tx, after).await?)
}
