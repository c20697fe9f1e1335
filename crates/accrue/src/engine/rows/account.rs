//! The row of an account: what it configures, and since when it has what.

use std::sync::Arc;

use crate::{
    Error, Timestamp,
    account::{AccountEntry, LONGEST_GRACE},
    engine::kernel::{Guard, Transaction},
    limits,
    schema::{self, AccountCorrections, AccountHead, Catalogue},
    usage::Meters,
};

/// Reads what guards everything that the account configures.
pub(in crate::engine) async fn guard(
    tx: &mut Transaction<'_>,
) -> Result<Guard<AccountHead>, Error> {
    tx.guard(()).await
}

/// What an account configures that every ingest asks for.
pub(in crate::engine) struct AccountTerms {
    pub(in crate::engine) entry: Arc<AccountEntry>,
    pub(in crate::engine) catalogue: Arc<Catalogue>,
    pub(in crate::engine) corrections: Arc<AccountCorrections>,
    pub(in crate::engine) meters: Arc<Meters>,
}

/// Returns what was put together of it before, as long as nothing of it was written since.
pub(in crate::engine) async fn recalled(
    tx: &mut Transaction<'_>,
) -> Result<Option<Arc<AccountTerms>>, Error> {
    Ok(guard(tx).await?.recall(tx))
}

/// Tells whether the account had alerts at an instant.
pub(in crate::engine) async fn had_alerts(
    tx: &mut Transaction<'_>,
    at: Timestamp,
) -> Result<bool, Error> {
    Ok(account_entry(tx).await?.had_alerts(at))
}

/// Tells whether the account had alerts when an instant came.
pub(in crate::engine) async fn had_alerts_until(
    tx: &mut Transaction<'_>,
    at: Timestamp,
) -> Result<bool, Error> {
    Ok(account_entry(tx).await?.had_alerts_until(at))
}

/// Returns what the account configures, and since when it has what.
pub(in crate::engine) async fn account_entry(
    tx: &mut Transaction<'_>,
) -> Result<Arc<AccountEntry>, Error> {
    if let Some(terms) = recalled(tx).await? {
        return Ok(Arc::clone(&terms.entry));
    }
    let entry = guard(tx).await?.get_shared(tx, &schema::account(tx.account)).await?;
    Ok(entry.unwrap_or_default())
}

/// Writes what the account configures.
pub(in crate::engine) async fn save(
    tx: &mut Transaction<'_>,
    entry: &AccountEntry,
) -> Result<(), Error> {
    let guard = guard(tx).await?;
    guard.put(tx, &schema::account(tx.account), entry)
}

/// Returns the oldest instant at which an event may still be taken, whatever grace period the
/// account will choose.
pub(in crate::engine) fn oldest_open(tx: &Transaction<'_>) -> Timestamp {
    tx.now.saturating_sub(LONGEST_GRACE)
}

/// Returns the newest instant at which an event is taken.
pub(in crate::engine) fn newest_taken(tx: &Transaction<'_>) -> Timestamp {
    tx.now.saturating_add(std::time::Duration::from_secs(limits::FUTURE_SECONDS))
}

/// Returns the oldest instant at which an event is still taken.
pub(in crate::engine) async fn oldest_taken(tx: &mut Transaction<'_>) -> Result<Timestamp, Error> {
    Ok(tx.now.saturating_sub(account_entry(tx).await?.configuration.grace_period))
}
