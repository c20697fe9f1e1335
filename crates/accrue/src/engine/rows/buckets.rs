//! Buckets: what the events of windows add up to, in the head of their customer while a window is open, and
//! else in rows.

use crate::{
    AccountId, CustomerId, Error, Timeframe,
    engine::{
        kernel::{Guard, Transaction},
        rows::account,
    },
    limits,
    meter::CellId,
    period::{OpenUsage, OpenWindow},
    schema::{self, Bucket, CustomerHead},
    store::Key,
    usage::{Aggregate, BucketSlot, Total, Window},
};

/// Tells whether the figures of a window lie in rows: it is not open, and would not begin.
pub(super) fn has_rows(head: &CustomerHead, (window, slot): (Window, BucketSlot)) -> bool {
    head.usage.window(window, slot).is_none() && !head.begins_window(window)
}

/// Names the rows of some cells: none where the window is open, or would begin.
pub(in crate::engine) fn bucket_keys<'c>(
    account: &AccountId,
    head: &CustomerHead,
    customer: CustomerId,
    of @ (window, slot): (Window, BucketSlot),
    cells: impl IntoIterator<Item = &'c CellId>,
) -> Vec<Key> {
    if !has_rows(head, of) {
        return Vec::new();
    }
    let key = |cell: &CellId| schema::bucket(account, customer, *cell, window, slot).key().clone();
    cells.into_iter().map(key).collect()
}

/// Loads what some cells have in a window. Their rows were fetched.
pub(in crate::engine) fn load_buckets<'c>(
    tx: &Transaction<'_>,
    head: &CustomerHead,
    customer: CustomerId,
    (window, slot): (Window, BucketSlot),
    cells: impl IntoIterator<Item = &'c CellId>,
) -> Result<Total, Error> {
    let mut total = Total::default();
    if let Some(open) = head.usage.window(window, slot) {
        for cell in cells {
            total.set(*cell, open.of(*cell).cloned());
        }
    } else if !head.begins_window(window) {
        for cell in cells {
            let row = tx.row(&schema::bucket(tx.account, customer, *cell, window, slot))?;
            total.set(*cell, row.map(|row| row.aggregate));
        }
    }
    Ok(total)
}

/// Saves what some cells have in a window, which was loaded.
pub(in crate::engine) fn save_buckets(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    (window, slot): (Window, BucketSlot),
    total: Total,
) -> Result<(), Error> {
    let usage = usage_mut(tx, guard)?;
    if let Some(open) = usage.window_mut(window, slot) {
        open.take(total);
        return Ok(());
    }
    if !usage.begins_window(window) {
        return save_rows(tx, guard, OpenWindow { window, slot, total });
    }
    match usage.open_window(OpenWindow { window, slot, total }) {
        Some(closed) => save_rows(tx, guard, closed),
        None => Ok(()),
    }
}

/// Writes what some cells have in a window that is summed anew: those that have nothing are removed.
pub(in crate::engine) async fn replace_buckets(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    (window, slot): (Window, BucketSlot),
    cells: impl IntoIterator<Item = &CellId> + Send,
    total: &Total,
) -> Result<(), Error> {
    let usage = usage_mut(tx, guard)?;
    if let Some(open) = usage.window_mut(window, slot) {
        cells.into_iter().for_each(|cell| open.set(*cell, total.of(*cell).cloned()));
        return Ok(());
    }
    usage.note_window(window);
    let slot = |cell: &CellId| schema::bucket(tx.account, guard.of(), *cell, window, slot);
    let cells: Vec<_> = cells.into_iter().collect();
    let slots: Vec<_> = cells.iter().map(|cell| slot(cell)).collect();
    let stored = guard.get_all(tx, &slots).await?;
    for ((cell, slot), stored) in cells.iter().zip(&slots).zip(stored) {
        match total.of(**cell).cloned().map(|aggregate| Bucket { aggregate }) {
            same if same == stored => {}
            Some(bucket) => guard.put(tx, slot, &bucket)?,
            None => guard.delete(tx, slot)?,
        }
    }
    Ok(())
}

/// Returns the usage of a customer that is open, to be changed: it is known from when on it can open.
pub(super) fn usage_mut<'t>(
    tx: &'t mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
) -> Result<&'t mut OpenUsage, Error> {
    let newest = account::newest_taken(tx);
    let head = guard.head_mut(tx)?;
    head.begin_usage(newest);
    Ok(&mut head.usage)
}

/// Writes the rows of a window.
pub(super) fn save_rows(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    of: OpenWindow,
) -> Result<(), Error> {
    let OpenWindow { window, slot, total } = of;
    for (cell, aggregate) in total.into_cells() {
        let slot = schema::bucket(tx.account, guard.of(), cell, window, slot);
        guard.put(tx, &slot, &Bucket { aggregate })?;
    }
    Ok(())
}

/// Reads the buckets of a cell in the windows of a timeframe, of both slots.
pub(in crate::engine) async fn buckets_between(
    tx: &Transaction<'_>,
    guard: &Guard<CustomerHead>,
    cell: CellId,
    timeframe: Timeframe,
) -> Result<Vec<(Window, BucketSlot, Aggregate)>, Error> {
    let scan = schema::buckets(tx.account, guard.of(), cell, timeframe, limits::SCAN_ROWS);
    let mut found = Vec::new();
    for (key, document) in guard.range_all(tx, scan).await? {
        let (window, slot) = schema::bucket_place(&key)?;
        found.push((window, slot, schema::read_bucket(&key, &document)?.aggregate));
    }
    let head = guard.head(tx)?;
    let within = |of: &&OpenWindow| timeframe.contains(of.window.start());
    for open in head.usage.windows().iter().filter(within) {
        let bucket = open.total.of(cell).cloned();
        found.extend(bucket.map(|bucket| (open.window, open.slot, bucket)));
    }
    Ok(found)
}
