//! Removal of idempotency records that are no longer good, and of messages, invitations, sessions and entries
//! of the audit log that are no longer kept.

use std::time::Duration;

use crate::{
    Error, Timeframe,
    engine::{Billing, commands::sent_messages::RemoveMessage, kernel::apply_step},
    idempotency::Record,
    limits, schema,
    store::{Batch, Row, Scan},
};

/// Result of a garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// Number of rows that were removed: those of records, of answers that did not fit one, of messages, and of
    /// what is kept of people.
    pub removed: usize,
    /// True where there may be more to remove: call again.
    pub more: bool,
}

impl Billing {
    /// Removes the records of idempotency keys that are no longer good (§4.5.4), `limit` rows of them at
    /// most: by epochs of 48 hours, once that after one has ended. Then messages that endpoints were sent
    /// [30 days](limits::MESSAGE_DAYS) ago, invitations and sessions that are over, and entries of the audit log
    /// of [400 days](limits::AUDIT_DAYS) ago.
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
        removed = removed.saturating_add(rows.len());
        if rows.len() >= rest {
            return Ok(Collected { removed, more: true });
        }
        self.collect_of_people(removed, limit).await
    }

    /// Goes on with what is kept of people, each kind in a commit of its own. Nobody writes any of it any more.
    async fn collect_of_people(
        &self,
        mut removed: usize,
        limit: usize,
    ) -> Result<Collected, Error> {
        let shared = self.shared();
        let over = Timeframe::through(shared.now());
        let forgotten = Timeframe::through(shared.now().saturating_sub(days(limits::AUDIT_DAYS)));
        let kinds: [(Scan, Removal); 3] = [
            (schema::invitation_expiries(over, limit), remove_invitation),
            (schema::session_expiries(over, limit), remove_session),
            (schema::audit_log(forgotten, limit), remove_audit_entry),
        ];
        for (mut scan, remove) in kinds {
            scan.limit = limit.saturating_sub(removed);
            let rows = shared.store.scan(&scan).await?;
            if rows.is_empty() {
                continue;
            }
            let batch = rows.iter().try_fold(Batch::new(), remove)?;
            shared.store.commit(batch).await?;
            removed = removed.saturating_add(rows.len());
            if removed >= limit {
                return Ok(Collected { removed, more: true });
            }
        }
        Ok(Collected { removed, more: false })
    }
}

/// Adds the removal of what a row stands for.
type Removal = fn(Batch, &Row) -> Result<Batch, Error>;

fn remove_invitation(batch: Batch, row: &Row) -> Result<Batch, Error> {
    let invitation = schema::invitation(schema::expired_invitation(&row.key)?);
    Ok(batch.delete(row.key.clone()).delete(invitation.key().clone()))
}

fn remove_session(batch: Batch, row: &Row) -> Result<Batch, Error> {
    let (person, session) = schema::expired_session(&row.key)?;
    let of_person = schema::session_by_person(person, session);
    let session = schema::session(session);
    let batch = batch.delete(row.key.clone()).delete(session.key().clone());
    Ok(batch.delete(of_person.key().clone()))
}

fn remove_audit_entry(batch: Batch, row: &Row) -> Result<Batch, Error> {
    let entry = schema::read_audit_entry(&row.key, &row.document)?;
    let mut batch = batch.delete(row.key.clone());
    if let Some(account) = &entry.account {
        batch = batch.delete(schema::audit_entry_by_account(account, &entry).key().clone());
    }
    if let Some(person) = entry.who.person() {
        batch = batch.delete(schema::audit_entry_by_person(person, &entry).key().clone());
    }
    Ok(batch)
}

const fn days(days: u64) -> Duration {
    Duration::from_secs(days.saturating_mul(24 * 60 * 60))
}
