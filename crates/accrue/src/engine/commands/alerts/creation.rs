//! Creates alerts on subscriptions, plans and customers.

use crate::{
    AlertId, CustomerId, Error, IdOr, PlanId, SubscriptionId,
    alert::{Alert, NewAlert, NewBalanceAlert, Scope},
    engine::kernel::{Stop, Transaction},
    plan::PlanVersion,
    schema::{self, PlanVersionEntry},
};

pub(super) async fn create_subscription_alert(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    new: &NewAlert,
) -> Result<Alert, Stop> {
    new.check()?;
    tx.require_alerts().await?;
    let mut entry = tx.current_subscription(id).await?;
    tx.check_metric(new).await?;
    tx.check_filters(new.condition.price_filters()).await?;
    let siblings = tx.alerts(&entry.alerts).await?;
    let subscription = &entry.subscription;
    let scope = Scope::Subscription {
        subscription_id: subscription.id,
        customer_id: subscription.customer_id,
    };
    let id = AlertId::generate(tx.now, tx.entropy());
    let alert = new.clone().decide(id, scope, subscription.currency, &siblings, tx.now)?;
    entry.alerts.push(id);
    tx.save_alert(&alert).await?;
    tx.judge_at_once(&entry, &alert, tx.now).await?;
    tx.save_watched(&entry).await?;
    Ok(alert)
}

pub(super) async fn create_plan_alert(
    tx: &mut Transaction<'_>,
    plan: &IdOr<PlanId>,
    version: Option<PlanVersion>,
    new: &NewAlert,
) -> Result<Alert, Stop> {
    new.check()?;
    tx.require_alerts().await?;
    let plan = tx.plan(plan).await?;
    let version = version.unwrap_or(plan.version);
    let entry = tx.get(&schema::plan_version(tx.account, plan.id, version)).await?;
    let PlanVersionEntry { alerts, .. } =
        entry.ok_or_else(|| Error::not_found("plan version", version.number()))?;
    tx.check_metric(new).await?;
    tx.check_filters(new.condition.price_filters()).await?;
    let siblings = tx.alerts(&alerts).await?;
    let id = AlertId::generate(tx.now, tx.entropy());
    let scope = Scope::Plan { plan_id: plan.id, plan_version: version };
    let alert = new.clone().decide(id, scope, plan.currency, &siblings, tx.now)?;
    tx.save_plan_alert(plan.id, version, &alert).await?;
    Ok(alert)
}

pub(super) async fn create_customer_alert(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    new: &NewBalanceAlert,
) -> Result<Alert, Stop> {
    tx.require_alerts().await?;
    let customer_id = tx.customer(customer).await?.id;
    tx.current_head(customer_id).await?;
    let currency = &new.currency;
    let siblings = tx.balance_alerts_in(customer_id, currency).await?;
    let id = AlertId::generate(tx.now, tx.entropy());
    let alert = new.clone().decide(id, customer_id, &siblings, tx.now)?;
    tx.add_balance_alert(customer_id, currency, id).await?;
    tx.save_balance_alert(customer_id, &alert).await?;
    Ok(tx.shown(alert).await?)
}
