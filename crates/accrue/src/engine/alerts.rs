use async_trait::async_trait;

use super::{
    Account, Call, ListFilter,
    apply::{Command, Request, fingerprint},
    lists::page_of,
    unit::{Stop, Unit},
};
use crate::{
    AlertId, CustomerId, Error, IdOr, Page, PageRequest, PlanId, SubscriptionId,
    alert::{Alert, AlertUpdate, NewAlert, NewCondition, Scope},
    idempotency::Fingerprint,
    limits,
    metric::MetricStatus,
    page::Listing,
    plan::PlanVersion,
    schema::{self, AlertEntry, Deadline, Owner, PlanGeneration, PlanRoster},
    subscription::Enrolment,
};

impl Account {
    /// Creates an alert on one subscription (wire 1.3). It is judged at once on the usage that
    /// there is.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where an alert watches the
    /// same usage there already, or the metric is archived.
    pub fn create_subscription_alert(&self, id: SubscriptionId, new: NewAlert) -> Call<Alert> {
        Call::new(self, CreateSubscriptionAlert { id, new })
    }

    /// Creates an alert on the default version of a plan (wire 1.3): it watches each subscription
    /// of that version.
    ///
    /// Each is judged, as of now, when it is next written for or by [`tick`](crate::Billing::tick).
    ///
    /// # Errors
    ///
    /// As [`create_subscription_alert`](Self::create_subscription_alert); also where 10,000 changes
    /// to the alerts of the version wait for a tick.
    pub fn create_plan_alert(&self, plan: impl Into<IdOr<PlanId>>, new: NewAlert) -> Call<Alert> {
        Call::new(self, CreatePlanAlert { plan: plan.into(), version: None, new })
    }

    /// Creates an alert on one version of a plan.
    ///
    /// # Errors
    ///
    /// As [`create_plan_alert`](Self::create_plan_alert).
    pub fn create_plan_version_alert(
        &self,
        plan: impl Into<IdOr<PlanId>>,
        version: PlanVersion,
        new: NewAlert,
    ) -> Call<Alert> {
        Call::new(self, CreatePlanAlert { plan: plan.into(), version: Some(version), new })
    }

    /// Replaces the thresholds of an alert, and the price filters of one on spend (wire 1.5). It is
    /// judged at once: a threshold that has fired in the billing period does not fire again.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where filters are given and it
    /// is no alert on spend, or another alert watches the same there.
    pub fn update_alert(&self, id: AlertId, update: impl Into<AlertUpdate>) -> Call<Alert> {
        Call::new(self, ChangeAlert { id, change: Change::Update(update.into()) })
    }

    /// Enables an alert. It is judged at once.
    pub fn enable_alert(&self, id: AlertId) -> Call<Alert> {
        Call::new(self, ChangeAlert { id, change: Change::Enable })
    }

    /// Disables an alert (§4.2). It fires no more, and saves nothing up.
    pub fn disable_alert(&self, id: AlertId) -> Call<Alert> {
        Call::new(self, ChangeAlert { id, change: Change::Disable })
    }

    /// Enables an alert for one subscription: a plan alert that was disabled for it alone. Answers
    /// the alert as that subscription sees it.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the alert does not
    /// watch that subscription.
    pub fn enable_alert_for(&self, id: AlertId, subscription: SubscriptionId) -> Call<Alert> {
        Call::new(self, ChangeAlertFor { id, subscription, change: ChangeFor::Enable })
    }

    /// Disables an alert for one subscription (§3, §4.2): a plan alert goes on to watch the others.
    /// Answers the alert as that subscription sees it.
    ///
    /// # Errors
    ///
    /// As [`enable_alert_for`](Self::enable_alert_for).
    pub fn disable_alert_for(&self, id: AlertId, subscription: SubscriptionId) -> Call<Alert> {
        Call::new(self, ChangeAlertFor { id, subscription, change: ChangeFor::Disable })
    }

