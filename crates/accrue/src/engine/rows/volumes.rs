//! How many events hours have: counted in the head of their customer while an hour is open, and else in rows.

use crate::{
    AccountId, CustomerId, Error,
    engine::{
        kernel::{Guard, Transaction},
        rows::buckets,
    },
    schema::{self, CustomerHead, EventCount},
    store::Key,
    usage::Hour,
};

/// Names the row of an hour: none where the hour is open, or would begin.
pub(in crate::engine) fn volume_key(
    account: &AccountId,
    head: &CustomerHead,
    customer: CustomerId,
    hour: Hour,
) -> Option<Key> {
    let is_row = head.usage.hour(hour).is_none() && !head.begins_hour(hour);
    is_row.then(|| schema::event_volume(account, hour, customer).key().clone())
}

/// Counts more events in an hour.
pub(in crate::engine) async fn count_more(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    hour: Hour,
    more: u64,
) -> Result<(), Error> {
    let usage = buckets::usage_mut(tx, guard)?;
    if let Some(events) = usage.hour_mut(hour) {
        *events = events.saturating_add(more);
        return Ok(());
    }
    if !usage.begins_hour(hour) {
        let events = row(tx, guard, hour).await?.unwrap_or_default().events;
        return put_row(tx, guard, hour, EventCount::of(events.saturating_add(more)));
    }
    let closed = usage.open_hour(hour, more);
    // Who looks for the customers that have events in an hour finds this one.
    put_row(tx, guard, hour, EventCount::OPEN)?;
    match closed {
        Some((hour, events)) => put_row(tx, guard, hour, EventCount::of(events)),
        None => Ok(()),
    }
}

/// Counts one event less in an hour, which stays as long as there are events in it, whether or not they
/// count.
pub(in crate::engine) async fn count_one_less(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    hour: Hour,
) -> Result<(), Error> {
    let usage = buckets::usage_mut(tx, guard)?;
    if let Some(events) = usage.hour_mut(hour) {
        *events = events.saturating_sub(1);
        return Ok(());
    }
    usage.note_hour(hour);
    let events = row(tx, guard, hour).await?.unwrap_or_default().events;
    put_row(tx, guard, hour, EventCount::of(events.saturating_sub(1)))
}

/// Writes how many events an hour has that was counted anew: none where it has none, hidden ones included.
pub(in crate::engine) async fn replace_volume(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    hour: Hour,
    events: Option<u64>,
) -> Result<(), Error> {
    let usage = buckets::usage_mut(tx, guard)?;
    match (usage.hour_mut(hour), events) {
        (Some(open), Some(events)) => {
            *open = events;
            return Ok(());
        }
        (Some(_), None) => usage.drop_hour(hour),
        (None, Some(_)) => usage.note_hour(hour),
        (None, None) => {}
    }
    match (events, row(tx, guard, hour).await?) {
        (Some(events), _) => put_row(tx, guard, hour, EventCount::of(events)),
        (None, Some(_)) => guard.delete(tx, &schema::event_volume(tx.account, hour, guard.of())),
        (None, None) => Ok(()),
    }
}

/// Reads the rows of hours, all in one call of the store.
pub(in crate::engine) async fn fetch(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    hours: &[Hour],
) -> Result<(), Error> {
    let slot = |hour: &Hour| schema::event_volume(tx.account, *hour, guard.of());
    let slots: Vec<_> = hours.iter().map(slot).collect();
    guard.get_all(tx, &slots).await.map(|_| ())
}

async fn row(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    hour: Hour,
) -> Result<Option<EventCount>, Error> {
    guard.get(tx, &schema::event_volume(tx.account, hour, guard.of())).await
}

fn put_row(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    hour: Hour,
    count: EventCount,
) -> Result<(), Error> {
    guard.put(tx, &schema::event_volume(tx.account, hour, guard.of()), &count)
}

/// Reads how many events some hours have of which the row says that they are open, as it is now.
pub(in crate::engine) async fn open_volumes(
    tx: &Transaction<'_>,
    hours: &[(Hour, CustomerId)],
) -> Result<Vec<u64>, Error> {
    let heads = hours.iter().map(|(_, id)| schema::customer_head(tx.account, *id));
    let heads = tx.peek(&heads.collect::<Vec<_>>()).await?.into_iter();
    let open = heads.zip(hours).map(|(head, (hour, _))| head?.usage.hour(*hour));
    let open: Vec<_> = open.collect();
    // One that was closed since has a row that says how many.
    let closed = hours.iter().zip(&open).filter(|(_, open)| open.is_none());
    let closed = closed.map(|((hour, id), _)| schema::event_volume(tx.account, *hour, *id));
    let closed: Vec<_> = closed.collect();
    let mut rows = match closed.is_empty() {
        true => Vec::new(),
        false => tx.peek(&closed).await?,
    }
    .into_iter();
    let mut of_row = || rows.next().flatten().unwrap_or_default().events;
    Ok(open.into_iter().map(|open| open.unwrap_or_else(&mut of_row)).collect())
}
