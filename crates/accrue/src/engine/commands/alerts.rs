//! Alerts on usage, cost and spend, and on balances: operations and lists.

mod changes;
mod creation;
mod plan;

use std::{collections::BTreeSet, fmt};

use self::{
    changes::{Change, ChangeFor, change_alert, change_alert_for, delete_alert},
    creation::{create_customer_alert, create_plan_alert, create_subscription_alert},
};
use crate::{
    AlertId, CustomerId, Error, IdOr, ListFilter, Page, PageRequest, PlanId, SubscriptionId,
    alert::{
        Alert, AlertUpdate, FilterValues, NewAlert, NewBalanceAlert, NewCondition, PriceFilter,
        Scope,
    },
    engine::{
        Account, Call,
        kernel::{Op, Transaction},
        rows::lists::page_in_order,
    },
    limits,
    metric::MetricStatus,
    page::Listing,
    plan::PlanVersion,
    schema::{self, AlertEntry, Slot},
    subscription::SubscriptionEntry,
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
        Call::new(
            self,
            Op::new("create_subscription_alert", (id, new), |tx, (id, new)| {
                Box::pin(create_subscription_alert(tx, *id, new))
            }),
        )
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
        Call::new(
            self,
            Op::new("create_plan_alert", (plan.into(), None, new), |tx, (plan, version, new)| {
                Box::pin(create_plan_alert(tx, plan, *version, new))
            }),
        )
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
        Call::new(
            self,
            Op::new(
                "create_plan_alert",
                (plan.into(), Some(version), new),
                |tx, (plan, version, new)| Box::pin(create_plan_alert(tx, plan, *version, new)),
            ),
        )
    }

    /// Creates an alert on what a customer has of credits in one currency or pricing unit (wire
    /// 1.3). It is judged at once on the balance that there is.
    ///
    /// The customer need not have credits in it yet: without a ledger there is no balance, and
    /// nothing fires.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the customer has an
    /// alert of that kind on that currency already (wire 1.4), or credits and alerts on them in
    /// [100](crate::limits::LEDGERS) currencies and pricing units.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Email, Name, customer::NewCustomer, store::MemoryStore};
    /// use accrue::{Decimal, PricingUnit, alert::{NewBalanceAlert, Thresholds}};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let low = Thresholds::new([Decimal::from(100), Decimal::from(20)])?;
    /// let new = NewBalanceAlert::credit_balance_dropped(PricingUnit::parse("credits")?, low);
    /// let alert = account.create_customer_alert(ada.id, new).await?;
    /// assert!(alert.balance_alert_status.iter().all(|status| !status.in_alert));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_customer_alert(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        new: NewBalanceAlert,
    ) -> Call<Alert> {
        Call::new(
            self,
            Op::new("create_customer_alert", (customer.into(), new), |tx, (customer, new)| {
                Box::pin(create_customer_alert(tx, customer, new))
            }),
        )
    }

    /// Replaces the thresholds of an alert, and the price filters of one on spend (wire 1.5). It is
    /// judged at once: a threshold that has fired in the billing period does not fire again, and
    /// one of a balance that is in alert does not either.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is an alert without
    /// thresholds, filters are given and it is no alert on spend, or another alert watches the same
    /// there.
    pub fn update_alert(&self, id: AlertId, update: impl Into<AlertUpdate>) -> Call<Alert> {
        self.change_alert(id, Change::Update(update.into()))
    }

    /// Enables an alert. It is judged at once.
    pub fn enable_alert(&self, id: AlertId) -> Call<Alert> {
        self.change_alert(id, Change::Enable)
    }

    /// Disables an alert (§4.2). It fires no more, and saves nothing up.
    pub fn disable_alert(&self, id: AlertId) -> Call<Alert> {
        self.change_alert(id, Change::Disable)
    }

    /// Enables an alert for one subscription: a plan alert that was disabled for it alone. Answers
    /// the alert as that subscription sees it.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the alert does not
    /// watch that subscription.
    pub fn enable_alert_for(&self, id: AlertId, subscription: SubscriptionId) -> Call<Alert> {
        self.change_alert_for(id, subscription, ChangeFor::Enable)
    }

    /// Disables an alert for one subscription (§3, §4.2): a plan alert goes on to watch the others.
    /// Answers the alert as that subscription sees it.
    ///
    /// # Errors
    ///
    /// As [`enable_alert_for`](Self::enable_alert_for).
    pub fn disable_alert_for(&self, id: AlertId, subscription: SubscriptionId) -> Call<Alert> {
        self.change_alert_for(id, subscription, ChangeFor::Disable)
    }

    /// Deletes an alert (wire 1.7): it fires no more and is found no more.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is a plan's: those
    /// can only be disabled.
    pub fn delete_alert(&self, id: AlertId) -> Call<()> {
        Call::new(self, Op::new("delete_alert", id, |tx, id| Box::pin(delete_alert(tx, *id))))
    }

    /// Returns an alert.
    pub async fn fetch_alert(&self, id: AlertId) -> Result<Alert, Error> {
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            tx.require_alerts().await?;
            let alert = tx.alert(id).await?;
            let alert = tx.shown(alert).await?;
            if tx.holds().await? {
                return Ok(alert);
            }
        }
        Err(Error::contended())
    }

    /// Lists the alerts on a customer, newest first (wire 1.6): those on its subscriptions are not
    /// among them.
    pub async fn list_customer_alerts(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        let customer = customer.into();
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            tx.require_alerts().await?;
            let customer = tx.customer(&customer).await?;
            let alerts = tx.balance_alerts(customer.id).await?;
            let filtered = format!("{} {filter:?}", customer.id);
            let Page { data, next_cursor } = self.page_of_alerts(filtered, alerts, filter, page)?;
            let data = tx.shown_all(data).await?;
            if tx.holds().await? {
                return Ok(Page { data, next_cursor });
            }
        }
        Err(Error::contended())
    }

    /// Lists the alerts that watch a subscription, newest first (wire 1.6): its own, and those of
    /// its plan version as the subscription sees them.
    pub async fn list_subscription_alerts(
        &self,
        id: SubscriptionId,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        let mut tx = self.reading();
        tx.require_alerts().await?;
        let entry = tx.subscription_entry(id).await?;
        let version = tx.plan_version_of(&entry).await?;
        let own = tx.alerts(&entry.alerts).await?;
        let shared = tx.alerts(&version.alerts).await?.into_iter();
        let shared = shared.map(|alert| as_seen_by(&entry, alert));
        let alerts = own.into_iter().chain(shared).collect();
        self.page_of_alerts(format!("{id} {filter:?}"), alerts, filter, page)
    }

    fn change_alert(&self, id: AlertId, change: Change) -> Call<Alert> {
        Call::new(
            self,
            Op::new("change_alert", (id, change), |tx, (id, change)| {
                Box::pin(change_alert(tx, *id, change))
            }),
        )
    }

    fn change_alert_for(
        &self,
        id: AlertId,
        subscription: SubscriptionId,
        change: ChangeFor,
    ) -> Call<Alert> {
        Call::new(
            self,
            Op::new("change_alert_for", (id, subscription, change), |tx, (id, of, change)| {
                Box::pin(change_alert_for(tx, *id, *of, *change))
            }),
        )
    }

    fn page_of_alerts(
        &self,
        filtered: String,
        mut alerts: Vec<Alert>,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        let listing = Listing { name: "alerts", account: self.id(), filter: filtered };
        alerts.retain(|alert| filter.created.contains(alert.created_at));
        let place = |alert: &Alert| schema::position_of(alert.created_at, alert.id.as_bytes());
        page_in_order(&listing, page, page.rows()?, alerts.into_iter().map(|of| (place(&of), of)))
    }
}

