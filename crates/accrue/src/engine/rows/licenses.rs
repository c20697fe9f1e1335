//! License types and licenses, and where they are found.

use std::sync::Arc;

use crate::{
    Error, ExternalId, LicenseId, LicenseTypeId, Timestamp,
    engine::{
        kernel::{Guard, Transaction},
        rows::subscriptions,
    },
    license::{License, LicenseType},
    limits,
    meter::Meter,
    schema::{self, CustomerHead, Index, Nothing},
    subscription::{Subscription, SubscriptionEntry},
    usage::{Holders, license_types},
};

/// Returns a license type that exists.
pub(in crate::engine) async fn license_type(
    tx: &mut Transaction<'_>,
    id: LicenseTypeId,
) -> Result<LicenseType, Error> {
    let found = tx.get(&schema::license_type(tx.account, id)).await?;
    found.ok_or_else(|| Error::not_found("license type", id))
}

/// Writes a license type that is new, and where it is found.
pub(in crate::engine) fn put_new_type(
    tx: &mut Transaction<'_>,
    of: &LicenseType,
) -> Result<(), Error> {
    tx.put(&schema::license_type_by_time(tx.account, of), &Nothing {})?;
    tx.put(&schema::license_type(tx.account, of.id), of)
}

/// Returns a license that exists, as it is stored, with its subscription.
pub(in crate::engine) async fn license(
    tx: &mut Transaction<'_>,
    id: LicenseId,
) -> Result<(License, SubscriptionEntry), Error> {
    let unknown = || Error::not_found("license", id);
    let license = tx.find(&schema::license(tx.account, id)).await?.ok_or_else(unknown)?;
    match subscriptions::subscription_entry(tx, license.subscription_id).await {
        Ok(entry) => Ok((license, entry)),
        Err(error) if error.is_not_found() => Err(unknown()),
        Err(error) => Err(error),
    }
}

/// Reads the licenses of a type that a subscription has which have not ended at an instant.
pub(in crate::engine) async fn not_ended(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    license_type: LicenseTypeId,
    at: Timestamp,
) -> Result<Vec<License>, Error> {
    let index = Index::licenses_by_end(tx.account, of.id, license_type);
    let mut found = found_by(tx, of, &index, at).await?;
    found.retain(|license| at < license.ends_at());
    Ok(found)
}

/// Returns which licenses the usage of a subscription is of that some meters divide, from an instant on; nothing where
/// none of them does.
pub(in crate::engine) async fn holders(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    meters: &[Meter],
    since: Timestamp,
) -> Result<Option<Arc<Holders>>, Error> {
    let types = license_types(meters);
    if types.is_empty() {
        return Ok(None);
    }
    let mut licenses = Vec::new();
    for license_type in types {
        licenses.extend(not_ended(tx, of, license_type, since).await?);
    }
    Ok(Some(Arc::new(Holders::new(meters, &licenses))))
}

/// Reads the licenses of an external id that a subscription has of a type, or had.
pub(in crate::engine) async fn of_external_id(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    license_type: LicenseTypeId,
    external: &ExternalId,
) -> Result<Vec<License>, Error> {
    let digest = License::digest(external);
    let index = Index::licenses_of_external_id(tx.account, of.id, license_type, &digest);
    found_by(tx, of, &index, Timestamp::MIN).await
}

/// Writes a license that is new, and where it is found.
pub(in crate::engine) async fn put_new(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    license: &License,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    guard.put(tx, &schema::license_by_time(tx.account, license), &Nothing {})?;
    guard.put(tx, &schema::license_by_external_id(tx.account, license), &Nothing {})?;
    guard.put(tx, &schema::license_by_end(tx.account, license), &Nothing {})?;
    guard.put(tx, &schema::license(tx.account, license.id), license)
}

/// Writes a license that has another end.
pub(in crate::engine) async fn save(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    before: &License,
    after: &License,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    guard.delete(tx, &schema::license_by_end(tx.account, before))?;
    guard.put(tx, &schema::license_by_end(tx.account, after), &Nothing {})?;
    guard.put(tx, &schema::license(tx.account, after.id), after)
}

/// Reads the licenses that an index of a subscription names, from an instant on.
async fn found_by(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    index: &Index,
    from: Timestamp,
) -> Result<Vec<License>, Error> {
    let guard: Guard<CustomerHead> = tx.guard(of.customer_id).await?;
    let scan = index.scan(from, Timestamp::MAX, limits::SCAN_ROWS);
    let mut slots = Vec::new();
    for (key, _) in guard.range_all(tx, scan).await? {
        let id = LicenseId::from_bytes(schema::id_at(&schema::position(&key)?));
        slots.push(schema::license(tx.account, id));
    }
    let found: Option<Vec<_>> = guard.get_all(tx, &slots).await?.into_iter().collect();
    found.ok_or_else(|| Error::corrupt("an index names no license"))
}
