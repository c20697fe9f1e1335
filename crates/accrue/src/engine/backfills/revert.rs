use async_trait::async_trait;

use crate::{
    BackfillId, Error,
    backfill::{Backfill, Effect},
    engine::{
        apply::{Command, Request, fingerprint},
        unit::{Stop, Unit},
    },
    idempotency::Fingerprint,
};

pub(super) struct RevertBackfill {
    pub(super) id: BackfillId,
}

#[async_trait]
impl Command for RevertBackfill {
    type Outcome = Backfill;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Backfill, Stop> {
        unit.require_backfills().await?;
        let before = unit.backfill(self.id).await?;
        unit.settled_backfill(&before).await?;
        unit.settled_owner(&before).await?;
        let after = before.clone().revert(unit.now)?;
        if after.is_open() {
            unit.check_apart(&after).await?;
            unit.put_backfill(Some(&before), &after).await?;
            unit.schedule(&after, Effect::Revert, unit.now).await?;
        } else {
            unit.put_backfill(Some(&before), &after).await?;
            unit.unschedule(&after).await?;
        }
        Ok(unit.counted(after).await?)
    }
}

impl Request for RevertBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("revert_backfill", &self.id)
    }
}