impl Transaction<'_> {
    /// Returns alerts as operations answer them: those on a balance with their status.
    pub(in crate::engine) async fn shown_all(
        &mut self,
        alerts: Vec<Alert>,
    ) -> Result<Vec<Alert>, Error> {
        let on_balance = alerts.iter().filter(|alert| alert.condition.ledger().is_some());
        let states = on_balance.map(|alert| schema::balance_alert_state(self.account, alert.id));
        let states: Vec<_> = states.collect();
        self.fetch(states.iter().map(Slot::key).collect::<Vec<_>>()).await?;
        let mut shown = Vec::with_capacity(alerts.len());
        for alert in alerts {
            shown.push(self.shown(alert).await?);
        }
        Ok(shown)
    }

    /// Returns an alert as operations answer it. One on a balance is shown as if what time has
    /// brought its customer were applied.
    pub(in crate::engine) async fn shown(&mut self, mut alert: Alert) -> Result<Alert, Error> {
        if let (Scope::Customer { customer_id }, Some(currency)) =
            (alert.scope, alert.condition.ledger())
        {
            self.get(&schema::customer_head(self.account, customer_id)).await?;
            self.expire_ledger(customer_id, currency).await?;
            let state = self.get(&schema::balance_alert_state(self.account, alert.id)).await?;
            alert.show_status(&state.unwrap_or_default().in_alert);
        }
        Ok(alert)
    }

    /// Returns an alert that exists, on something that is not deleted.
    async fn alert(&mut self, id: AlertId) -> Result<Alert, Error> {
        let unknown = || Error::not_found("alert", id);
        let entry = self.get(&schema::alert(self.account, id)).await?;
        let entry = entry.filter(|entry| entry.deleted_at.is_none()).ok_or_else(unknown)?;
        let owner = match entry.alert.scope {
            Scope::Subscription { subscription_id, .. } => {
                self.subscription_entry(subscription_id).await.map(drop)
            }
            Scope::Customer { customer_id } => self.customer(&customer_id.into()).await.map(drop),
            Scope::Plan { .. } => Ok(()),
        };
        owner.map_err(|error| if error.is_not_found() { unknown() } else { error })?;
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

    /// Makes sure that what the price filters of an alert name is there: a filter by a mistyped id would
    /// let the alert never fire.
    async fn check_filters(&mut self, filters: &[PriceFilter]) -> Result<(), Error> {
        let account = self.account;
        for filter in filters {
            match &filter.values {
                FilterValues::PriceId(ids) => {
                    let slots: Vec<_> = ids.iter().map(|id| schema::price(account, *id)).collect();
                    check_there("price", ids, self.get_all(&slots).await?)?;
                }
                FilterValues::ItemId(ids) => {
                    let slots: Vec<_> = ids.iter().map(|id| schema::item(account, *id)).collect();
                    check_there("item", ids, self.get_all(&slots).await?)?;
                }
                FilterValues::PriceType(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the alerts of an alert's subscription, plan version or ledger.
    async fn siblings(&mut self, alert: &Alert) -> Result<Vec<Alert>, Error> {
        let ids = match alert.scope {
            Scope::Subscription { subscription_id, .. } => {
                self.subscription_entry(subscription_id).await?.alerts
            }
            Scope::Plan { plan_id, plan_version } => {
                let version = schema::plan_version(self.account, plan_id, plan_version);
                self.get(&version).await?.unwrap_or_default().alerts
            }
            Scope::Customer { customer_id } => match alert.condition.ledger() {
                Some(tx) => return self.balance_alerts_in(customer_id, tx).await,
                None => Vec::new(),
            },
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
        let old = before.as_ref().map_or(&[][..], |before| before.alert.threshold_values());
        let values = alert.threshold_values();
        let new = values.iter().filter(|value| !old.contains(value)).count();
        let given = before.as_ref().map_or(0, |before| before.given).saturating_add(new);
        if given > limits::THRESHOLDS_OF_A_LIFE {
            let most = limits::THRESHOLDS_OF_A_LIFE;
            let detail = format!("the alert would have had {given} thresholds, at most {most}");
            return Err(Error::constraint(detail));
        }
        self.put(&slot, &AlertEntry { alert: alert.clone(), given, deleted_at: None })
    }

    /// Writes an alert on a balance, judges it, and moves the head of its customer.
    async fn save_balance_alert(
        &mut self,
        customer_id: CustomerId,
        alert: &Alert,
    ) -> Result<(), Error> {
        self.save_alert(alert).await?;
        self.judge_balance_at_once(customer_id, alert).await?;
        self.touch(customer_id).await
    }

    /// Writes a subscription's row and moves the head of its customer.
    async fn save_watched(&mut self, entry: &SubscriptionEntry) -> Result<(), Error> {
        self.save_subscription(entry)?;
        self.touch(entry.subscription.customer_id).await
    }
}

/// Makes sure that each of some resources was found.
fn check_there<I: fmt::Display, T>(
    what: &str,
    ids: &BTreeSet<I>,
    found: Vec<Option<T>>,
) -> Result<(), Error> {
    match ids.iter().zip(found).find(|(_, found)| found.is_none()) {
        Some((id, _)) => Err(Error::not_found(what, id)),
        None => Ok(()),
    }
}

/// An alert as one subscription sees it.
fn as_seen_by(entry: &SubscriptionEntry, mut alert: Alert) -> Alert {
    alert.enabled &= !entry.muted.contains(&alert.id);
    alert
}
