use async_trait::async_trait;

use crate::{
    AlertId, CustomerId, Error, IdOr, PlanId, SubscriptionId,
    alert::{Alert, NewAlert, NewBalanceAlert, Scope},
    engine::{
        apply::{Command, Request, fingerprint},
        unit::{Stop, Unit},
    },
    idempotency::Fingerprint,
    plan::PlanVersion,
    schema::{self, PlanRoster},
};

pub(super) struct CreateSubscriptionAlert {
    pub(super) id: SubscriptionId,
    pub(super) new: NewAlert,
}

#[async_trait]
impl Command for CreateSubscriptionAlert {
    type Outcome = Alert;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Alert, Stop> {
        self.new.check()?;
        unit.require_alerts().await?;
        let mut enrolment = unit.settled_enrolment(self.id).await?;
        unit.check_metric(&self.new).await?;
        unit.check_filters(self.new.condition.price_filters()).await?;
        let siblings = unit.alerts(&enrolment.alerts).await?;
        let id = AlertId::generate(unit.now, unit.entropy());
        let customer_id = enrolment.subscription.customer_id;
        let scope = Scope::Subscription { subscription_id: self.id, customer_id };
        let invoiced_in = enrolment.subscription.currency;
        let alert = self.new.clone().decide(id, scope, invoiced_in, &siblings, unit.now)?;
        enrolment.alerts.push(id);
        unit.save_alert(&alert).await?;
        unit.judge_at_once(&enrolment, &alert, unit.now).await?;
        unit.save_watched(&enrolment).await?;
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

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Alert, Stop> {
        self.new.check()?;
        unit.require_alerts().await?;
        let plan = unit.plan(&self.plan).await?;
        let version = self.version.unwrap_or(plan.version);
        let roster = unit.get(&schema::plan_roster(unit.account, plan.id, version)).await?;
        let PlanRoster { alerts, .. } =
            roster.ok_or_else(|| Error::not_found("plan version", version.number()))?;
        unit.check_metric(&self.new).await?;
        unit.check_filters(self.new.condition.price_filters()).await?;
        let siblings = unit.alerts(&alerts).await?;
        let id = AlertId::generate(unit.now, unit.entropy());
        let scope = Scope::Plan { plan_id: plan.id, plan_version: version };
        let alert = self.new.clone().decide(id, scope, plan.currency, &siblings, unit.now)?;
        unit.save_plan_alert(plan.id, version, &alert).await?;
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

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Alert, Stop> {
        unit.require_alerts().await?;
        let customer_id = unit.customer(&self.customer).await?.id;
        unit.settled_head(customer_id).await?;
        let currency = &self.new.currency;
        let siblings = unit.balance_alerts_in(customer_id, currency).await?;
        let id = AlertId::generate(unit.now, unit.entropy());
        let alert = self.new.clone().decide(id, customer_id, &siblings, unit.now)?;
        unit.add_balance_alert(customer_id, currency, id).await?;
        unit.save_balance_alert(customer_id, &alert).await?;
        Ok(unit.shown(alert).await?)
    }
}

impl Request for CreateCustomerAlert {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_customer_alert", &(&self.customer, &self.new))
    }
}
