//! Closes a backfill: from then on its events are to count.

use crate::{
    BackfillId,
    backfill::{Backfill, Effect},
    engine::kernel::{Stop, Transaction},
};

pub(super) async fn close_backfill(
    tx: &mut Transaction<'_>,
    id: BackfillId,
) -> Result<Backfill, Stop> {
    tx.require_backfills().await?;
    let before = tx.backfill(id).await?;
    tx.check_taking(&before).await?;
    tx.current_owner(&before).await?;
    let after = before.clone().close(tx.now)?;
    tx.put_backfill(Some(&before), &after).await?;
    tx.schedule(&after, Effect::Reflect, tx.now).await?;
    Ok(tx.counted(after).await?)
}
