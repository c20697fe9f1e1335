//! Removal of idempotency records that are no longer good, and of messages that are no longer kept.

use crate::{
    Error, Timeframe,
    engine::{Billing, commands::sent_messages::RemoveMessage, kernel::apply_step},
    idempotency::Record,
    limits, schema,
    store::{Batch, Scan},
};

/// Result of a garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// Number of rows that were removed: those of records, of answers that did not fit one, and of messages.
    pub removed: usize,
    /// True where there may be more to remove: call again.
    pub more: bool,
}

impl Billing {
    /// Removes the records of idempotency keys that are no longer good (§4.5.4), `limit` rows of them at
    /// most: by epochs of 48 hours, once that after one has ended. Then messages that endpoints were sent
    /// [30 days](limits::MESSAGE_DAYS) ago.
    ///
    /// Nothing depends on when or how often this runs: it only frees space.
    pub async fn collect_garbage(&self, limit: usize) -> Result<Collected, Error> {
        let shared = self.shared();
        let expired = Record::expired_at(shared.now());
        let limit = limit.clamp(1, limits::SCAN_ROWS);
        // Records first: there is none without the rest of its answer.
        let tables: [fn(Timeframe, usize) -> Scan; 2] = [schema::records, schema::record_parts];
        let mut removed = 0_usize;
        for table in tables {
            let rows = shared.store.scan(&table(expired, limit.saturating_sub(removed))).await?;
            if rows.is_empty() {
                continue;
            }
            removed = removed.saturating_add(rows.len());
            // Nobody writes there any more, and whoever has removed one already has done the same.
            let batch = rows.into_iter().fold(Batch::new(), |batch, row| batch.delete(row.key));
            shared.store.commit(batch).await?;
            if removed >= limit {
                return Ok(Collected { removed, more: true });
            }
        }
        let expired = Timeframe::through(shared.now());
        let rest = limit.saturating_sub(removed);
        let rows = shared.store.scan(&schema::message_expiries(expired, rest)).await?;
        for row in &rows {
            let of = schema::read_message_expiry(&row.key, &row.document)?;
            let step = RemoveMessage { id: of.message, expires_at: of.at };
            apply_step(shared, &of.account, &step).await?;
        }
        Ok(Collected { removed: removed.saturating_add(rows.len()), more: rows.len() >= rest })
    }
}
