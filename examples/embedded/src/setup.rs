//! What there is before the first event: an item, metrics, a plan with its prices and alerts, and
//! the customers with their credits.

mod credits;
mod event;
mod invoices;
mod metrics;
mod plan;
mod words;

use accrue::{
    Account, Email, ExternalId, ItemId, SubscriptionId,
    alert::NewAlert,
    customer::NewCustomer,
    item::NewItem,
    subscription::{BillingAnchor, NewSubscription},
};
use indicatif::ProgressBar;

pub(crate) use self::{
    credits::watch,
    event::completion,
    invoices::turn_invoices_on,
    metrics::{METRICS, Metrics, OUTPUT_TOKENS, REQUESTS, Total},
    words::{CREDITS, DAY, credits, decimal, external, name, thresholds, usd},
};
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
        let item = create_item(account).await.doing("create the item")?;
        let metrics = Metrics::create(account, item).await.doing("create the metrics")?;
        let plan = plan::create(account, item, &metrics).await.doing("create the plan")?;
        let mut setup = Self { metrics, customers, subscriptions: Vec::new() };
        bar.reset();
        bar.set_message("setting up");
        bar.set_length(customers.count());
        for customer in (0..customers.count()).map(customer) {
            let subscribed = setup.create_customer(account, customer, &plan).await;
            setup.subscriptions.push(subscribed.doing("create a customer")?);
            bar.inc(1);
        }
        Ok(setup)
    }

    pub(crate) const fn metrics(&self) -> &Metrics {
        &self.metrics
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
        let customer = account.create_customer(new_customer(customer)).await?;
        credits::give(account, customer.id).await?;
        let mut new = NewSubscription::new(customer.id, plan.clone());
        new.anchor = BillingAnchor::SubscriptionStart;
        let subscription = account.create_subscription(new).await?;
        let at = thresholds(&REQUESTS_THRESHOLDS)?;
        let alert = NewAlert::usage_exceeded(self.metrics.id(REQUESTS), at);
        account.create_subscription_alert(subscription.id, alert).await?;
        Ok(subscription.id)
    }
}

/// Creates the one thing that is sold.
pub(crate) async fn create_item(account: &Account) -> Result<ItemId, accrue::Error> {
    Ok(account.create_item(NewItem::new(name("Completions"))).await?.id)
}

/// A customer that is known by an id of the host's.
pub(crate) fn new_customer(external: ExternalId) -> NewCustomer {
    let email = Email::parse(format!("{external}@example.com")).expect("an address");
    let mut new = NewCustomer::new(name(&external), email);
    new.external_customer_id = Some(external);
    new
}

fn customer(number: u64) -> ExternalId {
    external(&format!("customer-{number}"))
}
