//! Customers whose usage counts for subscriptions of others (subscriptions 1.5): the head of each names those others,
//! and the rows of these name it (`docs/decisions/usage-of-other-customers.md`).

use std::collections::BTreeSet;

use crate::{
    CustomerId, Error, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{corrections, metrics},
    },
    schema::{self, ActiveIds, CustomerHead},
};

/// Returns the other customers whose usage counts for subscriptions of a customer.
pub(in crate::engine) async fn counted(
    tx: &mut Transaction<'_>,
    subscriber: CustomerId,
) -> Result<Vec<CustomerId>, Error> {
    let guard = tx.guard::<CustomerHead>(subscriber).await?;
    if !guard.head(tx)?.counts_others {
        return Ok(Vec::new());
    }
    let active = guard.get(tx, &schema::active_subscriptions(tx.account, subscriber)).await?;
    Ok(active.unwrap_or_default().counted)
}

/// Returns the customers that the usage of one may count for: itself first.
pub(in crate::engine) async fn subscribers(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Vec<CustomerId>, Error> {
    let head = tx.guard::<CustomerHead>(customer).await?.head(tx)?;
    Ok([customer].into_iter().chain(head.counted_by.iter().copied()).collect())
}

/// Notes that the usage of some customers counts for subscriptions of another, and of no others any more. Those whose
/// usage did not count before are current.
pub(in crate::engine) async fn count(
    tx: &mut Transaction<'_>,
    subscriber: CustomerId,
    customers: BTreeSet<CustomerId>,
) -> Result<(), Error> {
    for id in &customers {
        let guard = tx.guard::<CustomerHead>(*id).await?;
        if !guard.head(tx)?.counted_by.contains(&subscriber) {
            guard.head_mut(tx)?.counted_by.push(subscriber);
        }
        let next = corrections::own(tx, *id).await?.next();
        note_correction(tx, subscriber, *id, next).await?;
    }
    let revision = metrics::catalogue(tx).await?.revision;
    let guard = tx.guard::<CustomerHead>(subscriber).await?;
    let head = guard.head_mut(tx)?;
    head.counts_others = true;
    if head.accepted == 0 {
        // It has no event of its own that would have to be measured first.
        head.measured = revision;
    }
    let slot = schema::active_subscriptions(tx.account, subscriber);
    let active = guard.get(tx, &slot).await?.unwrap_or_default();
    let gone: Vec<_> =
        active.counted.iter().copied().filter(|id| !customers.contains(id)).collect();
    let counted = customers.into_iter().collect();
    guard.put(tx, &slot, &ActiveIds { counted, ..active })?;
    for id in gone {
        note_correction(tx, subscriber, id, None).await?;
    }
    Ok(())
}

/// Notes that the usage of a customer counts for no subscription of another any more that goes on.
pub(in crate::engine) async fn count_no_more(
    tx: &mut Transaction<'_>,
    subscriber: CustomerId,
    id: CustomerId,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(subscriber).await?;
    let slot = schema::active_subscriptions(tx.account, subscriber);
    let Some(mut active) = guard.get(tx, &slot).await? else { return Ok(()) };
    active.counted.retain(|of| *of != id);
    guard.put(tx, &slot, &active)?;
    note_correction(tx, subscriber, id, None).await.map(|_| ())
}

/// Notes when a customer is corrected next whose usage counts for a subscription of another. Tells whether that is
/// another instant than it was.
pub(in crate::engine) async fn note_correction(
    tx: &mut Transaction<'_>,
    subscriber: CustomerId,
    id: CustomerId,
    next: Option<Timestamp>,
) -> Result<bool, Error> {
    let mut corrections = corrections::own(tx, subscriber).await?;
    let before = match next {
        Some(at) => corrections.of_others.insert(id, at),
        None => corrections.of_others.remove(&id),
    };
    let has_moved = before != next;
    if has_moved {
        corrections::put_own(tx, subscriber, &corrections).await?;
    }
    Ok(has_moved)
}
