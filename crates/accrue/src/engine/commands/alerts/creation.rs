//! Creates alerts on subscriptions, plans, accounts and customers.

use crate::{
    AlertId, CustomerId, IdOr, PlanId, SubscriptionId,
    alert::{Alert, NewAlert, NewBalanceAlert, Scope},
    engine::{
        commands::alerts::{shared, stored},
        kernel::{Stop, Transaction, boxed},
        rows::{self, balance_alerts, shared_alerts::Sharer},
        time::{current, judge, metering},
    },
    plan::PlanVersion,
    schema::PlanVersionEntry,
};

#[boxed]
pub(super) async fn create_subscription_alert(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    new: &NewAlert,
) -> Result<Alert, Stop> {
    new.check()?;
    stored::require_alerts(tx).await?;
    let mut entry = current::current_subscription(tx, id).await?;
    stored::check_watched(tx, new).await?;
    let siblings = rows::alerts::own(tx, entry.subscription.customer_id, &entry.alerts).await?;
    let subscription = &entry.subscription;
    let scope = Scope::Subscription {
        subscription_id: subscription.id,
        customer_id: subscription.customer_id,
    };
    let id = AlertId::generate(tx.now, tx.entropy());
    let mut alert =
        new.clone().decide(id, scope, Some(subscription.currency), &siblings, tx.now)?;
    if alert.condition.is_on_groups() {
        let card = rows::prices::card(tx, &entry).await?;
        metering::check_watched(tx, &alert.condition.watched_meters(&card, 0)).await?;
    }
    entry.alerts.push(id);
    stored::save_alert(tx, &alert).await?;
    alert.enabled &= !judge::judge_at_once(tx, &mut entry, &alert, tx.now).await?;
    stored::save_watched(tx, &entry).await?;
    Ok(alert)
}

#[boxed]
pub(super) async fn create_plan_alert(
    tx: &mut Transaction<'_>,
    plan: &IdOr<PlanId>,
    version: Option<PlanVersion>,
    new: &NewAlert,
) -> Result<Alert, Stop> {
    new.check_for_plan()?;
    stored::require_alerts(tx).await?;
    let plan = rows::plans::plan(tx, plan).await?;
    let version = version.unwrap_or(plan.version);
    let PlanVersionEntry { shared, prices, .. } =
        rows::plans::plan_version(tx, plan.id, version).await?;
    stored::check_watched(tx, new).await?;
    let siblings = rows::alerts::shared(tx, &shared.alerts).await?;
    let id = AlertId::generate(tx.now, tx.entropy());
    let scope = Scope::Plan { plan_id: plan.id, plan_version: version };
    let alert = new.clone().decide(id, scope, Some(plan.currency), &siblings, tx.now)?;
    if alert.condition.is_on_groups() {
        let prices = rows::prices::prices(tx, &prices).await?;
        metering::check_watched(tx, &alert.condition.watched_of(&prices, plan.currency)).await?;
    }
    shared::save_shared_alert(tx, Sharer::Plan(plan.id, version), &alert).await?;
    Ok(alert)
}

#[boxed]
pub(super) async fn create_account_alert(
    tx: &mut Transaction<'_>,
    new: &NewAlert,
) -> Result<Alert, Stop> {
    new.check_for_account()?;
    stored::require_alerts(tx).await?;
    stored::check_watched(tx, new).await?;
    let siblings = Sharer::Account.alerts(tx).await?.alerts;
    let siblings = rows::alerts::shared(tx, &siblings).await?;
    let id = AlertId::generate(tx.now, tx.entropy());
    let alert = new.clone().decide(id, Scope::Account, None, &siblings, tx.now)?;
    shared::save_shared_alert(tx, Sharer::Account, &alert).await?;
    Ok(alert)
}

#[boxed]
pub(super) async fn create_customer_alert(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    new: &NewBalanceAlert,
) -> Result<Alert, Stop> {
    stored::require_alerts(tx).await?;
    let customer_id = rows::customers::customer(tx, customer).await?.id;
    current::current_head(tx, customer_id).await?;
    let currency = &new.currency;
    let siblings = balance_alerts::balance_alerts_in(tx, customer_id, currency).await?;
    let id = AlertId::generate(tx.now, tx.entropy());
    let alert = new.clone().decide(id, customer_id, &siblings, tx.now)?;
    balance_alerts::add_balance_alert(tx, customer_id, currency, id).await?;
    stored::save_balance_alert(tx, customer_id, &alert).await?;
    Ok(stored::shown(tx, alert).await?)
}
