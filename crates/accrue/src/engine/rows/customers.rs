//! Customers by the names that callers give, and the head that guards what is a customer's own.

use std::collections::BTreeSet;

use crate::{
    CustomerId, Error, IdOr,
    customer::Customer,
    engine::kernel::{Guard, Transaction},
    schema::{self, CustomerEntry, CustomerHead},
};

/// Returns a customer that exists and is not deleted.
pub(in crate::engine) async fn customer(
    tx: &mut Transaction<'_>,
    id: &IdOr<CustomerId>,
) -> Result<Customer, Error> {
    let unknown = || Error::not_found("customer", id);
    let (customer_id, alias) = match id {
        IdOr::Id(id) => (*id, None),
        IdOr::External(external) => {
            let slot = schema::customer_external(tx.account, external);
            let alias = tx.find(&slot).await?.filter(|alias| !alias.reserved);
            (alias.ok_or_else(unknown)?.customer_id, Some(slot))
        }
    };
    let (guard, entry) = entry(tx, customer_id).await?;
    if let Some(alias) = alias {
        guard.adopt(tx, &alias);
    }
    let entry = entry.filter(|entry| entry.deleted_at.is_none()).ok_or_else(unknown)?;
    Ok(entry.customer)
}

/// Reads a customer under its guard, with the mark that deletes it.
pub(in crate::engine) async fn entry(
    tx: &mut Transaction<'_>,
    id: CustomerId,
) -> Result<(Guard<CustomerHead>, Option<CustomerEntry>), Error> {
    let slot = schema::customer(tx.account, id);
    let guards = tx.guards_with::<CustomerHead>([(id, vec![slot.key().clone()])]).await?;
    let guard = guards.into_iter().next().ok_or_else(|| Error::corrupt("a guard is missing"))?;
    let entry = guard.get(tx, &slot).await?;
    Ok((guard, entry))
}

/// Returns those of some customers that are not deleted, as they are now.
pub(in crate::engine) async fn not_deleted(
    tx: &Transaction<'_>,
    ids: BTreeSet<CustomerId>,
) -> Result<BTreeSet<CustomerId>, Error> {
    if ids.is_empty() {
        return Ok(ids);
    }
    let slots: Vec<_> = ids.iter().map(|id| schema::customer(tx.account, *id)).collect();
    let entries = ids.into_iter().zip(tx.peek(&slots).await?);
    let is_there = |entry: CustomerEntry| entry.deleted_at.is_none();
    Ok(entries.filter_map(|(id, entry)| entry.is_some_and(is_there).then_some(id)).collect())
}

/// Writes a customer.
pub(in crate::engine) async fn put(
    tx: &mut Transaction<'_>,
    entry: &CustomerEntry,
) -> Result<(), Error> {
    let id = entry.customer.id;
    let guard = tx.guard::<CustomerHead>(id).await?;
    guard.put(tx, &schema::customer(tx.account, id), entry)
}

/// Writes a customer's head, so that whoever read it has to read again.
pub(in crate::engine) async fn touch(
    tx: &mut Transaction<'_>,
    id: CustomerId,
) -> Result<(), Error> {
    tx.guard::<CustomerHead>(id).await?.touch(tx);
    Ok(())
}
