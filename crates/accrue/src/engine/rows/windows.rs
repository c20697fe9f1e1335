//! Adds a window up anew, since one of its events says something else.

use std::collections::BTreeSet;

use crate::{
    CustomerId, Error, Timestamp,
    engine::{
        kernel::{Guard, Transaction},
        rows::{account, buckets, groups, metrics, visible},
    },
    expression::Fields,
    meter::CellId,
    schema::{self, CustomerHead, Nothing},
    usage::{Amount, Digest, Reading, Tally, Window},
};

/// What an event contributed, and what lies in its place now.
pub(in crate::engine) struct Moved {
    pub(in crate::engine) before: Vec<Reading>,
    pub(in crate::engine) after: Vec<Reading>,
}

impl Moved {
    fn meters(&self) -> BTreeSet<CellId> {
        self.before.iter().chain(&self.after).map(|reading| reading.cell).collect()
    }
}

/// Distinct values, each of a cell.
type Values = BTreeSet<(CellId, Digest)>;

/// The distinct values among readings.
fn values(readings: &[Reading]) -> Values {
    let values = readings.iter().filter_map(|reading| match reading.amount {
        Amount::Distinct(digest) => Some((reading.cell, digest)),
        Amount::Plain(_) => None,
    });
    values.collect()
}

/// Adds the events of a window up anew that count there, for the cells that an event adds to
/// or has added to. The event is written already.
pub(in crate::engine) async fn rebuild_window(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    at: Timestamp,
    moved: &Moved,
) -> Result<(), Error> {
    let (wanted, window) = (moved.meters(), Window::of(at));
    if wanted.is_empty() {
        return Ok(());
    }
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let meters = metrics::meters(tx).await?;
    let mut tally = Tally::new(account::oldest_taken(tx).await?);
    let add = |fields: &Fields<'_>, mut readings: Vec<Reading>| {
        readings.retain(|reading| wanted.contains(&reading.cell));
        tally.add(fields.timestamp(), &readings);
        Ok(())
    };
    visible::each_event(tx, customer, window.timeframe(), &meters, add).await?;
    groups::save_groups(tx, customer, &tally.groups).await?;
    let slot = visible::bucket_slots(tx, customer, window.timeframe()).await?.of(window);
    let rebuilt = tally.buckets.get(&window).cloned().unwrap_or_default();
    buckets::replace_buckets(tx, &guard, (window, slot), &wanted, &rebuilt).await?;
    let (before, after) = (values(&moved.before), values(&moved.after));
    let changed: Vec<_> = before.symmetric_difference(&after).copied().collect();
    save_distinct_values(tx, &guard, window, &changed, &tally).await?;
    save_distinct_indexes(tx, &guard, at, (&before, &after), &tally).await
}

async fn save_distinct_values(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    window: Window,
    values: &[(CellId, Digest)],
    tally: &Tally,
) -> Result<(), Error> {
    let bucket_slot = visible::bucket_slots(tx, guard.of(), window.timeframe()).await?.of(window);
    let slot = |(cell, digest): &(CellId, Digest)| {
        schema::distinct_value(tx.account, guard.of(), *cell, window, bucket_slot, digest)
    };
    let slots: Vec<_> = values.iter().map(slot).collect();
    let stored = guard.get_all(tx, &slots).await?;
    for (((cell, digest), slot), stored) in values.iter().zip(&slots).zip(stored) {
        let is_member = tally.distinct.contains_key(&(*cell, window, *digest));
        match (stored.is_some(), is_member) {
            (false, true) => guard.put(tx, slot, &Nothing {})?,
            (true, false) => guard.delete(tx, slot)?,
            _ => {}
        }
    }
    Ok(())
}

/// Of a value that the event has no longer it is not known where in the window it still is.
async fn save_distinct_indexes(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    at: Timestamp,
    (before, after): (&Values, &Values),
    tally: &Tally,
) -> Result<(), Error> {
    let window = Window::of(at);
    for (cell, digest) in before.symmetric_difference(after) {
        let slot = schema::distinct_index(tx.account, guard.of(), *cell, digest);
        let mut index = guard.get(tx, &slot).await?.unwrap_or_default();
        if after.contains(&(*cell, *digest)) {
            index.add(at, tally.oldest_taken);
        } else {
            index.forget(window.timeframe());
            if tally.distinct.contains_key(&(*cell, window, *digest)) {
                index.blur(window.timeframe());
            }
        }
        if index.is_empty() {
            guard.delete(tx, &slot)?;
        } else {
            guard.put(tx, &slot, &index)?;
        }
    }
    Ok(())
}
