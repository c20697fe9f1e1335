//! Keeps backfills that are open from overlapping.

use crate::{
    Error,
    backfill::Backfill,
    engine::{
        kernel::{Stop, Transaction},
        rows,
        time::corrections,
    },
    limits,
    schema::{self, OpenBackfill},
};

/// Checks that a backfill may be open beside those that are: none of them overlaps it that has a
/// customer in common with it, and they are not too many. Their corrections up to now come first.
pub(super) async fn check_apart(tx: &mut Transaction<'_>, backfill: &Backfill) -> Result<(), Stop> {
    let slot = schema::open_backfills(tx.account);
    let open = tx.get(&slot).await?.unwrap_or_default().backfills;
    let is_full = open.len() >= limits::OPEN_BACKFILLS;
    for other in open.iter().filter(|other| is_full || overlap(other, backfill)) {
        let other = rows::backfills::backfill(tx, other.id).await?;
        corrections::current_backfill(tx, &other).await?;
    }
    if let Some(other) = open.iter().find(|other| overlap(other, backfill)) {
        let (id, start, end) = (other.id, other.timeframe.start(), other.timeframe.end());
        return Err(Error::constraint(format!(
            "the timeframe overlaps that of the backfill {id}, from {start} up to {end}, which is \
             not reflected or reverted yet"
        ))
        .into());
    }
    if is_full {
        return Err(Error::constraint(format!(
            "the account has {} backfills already that are not reflected or reverted yet",
            open.len()
        ))
        .into());
    }
    Ok(())
}

/// Tells whether they overlap, for some customer.
fn overlap(other: &OpenBackfill, backfill: &Backfill) -> bool {
    let share_customers = match (other.customer_id, backfill.customer_id) {
        (Some(one), Some(another)) => one == another,
        _ => true,
    };
    share_customers && other.timeframe.overlaps(backfill.timeframe)
}
