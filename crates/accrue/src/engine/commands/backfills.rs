//! Backfills: operations and lists.

mod apart;
mod checks;
mod close;
mod create;
mod ingest;
mod revert;

use self::{
    close::close_backfill, create::create_backfill, ingest::IngestBackfill, revert::revert_backfill,
};
use crate::{
    BackfillId, Error, Page, PageRequest,
    backfill::{Backfill, BackfillFilter, NewBackfill},
    engine::{
        Account, Call,
        kernel::Op,
        rows::{self, lists::Walk},
    },
    page::{InstantRange, Listing},
    schema::{self, Index},
    usage::{Incoming, Ingestion},
};

impl Account {
    /// Creates a backfill (wire 3.3). It takes events until it closes, and they count once it is
    /// reflected.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where its timeframe is empty or
    /// longer than the account allows, it would close at once, or it has a filter and replaces
    /// nothing; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where another one, not
    /// reflected or reverted yet, overlaps it for some customer, or the account has
    /// [300](crate::limits::OPEN_BACKFILLS) of those.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, EventKey, EventName, ExternalId, Timeframe, Timestamp};
    /// # use accrue::{backfill::{BackfillStatus, NewBackfill}, store::MemoryStore};
    /// # use accrue::usage::{Event, Properties};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let at = Timestamp::parse("2026-03-01T08:30:00Z")?;
    /// let hour = Timeframe::new(
    ///     Timestamp::parse("2026-03-01T08:00:00Z")?,
    ///     Timestamp::parse("2026-03-01T09:00:00Z")?,
    /// )?;
    /// let backfill = account.create_backfill(NewBackfill::new(hour)).await?;
    /// let event = Event {
    ///     idempotency_key: EventKey::parse("request-1")?,
    ///     event_name: EventName::parse("completion")?,
    ///     timestamp: at,
    ///     properties: Properties::default(),
    ///     customer: ExternalId::parse("ada")?.into(),
    /// };
    /// account.ingest_backfill(backfill.id, [event]).await?;
    /// let backfill = account.fetch_backfill(backfill.id).await?;
    /// assert_eq!((backfill.status, backfill.events_ingested), (BackfillStatus::Pending, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_backfill(&self, new: NewBackfill) -> Call<Backfill> {
        Call::new(self, Op::new("create_backfill", new, |tx, new| create_backfill(tx, new)))
    }

    /// Ingests a batch of usage events into a backfill (wire 3.3): 1 to 1,000, all of them or none.
    /// They count once it is reflected.
    ///
    /// An event whose key is in the backfill already with the same content is a duplicate: a success
    /// that changes nothing. The key of an event elsewhere may come again for the same customer and
    /// instant, and anywhere where the backfill replaces that event.
    ///
    /// # Errors
    ///
    /// As [`ingest`](Account::ingest), whatever the age of the events; and each is refused that lies
    /// outside of the timeframe, or has another customer than the backfill.
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the backfill is closed or
    /// reverted.
    pub fn ingest_backfill<E: Into<Incoming>>(
        &self,
        id: BackfillId,
        events: impl IntoIterator<Item = E>,
    ) -> Call<Ingestion> {
        Call::new(self, IngestBackfill { id, events: events.into_iter().map(Into::into).collect() })
    }

    /// Closes a backfill: it takes no more events, and is about to be reflected (wire 3.3). It is
    /// pending until then.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is closed or reverted
    /// already.
    pub fn close_backfill(&self, id: BackfillId) -> Call<Backfill> {
        Call::new(self, Op::new("close_backfill", id, |tx, id| close_backfill(tx, *id)))
    }

    /// Reverts a backfill: at once where it is not closed, otherwise its events are about to count no
    /// longer (wire 3.3).
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is reverted already,
    /// or another one, not reflected or reverted yet, overlaps it for some customer.
    pub fn revert_backfill(&self, id: BackfillId) -> Call<Backfill> {
        Call::new(self, Op::new("revert_backfill", id, |tx, id| revert_backfill(tx, *id)))
    }

    /// Returns a backfill.
    pub async fn fetch_backfill(&self, id: BackfillId) -> Result<Backfill, Error> {
        let mut tx = self.reading();
        checks::require_backfills(&mut tx).await?;
        let backfill = rows::backfills::backfill(&mut tx, id).await?;
        checks::counted(&tx, backfill).await
    }

    /// Lists the backfills, newest first (§4.1).
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this
    /// list.
    pub async fn list_backfills(
        &self,
        filter: &BackfillFilter,
        page: &PageRequest,
    ) -> Result<Page<Backfill>, Error> {
        let listing =
            Listing { name: "backfills", account: self.id(), filter: format!("{filter:?}") };
        let mut tx = self.reading();
        checks::require_backfills(&mut tx).await?;
        // Where both are given, a customer has fewer than there are of a status.
        let index = match (&filter.customer, filter.status) {
            (Some(customer), _) => {
                let id = checks::backfilled_customer(&mut tx, customer).await?;
                id.map(|id| Index::backfills_of_customer(self.id(), id))
            }
            (None, Some(status)) => Some(Index::backfills_of_status(self.id(), status)),
            (None, None) => Some(Index::backfills(self.id())),
        };
        let mut walk = Walk::merged(listing, index.as_slice(), InstantRange::default(), page)?;
        let slot = |id| schema::backfill(self.id(), BackfillId::from_bytes(id));
        let passes = |of: &Backfill| filter.status.is_none_or(|status| status == of.status);
        let show = |backfill: Backfill| passes(&backfill).then_some(backfill);
        let found = walk.run(&mut tx, |at| slot(schema::id_at(at)), show).await?;
        let mut data = Vec::with_capacity(found.data.len());
        for backfill in found.data {
            data.push(checks::counted(&tx, backfill).await?);
        }
        Ok(Page { data, ..found })
    }
}
