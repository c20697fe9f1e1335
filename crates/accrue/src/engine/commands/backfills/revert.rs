//! Reverts a backfill, or gives one up that is open.

use crate::{
    BackfillId,
    backfill::{Backfill, Effect},
    engine::kernel::{Stop, Transaction},
};

pub(super) async fn revert_backfill(
    tx: &mut Transaction<'_>,
    id: BackfillId,
) -> Result<Backfill, Stop> {
    tx.require_backfills().await?;
    let before = tx.backfill(id).await?;
    tx.current_backfill(&before).await?;
    tx.current_owner(&before).await?;
    let after = before.clone().revert(tx.now)?;
    if after.is_open() {
        tx.check_apart(&after).await?;
        tx.put_backfill(Some(&before), &after).await?;
        tx.schedule(&after, Effect::Revert, tx.now).await?;
    } else {
        tx.put_backfill(Some(&before), &after).await?;
        tx.unschedule(&after).await?;
    }
    Ok(tx.counted(after).await?)
}
