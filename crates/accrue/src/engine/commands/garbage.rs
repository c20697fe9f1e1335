//! Removal of idempotency records that are no longer good.

use crate::{
    Error, Timeframe,
    engine::Billing,
    idempotency::StoredAnswer,
    limits,
    schema::{self, Expiry},
    store::{Batch, Commit, Expected, Row},
    usage::Hour,
};

/// Result of a garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// Number of idempotency records that were removed.
    pub removed: usize,
    /// True where there is more to look at: call again.
    pub more: bool,
}

impl Billing {
    /// Removes the records of idempotency keys that are no longer good (§4.5.4), `limit` of them at
    /// most.
    ///
    /// Nothing depends on when or how often this runs: it only frees space.
    pub async fn collect_garbage(&self, limit: usize) -> Result<Collected, Error> {
        let shared = self.shared();
        let limit = limit.clamp(1, limits::SCAN_ROWS);
        let this_hour = Hour::of(shared.now()).start();
        let mut scan = schema::expired_records(Timeframe::before(this_hour), limit);
        let (mut removed, mut cleared) = (0_usize, 0_usize);
        loop {
            let rows = shared.store.scan(&scan).await?;
            let Some(last) = rows.last() else { return Ok(Collected { removed, more: false }) };
            scan = scan.after(last.key.bytes());
            for row in &rows {
                if cleared >= limit {
                    return Ok(Collected { removed, more: true });
                }
                let (batch, records) = match self.removal(row).await {
                    Ok(removal) => removal,
                    Err(error) if error.can_be_retried() => return Err(error),
                    // A record that cannot be read is left alone, and holds up no other.
                    Err(_) => continue,
                };
                if let Commit::Committed(_) = shared.store.commit(batch).await? {
                    removed = removed.saturating_add(records);
                    cleared = cleared.saturating_add(1);
                }
            }
        }
    }

    /// Returns the changes that remove one expiry: the expiry itself, and the record where no later
    /// operation has replaced it. Each is as it was read, or nothing is removed.
    async fn removal(&self, expiry: &Row) -> Result<(Batch, usize), Error> {
        let shared = self.shared();
        let Expiry { account, key } = schema::read_expiry(&expiry.key, &expiry.document)?;
        let batch = Batch::new()
            .expect(expiry.key.clone(), Expected::Version(expiry.version))
            .delete(expiry.key.clone());
        let slot = schema::record(&account, &key);
        let found = shared.store.get(std::slice::from_ref(slot.key())).await?;
        let Some(row) = found.into_iter().next().flatten() else { return Ok((batch, 0)) };
        let record = slot.decode(&row.document)?;
        if !record.is_expired(shared.now()) {
            return Ok((batch, 0));
        }
        let mut batch =
            batch.expect(row.key.clone(), Expected::Version(row.version)).delete(row.key);
        if let StoredAnswer::Parts(count) = record.answer {
            for number in 0..count {
                batch = batch.delete(schema::record_part(&account, number, &key).key().clone());
            }
        }
        Ok((batch, 1))
    }
}
