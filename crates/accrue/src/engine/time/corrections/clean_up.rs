//! Removes what counted before a correction.

use crate::{
    CustomerId, Error, Timeframe,
    backfill::Correction,
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            self, groups,
            visible::{self, BucketSlots},
        },
    },
    limits,
    meter::CellId,
    schema::{self, CleanUpPlace, CustomerHead, Progress},
    store::{Document, Key, Scan},
    usage::{Day, Digest, Window},
};

/// What a pass over the rows of the corrected days does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Removes the buckets that counted.
    Buckets,
    /// Removes the distinct values that counted, and forgets that they were seen.
    Gone,
    /// Notes that the distinct values which count now may have been seen.
    Seen,
}

impl Pass {
    const ALL: [Self; 3] = [Self::Buckets, Self::Gone, Self::Seen];
}

/// Removes more of what counted before a correction, and corrects when distinct values were seen.
pub(super) async fn clean_up(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    correction: Correction,
    behind: CleanUpPlace,
) -> Result<Option<Progress>, Error> {
    let corrected = rows::backfills::backfill(tx, correction.backfill_id).await?.timeframe;
    let days = Day::covering(corrected);
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let head = guard.head(tx)?;
    let meters = rows::metrics::meters(tx).await?.since(0..=head.measured);
    let meters = groups::with_groups(tx, customer, &meters, days).await?;
    let distinct: Vec<_> = meters.distinct().map(|of| of.cell).collect();
    let added_up = meters.added_up().map(|of| of.cell);
    let all: Vec<_> = distinct.iter().copied().chain(added_up).collect();
    let counting = visible::bucket_slots(tx, customer, days).await?;
    if behind == CleanUpPlace::default() {
        guard.head_mut(tx)?.usage.drop_windows(|of| {
            !days.contains(of.window.start()) || counting.of(of.window) == of.slot
        });
    }
    let (mut place, mut looked_at) = (behind, 0_usize);
    while let Some(pass) = Pass::ALL.get(usize::from(place.pass)).copied() {
        let of_pass = if pass == Pass::Buckets { &all } else { &distinct };
        let Some(cell) = of_pass.get(place.cell).copied() else {
            place = CleanUpPlace { pass: place.pass.saturating_add(1), ..Default::default() };
            continue;
        };
        let rows = rows_to_clean_up(tx, &guard, pass, cell, days, &place).await?;
        looked_at = looked_at.saturating_add(rows.len().max(1));
        let last = rows.last().map(|(key, _)| key.bytes().to_vec());
        let cleaning_up = CleaningUp { guard: &guard, cell, corrected, counting: &counting };
        clean_up_rows(tx, &cleaning_up, pass, rows).await?;
        place = match last {
            Some(last) => CleanUpPlace { row: Some(last), ..place },
            None => CleanUpPlace { cell: place.cell.saturating_add(1), row: None, ..place },
        };
        if looked_at >= limits::STEP_EVENTS {
            return Ok(Some(Progress::CleaningUp { correction, behind: place }));
        }
    }
    Ok(None)
}

async fn rows_to_clean_up(
    tx: &Transaction<'_>,
    guard: &Guard<CustomerHead>,
    pass: Pass,
    cell: CellId,
    days: Timeframe,
    place: &CleanUpPlace,
) -> Result<Vec<(Key, Document)>, Error> {
    let (customer, limit) = (guard.of(), limits::SCAN_ROWS);
    let scan: Scan = match pass {
        Pass::Buckets => schema::buckets(tx.account, customer, cell, days, limit),
        Pass::Gone | Pass::Seen => schema::distinct_values(tx.account, customer, cell, days, limit),
    };
    let scan = match &place.row {
        Some(row) => scan.after(row),
        None => scan,
    };
    Ok(guard.range(tx, &scan).await?.rows)
}

async fn clean_up_rows(
    tx: &mut Transaction<'_>,
    cleaning_up: &CleaningUp<'_>,
    pass: Pass,
    rows: Vec<(Key, Document)>,
) -> Result<(), Error> {
    let (account, mut digests) = (tx.account, Vec::new());
    let CleaningUp { guard, cell, counting, .. } = *cleaning_up;
    let customer = guard.of();
    for (key, _) in rows {
        if pass == Pass::Buckets {
            let (window, slot) = schema::bucket_place(&key)?;
            if counting.of(window) != slot {
                guard.delete(tx, &schema::bucket(account, customer, cell, window, slot))?;
            }
            continue;
        }
        let (window, slot, digest) = schema::distinct_place(&key)?;
        if (counting.of(window) == slot) != (pass == Pass::Seen) {
            continue;
        }
        if pass == Pass::Gone {
            let value = schema::distinct_value(account, customer, cell, window, slot, &digest);
            guard.delete(tx, &value)?;
        }
        if cleaning_up.is_corrected(window) {
            digests.push(digest);
        }
    }
    correct_distinct_indexes(tx, cleaning_up, pass, &digests).await
}

async fn correct_distinct_indexes(
    tx: &mut Transaction<'_>,
    cleaning_up: &CleaningUp<'_>,
    pass: Pass,
    digests: &[Digest],
) -> Result<(), Error> {
    let CleaningUp { guard, cell, corrected, .. } = *cleaning_up;
    let slot = |digest| schema::distinct_index(tx.account, guard.of(), cell, digest);
    let slots: Vec<_> = digests.iter().map(slot).collect();
    let found = guard.get_all(tx, &slots).await?;
    for (slot, before) in slots.iter().zip(found) {
        let before = before.unwrap_or_default();
        let mut after = before.clone();
        match pass {
            Pass::Seen => after.blur(corrected),
            Pass::Buckets | Pass::Gone => after.forget(corrected),
        }
        if after == before {
            continue;
        }
        if after.is_empty() {
            guard.delete(tx, slot)?;
        } else {
            guard.put(tx, slot, &after)?;
        }
    }
    Ok(())
}

/// Whose rows are swept, of which cell, and what is corrected.
#[derive(Clone, Copy)]
struct CleaningUp<'a> {
    guard: &'a Guard<CustomerHead>,
    cell: CellId,
    corrected: Timeframe,
    counting: &'a BucketSlots,
}

impl CleaningUp<'_> {
    /// Tells whether events of a window may have been corrected.
    fn is_corrected(&self, window: Window) -> bool {
        window.timeframe().overlaps(self.corrected)
    }
}
