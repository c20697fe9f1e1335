//! Reverts a backfill, or gives one up that is open.

use async_trait::async_trait;

use crate::{
    BackfillId, Error,
    backfill::{Backfill, Effect},
    engine::{
        apply::{Command, Request, fingerprint},
        transaction::{Stop, Transaction},
    },
    idempotency::Fingerprint,
};

pub(super) struct RevertBackfill {
    pub(super) id: BackfillId,
}

#[async_trait]
impl Command for RevertBackfill {
    type Outcome = Backfill;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Backfill, Stop> {
        tx.require_backfills().await?;
        let before = tx.backfill(self.id).await?;
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
}

impl Request for RevertBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("revert_backfill", &self.id)
    }
}
