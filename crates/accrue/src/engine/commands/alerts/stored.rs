//! Alerts as they are found, checked, answered and saved.

use crate::{
    AlertId, CustomerId, Error,
    alert::{Alert, NewAlert, NewCondition, Scope},
    engine::{
        kernel::{Guard, Transaction},
        rows::{self, alerts, balance_alerts, shared_alerts::Sharer},
        time::transitions,
    },
    limits,
    metric::MetricStatus,
    schema::{self, AlertEntry, CustomerHead, Slot},
    subscription::SubscriptionEntry,
};

/// Returns alerts as operations answer them: those on a balance with their status.
pub(in crate::engine) async fn shown_all(
    tx: &mut Transaction<'_>,
    alerts: Vec<Alert>,
) -> Result<Vec<Alert>, Error> {
    let on_balance = alerts.iter().filter_map(|alert| match alert.scope {
        Scope::Customer { customer_id } => {
            Some((customer_id, schema::balance_alert_state(tx.account, alert.id)))
        }
        Scope::Subscription { .. } | Scope::Plan { .. } | Scope::Account => None,
    });
    let (customers, states): (Vec<_>, Vec<_>) = on_balance.unzip();
    let guards = tx.guards::<CustomerHead>(customers).await?;
    Guard::fetch(tx, guards.iter().zip(states.iter().map(Slot::key))).await?;
    let mut all = Vec::with_capacity(alerts.len());
    for alert in alerts {
        all.push(shown(tx, alert).await?);
    }
    Ok(all)
}

/// Returns an alert as operations answer it. One on a balance is shown as if what time has
/// brought its customer were applied.
pub(in crate::engine) async fn shown(
    tx: &mut Transaction<'_>,
    mut alert: Alert,
) -> Result<Alert, Error> {
    if let (Scope::Customer { customer_id }, Some(_)) = (alert.scope, alert.condition.ledger()) {
        transitions::apply_for_ledger(tx, customer_id).await?;
        let guard = tx.guard::<CustomerHead>(customer_id).await?;
        let state = guard.get(tx, &schema::balance_alert_state(tx.account, alert.id)).await?;
        alert.show_status(&state.unwrap_or_default().in_alert);
    }
    Ok(alert)
}

/// Returns an alert that exists, on something that is not deleted.
pub(super) async fn alert(tx: &mut Transaction<'_>, id: AlertId) -> Result<Alert, Error> {
    let unknown = || Error::not_found("alert", id);
    let entry = alerts::any(tx, id).await?;
    let entry = entry.filter(|entry| entry.deleted_at.is_none()).ok_or_else(unknown)?;
    let owner = match entry.alert.scope {
        Scope::Subscription { subscription_id, .. } => {
            rows::subscriptions::subscription_entry(tx, subscription_id).await.map(drop)
        }
        Scope::Customer { customer_id } => {
            rows::customers::customer(tx, &customer_id.into()).await.map(drop)
        }
        Scope::Plan { .. } | Scope::Account => Ok(()),
    };
    owner.map_err(|error| if error.is_not_found() { unknown() } else { error })?;
    Ok(entry.alert)
}

/// Checks that what a new alert names is there, and can be watched.
pub(super) async fn check_watched(tx: &mut Transaction<'_>, new: &NewAlert) -> Result<(), Error> {
    rows::prices::check_filters(tx, new.condition.price_filters()).await?;
    if let NewCondition::LicenseBalanceThresholdReached { license_type_id: Some(id) } =
        new.condition
    {
        return rows::licenses::license_type(tx, id).await.map(drop);
    }
    let NewCondition::UsageExceeded { metric_id } = new.condition else { return Ok(()) };
    let metric = rows::metrics::metric(tx, metric_id).await?;
    if metric.status == MetricStatus::Archived {
        return Err(Error::constraint(format!("metric {} is archived", metric.id)));
    }
    Ok(())
}

/// Returns the alerts of an alert's subscription, plan version, account or ledger.
pub(super) async fn siblings(tx: &mut Transaction<'_>, alert: &Alert) -> Result<Vec<Alert>, Error> {
    match alert.scope {
        Scope::Subscription { subscription_id, customer_id } => {
            let entry = rows::subscriptions::subscription_entry(tx, subscription_id).await?;
            alerts::own(tx, customer_id, &entry.alerts).await
        }
        Scope::Plan { plan_id, plan_version } => {
            let version = rows::plans::plan_version(tx, plan_id, plan_version).await?;
            alerts::shared(tx, &version.shared.alerts).await
        }
        Scope::Account => {
            let of_account = Sharer::Account.alerts(tx).await?.alerts;
            alerts::shared(tx, &of_account).await
        }
        Scope::Customer { customer_id } => match alert.condition.ledger() {
            Some(unit) => balance_alerts::balance_alerts_in(tx, customer_id, unit).await,
            None => Ok(Vec::new()),
        },
    }
}

pub(super) async fn require_alerts(tx: &mut Transaction<'_>) -> Result<(), Error> {
    if rows::account::account_entry(tx).await?.configuration.features.alerts {
        return Ok(());
    }
    Err(Error::feature("alerts are not available to this account"))
}

/// Writes an alert. Its fired thresholds are kept by value, so that only so many can be given.
pub(super) async fn save_alert(tx: &mut Transaction<'_>, alert: &Alert) -> Result<(), Error> {
    let before = alerts::entry(tx, alert).await?;
    let old = before.as_ref().map(|before| before.alert.all_threshold_values());
    let old = old.unwrap_or_default();
    let new = alert.all_threshold_values().difference(&old).count();
    let given = before.as_ref().map_or(0, |before| before.given).saturating_add(new);
    if given > limits::THRESHOLDS_OF_A_LIFE {
        let most = limits::THRESHOLDS_OF_A_LIFE;
        let detail = format!("the alert would have had {given} thresholds, at most {most}");
        return Err(Error::constraint(detail));
    }
    alerts::put(tx, &AlertEntry { alert: alert.clone(), given, deleted_at: None }).await
}

/// Writes an alert on a balance, judges it, and moves the head of its customer.
pub(super) async fn save_balance_alert(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    alert: &Alert,
) -> Result<(), Error> {
    save_alert(tx, alert).await?;
    balance_alerts::judge_balance_at_once(tx, customer_id, alert).await?;
    rows::customers::touch(tx, customer_id).await
}

/// Writes a subscription's row and moves the head of its customer.
pub(super) async fn save_watched(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<(), Error> {
    rows::subscriptions::save_subscription(tx, entry).await?;
    rows::customers::touch(tx, entry.subscription.customer_id).await
}

/// Returns an alert as one subscription sees it.
pub(super) fn as_seen_by(entry: &SubscriptionEntry, mut alert: Alert) -> Alert {
    alert.enabled &= !entry.muted.contains(&alert.id);
    alert
}
