//! Changes of plan that take effect (subscriptions 3.2).

use crate::{
    Error, Timestamp,
    alert::{Alert, Cause},
    engine::{
        kernel::Transaction,
        rows::{alerts, metrics, outbox, plans, shared_alerts::Sharer},
        time::judge,
    },
    schema::SharedAlerts,
    subscription::{Subscription, SubscriptionEntry},
    time::INSTANT,
    webhook::{Body, PlanVersionStep},
};

/// Lets a subscription take on the plan that it is on from an instant on, and tells of it. Returns the alerts of the
/// plan that watch it: as they were at another instant, later changes to them are still to be applied.
pub(in crate::engine) async fn take_on(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    from: Timestamp,
    at: Timestamp,
) -> Result<Vec<Alert>, Error> {
    let next = entry.subscription.plan_at(from);
    let own = (entry.subscription.plan_id, entry.subscription.plan_version);
    if next.is_later_phase && (next.plan_id, next.plan_version) == own {
        entry.subscription.follow_plan(&next);
        entry.plan_since = Some(next.start_date);
        return Ok(Vec::new());
    }
    let usage = plans::plan_version_of(tx, entry).await?.priced_of(entry).clone();
    let Subscription { id: subscription_id, customer_id, plan_id, plan_version, .. } =
        entry.subscription;
    entry.subscription.follow_plan(&next);
    entry.plan_since = Some(next.start_date);
    let of_account = metrics::catalogue(tx).await?.shared.alerts.clone();
    entry.muted.retain(|id| of_account.contains(id));
    let version = plans::plan_version_of(tx, entry).await?;
    entry.priced = (usage != version.priced).then_some(usage);
    let alerts = alerts_at(tx, entry, &version.shared, at).await?;
    if next.plan_id != plan_id {
        let body = Body::PlanChanged { subscription_id, previous_plan_id: plan_id };
        outbox::tell(tx, customer_id, at, body).await?;
    } else if next.plan_version != plan_version {
        let change = PlanVersionStep {
            effective_date: from,
            new_plan_version: next.plan_version,
            previous_plan_version: plan_version,
        };
        let body = Body::PlanVersionChanged { subscription_id, change };
        outbox::tell(tx, customer_id, at, body).await?;
    }
    Ok(alerts.into_iter().filter(|alert| alert.enabled).collect())
}

/// Judges the alerts of a plan that a subscription has taken on, on the usage that there is (subscriptions 3.2).
pub(in crate::engine) async fn judge(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    alerts: &[Alert],
    at: Timestamp,
) -> Result<(), Error> {
    let cause = Cause::Subscription { subscription_id: entry.subscription.id };
    for alert in alerts {
        judge::judge_watched(tx, entry, alert, &cause, at).await?;
    }
    Ok(())
}

/// Returns the alerts of a plan version as they were at an instant, and notes the last change of them that a
/// subscription has applied with that.
async fn alerts_at(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    version: &SharedAlerts,
    at: Timestamp,
) -> Result<Vec<Alert>, Error> {
    let Some(plan) = Sharer::plan_of(entry) else { return Ok(Vec::new()) };
    let mut found = alerts::shared(tx, &version.alerts).await?;
    let numbers = version.applied.saturating_add(1)..=version.revision;
    let slots = numbers.map(|of| plan.revision(tx, of));
    let changes = tx.get_all(&slots.collect::<Vec<_>>()).await?;
    let later = changes.into_iter().flatten().rev().take_while(|change| at < change.at);
    entry.revision = version.revision;
    for change in later {
        entry.revision = entry.revision.saturating_sub(1);
        found.retain(|alert| alert.id != change.alert.id);
        found.extend(change.before);
    }
    Ok(found)
}

/// Tells that a subscription will change its plan at an instant, where that is still to come.
pub(in crate::engine) async fn tell_scheduled(
    tx: &mut Transaction<'_>,
    subscription: &Subscription,
    from: Timestamp,
) -> Result<(), Error> {
    let subscription_id = subscription.id;
    let next = subscription.plan_at(from);
    let before = subscription.plan_at(from.saturating_sub(INSTANT));
    let other = next.plan_id.filter(|_| next.plan_id != before.plan_id);
    let body = if let Some(new_plan_id) = other {
        Body::PlanChangeScheduled {
            subscription_id,
            change_date: from,
            new_plan_id,
            previous_plan_id: before.plan_id,
        }
    } else if next.plan_version != before.plan_version {
        let change = PlanVersionStep {
            effective_date: from,
            new_plan_version: next.plan_version,
            previous_plan_version: before.plan_version,
        };
        Body::PlanVersionChangeScheduled { subscription_id, change }
    } else {
        return Ok(());
    };
    outbox::tell(tx, subscription.customer_id, tx.now, body).await
}
