//! Amendments and deprecations of single events; figures, alerts and credits follow in the same
//! commit (`docs/decisions/amendments-in-place.md`).

mod found;
#[cfg(test)]
mod tests;

use self::found::{EventStatus, Found, check_open, find_event};
use crate::{
    BackfillId, CustomerId, Error, EventKey, Timestamp,
    alert::Cause,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{
            self, event_blocks,
            places::{self, counting, only},
            visible, volumes,
            windows::{self, Moved},
        },
        time::recount::{self, Untotalled},
    },
    expression::Fields,
    meter::KnownIds,
    schema::{self, Amendments, CustomerHead},
    usage::{Amendment, EventKeyEntry, EventPlace, Hour, StoredEvent, count_amendment},
};

impl Account {
    /// Amends an event (wire 3.5): its new content counts from now on, as if it had always been
    /// that. Its id, its timestamp and its customer stay.
    ///
    /// Usage, cost and credits follow in the same commit, and alerts are judged on the new values.
    /// An event may be amended any number of times, and the last amendment holds. One that has the
    /// same content changes nothing, is not counted, and is accepted also when the billing period
    /// is over: a caller who lost the answer can ask again.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such event, or no
    /// such customer (yet); [`RequestValidation`](crate::ErrorKind::RequestValidation) where the
    /// timestamp is another, or the properties are beyond their bounds;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the event is another
    /// customer's, was deprecated or replaced by a backfill, lies in a billing period that takes no
    /// events any more, or 100 events of the customer were amended within 100 days.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, EventKey, EventName, ExternalId, SystemClock, Clock};
    /// # use accrue::{Email, Name, customer::NewCustomer, store::MemoryStore};
    /// # use accrue::usage::{Event, Properties};
    /// use accrue::usage::Amendment;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let mut ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # ada.external_customer_id = Some(ExternalId::parse("ada")?);
    /// # account.create_customer(ada).await?;
    /// # let event = Event {
    /// #     idempotency_key: EventKey::parse("request-1")?,
    /// #     event_name: EventName::parse("completion")?,
    /// #     timestamp: SystemClock.now(),
    /// #     properties: Properties::default(),
    /// #     customer: ExternalId::parse("ada")?.into(),
    /// # };
    /// account.ingest([event.clone()]).await?;
    /// let amendment = Amendment {
    ///     event_name: EventName::parse("embedding")?,
    ///     timestamp: event.timestamp,
    ///     properties: event.properties,
    ///     customer: event.customer,
    /// };
    /// account.amend_event(event.idempotency_key, amendment).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn amend_event(&self, id: EventKey, amendment: Amendment) -> Call<EventKey> {
        Call::new(
            self,
            Op::new("amend_event", (id, amendment), |tx, (id, amendment)| {
                amend_event(tx, id, amendment)
            }),
        )
    }

    /// Deprecates an event (wire 3.5): it counts no longer, and its key is not taken again.
    ///
    /// Usage, cost and credits follow in the same commit, and alerts are judged on the new values.
    /// A second deprecation changes nothing, unless another event counts under its key by then: one
    /// that a backfill has brought, or had hidden (wire 3.3). That one is deprecated then.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such event, or its
    /// customer does not exist (yet);
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it was replaced by a
    /// backfill, lies in a billing period that takes no events any more, or 100 events of the
    /// customer were deprecated within 100 days.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, EventKey, EventName, ExternalId, SystemClock, Clock};
    /// # use accrue::{Email, Name, customer::NewCustomer, store::MemoryStore};
    /// # use accrue::usage::{Event, Properties};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let mut ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # ada.external_customer_id = Some(ExternalId::parse("ada")?);
    /// # account.create_customer(ada).await?;
    /// # let event = Event {
    /// #     idempotency_key: EventKey::parse("request-1")?,
    /// #     event_name: EventName::parse("completion")?,
    /// #     timestamp: SystemClock.now(),
    /// #     properties: Properties::default(),
    /// #     customer: ExternalId::parse("ada")?.into(),
    /// # };
    /// account.ingest([event]).await?;
    /// account.deprecate_event(EventKey::parse("request-1")?).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn deprecate_event(&self, id: EventKey) -> Call<EventKey> {
        Call::new(self, Op::new("deprecate_event", id, |tx, id| deprecate_event(tx, id)))
    }
}

