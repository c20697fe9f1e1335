//! Changes of alerts: thresholds, enabled or disabled, for one subscription or for all, deleted.

use crate::{
    AlertId, Error, SubscriptionId,
    alert::{Alert, AlertUpdate, Scope},
    engine::{
        commands::alerts::{shared, stored},
        kernel::{Stop, Transaction, boxed},
        rows::{
            self, alerts, balance_alerts,
            shared_alerts::{self, Sharer},
        },
        time::{current, judge},
    },
    schema::AlertEntry,
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
                rows::prices::check_filters(
                    tx,
                    update.price_filters.as_deref().unwrap_or_default(),
                )
                .await?;
                let siblings = stored::siblings(tx, &alert).await?;
                update.clone().decide(alert, &siblings)
            }
            Self::Enable => Ok(Alert { enabled: true, ..alert }),
            Self::Disable => Ok(Alert { enabled: false, ..alert }),
        }
    }
}

#[boxed]
pub(super) async fn change_alert(
    tx: &mut Transaction<'_>,
    id: AlertId,
    change: &Change,
) -> Result<Alert, Stop> {
    change.check()?;
    stored::require_alerts(tx).await?;
    let before = stored::alert(tx, id).await?;
    if let Scope::Customer { customer_id } = before.scope {
        current::current_head(tx, customer_id).await?;
    }
    let mut alert = change.apply(before.clone(), tx).await?;
    if alert == before {
        return Ok(stored::shown(tx, alert).await?);
    }
    match alert.scope {
        Scope::Plan { plan_id, plan_version } => {
            shared::save_shared_alert(tx, Sharer::Plan(plan_id, plan_version), &alert).await?;
        }
        Scope::Account => shared::save_shared_alert(tx, Sharer::Account, &alert).await?,
        Scope::Subscription { subscription_id, .. } => {
            let mut entry = current::current_subscription(tx, subscription_id).await?;
            stored::save_alert(tx, &alert).await?;
            alert.enabled &= !judge::judge_at_once(tx, &mut entry, &alert, tx.now).await?;
            stored::save_watched(tx, &entry).await?;
        }
        Scope::Customer { customer_id } => {
            stored::save_balance_alert(tx, customer_id, &alert).await?;
        }
    }
    Ok(stored::shown(tx, alert).await?)
}

/// A change to an alert as one subscription sees it.
#[derive(Clone, Copy, serde::Serialize)]
pub(super) enum ChangeFor {
    Enable,
    Disable,
}

#[boxed]
pub(super) async fn change_alert_for(
    tx: &mut Transaction<'_>,
    id: AlertId,
    subscription: SubscriptionId,
    change: ChangeFor,
) -> Result<Alert, Stop> {
    stored::require_alerts(tx).await?;
    let alert = stored::alert(tx, id).await?;
    let mut entry = current::current_subscription(tx, subscription).await?;
    if entry.alerts.contains(&id) {
        let whole = match change {
            ChangeFor::Enable => Change::Enable,
            ChangeFor::Disable => Change::Disable,
        };
        return change_alert(tx, id, &whole).await;
    }
    if !shared_alerts::ids(tx, &entry).await?.contains(&id) {
        let detail = format!("alert {id} does not watch subscription {subscription}");
        return Err(Error::constraint(detail).into());
    }
    let changed = match change {
        ChangeFor::Enable => entry.muted.remove(&id),
        ChangeFor::Disable => entry.muted.insert(id),
    };
    let mut seen = stored::as_seen_by(&entry, alert);
    if changed {
        seen.enabled &= !judge::judge_at_once(tx, &mut entry, &seen, tx.now).await?;
        stored::save_watched(tx, &entry).await?;
    }
    Ok(seen)
}

#[boxed]
pub(super) async fn delete_alert(tx: &mut Transaction<'_>, id: AlertId) -> Result<(), Stop> {
    stored::require_alerts(tx).await?;
    let alert = stored::alert(tx, id).await?;
    match alert.scope {
        Scope::Plan { .. } | Scope::Account => {
            let detail = "an alert of a plan or of an account can be disabled and not deleted";
            return Err(Error::constraint(detail).into());
        }
        Scope::Subscription { subscription_id, .. } => {
            let mut entry = current::current_subscription(tx, subscription_id).await?;
            entry.alerts.retain(|other| *other != id);
            stored::save_watched(tx, &entry).await?;
        }
        Scope::Customer { customer_id } => {
            current::current_head(tx, customer_id).await?;
            balance_alerts::remove_balance_alert(tx, customer_id, &alert).await?;
            rows::customers::touch(tx, customer_id).await?;
        }
    }
    let given = alerts::entry(tx, &alert).await?.map_or(0, |before| before.given);
    alerts::put(tx, &AlertEntry { alert, given, deleted_at: Some(tx.now) }).await?;
    Ok(())
}
