//! Ingests events into a backfill, where they lie apart.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::{
    BackfillId, CustomerId, Error,
    engine::{
        commands::{
            backfills::checks,
            events::{Sorted, check_size, sort},
        },
        kernel::{Command, Guard, Request, Stop, Transaction},
        rows::{
            self,
            event_blocks::{self, New},
        },
        time::current,
    },
    idempotency::Fingerprint,
    schema::{self, CustomerHead, Slot},
    usage::{Incoming, Ingestion, identity},
};

pub(super) struct IngestBackfill {
    pub(super) id: BackfillId,
    pub(super) events: Vec<Incoming>,
}

#[async_trait]
impl Command for IngestBackfill {
    type Outcome = Ingestion;

    fn name(&self) -> &'static str {
        "ingest_backfill"
    }

    fn subject(&self) -> Option<String> {
        Some(self.id.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Ingestion, Stop> {
        checks::require_backfills(tx).await?;
        check_size(self.events.len())?;
        let backfill = rows::backfills::backfill(tx, self.id).await?;
        checks::check_taking(tx, &backfill).await?;
        let Sorted { new, duplicates, .. } = sort(tx, &self.events, Some(&backfill)).await?;
        let mut shares: BTreeMap<CustomerId, Vec<&New<'_>>> = BTreeMap::new();
        for new in &new {
            shares.entry(new.customer_id).or_default().push(new);
        }
        let customers: Vec<_> = shares.keys().copied().collect();
        current::current_heads(tx, &customers).await?;
        let metrics = rows::metrics::catalogue(tx).await?.revision;
        let share = |id| schema::backfill_share(tx.account, self.id, id);
        let guards = tx.guards::<CustomerHead>(customers).await?;
        let slots: Vec<_> = guards.iter().map(|guard| share(guard.of())).collect();
        Guard::fetch(tx, guards.iter().zip(slots.iter().map(Slot::key))).await?;
        for ((customer_id, new), (guard, slot)) in shares.iter().zip(guards.iter().zip(&slots)) {
            event_blocks::accept(tx, *customer_id, Some(self.id), new, metrics).await?;
            let mut share = guard.get(tx, slot).await?.unwrap_or_default();
            let more = u64::try_from(new.len()).unwrap_or(u64::MAX);
            share.events = share.events.saturating_add(more);
            guard.put(tx, slot, &share)?;
        }
        Ok(Ingestion { ingested: new.len(), duplicates })
    }
}

impl Request for IngestBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        let (id, batch) = (self.id.as_bytes(), identity(&self.events));
        Ok(Fingerprint::of([b"library", self.name().as_bytes(), id, &batch]))
    }
}