    /// Deletes an alert (wire 1.7): it fires no more and is found no more.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is a plan's: those
    /// can only be disabled.
    pub fn delete_alert(&self, id: AlertId) -> Call<()> {
        Call::new(self, DeleteAlert { id })
    }

    /// Returns an alert.
    pub async fn fetch_alert(&self, id: AlertId) -> Result<Alert, Error> {
        let mut unit = self.reading();
        unit.require_alerts().await?;
        unit.alert(id).await
    }

    /// Lists the alerts on a customer, newest first (wire 1.6): those on its subscriptions are not
    /// among them.
    pub async fn list_customer_alerts(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        filter: ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        self.reading().require_alerts().await?;
        let customer = self.fetch_customer(customer).await?;
        self.page_of_alerts(format!("{} {filter:?}", customer.id), Vec::new(), filter, page)
    }

    /// Lists the alerts that watch a subscription, newest first (wire 1.6): its own, and those of
    /// its plan version as the subscription sees them.
    pub async fn list_subscription_alerts(
        &self,
        id: SubscriptionId,
        filter: ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        let mut unit = self.reading();
        unit.require_alerts().await?;
        let enrolment = unit.enrolment(id).await?;
        let roster = unit.plan_roster_of(&enrolment).await?;
        let own = unit.alerts(&enrolment.alerts).await?;
        let shared = unit.alerts(&roster.alerts).await?.into_iter();
        let shared = shared.map(|alert| as_seen_by(&enrolment, alert));
        let alerts = own.into_iter().chain(shared).collect();
        self.page_of_alerts(format!("{id} {filter:?}"), alerts, filter, page)
    }

    fn page_of_alerts(
        &self,
        filtered: String,
        mut alerts: Vec<Alert>,
        filter: ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        let listing = Listing { name: "alerts", account: self.id(), filter: filtered };
        let before = listing.position(page)?;
        let place = |alert: &Alert| schema::position_of(alert.created_at, alert.id.as_bytes());
        alerts.retain(|alert| filter.created.contains(alert.created_at));
        alerts.sort_by_key(|alert| std::cmp::Reverse(place(alert)));
        let rows = alerts.into_iter().map(|alert| (place(&alert), alert));
        let found = rows.filter(|(place, _)| before.is_none_or(|before| *place < before));
        Ok(page_of(&listing, page.limit(), found.collect()))
    }
}

