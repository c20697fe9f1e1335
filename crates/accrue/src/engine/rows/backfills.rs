//! Backfills.

use crate::{
    BackfillId, Error,
    backfill::Backfill,
    engine::kernel::Transaction,
    limits,
    schema::{self, Nothing, OpenBackfill},
};

/// Returns a backfill as it is stored.
pub(in crate::engine) async fn backfill(
    tx: &mut Transaction<'_>,
    id: BackfillId,
) -> Result<Backfill, Error> {
    let found = tx.get(&schema::backfill(tx.account, id)).await?;
    found.ok_or_else(|| Error::not_found("backfill", id))
}

/// Counts the events that a backfill has of all customers, those that are written here among them.
/// Where it takes no more, nobody adds to them meanwhile.
pub(in crate::engine) async fn events_ingested(
    tx: &Transaction<'_>,
    backfill: &Backfill,
) -> Result<u64, Error> {
    let shares = schema::backfill_shares(tx.account, backfill.id, limits::SCAN_ROWS);
    let (mut events, mut rest) = (0_u64, Some(shares));
    while let Some(scan) = rest {
        let part = tx.range_now(&scan).await?;
        for (key, document) in part.rows {
            events = events.saturating_add(schema::read_share(&key, &document)?.events);
        }
        rest = part.rest;
    }
    Ok(events)
}

/// Writes a backfill: where it stands, and whom it keeps out of its timeframe.
pub(in crate::engine) async fn put_backfill(
    tx: &mut Transaction<'_>,
    before: Option<&Backfill>,
    after: &Backfill,
) -> Result<(), Error> {
    let account = tx.account;
    match before {
        None => {
            tx.put(&schema::backfill_by_time(account, after), &Nothing {})?;
            if let Some(customer) = after.customer_id {
                let slot = schema::backfill_by_customer(account, customer, after);
                tx.put(&slot, &Nothing {})?;
            }
        }
        Some(before) => tx.delete(&schema::backfill_by_status(account, before)),
    }
    tx.put(&schema::backfill_by_status(account, after), &Nothing {})?;
    tx.put(&schema::backfill(account, after.id), after)?;
    let slot = schema::open_backfills(account);
    let mut open = tx.get(&slot).await?.unwrap_or_default();
    open.backfills.retain(|open| open.id != after.id);
    if after.is_open() {
        let Backfill { id, customer_id, timeframe, .. } = *after;
        open.backfills.push(OpenBackfill { id, customer_id, timeframe });
    }
    tx.put(&slot, &open)
}