#[boxed]
async fn amend_event(
    tx: &mut Transaction<'_>,
    id: &EventKey,
    amendment: &Amendment,
) -> Result<EventKey, Stop> {
    amendment.check(id)?;
    let Found { mut entry, customer_id, place, status } = find_event(tx, id).await?;
    if rows::customers::customer(tx, &amendment.customer).await?.id != customer_id {
        return Err(Error::constraint("the event is of another customer").into());
    }
    if amendment.timestamp != place.at {
        let (found, expected) = (amendment.timestamp, place.at);
        let message = format!("found {found}, expected that of the event: {expected}");
        return Err(Error::invalid("timestamp", message).into());
    }
    let found = match status {
        EventStatus::Counts(found) => *found,
        EventStatus::Deprecated => {
            return Err(Error::constraint(format!("the event {id} was deprecated")).into());
        }
        EventStatus::Replaced(by) => return Err(replaced(id, by).into()),
    };
    let says = (&*found.event.event_name, &*found.event.properties);
    if says == (&amendment.event_name, &amendment.properties) {
        return Ok(id.clone());
    }
    check_open(tx, customer_id, place.at).await?;
    count(tx, customer_id, "amended", |of| &mut of.amended).await?;
    let after = found.event.amended(&amendment.event_name, &amendment.properties);
    write_anew(tx, &mut entry, &place, found.backfill_id, &after).await?;
    correct(tx, customer_id, &place, &entry, &found.event).await?;
    Ok(id.clone())
}

#[boxed]
async fn deprecate_event(tx: &mut Transaction<'_>, id: &EventKey) -> Result<EventKey, Stop> {
    let Found { mut entry, customer_id, place, status } = find_event(tx, id).await?;
    let found = match status {
        EventStatus::Counts(found) => *found,
        EventStatus::Deprecated => return Ok(id.clone()),
        EventStatus::Replaced(by) => return Err(replaced(id, by).into()),
    };
    check_open(tx, customer_id, place.at).await?;
    count(tx, customer_id, "deprecated", |of| &mut of.deprecated).await?;
    let after = StoredEvent { deprecated: true, ..found.event.clone() };
    write_anew(tx, &mut entry, &place, found.backfill_id, &after).await?;
    correct(tx, customer_id, &place, &entry, &found.event).await?;
    Ok(id.clone())
}

fn replaced(id: &EventKey, by: BackfillId) -> Error {
    Error::constraint(format!("the event {id} was replaced by backfill {by}"))
}

/// Counts an amendment or a deprecation.
async fn count(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    what: &str,
    instants: impl FnOnce(&mut Amendments) -> &mut Vec<Timestamp> + Send,
) -> Result<(), Error> {
    let slot = schema::amendments(tx.account, customer_id);
    let mut amendments = tx.get(&slot).await?.unwrap_or_default();
    count_amendment(instants(&mut amendments), tx.now, what)?;
    tx.put(&slot, &amendments)
}

/// Writes another content of the event at a place that a backfill has brought, or none.
async fn write_anew(
    tx: &mut Transaction<'_>,
    entry: &mut EventKeyEntry,
    place: &EventPlace,
    source: Option<BackfillId>,
    after: &StoredEvent<'_>,
) -> Result<(), Error> {
    let slots = entry.slots.iter_mut();
    for slot in slots.filter(|slot| slot.backfill_id == source) {
        slot.deprecated = after.deprecated;
        event_blocks::put_in_block(tx, slot, &place.key, after).await?;
    }
    tx.put(&schema::event_key(tx.account, &place.key), entry)
}

/// Corrects the figures of a customer, where the event that counted at a place is written anew, or
/// deprecated.
async fn correct(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    place: &EventPlace,
    entry: &EventKeyEntry,
    before: &StoredEvent<'_>,
) -> Result<(), Error> {
    let (meters, EventPlace { at, key }) = (rows::metrics::meters(tx).await?, place);
    // What it says now may be what a backfill has replaced, and another one may be in its place.
    let counts = counting(places::events_at(tx, customer_id, place, &entry.slots).await?);
    let known = &mut KnownIds::default();
    let before = Fields::new(&before.event_name, *at, &before.properties);
    let before = visible::readings(tx, &meters, known, &before, key).await;
    let after = match counts.as_ref().map(|found| &found.event) {
        Some(event) => {
            let after = Fields::new(&event.event_name, *at, &event.properties);
            visible::readings(tx, &meters, known, &after, key).await
        }
        None => Vec::new(),
    };
    let moved = Moved { before, after };
    windows::rebuild_window(tx, customer_id, *at, &moved).await?;
    if counts.is_none() {
        let guard = tx.guard::<CustomerHead>(customer_id).await?;
        volumes::count_one_less(tx, &guard, Hour::of(*at)).await?;
    }
    let cause = Cause::Event { idempotency_key: key.clone(), timestamp: *at };
    // The periods that it lies in are open: each has a running total.
    let untotalled = Untotalled::new();
    recount::count_corrected(tx, customer_id, only(*at), &untotalled, &cause, tx.now).await
}