impl Unit<'_> {
    /// Returns an alert that exists, on something that is not deleted.
    async fn alert(&mut self, id: AlertId) -> Result<Alert, Error> {
        let unknown = || Error::not_found("alert", id);
        let entry = self.get(&schema::alert(self.account, id)).await?;
        let entry = entry.filter(|entry| entry.deleted_at.is_none()).ok_or_else(unknown)?;
        if let Scope::Subscription { subscription_id, .. } = entry.alert.scope {
            self.enrolment(subscription_id)
                .await
                .map_err(|error| if error.is_not_found() { unknown() } else { error })?;
        }
        Ok(entry.alert)
    }

    /// Makes sure that the metric that a new alert is to watch can be.
    async fn check_metric(&mut self, new: &NewAlert) -> Result<(), Error> {
        let NewCondition::UsageExceeded { metric_id } = new.condition else { return Ok(()) };
        let metric = self.metric(metric_id).await?;
        if metric.status == MetricStatus::Archived {
            return Err(Error::constraint(format!("metric {} is archived", metric.id)));
        }
        Ok(())
    }

    /// Returns the alerts of an alert's subscription or plan version.
    async fn siblings(&mut self, alert: &Alert) -> Result<Vec<Alert>, Error> {
        let ids = match alert.scope {
            Scope::Subscription { subscription_id, .. } => {
                self.enrolment(subscription_id).await?.alerts
            }
            Scope::Plan { plan_id, plan_version } => {
                let roster = schema::plan_roster(self.account, plan_id, plan_version);
                self.get(&roster).await?.unwrap_or_default().alerts
            }
        };
        self.alerts(&ids).await
    }

    async fn require_alerts(&mut self) -> Result<(), Error> {
        if self.configuration().await?.features.alerts {
            return Ok(());
        }
        Err(Error::feature("alerts are not available to this account"))
    }

    /// Writes an alert. What of it has fired is kept by value, so that only so many can be given.
    async fn save_alert(&mut self, alert: &Alert) -> Result<(), Error> {
        let slot = schema::alert(self.account, alert.id);
        let before = self.get(&slot).await?;
        let old = before.as_ref().map_or(&[][..], |before| before.alert.thresholds.values());
        let values = alert.thresholds.values();
        let new = values.iter().filter(|value| !old.contains(value)).count();
        let given = before.as_ref().map_or(0, |before| before.given).saturating_add(new);
        if given > limits::THRESHOLDS_OF_A_LIFE {
            let most = limits::THRESHOLDS_OF_A_LIFE;
            let detail = format!("the alert would have had {given} thresholds, at most {most}");
            return Err(Error::constraint(detail));
        }
        self.put(&slot, &AlertEntry { alert: alert.clone(), given, deleted_at: None })
    }

    /// Writes a subscription's row and moves the head of its customer.
    async fn save_watched(&mut self, enrolment: &Enrolment) -> Result<(), Error> {
        let id = enrolment.subscription.id;
        self.put(&schema::subscription(self.account, id), enrolment)?;
        self.touch(enrolment.subscription.customer_id).await
    }

    /// Writes an alert of a plan version, and the change that its subscriptions have to settle.
    async fn save_plan_alert(
        &mut self,
        plan_id: PlanId,
        version: PlanVersion,
        alert: &Alert,
    ) -> Result<(), Error> {
        let slot = schema::plan_roster(self.account, plan_id, version);
        let mut roster = self.get(&slot).await?.unwrap_or_default();
        if roster.generation.saturating_sub(roster.settled) >= limits::UNSETTLED_CHANGES {
            let most = limits::UNSETTLED_CHANGES;
            let detail = format!("{most} changes to the alerts of the version wait for a tick");
            return Err(Error::constraint(detail));
        }
        roster.generation = roster.generation.saturating_add(1);
        if !roster.alerts.contains(&alert.id) {
            roster.alerts.push(alert.id);
        }
        let owner = Owner::Plan(plan_id, version);
        if let Some(at) = roster.deadline.replace(self.now) {
            self.delete(&schema::deadline(at, self.account, owner));
        }
        let at = self.now;
        let deadline = Deadline { at, account: self.account.clone(), owner, cursor: None };
        self.put(&schema::deadline(at, self.account, owner), &deadline)?;
        let number = roster.generation;
        let before = self.get(&schema::alert(self.account, alert.id)).await?;
        let before = before.map(|before| before.alert);
        let generation = PlanGeneration { at, alert: alert.clone(), before };
        let place = schema::plan_generation(self.account, plan_id, version, number);
        self.put(&place, &generation)?;
        self.put(&slot, &roster)?;
        self.save_alert(alert).await
    }
}

/// An alert as one subscription sees it.
fn as_seen_by(enrolment: &Enrolment, mut alert: Alert) -> Alert {
    alert.enabled &= !enrolment.muted.contains(&alert.id);
    alert
}

struct CreateSubscriptionAlert {
    id: SubscriptionId,
    new: NewAlert,
}

