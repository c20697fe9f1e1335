//! Ingestion of usage events: sorts a batch, adds it up, judges alerts and draws credits, in one commit.

mod acceptance;
mod families;
mod figures;
mod footprints;
mod keys;
mod share;
mod sort;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

pub(in crate::engine) use self::sort::{Sorted, sort};
use self::{
    families::{Family, families},
    figures::Figures,
    share::Share,
};
use crate::{
    CustomerId, Error, IdOr,
    engine::{
        Account, Call,
        kernel::{Command, Request, Stop, Transaction},
        rows::{
            self,
            terms::{self, CustomerTerms},
        },
        time::corrections,
    },
    error::RefusedEvent,
    idempotency::Fingerprint,
    limits,
    schema::{CustomerHead, Owner},
    usage::{Event, Incoming, Ingestion, identity},
};

impl Account {
    /// Ingests a batch of usage events (wire 3.4): 1 to 1,000, all of them or none.
    ///
    /// An event whose key is there already with the same content is a duplicate: a success that
    /// changes nothing. The alerts that the batch fires, and their messages, are in the same commit;
    /// neither depends on how events are cut into batches.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) with every event that is refused,
    /// in [`refused_events`](Error::refused_events);
    /// [`ResourceTooLarge`](crate::ErrorKind::ResourceTooLarge) where the batch does not fit one
    /// commit, or holding it against all metrics and subscriptions is more than ten million
    /// comparisons.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, EventKey, EventName, ExternalId, SystemClock, Clock};
    /// # use accrue::{store::MemoryStore, usage::{Event, Properties}};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let event = Event {
    ///     idempotency_key: EventKey::parse("request-1")?,
    ///     event_name: EventName::parse("completion")?,
    ///     timestamp: SystemClock.now(),
    ///     properties: Properties::default(),
    ///     customer: ExternalId::parse("ada")?.into(),
    /// };
    /// assert_eq!(account.ingest([event.clone()]).await?.ingested, 1);
    /// assert_eq!(account.ingest([event]).await?.duplicates, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn ingest<E: Into<Incoming>>(
        &self,
        events: impl IntoIterator<Item = E>,
    ) -> Call<Ingestion> {
        Call::new(self, Ingest { events: events.into_iter().map(Into::into).collect() })
    }
}

struct Ingest {
    events: Vec<Incoming>,
}

impl Ingest {
    /// Refuses events of the batch, each with what is wrong with it; accepts it where there are none.
    fn refuse(&self, wrong: Vec<(&Event, String)>) -> Result<(), Error> {
        if wrong.is_empty() {
            return Ok(());
        }
        let refused = wrong.into_iter().map(|(event, reason)| {
            let key = &event.idempotency_key;
            let is_own =
                |of: &Incoming| matches!(of, Incoming::Event(of) if of.idempotency_key == *key);
            RefusedEvent {
                index: self.events.iter().position(is_own).unwrap_or_default(),
                idempotency_key: Some(key.to_string()),
                reasons: vec![reason],
            }
        });
        Err(Error::refused(refused.collect()))
    }
}

#[async_trait]
impl Command for Ingest {
    type Outcome = Ingestion;

    fn name(&self) -> &'static str {
        "ingest"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Ingestion, Stop> {
        check_size(self.events.len())?;
        let Sorted { mut new, duplicates, footprints } = sort(tx, &self.events, None).await?;
        let ingestion = Ingestion { ingested: new.len(), duplicates };
        if new.is_empty() {
            return Ok(ingestion);
        }
        let customers: BTreeSet<_> = new.iter().map(|new| new.customer_id).collect();
        let families = families(tx, &customers).await?;
        let terms = applied(tx, &families).await?;
        keys::find_brought(tx, &mut new).await?;
        let meters = rows::metrics::meters(tx).await?;
        let has_alerts = rows::account::had_alerts(tx, tx.now).await?;
        let mut shares = Share::split(tx, &families, &terms, &new, &meters, has_alerts).await?;
        for share in &mut shares {
            share.find_slots(tx).await?;
        }
        figures::fetch(tx, &shares).await?;
        figures::fetch_groups(tx, &shares).await?;
        figures::fetch_ledgers(tx, &shares).await?;
        let mut beyond = Vec::new();
        for share in &shares {
            let mut figures = Figures::load(tx, share, &meters).await?;
            beyond.extend(figures.beyond_groups(share));
            if !beyond.is_empty() {
                continue;
            }
            figures.take(tx, share).await?;
            figures.save(tx, share).await?;
            for member in &share.members {
                member.accept(tx, meters.revision).await?;
            }
        }
        self.refuse(beyond)?;
        footprints.keep(tx).await?;
        Ok(ingestion)
    }
}

impl Request for Ingest {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        Ok(Fingerprint::of([b"library", self.name().as_bytes(), &identity(&self.events)]))
    }

    fn customer(&self) -> Option<&IdOr<CustomerId>> {
        match self.events.as_slice() {
            [Incoming::Event(event)] => Some(&event.customer),
            _ => None,
        }
    }
}

pub(in crate::engine) fn check_size(events: usize) -> Result<(), Error> {
    match events {
        0 => Err(Error::invalid("events", "found no events, expected 1 to 1000")),
        1..=limits::BATCH_EVENTS => Ok(()),
        _ => Err(Error::too_large(format!(
            "the batch has {events} events, expected at most {}: a split into smaller requests \
             helps",
            limits::BATCH_EVENTS
        ))),
    }
}

/// Returns the terms of the subscribers of families, whose transitions are applied.
async fn applied(
    tx: &mut Transaction<'_>,
    families: &[Family],
) -> Result<Vec<Arc<CustomerTerms>>, Stop> {
    let customers: BTreeSet<_> =
        families.iter().flat_map(|of| of.subscribers.iter().copied()).collect();
    let all = terms::terms(tx, &customers.into_iter().collect::<Vec<_>>()).await?;
    let mut behind = Vec::new();
    for of in &all {
        let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
        let head = guard.head(tx)?;
        let is_behind = of.subscriptions.iter().any(|of| of.is_behind);
        if is_behind || corrections::has_transitions(tx, of.customer_id, &head).await? {
            behind.push(Owner::Customer(of.customer_id));
        }
    }
    if behind.is_empty() { Ok(all) } else { Err(Stop::First(behind)) }
}
