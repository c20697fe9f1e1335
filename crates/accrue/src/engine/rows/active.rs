//! Active subscriptions: those of a customer that events may still count for, and when time brings them the

use crate::{
    CustomerId, Error,
    alert::Alert,
    engine::{
        kernel::{Guard, Transaction},
        rows::{account, alerts, corrections, shared_alerts, subscriptions, usage_customers},
    },
    schema::{self, ActiveIds, CustomerHead, Deadline, Owner, Slot},
    subscription::SubscriptionEntry,
};

/// Subscriptions of a customer that events may still count for.
pub(in crate::engine) struct ActiveSubscriptions {
    pub(in crate::engine) customer_id: CustomerId,
    pub(in crate::engine) entries: Vec<SubscriptionEntry>,
}

/// Reads the subscriptions of customers whose locks are held.
pub(in crate::engine) async fn active_subscriptions(
    tx: &mut Transaction<'_>,
    customers: &[CustomerId],
) -> Result<Vec<ActiveSubscriptions>, Error> {
    let account = tx.account;
    let guards = tx.guards::<CustomerHead>(customers.iter().copied()).await?;
    let ids: Vec<_> =
        customers.iter().map(|id| schema::active_subscriptions(account, *id)).collect();
    let credits: Vec<_> = customers.iter().map(|id| schema::credits(account, *id)).collect();
    let keys = guards.iter().zip(ids.iter().map(Slot::key).zip(credits.iter().map(Slot::key)));
    let keys = keys.flat_map(|(guard, (ids, credits))| [(guard, ids), (guard, credits)]);
    Guard::fetch(tx, keys.collect::<Vec<_>>()).await?;
    let mut found = Vec::with_capacity(customers.len());
    let mut named = Vec::new();
    for (guard, ids) in guards.iter().zip(&ids) {
        let ActiveIds { subscriptions, .. } = tx.row(ids)?.unwrap_or_default();
        named.extend(subscriptions.iter().map(|id| (guard, *id)));
        found.push((guard, subscriptions));
    }
    let mut rows = subscriptions::subscriptions_under(tx, &named).await?.into_iter();
    let mut active = Vec::with_capacity(found.len());
    for (guard, subscriptions) in found {
        let customer_id = guard.of();
        let mut entries = Vec::with_capacity(subscriptions.len());
        for row in rows.by_ref().take(subscriptions.len()) {
            entries.push(row.ok_or_else(|| {
                Error::corrupt("a customer has a subscription that is not there")
            })?);
        }
        active.push(ActiveSubscriptions { customer_id, entries });
    }
    Ok(active)
}

/// Returns the enabled alerts that watch a subscription: its own and those that it shares.
pub(in crate::engine) async fn watching(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Vec<Alert>, Error> {
    let shared = shared_alerts::of(tx, entry).await?;
    if !account::had_alerts(tx, tx.now).await? {
        return Ok(Vec::new());
    }
    watching_with(tx, entry, shared).await
}

/// Returns the enabled alerts that watch a subscription: its own, and some that it shares;
/// those on usage first, those on groups last.
pub(in crate::engine) async fn watching_with(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    shared: Vec<Alert>,
) -> Result<Vec<Alert>, Error> {
    let mut alerts = alerts::own(tx, entry.subscription.customer_id, &entry.alerts).await?;
    alerts.extend(shared.into_iter().filter(|alert| !entry.muted.contains(&alert.id)));
    alerts.retain(|alert| alert.enabled);
    let place = |alert: &Alert| (alert.condition.is_rated(), alert.condition.is_on_groups());
    alerts.sort_by_key(place);
    Ok(alerts)
}

/// Writes which subscriptions of a customer events may still count for, and when time brings
/// the next thing for one of them.
pub(in crate::engine) async fn save_active(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    entries: &[SubscriptionEntry],
) -> Result<(), Error> {
    let oldest_open = account::oldest_open(tx);
    let live = entries.iter().filter(|entry| !entry.is_past(oldest_open));
    let subscriptions = live.map(|entry| entry.subscription.id).collect();
    let grace = account::account_entry(tx).await?.configuration.grace_period;
    let deadline = entries.iter().filter_map(|entry| entry.deadline(grace)).min();
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let slot = schema::active_subscriptions(tx.account, customer_id);
    let before = guard.get(tx, &slot).await?.unwrap_or_default();
    guard.put(tx, &slot, &ActiveIds { subscriptions, deadline, ..before })?;
    reschedule(tx, customer_id).await
}

/// Moves the deadline of a customer to when time brings the next thing: for one of its
/// subscriptions, for one of its ledgers or invoices, or a correction. One that is under way is due, whatever
/// the time is where somebody looks.
pub(in crate::engine) async fn reschedule(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let active = guard.get(tx, &schema::active_subscriptions(tx.account, customer_id)).await?;
    let credits = guard.get(tx, &schema::credits(tx.account, customer_id)).await?;
    let expiries = credits.unwrap_or_default().units.into_values().map(|of| of.next());
    let corrections = corrections::own(tx, customer_id).await?;
    let correction = corrections.next();
    let of_others = corrections.of_others.values().min().copied();
    let ActiveIds { deadline, collection, .. } = active.unwrap_or_default();
    let next = expiries.chain([deadline, collection, correction, of_others]).flatten().min();
    let before = guard.head(tx)?.deadline;
    let owner = Owner::Customer(customer_id);
    if before != next {
        if let Some(at) = before {
            tx.delete(&schema::deadline(at, tx.account, owner));
        }
        if let Some(at) = next {
            let deadline = Deadline { at, account: tx.account.clone(), owner, cursor: None };
            tx.put(&schema::deadline(at, tx.account, owner), &deadline)?;
        }
    }
    guard.head_mut(tx)?.deadline = next;
    for subscriber in guard.head(tx)?.counted_by.clone() {
        let counts = usage_customers::counted(tx, subscriber).await?.contains(&customer_id);
        let next = correction.filter(|_| counts);
        if usage_customers::note_correction(tx, subscriber, customer_id, next).await? {
            Box::pin(reschedule(tx, subscriber)).await?;
        }
    }
    Ok(())
}