#[async_trait]
impl Command for CreateSubscriptionAlert {
    type Outcome = Alert;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Alert, Stop> {
        self.new.check()?;
        unit.require_alerts().await?;
        let mut enrolment = unit.settled_enrolment(self.id).await?;
        unit.check_metric(&self.new).await?;
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

struct CreatePlanAlert {
    plan: IdOr<PlanId>,
    version: Option<PlanVersion>,
    new: NewAlert,
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

/// A change to an alert as a whole.
#[derive(Clone, serde::Serialize)]
enum Change {
    Update(AlertUpdate),
    Enable,
    Disable,
}

struct ChangeAlert {
    id: AlertId,
    change: Change,
}

impl Change {
    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Update(update) => update.check(),
            Self::Enable | Self::Disable => Ok(()),
        }
    }

    async fn apply(&self, alert: Alert, unit: &mut Unit<'_>) -> Result<Alert, Error> {
        match self {
            Self::Update(update) => {
                let siblings = unit.siblings(&alert).await?;
                update.clone().decide(alert, &siblings)
            }
            Self::Enable => Ok(Alert { enabled: true, ..alert }),
            Self::Disable => Ok(Alert { enabled: false, ..alert }),
        }
    }
}

#[async_trait]
impl Command for ChangeAlert {
    type Outcome = Alert;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Alert, Stop> {
        self.change.check()?;
        unit.require_alerts().await?;
        let before = unit.alert(self.id).await?;
        let alert = self.change.apply(before.clone(), unit).await?;
        if alert == before {
            return Ok(alert);
        }
        match alert.scope {
            Scope::Plan { plan_id, plan_version } => {
                unit.save_plan_alert(plan_id, plan_version, &alert).await?;
            }
            Scope::Subscription { subscription_id, .. } => {
                let enrolment = unit.settled_enrolment(subscription_id).await?;
                unit.save_alert(&alert).await?;
                unit.judge_at_once(&enrolment, &alert, unit.now).await?;
                unit.save_watched(&enrolment).await?;
            }
        }
        Ok(alert)
    }
}

impl Request for ChangeAlert {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("change_alert", &(self.id, &self.change))
    }
}

/// A change to what one subscription sees of an alert.
#[derive(Clone, Copy, serde::Serialize)]
enum ChangeFor {
    Enable,
    Disable,
}

struct ChangeAlertFor {
    id: AlertId,
    subscription: SubscriptionId,
    change: ChangeFor,
}

#[async_trait]
impl Command for ChangeAlertFor {
    type Outcome = Alert;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Alert, Stop> {
        unit.require_alerts().await?;
        let alert = unit.alert(self.id).await?;
        let mut enrolment = unit.settled_enrolment(self.subscription).await?;
        if enrolment.alerts.contains(&self.id) {
            let whole = match self.change {
                ChangeFor::Enable => Change::Enable,
                ChangeFor::Disable => Change::Disable,
            };
            return ChangeAlert { id: self.id, change: whole }.run(unit).await;
        }
        if !unit.plan_roster_of(&enrolment).await?.alerts.contains(&self.id) {
            let detail =
                format!("alert {} does not watch subscription {}", self.id, self.subscription);
            return Err(Error::constraint(detail).into());
        }
        let changed = match self.change {
            ChangeFor::Enable => enrolment.muted.remove(&self.id),
            ChangeFor::Disable => enrolment.muted.insert(self.id),
        };
        let seen = as_seen_by(&enrolment, alert);
        if changed {
            unit.judge_at_once(&enrolment, &seen, unit.now).await?;
            unit.save_watched(&enrolment).await?;
        }
        Ok(seen)
    }
}

impl Request for ChangeAlertFor {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("change_alert_for", &(self.id, self.subscription, self.change))
    }
}

struct DeleteAlert {
    id: AlertId,
}

#[async_trait]
impl Command for DeleteAlert {
    type Outcome = ();

    async fn run(&self, unit: &mut Unit<'_>) -> Result<(), Stop> {
        unit.require_alerts().await?;
        let alert = unit.alert(self.id).await?;
        let Scope::Subscription { subscription_id, .. } = alert.scope else {
            let detail = "an alert of a plan can be disabled and not deleted";
            return Err(Error::constraint(detail).into());
        };
        let mut enrolment = unit.settled_enrolment(subscription_id).await?;
        enrolment.alerts.retain(|id| *id != self.id);
        let slot = schema::alert(unit.account, self.id);
        let before = unit.get(&slot).await?;
        let given = before.map_or(0, |before| before.given);
        unit.put(&slot, &AlertEntry { alert, given, deleted_at: Some(unit.now) })?;
        unit.save_watched(&enrolment).await?;
        Ok(())
    }
}

impl Request for DeleteAlert {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("delete_alert", &self.id)
    }
}
