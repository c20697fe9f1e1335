//! What there is before the first event: an item, metrics, a plan with its prices and alerts, and
//! the customers.

mod metrics;
mod plan;

use accrue::{
    Account, Email, ExternalId, MetricId, Name, SubscriptionId,
    alert::NewAlert,
    customer::NewCustomer,
    item::NewItem,
    subscription::{BillingAnchor, NewSubscription},
};
use indicatif::ProgressBar;

pub(crate) use self::metrics::{METRICS, Total};
use self::metrics::{Metrics, REQUESTS};
use crate::{Error, error::Doing as _, options::Customers};

const REQUESTS_THRESHOLDS: [&str; 1] = ["1000"];

/// What was set up.
#[derive(Debug)]
pub(crate) struct Setup {
    metrics: Metrics,
    customers: Customers,
    /// Those of the customers, in their order.
    subscriptions: Vec<SubscriptionId>,
}

impl Setup {
    /// Creates everything, at the instant at which the clock stands: every subscription begins
    /// there.
    pub(crate) async fn create(
        account: &Account,
        customers: Customers,
        bar: &ProgressBar,
    ) -> Result<Self, Error> {
        let new = NewItem::new(Name::parse("Completions").expect("a short text"));
        let item = account.create_item(new).await.doing("create the item")?.id;
        let metrics = Metrics::create(account, item).await.doing("create the metrics")?;
        let plan = plan::create(account, item, &metrics).await.doing("create the plan")?;
        let mut setup = Self { metrics, customers, subscriptions: Vec::new() };
        bar.set_length(customers.count());
        for customer in (0..customers.count()).map(customer) {
            let subscribed = setup.create_customer(account, customer, &plan).await;
            setup.subscriptions.push(subscribed.doing("create a customer")?);
            bar.inc(1);
        }
        Ok(setup)
    }

    /// Returns the metrics with their names, in the order in which they are shown.
    pub(crate) fn metrics(&self) -> &[(MetricId, &'static str)] {
        self.metrics.all()
    }

    /// Returns the name of a metric.
    pub(crate) fn metric_name(&self, id: MetricId) -> Option<&'static str> {
        self.metrics().iter().find(|(other, _)| *other == id).map(|(_, name)| *name)
    }

    /// Returns the customers in order of their numbers, each with its subscription.
    pub(crate) fn customers(&self) -> impl Iterator<Item = (ExternalId, SubscriptionId)> {
        (0..).map(customer).zip(self.subscriptions.iter().copied())
    }

    /// Returns the customer that a row belongs to.
    pub(crate) fn customer_of_row(&self, row: u64) -> ExternalId {
        customer(self.customers.of_row(row))
    }

    async fn create_customer(
        &self,
        account: &Account,
        customer: ExternalId,
        plan: &ExternalId,
    ) -> Result<SubscriptionId, accrue::Error> {
        let email = Email::parse(format!("{customer}@example.com")).expect("an address");
        let name = Name::parse(customer.as_str()).expect("a short text");
        let mut new = NewCustomer::new(name, email);
        new.external_customer_id = Some(customer);
        let customer = account.create_customer(new).await?;
        let mut new = NewSubscription::new(customer.id, plan.clone());
        new.anchor = BillingAnchor::SubscriptionStart;
        let subscription = account.create_subscription(new).await?;
        let at = plan::thresholds(&REQUESTS_THRESHOLDS)?;
        let alert = NewAlert::usage_exceeded(self.metrics.id(REQUESTS), at);
        account.create_subscription_alert(subscription.id, alert).await?;
        Ok(subscription.id)
    }
}

fn customer(number: u64) -> ExternalId {
    ExternalId::parse(format!("customer-{number}")).expect("a short text")
}
