//! Alerts on usage, cost and spend, and on balances: operations and lists.

mod changes;
mod creation;
mod shared;
mod stored;

pub(in crate::engine) use self::stored::{shown, shown_all};

use self::{
    changes::{Change, ChangeFor, change_alert, change_alert_for, delete_alert},
    creation::{
        create_account_alert, create_customer_alert, create_plan_alert, create_subscription_alert,
    },
};
use crate::{
    AlertId, CustomerId, Error, IdOr, ListFilter, Page, PageRequest, PlanId, SubscriptionId,
    alert::{Alert, AlertUpdate, NewAlert, NewBalanceAlert},
    engine::{
        Account, Call,
        kernel::{Op, Transaction, boxed},
        rows::{self, balance_alerts, lists::page_in_order},
    },
    page::Listing,
    plan::PlanVersion,
    schema,
};

impl Account {
    /// Creates an alert on one subscription (wire 1.3). It is judged at once on the current usage.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where an alert watches the
    /// same usage there already, or the metric is archived.
    pub fn create_subscription_alert(&self, id: SubscriptionId, new: NewAlert) -> Call<Alert> {
        Call::new(
            self,
            Op::new("create_subscription_alert", (id, new), |tx, (id, new)| {
                create_subscription_alert(tx, *id, new)
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
                create_plan_alert(tx, plan, *version, new)
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
                |tx, (plan, version, new)| create_plan_alert(tx, plan, *version, new),
            ),
        )
    }

    /// Creates an alert on the pools of licenses of every subscription of the account (subscriptions 7.6), those that are
    /// made later too, and those without a plan.
    ///
    /// Each subscription is judged, as of now, when it is next written for or by [`tick`](crate::Billing::tick).
    ///
    /// ```
    /// # use accrue::{Account, Decimal, Error, alert::{NewAlert, Scope, Thresholds}};
    /// # async fn warn(account: &Account) -> Result<(), Error> {
    /// let percents = Thresholds::new([75, 100].map(Decimal::from))?;
    /// let new = NewAlert::license_balance_threshold_reached(None, percents);
    /// let alert = account.create_account_alert(new).await?;
    /// assert_eq!(alert.scope, Scope::Account);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`create_plan_alert`](Self::create_plan_alert); also for an alert on something else than the pools of licenses.
    pub fn create_account_alert(&self, new: NewAlert) -> Call<Alert> {
        Call::new(
            self,
            Op::new("create_account_alert", new, |tx, new| create_account_alert(tx, new)),
        )
    }

    /// Creates an alert on the credit balance of a customer in one currency or pricing unit
    /// (wire 1.3). It is judged at once on the balance that there is.
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
                create_customer_alert(tx, customer, new)
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

    /// Enables an alert for one subscription: a plan alert that was disabled for it alone. Returns
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
    /// Returns the alert as that subscription sees it.
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
        Call::new(self, Op::new("delete_alert", id, |tx, id| delete_alert(tx, *id)))
    }

    /// Returns an alert.
    pub async fn fetch_alert(&self, id: AlertId) -> Result<Alert, Error> {
        let find = |mut tx| async move {
            let found = shown_alert(&mut tx, id).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Lists the alerts on a customer, newest first (wire 1.6): those on its subscriptions are not
    /// among them.
    pub async fn list_customer_alerts(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        let customer = &customer.into();
        let find = |mut tx| async move {
            let found = self.customer_alerts(&mut tx, customer, filter, page).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Lists the alerts that watch a subscription, newest first (wire 1.6): its own, and those of
    /// its plan version as the subscription sees them.
    pub async fn list_subscription_alerts(
        &self,
        id: SubscriptionId,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        let find = |mut tx| async move {
            let found = subscription_alerts(&mut tx, id).await;
            (tx, found)
        };
        let alerts = self.at_one_instant(find).await?;
        self.page_of_alerts(format!("{id} {filter:?}"), alerts, filter, page)
    }

    #[boxed]
    async fn customer_alerts(
        &self,
        tx: &mut Transaction<'_>,
        customer: &IdOr<CustomerId>,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Alert>, Error> {
        stored::require_alerts(tx).await?;
        let customer = rows::customers::customer(tx, customer).await?;
        let alerts = balance_alerts::balance_alerts(tx, customer.id).await?;
        let filtered = format!("{} {filter:?}", customer.id);
        let Page { data, next_cursor } = self.page_of_alerts(filtered, alerts, filter, page)?;
        Ok(Page { data: shown_all(tx, data).await?, next_cursor })
    }

    fn change_alert(&self, id: AlertId, change: Change) -> Call<Alert> {
        Call::new(
            self,
            Op::new("change_alert", (id, change), |tx, (id, change)| change_alert(tx, *id, change)),
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
                change_alert_for(tx, *id, *of, *change)
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

#[boxed]
async fn shown_alert(tx: &mut Transaction<'_>, id: AlertId) -> Result<Alert, Error> {
    stored::require_alerts(tx).await?;
    let alert = stored::alert(tx, id).await?;
    shown(tx, alert).await
}

/// Returns the alerts that watch a subscription, as it sees them.
#[boxed]
async fn subscription_alerts(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
) -> Result<Vec<Alert>, Error> {
    stored::require_alerts(tx).await?;
    let entry = rows::subscriptions::subscription_entry(tx, id).await?;
    let own = rows::alerts::own(tx, entry.subscription.customer_id, &entry.alerts).await?;
    let shared = rows::shared_alerts::of(tx, &entry).await?.into_iter();
    let shared = shared.map(|alert| stored::as_seen_by(&entry, alert));
    Ok(own.into_iter().chain(shared).collect())
}
