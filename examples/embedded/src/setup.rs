//! What there is before the first event: an item, metrics, a plan, its alert, and the customers.

use accrue::{
    Account, Currency, Decimal, Email, ExternalId, MetricId, Name,
    alert::{NewAlert, Thresholds},
    customer::NewCustomer,
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    subscription::{BillingAnchor, NewSubscription},
};
use indicatif::ProgressBar;

use crate::{Error, error::Doing as _, options::Customers};

/// A metric of the example.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    pub(crate) total: Total,
    sql: &'static str,
}

/// What the figures of all customers come to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Total {
    Sum,
    Largest,
    /// The figures do not say: customers may have values in common.
    Unknown,
}

/// The metrics, in the order in which they are shown.
pub(crate) const METRICS: [Metric; 5] = [
    Metric { name: REQUESTS, total: Total::Sum, sql: "SELECT count(*) FROM events" },
    Metric { name: "input tokens", total: Total::Sum, sql: "SELECT sum(input_tokens) FROM events" },
    Metric { name: OUTPUT_TOKENS, total: Total::Sum, sql: "SELECT sum(output_tokens) FROM events" },
    Metric {
        name: "largest request",
        total: Total::Largest,
        sql: "SELECT max(input_tokens) FROM events",
    },
    Metric {
        name: "distinct output sizes",
        total: Total::Unknown,
        sql: "SELECT count(DISTINCT output_tokens) FROM events",
    },
];

const REQUESTS: &str = "requests";
const OUTPUT_TOKENS: &str = "output tokens";

const REQUESTS_THRESHOLDS: [u64; 1] = [1_000];
const OUTPUT_TOKENS_THRESHOLDS: [u64; 3] = [100_000, 250_000, 400_000];

/// What was set up.
#[derive(Debug)]
pub(crate) struct Setup {
    metrics: Vec<(MetricId, &'static str)>,
    customers: Customers,
}

impl Setup {
    /// Creates everything, at the instant at which the clock stands: every subscription begins
    /// there.
    pub(crate) async fn create(
        account: &Account,
        customers: Customers,
        bar: &ProgressBar,
    ) -> Result<Self, Error> {
        let metrics = create_metrics(account).await.doing("create the metrics")?;
        let setup = Self { metrics, customers };
        let plan = setup.create_plan(account).await.doing("create the plan")?;
        bar.set_length(customers.count());
        for customer in setup.customers() {
            let subscribed = setup.create_customer(account, customer, &plan).await;
            subscribed.doing("create a customer")?;
            bar.inc(1);
        }
        Ok(setup)
    }

    /// Returns the metrics with their names, in the order in which they are shown.
    pub(crate) fn metrics(&self) -> &[(MetricId, &'static str)] {
        &self.metrics
    }

    /// Returns the name of a metric.
    pub(crate) fn metric_name(&self, id: MetricId) -> Option<&'static str> {
        self.metrics.iter().find(|(other, _)| *other == id).map(|(_, name)| *name)
    }

    /// Returns the customers in order of their numbers.
    pub(crate) fn customers(&self) -> impl Iterator<Item = ExternalId> {
        (0..self.customers.count()).map(customer)
    }

    /// Returns the customer that a row belongs to.
    pub(crate) fn customer_of_row(&self, row: u64) -> ExternalId {
        customer(self.customers.of_row(row))
    }

    async fn create_plan(&self, account: &Account) -> Result<ExternalId, accrue::Error> {
        let alias = ExternalId::parse("pay-as-you-go").expect("a short text");
        let currency = Currency::parse("USD").expect("a currency");
        let mut plan = NewPlan::new(name("Pay as you go"), currency);
        plan.external_plan_id = Some(alias.clone());
        account.create_plan(plan).await?;
        let alert = self.usage_alert(OUTPUT_TOKENS, &OUTPUT_TOKENS_THRESHOLDS)?;
        account.create_plan_alert(alias.clone(), alert).await?;
        Ok(alias)
    }

    async fn create_customer(
        &self,
        account: &Account,
        customer: ExternalId,
        plan: &ExternalId,
    ) -> Result<(), accrue::Error> {
        let email = Email::parse(format!("{customer}@example.com")).expect("an address");
        let mut new = NewCustomer::new(name(customer.as_str()), email);
        new.external_customer_id = Some(customer);
        let customer = account.create_customer(new).await?;
        let mut new = NewSubscription::new(customer.id, plan.clone());
        new.anchor = BillingAnchor::SubscriptionStart;
        let subscription = account.create_subscription(new).await?;
        let alert = self.usage_alert(REQUESTS, &REQUESTS_THRESHOLDS)?;
        account.create_subscription_alert(subscription.id, alert).await?;
        Ok(())
    }

    fn usage_alert(&self, metric: &str, thresholds: &[u64]) -> Result<NewAlert, accrue::Error> {
        let metric = self.metrics.iter().find(|(_, name)| *name == metric);
        let (id, _) = metric.expect("the alert names a metric of the example");
        let thresholds = Thresholds::new(thresholds.iter().copied().map(Decimal::from))?;
        Ok(NewAlert::usage_exceeded(*id, thresholds))
    }
}

async fn create_metrics(account: &Account) -> Result<Vec<(MetricId, &'static str)>, accrue::Error> {
    let item = account.create_item(NewItem::new(name("Completions"))).await?;
    let mut metrics = Vec::new();
    for metric in &METRICS {
        let sql = MetricQuery::parse(metric.sql).expect("the example's SQL is that of metrics");
        let new = NewMetric::new(name(metric.name), item.id, sql);
        metrics.push((account.create_metric(new).await?.id, metric.name));
    }
    Ok(metrics)
}

fn customer(number: u64) -> ExternalId {
    ExternalId::parse(format!("customer-{number}")).expect("a short text")
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a short text")
}
