//! Creates alerts on subscriptions, plans and customers.

use async_trait::async_trait;

use crate::{
    AlertId, CustomerId, Error, IdOr, PlanId, SubscriptionId,
    alert::{Alert, NewAlert, NewBalanceAlert, Scope},
    engine::{
        apply::{Command, Request, fingerprint},
        transaction::{Stop, Transaction},
    },
    idempotency::Fingerprint,
    plan::PlanVersion,
    schema::{self, PlanVersionEntry},
};

pub(super) struct CreateSubscriptionAlert {
    pub(super) id: SubscriptionId,
    pub(super) new: NewAlert,
}

#[async_trait]
impl Command for CreateSubscriptionAlert {
    type Outcome = Alert;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Alert, Stop> {
        self.new.check()?;
        tx.require_alerts().await?;
        let mut entry = tx.current_subscription(self.id).await?;
        tx.check_metric(&self.new).await?;
        tx.check_filters(self.new.condition.price_filters()).await?;
        let siblings = tx.alerts(&entry.alerts).await?;
        let id = AlertId::generate(tx.now, tx.entropy());
        let customer_id = entry.subscription.customer_id;
        let scope = Scope::Subscription { subscription_id: self.id, customer_id };
        let invoiced_in = entry.subscription.currency;
        let alert = self.new.clone().decide(id, scope, invoiced_in, &siblings, tx.now)?;
        entry.alerts.push(id);
        tx.save_alert(&alert).await?;
        tx.judge_at_once(&entry, &alert, tx.now).await?;
        tx.save_watched(&entry).await?;
        Ok(alert)
    }
}

impl Request for CreateSubscriptionAlert {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_subscription_alert", &(self.id, &self.new))
    }
}

pub(super) struct CreatePlanAlert {
    pub(super) plan: IdOr<PlanId>,
    pub(super) version: Option<PlanVersion>,
    pub(super) new: NewAlert,
}

#[async_trait]
impl Command for CreatePlanAlert {
    type Outcome = Alert;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Alert, Stop> {
        self.new.check()?;
        tx.require_alerts().await?;
        let plan = tx.plan(&self.plan).await?;
        let version = self.version.unwrap_or(plan.version);
        let entry = tx.get(&schema::plan_version(tx.account, plan.id, version)).await?;
        let PlanVersionEntry { alerts, .. } =
            entry.ok_or_else(|| Error::not_found("plan version", version.number()))?;
        tx.check_metric(&self.new).await?;
        tx.check_filters(self.new.condition.price_filters()).await?;
        let siblings = tx.alerts(&alerts).await?;
        let id = AlertId::generate(tx.now, tx.entropy());
        let scope = Scope::Plan { plan_id: plan.id, plan_version: version };
        let alert = self.new.clone().decide(id, scope, plan.currency, &siblings, tx.now)?;
        tx.save_plan_alert(plan.id, version, &alert).await?;
        Ok(alert)
    }
}

impl Request for CreatePlanAlert {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_plan_alert", &(&self.plan, self.version, &self.new))
    }
}

pub(super) struct CreateCustomerAlert {
    pub(super) customer: IdOr<CustomerId>,
    pub(super) new: NewBalanceAlert,
}

#[async_trait]
impl Command for CreateCustomerAlert {
    type Outcome = Alert;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Alert, Stop> {
        tx.require_alerts().await?;
        let customer_id = tx.customer(&self.customer).await?.id;
        tx.current_head(customer_id).await?;
        let currency = &self.new.currency;
        let siblings = tx.balance_alerts_in(customer_id, currency).await?;
        let id = AlertId::generate(tx.now, tx.entropy());
        let alert = self.new.clone().decide(id, customer_id, &siblings, tx.now)?;
        tx.add_balance_alert(customer_id, currency, id).await?;
        tx.save_balance_alert(customer_id, &alert).await?;
        Ok(tx.shown(alert).await?)
    }
}

impl Request for CreateCustomerAlert {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_customer_alert", &(&self.customer, &self.new))
    }
}
