//! Customers for whom all is done that time has brought: whoever writes for one finds it so, or does that
//! first.

use std::sync::Arc;

use crate::{
    CustomerId, Error, IdOr, SubscriptionId,
    engine::{
        kernel::{Stop, Transaction},
        rows::{shared_alerts, subscriptions, usage_customers},
        time::corrections,
    },
    schema::{self, CustomerHead, Owner},
    subscription::{Subscription, SubscriptionEntry},
};

/// Takes the lock of a customer and reads the head that guards what is its own. Its
/// transitions come first.
pub(in crate::engine) async fn current_head(
    tx: &mut Transaction<'_>,
    id: CustomerId,
) -> Result<Arc<CustomerHead>, Stop> {
    tx.lock(&[id.into()]).await?;
    let head = tx.guard::<CustomerHead>(id).await?.head(tx)?;
    if corrections::has_transitions(tx, id, &head).await? {
        Err(Stop::First(vec![Owner::Customer(id)]))
    } else {
        Ok(head)
    }
}

/// Takes the locks of a customer and of those whose subscriptions count its usage. The transitions of all of them come
/// first.
pub(in crate::engine) async fn current_subscribers(
    tx: &mut Transaction<'_>,
    id: CustomerId,
) -> Result<(), Stop> {
    tx.lock(&[id.into()]).await?;
    let subscribers = usage_customers::subscribers(tx, id).await?;
    tx.lock(&subscribers.iter().copied().map(IdOr::Id).collect::<Vec<_>>()).await?;
    current_heads(tx, &subscribers).await
}

/// Reads the heads of customers whose locks are held. Their transitions come first.
pub(in crate::engine) async fn current_heads(
    tx: &mut Transaction<'_>,
    ids: &[CustomerId],
) -> Result<(), Stop> {
    let mut behind = Vec::new();
    for guard in tx.guards::<CustomerHead>(ids.iter().copied()).await? {
        let head = guard.head(tx)?;
        if corrections::has_transitions(tx, guard.of(), &head).await? {
            behind.push(Owner::Customer(guard.of()));
        }
    }
    if behind.is_empty() { Ok(()) } else { Err(Stop::First(behind)) }
}

/// Returns a subscription whose customer is applied. The changes to its plan's alerts come first
/// too.
pub(in crate::engine) async fn current_subscription(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
) -> Result<SubscriptionEntry, Stop> {
    let entry = subscriptions::subscription_entry(tx, id).await?;
    let customer_id = entry.subscription.customer_id;
    current_head(tx, customer_id).await?;
    if is_behind(tx, &entry).await? {
        return Err(Stop::First(vec![Owner::Customer(customer_id)]));
    }
    Ok(entry)
}

/// Returns the same where no change of it waits: while one does, every other is refused (subscriptions 4.3).
pub(in crate::engine) async fn subscription_to_change(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
) -> Result<SubscriptionEntry, Stop> {
    let entry = current_subscription(tx, id).await?;
    entry.subscription.check_no_pending_change(tx.now)?;
    Ok(entry)
}

/// Tells whether a subscription has changes to alerts that it shares to apply. One that ended so
/// long ago that no event counts for it has none.
pub(in crate::engine) async fn is_behind(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<bool, Error> {
    let Subscription { id, customer_id, .. } = entry.subscription;
    if !shared_alerts::has_unseen(tx, entry).await? {
        return Ok(false);
    }
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let active = guard.get(tx, &schema::active_subscriptions(tx.account, customer_id)).await?;
    Ok(active.unwrap_or_default().subscriptions.contains(&id))
}
