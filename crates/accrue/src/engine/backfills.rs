use async_trait::async_trait;

use super::{
    Account, Call,
    apply::{Command, Request, fingerprint},
    unit::{Stop, Unit},
};
use crate::{
    BackfillId, Error, Page, PageRequest,
    backfill::{Backfill, BackfillFilter, NewBackfill},
    idempotency::Fingerprint,
    schema::{self, Nothing, OpenBackfill},
    usage::{Incoming, Ingestion},
};

impl Account {
    /// Creates a backfill (wire 3.3).
    pub fn create_backfill(&self, new: NewBackfill) -> Call<Backfill> {
        Call::new(self, CreateBackfill { new })
    }

    /// Ingests a batch of usage events into a backfill (wire 3.3): 1 to 1,000, all of them or none.
    /// They count once it is reflected.
    pub fn ingest_backfill<E: Into<Incoming>>(
        &self,
        id: BackfillId,
        events: impl IntoIterator<Item = E>,
    ) -> Call<Ingestion> {
        Call::new(self, IngestBackfill { id, events: events.into_iter().map(Into::into).collect() })
    }

    /// Closes a backfill: it takes no more events, and is about to be reflected (wire 3.3).
    pub fn close_backfill(&self, id: BackfillId) -> Call<Backfill> {
        Call::new(self, CloseBackfill { id })
    }

    /// Reverts a backfill: at once where it is not closed, otherwise its events are about to count no
    /// longer (wire 3.3).
    pub fn revert_backfill(&self, id: BackfillId) -> Call<Backfill> {
        Call::new(self, RevertBackfill { id })
    }

    /// Returns a backfill.
    pub async fn fetch_backfill(&self, id: BackfillId) -> Result<Backfill, Error> {
        let _ = id;
        Err(Error::feature("backfills are not built"))
    }

    /// Lists the backfills, newest first (§4.1).
    pub async fn list_backfills(
        &self,
        filter: BackfillFilter,
        page: &PageRequest,
    ) -> Result<Page<Backfill>, Error> {
        let _ = (filter, page);
        Err(Error::feature("backfills are not built"))
    }
}

impl Unit<'_> {
    pub(super) async fn events_ingested(&mut self, _: &Backfill) -> Result<u64, Error> {
        Ok(0)
    }

    pub(super) async fn tell_of_backfill(
        &mut self,
        _: &Backfill,
        _: crate::Timestamp,
        _: crate::webhook::Body,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Writes a backfill: where it stands, and whom it keeps out of its timeframe.
    pub(super) async fn put_backfill(
        &mut self,
        before: Option<&Backfill>,
        after: &Backfill,
    ) -> Result<(), Error> {
        let account = self.account;
        match before {
            None => {
                self.put(&schema::backfill_by_time(account, after), &Nothing {})?;
                if let Some(customer) = after.customer_id {
                    let slot = schema::backfill_by_customer(account, customer, after);
                    self.put(&slot, &Nothing {})?;
                }
            }
            Some(before) => self.delete(&schema::backfill_by_status(account, before)),
        }
        self.put(&schema::backfill_by_status(account, after), &Nothing {})?;
        self.put(&schema::backfill(account, after.id), after)?;
        let slot = schema::open_backfills(account);
        let mut open = self.get(&slot).await?.unwrap_or_default();
        open.backfills.retain(|open| open.id != after.id);
        if after.is_open() {
            let Backfill { id, customer_id, timeframe, .. } = *after;
            open.backfills.push(OpenBackfill { id, customer_id, timeframe });
        }
        self.put(&slot, &open)
    }
}

struct CreateBackfill {
    new: NewBackfill,
}

#[async_trait]
impl Command for CreateBackfill {
    type Outcome = Backfill;

    async fn run(&self, _: &mut Unit<'_>) -> Result<Backfill, Stop> {
        Err(Error::feature("backfills are not built").into())
    }
}

impl Request for CreateBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_backfill", &self.new)
    }
}

struct IngestBackfill {
    id: BackfillId,
    events: Vec<Incoming>,
}

#[async_trait]
impl Command for IngestBackfill {
    type Outcome = Ingestion;

    async fn run(&self, _: &mut Unit<'_>) -> Result<Ingestion, Stop> {
        Err(Error::feature("backfills are not built").into())
    }
}

impl Request for IngestBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("ingest_backfill", &(self.id, &self.events))
    }
}

struct CloseBackfill {
    id: BackfillId,
}

#[async_trait]
impl Command for CloseBackfill {
    type Outcome = Backfill;

    async fn run(&self, _: &mut Unit<'_>) -> Result<Backfill, Stop> {
        Err(Error::feature("backfills are not built").into())
    }
}

impl Request for CloseBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("close_backfill", &self.id)
    }
}

struct RevertBackfill {
    id: BackfillId,
}

#[async_trait]
impl Command for RevertBackfill {
    type Outcome = Backfill;

    async fn run(&self, _: &mut Unit<'_>) -> Result<Backfill, Stop> {
        Err(Error::feature("backfills are not built").into())
    }
}

impl Request for RevertBackfill {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("revert_backfill", &self.id)
    }
}
