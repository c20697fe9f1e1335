use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::{
    BackfillId, CustomerId, Error,
    engine::{
        apply::{Command, Request},
        events::{New, Sorted, check_size, sort},
        unit::{Stop, Unit},
    },
    idempotency::Fingerprint,
    schema,
    usage::{Incoming, Ingestion, identity},
};

pub(super) struct IngestBackfill {
    pub(super) id: BackfillId,
    pub(super) events: Vec<Incoming>,
}

#[async_trait]
impl Command for IngestBackfill {
    type Outcome = Ingestion;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Ingestion, Stop> {
        unit.require_backfills().await?;
        check_size(self.events.len())?;
        let backfill = unit.backfill(self.id).await?;
        unit.check_taking(&backfill).await?;
        let Sorted { new, duplicates } = sort(unit, &self.events, Some(&backfill)).await?;
        let mut shares: BTreeMap<CustomerId, Vec<&New<'_>>> = BTreeMap::new();
        for new in &new {
            shares.entry(new.customer_id).or_default().push(new);
        }
        let customers: Vec<_> = shares.keys().copied().collect();
        unit.settled_heads(&customers).await?;
        let catalogue = unit.get(&schema::metric_catalogue(unit.account)).await?;
        let metrics = catalogue.unwrap_or_default().generation;
        let share = |id| schema::backfill_share(unit.account, self.id, id);
        let slots: Vec<_> = customers.into_iter().map(share).collect();
        // Whoever writes one of these writes the head too.
        let found = unit.get_guarded(&slots).await?;
        for ((customer_id, new), (slot, found)) in shares.iter().zip(slots.iter().zip(found)) {
            unit.accept(*customer_id, Some(self.id), new, metrics).await?;
            let mut share = found.unwrap_or_default();
            let more = u64::try_from(new.len()).unwrap_or(u64::MAX);
            share.events = share.events.saturating_add(more);
            unit.put(slot, &share)?;
        }
        Ok(Ingestion { ingested: new.len(), duplicates })
    }
}

impl Request for IngestBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        let (id, batch) = (self.id.as_bytes(), identity(&self.events));
        Ok(Fingerprint::of([b"library", b"ingest_backfill".as_slice(), id, &batch]))
    }
}
