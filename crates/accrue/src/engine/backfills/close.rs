//! Closes a backfill: from then on its events are to count.

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

pub(super) struct CloseBackfill {
    pub(super) id: BackfillId,
}

#[async_trait]
impl Command for CloseBackfill {
    type Outcome = Backfill;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Backfill, Stop> {
        tx.require_backfills().await?;
        let before = tx.backfill(self.id).await?;
        tx.check_taking(&before).await?;
        tx.current_owner(&before).await?;
        let after = before.clone().close(tx.now)?;
        tx.put_backfill(Some(&before), &after).await?;
        tx.schedule(&after, Effect::Reflect, tx.now).await?;
        Ok(tx.counted(after).await?)
    }
}

impl Request for CloseBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("close_backfill", &self.id)
    }
}
