//! Buckets and distinct values that readings are added to (`docs/decisions/distinct-values.md`).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CustomerId, Error, Pace, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{buckets, groups, visible::BucketSlots},
    },
    meter::{CellHash, CellId, MeterId},
    schema::{self, CustomerHead, Nothing},
    store::Key,
    usage::{Amount, DistinctValue, FourWeeks, Membership, Reading, Tally, Window},
};

/// Whether it is kept when distinct values were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Indexed {
    Yes,
    No,
}

/// Places of what readings are added to, each once.
#[derive(Default)]
pub(in crate::engine) struct TallyPlaces {
    buckets: BTreeMap<Window, BTreeSet<CellId>>,
    values: BTreeSet<DistinctValue>,
    /// Groups, each with the buckets of it that are added to.
    groups: BTreeMap<(MeterId, FourWeeks, CellHash), BTreeSet<(Window, CellId)>>,
    /// Window and cells of the event that was added last.
    last: (Option<Window>, Vec<CellId>),
}

impl TallyPlaces {
    /// Adds the places of an event's readings.
    pub(in crate::engine) fn add(&mut self, at: Timestamp, readings: &[Reading]) {
        if readings.is_empty() {
            return;
        }
        let window = Window::of(at);
        let cells = readings.iter().map(|reading| reading.cell);
        // Most events add to the same cells as the one before.
        let (last_window, last_cells) = &self.last;
        if *last_window != Some(window) || !cells.clone().eq(last_cells.iter().copied()) {
            self.buckets.entry(window).or_default().extend(cells.clone());
            self.last = (Some(window), cells.collect());
        }
        for Reading { cell, meter, group, amount } in readings {
            if let Amount::Distinct(digest) = amount {
                self.values.insert((*cell, window, *digest));
            }
            if let (Some(meter), Some(group)) = (meter, group) {
                let buckets = self.groups.entry((*meter, FourWeeks::of(at), group.id)).or_default();
                buckets.insert((window, *cell));
            }
        }
    }

    /// Names the rows of the groups that may be new: those with a bucket of which that is so.
    fn group_keys(
        &self,
        tx: &Transaction<'_>,
        customer: CustomerId,
        may_be_new: impl Fn(&(Window, CellId)) -> bool,
    ) -> Vec<Key> {
        let new = self.groups.iter().filter(|(_, buckets)| buckets.iter().any(&may_be_new));
        new.flat_map(|((meter, weeks, group), _)| {
            groups::group_keys(tx, customer, *meter, *weeks, *group)
        })
        .collect()
    }

    /// Tells whether something is added to a cell.
    pub(in crate::engine) fn has(&self, cell: CellId) -> bool {
        self.buckets.values().any(|cells| cells.contains(&cell))
    }
}

/// Names the rows that are added to at some places. Of groups those that have nothing in a window that is open, or
/// would begin: where a group has something it is written already.
pub(in crate::engine) fn tally_keys(
    tx: &Transaction<'_>,
    head: &CustomerHead,
    customer: CustomerId,
    bucket_slots: &BucketSlots,
    places: &TallyPlaces,
    indexed: Indexed,
) -> Vec<Key> {
    let account = tx.account;
    let mut keys = places.group_keys(tx, customer, |(window, cell)| {
        match head.usage.window(*window, bucket_slots.of(*window)) {
            Some(open) => open.of(*cell).is_none(),
            None => head.begins_window(*window),
        }
    });
    for (window, cells) in &places.buckets {
        let of = (*window, bucket_slots.of(*window));
        keys.extend(buckets::bucket_keys(account, head, customer, of, cells));
    }
    for (cell, window, digest) in &places.values {
        let bucket_slot = bucket_slots.of(*window);
        let value = schema::distinct_value(account, customer, *cell, *window, bucket_slot, digest);
        keys.push(value.key().clone());
        if indexed == Indexed::Yes {
            let seen = schema::distinct_index(account, customer, *cell, digest);
            keys.push(seen.key().clone());
        }
    }
    keys
}

/// Names the rows of groups that have nothing in a window that is closed, whose rows were fetched.
pub(in crate::engine) fn closed_group_keys(
    tx: &Transaction<'_>,
    head: &CustomerHead,
    customer: CustomerId,
    bucket_slots: &BucketSlots,
    places: &TallyPlaces,
) -> Vec<Key> {
    places.group_keys(tx, customer, |(window, cell)| {
        let of @ (window, slot) = (*window, bucket_slots.of(*window));
        let bucket = schema::bucket(tx.account, customer, *cell, window, slot);
        buckets::has_rows(head, of) && !tx.was_there(&bucket)
    })
}

/// Loads what is added to at some places. The rows were fetched.
pub(in crate::engine) async fn load_tally(
    tx: &Transaction<'_>,
    head: &CustomerHead,
    customer: CustomerId,
    bucket_slots: &BucketSlots,
    places: &TallyPlaces,
    indexed: Indexed,
    oldest_taken: Timestamp,
) -> Result<Tally, Error> {
    let account = tx.account;
    let mut tally = Tally::new(oldest_taken);
    for (window, cells) in &places.buckets {
        tx.pace.spend(Pace::KEY.saturating_mul(cells.len())).await;
        let of = (*window, bucket_slots.of(*window));
        tally.buckets.insert(*window, buckets::load_buckets(tx, head, customer, of, cells)?);
    }
    for (cell, window, digest) in &places.values {
        tx.pace.spend(Pace::KEY).await;
        let bucket_slot = bucket_slots.of(*window);
        let value = schema::distinct_value(account, customer, *cell, *window, bucket_slot, digest);
        if tx.row(&value)?.is_some() {
            tally.distinct.insert((*cell, *window, *digest), Membership::Stored);
        }
        if indexed == Indexed::Yes && !tally.indexes.contains_key(&(*cell, *digest)) {
            let seen = schema::distinct_index(account, customer, *cell, digest);
            if let Some(seen) = tx.row(&seen)? {
                tally.indexes.insert((*cell, *digest), seen);
            }
        }
    }
    Ok(tally)
}

/// Saves what has moved.
pub(in crate::engine) async fn save_tally(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    bucket_slots: &BucketSlots,
    tally: Tally,
    indexed: Indexed,
) -> Result<(), Error> {
    let account = tx.account;
    let guard = tx.guard::<CustomerHead>(customer).await?;
    for (window, total) in tally.buckets {
        tx.pace.spend(Pace::ROW.saturating_mul(total.count())).await;
        buckets::save_buckets(tx, &guard, (window, bucket_slots.of(window)), total)?;
    }
    for ((id, window, digest), membership) in &tally.distinct {
        if *membership == Membership::Added {
            tx.pace.spend(Pace::ROW).await;
            let bucket_slot = bucket_slots.of(*window);
            let value =
                schema::distinct_value(account, customer, *id, *window, bucket_slot, digest);
            guard.put(tx, &value, &Nothing {})?;
        }
    }
    groups::save_groups(tx, customer, &tally.groups).await?;
    if indexed == Indexed::Yes {
        for ((id, digest), seen) in &tally.indexes {
            tx.pace.spend(Pace::ROW).await;
            let slot = schema::distinct_index(account, customer, *id, digest);
            guard.put(tx, &slot, seen)?;
        }
    }
    Ok(())
}
