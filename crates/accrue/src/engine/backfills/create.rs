use async_trait::async_trait;

use crate::{
    BackfillId, Error,
    backfill::{Backfill, Effect, NewBackfill},
    engine::{
        apply::{Command, Request, fingerprint},
        unit::{Stop, Unit},
    },
    idempotency::Fingerprint,
};

pub(super) struct CreateBackfill {
    pub(super) new: NewBackfill,
}

#[async_trait]
impl Command for CreateBackfill {
    type Outcome = Backfill;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Backfill, Stop> {
        unit.require_backfills().await?;
        self.new.check(unit.configuration().await?.backfill_days, unit.now)?;
        let customer_id = match &self.new.customer {
            Some(customer) => Some(unit.customer(customer).await?.id),
            None => None,
        };
        let id = BackfillId::generate(unit.now, unit.entropy());
        let backfill = self.new.clone().decide(id, customer_id, unit.now);
        unit.settled_owner(&backfill).await?;
        unit.check_apart(&backfill).await?;
        unit.put_backfill(None, &backfill).await?;
        if let Some(close_time) = backfill.close_time {
            unit.schedule(&backfill, Effect::Reflect, close_time).await?;
        }
        Ok(backfill)
    }
}

impl Request for CreateBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_backfill", &self.new)
    }
}
