//! Creates a backfill.

use async_trait::async_trait;

use crate::{
    BackfillId, Error,
    backfill::{Backfill, Effect, NewBackfill},
    engine::{
        apply::{Command, Request, fingerprint},
        transaction::{Stop, Transaction},
    },
    idempotency::Fingerprint,
};

pub(super) struct CreateBackfill {
    pub(super) new: NewBackfill,
}

#[async_trait]
impl Command for CreateBackfill {
    type Outcome = Backfill;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Backfill, Stop> {
        tx.require_backfills().await?;
        self.new.check(tx.configuration().await?.backfill_days, tx.now)?;
        let customer_id = match &self.new.customer {
            Some(customer) => Some(tx.customer(customer).await?.id),
            None => None,
        };
        let id = BackfillId::generate(tx.now, tx.entropy());
        let backfill = self.new.clone().decide(id, customer_id, tx.now);
        tx.current_owner(&backfill).await?;
        tx.check_apart(&backfill).await?;
        tx.put_backfill(None, &backfill).await?;
        if let Some(close_time) = backfill.close_time {
            tx.schedule(&backfill, Effect::Reflect, close_time).await?;
        }
        Ok(backfill)
    }
}

impl Request for CreateBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_backfill", &self.new)
    }
}
