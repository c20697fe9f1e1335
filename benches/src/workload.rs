use accrue::{
    Account, AccountId, Billing, Currency, Decimal, Email, EventKey, EventName, ExternalId,
    ManualClock, Name, PropertyName, SeededEntropy, Timestamp,
    alert::{NewAlert, Thresholds},
    customer::NewCustomer,
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    store::Store,
    subscription::NewSubscription,
    usage::Event,
};
use pollster::block_on;

use crate::{BATCH, Outcome};

/// An account with eight customers on one plan, three metrics, a plan alert and an alert on each
/// subscription, and an endless row of batches for it.
#[derive(Debug)]
pub struct Workload {
    account: Account,
    clock: ManualClock,
    customers: Vec<ExternalId>,
    events: u64,
}

const CUSTOMERS: u64 = 8;
/// Between one event and the next.
const STEP_MICROS: i64 = 10_000;
const START: &str = "2026-03-01T00:00:00Z";

impl Workload {
    /// Sets the account up in a store.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn new(store: impl Store) -> Outcome<Self> {
        let clock = ManualClock::at(Timestamp::parse(START)?);
        let billing = Billing::new(store, clock.clone(), SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("bench")?);
        let mut workload = Self { account, clock, customers: Vec::new(), events: 0 };
        block_on(workload.set_up())?;
        Ok(workload)
    }

    async fn set_up(&mut self) -> Outcome<()> {
        let account = self.account.clone();
        let item = account.create_item(NewItem::new(Name::parse("tokens")?)).await?;
        let mut metrics = Vec::new();
        for (name, sql) in [
            ("requests", "SELECT count(*) FROM events"),
            ("output tokens", "SELECT sum(output_tokens) FROM events"),
            ("largest request", "SELECT max(input_tokens) FROM events"),
        ] {
            let metric = NewMetric::new(Name::parse(name)?, item.id, MetricQuery::parse(sql)?);
            metrics.push(account.create_metric(metric).await?.id);
        }
        let plan = NewPlan::new(Name::parse("pro")?, Currency::parse("USD")?);
        let plan = account.create_plan(plan).await?;
        // Thresholds that are far away, so that both alerts are judged for every event.
        let far = || Decimal::parse("1e20").map(|value| Thresholds::new([value]));
        let [requests, output, ..] = metrics.as_slice() else { return Err("no metrics".into()) };
        let alert = NewAlert::usage_exceeded(*output, far()??);
        account.create_plan_alert(plan.id, alert).await?;
        for number in 0..CUSTOMERS {
            let external = ExternalId::parse(format!("customer-{number}"))?;
            let mut customer =
                NewCustomer::new(Name::parse("bench")?, Email::parse("bench@example.com")?);
            customer.external_customer_id = Some(external.clone());
            let customer = account.create_customer(customer).await?;
            let subscription = NewSubscription::new(customer.id, plan.id);
            let subscription = account.create_subscription(subscription).await?;
            let alert = NewAlert::usage_exceeded(*requests, far()??);
            account.create_subscription_alert(subscription.id, alert).await?;
            self.customers.push(external);
        }
        Ok(())
    }

    /// Makes the next batch, and sets the clock to its last event.
    ///
    /// # Errors
    ///
    /// None in practice: its names are within their bounds.
    pub fn next_batch(&mut self) -> Outcome<Vec<Event>> {
        let first = Timestamp::parse(START)?.micros();
        let mut batch = Vec::new();
        for number in self.events..self.events + BATCH {
            let timestamp = Timestamp::from_micros(first + i64::try_from(number)? * STEP_MICROS)?;
            self.clock.set(timestamp);
            let customer = usize::try_from(number % CUSTOMERS)?;
            let customer = self.customers.get(customer).ok_or("no customer")?;
            let property = |name: &str, value: u64| -> Outcome<_> {
                Ok((PropertyName::parse(name)?, value.into()))
            };
            batch.push(Event {
                idempotency_key: EventKey::parse(format!("request-{number:012}"))?,
                event_name: EventName::parse("completion")?,
                timestamp,
                properties: [
                    property("input_tokens", number * 7919 % 8192)?,
                    property("output_tokens", number * 104_729 % 1024)?,
                    property("row", number)?,
                ]
                .into_iter()
                .collect(),
                customer: customer.clone().into(),
            });
        }
        self.events += BATCH;
        Ok(batch)
    }

    /// Ingests a batch.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn ingest(&self, batch: Vec<Event>) -> Outcome<()> {
        block_on(self.account.ingest(batch).into_future())?;
        Ok(())
    }
}
