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

pub(super) struct CloseBackfill {
    pub(super) id: BackfillId,
}

#[async_trait]
impl Command for CloseBackfill {
    type Outcome = Backfill;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Backfill, Stop> {
        unit.require_backfills().await?;
        let before = unit.backfill(self.id).await?;
        unit.check_taking(&before).await?;
        unit.settled_owner(&before).await?;
        let after = before.clone().close(unit.now)?;
        unit.put_backfill(Some(&before), &after).await?;
        unit.schedule(&after, Effect::Reflect, unit.now).await?;
        Ok(unit.counted(after).await?)
    }
}

impl Request for CloseBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("close_backfill", &self.id)
    }
}
