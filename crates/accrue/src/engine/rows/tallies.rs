//! Buckets and distinct values that readings are added to (`docs/decisions/distinct-values.md`).

use std::collections::btree_map::Entry;

use crate::{
    CustomerId, Error, Pace, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{groups, visible::BucketSlots},
    },
    schema::{self, Bucket, CustomerHead, Nothing},
    store::Key,
    usage::{Amount, Membership, Reading, Tally, Window},
};

/// Whether it is kept when distinct values were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Indexed {
    Yes,
    No,
}

/// Names the rows that readings are added to.
pub(in crate::engine) async fn tally_keys<'r>(
    tx: &Transaction<'_>,
    customer: CustomerId,
    bucket_slots: &BucketSlots,
    readings: impl Iterator<Item = (Timestamp, &'r Reading)> + Send,
    indexed: Indexed,
) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut last = None;
    for (at, reading) in readings {
        let Reading { cell, amount, .. } = reading;
        tx.pace.spend(Pace::KEY).await;
        keys.extend(groups::group_keys(tx, customer, at, reading));
        let window = Window::of(at);
        let bucket_slot = bucket_slots.of(window);
        if last != Some((*cell, window)) {
            let bucket = schema::bucket(tx.account, customer, *cell, window, bucket_slot);
            keys.push(bucket.key().clone());
            last = Some((*cell, window));
        }
        let Amount::Distinct(digest) = amount else { continue };
        let value =
            schema::distinct_value(tx.account, customer, *cell, window, bucket_slot, digest);
        keys.push(value.key().clone());
        if indexed == Indexed::Yes {
            let seen = schema::distinct_index(tx.account, customer, *cell, digest);
            keys.push(seen.key().clone());
        }
    }
    keys
}

/// Loads what readings are added to. Its rows were fetched.
pub(in crate::engine) async fn load_tally<'r>(
    tx: &Transaction<'_>,
    customer: CustomerId,
    bucket_slots: &BucketSlots,
    readings: impl Iterator<Item = (Timestamp, &'r Reading)> + Send,
    indexed: Indexed,
    oldest_taken: Timestamp,
) -> Result<Tally, Error> {
    let mut tally = Tally::new(oldest_taken);
    for (at, Reading { cell, amount, .. }) in readings {
        tx.pace.spend(Pace::KEY).await;
        let (id, window) = (*cell, Window::of(at));
        let bucket_slot = bucket_slots.of(window);
        if let Entry::Vacant(vacant) = tally.buckets.entry((id, window)) {
            let bucket = schema::bucket(tx.account, customer, id, window, bucket_slot);
            if let Some(row) = tx.row(&bucket)? {
                vacant.insert(row.aggregate);
            }
        }
        let Amount::Distinct(digest) = amount else { continue };
        let value = schema::distinct_value(tx.account, customer, id, window, bucket_slot, digest);
        if tx.row(&value)?.is_some() {
            tally.distinct.insert((id, window, *digest), Membership::Stored);
        }
        if indexed == Indexed::Yes && !tally.indexes.contains_key(&(id, *digest)) {
            let seen = schema::distinct_index(tx.account, customer, id, digest);
            if let Some(seen) = tx.row(&seen)? {
                tally.indexes.insert((id, *digest), seen);
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
    tally: &Tally,
    indexed: Indexed,
) -> Result<(), Error> {
    let account = tx.account;
    let guard = tx.guard::<CustomerHead>(customer).await?;
    for ((id, window), aggregate) in &tally.buckets {
        tx.pace.spend(Pace::ROW).await;
        let bucket = Bucket { aggregate: aggregate.clone() };
        let bucket_slot = bucket_slots.of(*window);
        let slot = schema::bucket(account, customer, *id, *window, bucket_slot);
        guard.put(tx, &slot, &bucket)?;
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
