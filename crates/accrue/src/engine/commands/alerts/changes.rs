//! Changes of alerts: thresholds, enabled or disabled, for one subscription or for all, deleted.

use super::as_seen_by;
use crate::{
    AlertId, Error, SubscriptionId,
    alert::{Alert, AlertUpdate, Scope},
    engine::kernel::{Stop, Transaction},
    schema::{self, AlertEntry},
};

/// A change to an alert as a whole.
#[derive(Clone, serde::Serialize)]
pub(super) enum Change {
    Update(AlertUpdate),
    Enable,
    Disable,
}

impl Change {
    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Update(update) => update.check(),
            Self::Enable | Self::Disable => Ok(()),
        }
    }

    async fn apply(&self, alert: Alert, tx: &mut Transaction<'_>) -> Result<Alert, Error> {
        match self {
            Self::Update(update) => {
                tx.check_filters(update.price_filters.as_deref().unwrap_or_default()).await?;
                let siblings = tx.siblings(&alert).await?;
                update.clone().decide(alert, &siblings)
            }
            Self::Enable => Ok(Alert { enabled: true, ..alert }),
            Self::Disable => Ok(Alert { enabled: false, ..alert }),
        }
    }
}

pub(super) async fn change_alert(
    tx: &mut Transaction<'_>,
    id: AlertId,
    change: &Change,
) -> Result<Alert, Stop> {
    change.check()?;
    tx.require_alerts().await?;
    let before = tx.alert(id).await?;
    if let Scope::Customer { customer_id } = before.scope {
        tx.current_head(customer_id).await?;
    }
    let alert = change.apply(before.clone(), tx).await?;
    if alert == before {
        return Ok(tx.shown(alert).await?);
    }
    match alert.scope {
        Scope::Plan { plan_id, plan_version } => {
            tx.save_plan_alert(plan_id, plan_version, &alert).await?;
        }
        Scope::Subscription { subscription_id, .. } => {
            let entry = tx.current_subscription(subscription_id).await?;
            tx.save_alert(&alert).await?;
            tx.judge_at_once(&entry, &alert, tx.now).await?;
            tx.save_watched(&entry).await?;
        }
        Scope::Customer { customer_id } => {
            tx.save_balance_alert(customer_id, &alert).await?;
        }
    }
    Ok(tx.shown(alert).await?)
}

/// A change to what one subscription sees of an alert.
#[derive(Clone, Copy, serde::Serialize)]
pub(super) enum ChangeFor {
    Enable,
    Disable,
}

pub(super) async fn change_alert_for(
    tx: &mut Transaction<'_>,
    id: AlertId,
    subscription: SubscriptionId,
    change: ChangeFor,
) -> Result<Alert, Stop> {
    tx.require_alerts().await?;
    let alert = tx.alert(id).await?;
    let mut entry = tx.current_subscription(subscription).await?;
    if entry.alerts.contains(&id) {
        let whole = match change {
            ChangeFor::Enable => Change::Enable,
            ChangeFor::Disable => Change::Disable,
        };
        return change_alert(tx, id, &whole).await;
    }
    if !tx.plan_version_of(&entry).await?.alerts.contains(&id) {
        let detail = format!("alert {id} does not watch subscription {subscription}");
        return Err(Error::constraint(detail).into());
    }
    let changed = match change {
        ChangeFor::Enable => entry.muted.remove(&id),
        ChangeFor::Disable => entry.muted.insert(id),
    };
    let seen = as_seen_by(&entry, alert);
    if changed {
        tx.judge_at_once(&entry, &seen, tx.now).await?;
        tx.save_watched(&entry).await?;
    }
    Ok(seen)
}

pub(super) async fn delete_alert(tx: &mut Transaction<'_>, id: AlertId) -> Result<(), Stop> {
    tx.require_alerts().await?;
    let alert = tx.alert(id).await?;
    match alert.scope {
        Scope::Plan { .. } => {
            let detail = "an alert of a plan can be disabled and not deleted";
            return Err(Error::constraint(detail).into());
        }
        Scope::Subscription { subscription_id, .. } => {
            let mut entry = tx.current_subscription(subscription_id).await?;
            entry.alerts.retain(|other| *other != id);
            tx.save_watched(&entry).await?;
        }
        Scope::Customer { customer_id } => {
            tx.current_head(customer_id).await?;
            tx.remove_balance_alert(customer_id, &alert).await?;
            tx.touch(customer_id).await?;
        }
    }
    let slot = schema::alert(tx.account, id);
    let before = tx.get(&slot).await?;
    let given = before.map_or(0, |before| before.given);
    tx.put(&slot, &AlertEntry { alert, given, deleted_at: Some(tx.now) })?;
    Ok(())
}
