use accrue::{
    Account, Clock, Currency, Decimal, Email, EventKey, EventName, ItemId, ManualClock, MetricId,
    Name, PlanId, PropertyName,
    account::Configuration,
    customer::NewCustomer,
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    price::{BilledPriceBuilder, Cadence, Model, NewPrice, Unit},
    subscription::NewSubscription,
    usage::Event,
};

use crate::Outcome;

/// What the prices of an account are made of: an item, and the sum of `n` in its events.
#[derive(Clone, Copy, Debug)]
pub struct Priced {
    item: ItemId,
    metric: MetricId,
    currency: Currency,
}

impl Priced {
    /// Makes them in an account that invoices.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn new(account: &Account) -> Outcome<Self> {
        let mut configuration = Configuration::default();
        configuration.features.invoices = true;
        account.configure(configuration).await?;
        let item = account.create_item(NewItem::new(Name::parse("api")?)).await?.id;
        let sql = MetricQuery::parse("SELECT SUM(n) FROM events WHERE event_name = 'call'")?;
        let metric =
            account.create_metric(NewMetric::new(Name::parse("calls")?, item, sql)).await?;
        Ok(Self { item, metric: metric.id, currency: Currency::parse("USD")? })
    }

    /// Returns the metric.
    #[must_use]
    pub const fn metric(self) -> MetricId {
        self.metric
    }

    /// Begins a price with a name.
    ///
    /// # Errors
    ///
    /// If it is no name.
    pub fn price(self, name: &str, cadence: Cadence) -> Outcome<BilledPriceBuilder> {
        Ok(NewPrice::builder(Name::parse(name)?, self.item).billed(cadence, self.currency))
    }

    /// Makes a price of a cent for each unit of usage.
    ///
    /// # Errors
    ///
    /// If it is no name.
    pub fn usage(self, name: &str, cadence: Cadence) -> Outcome<NewPrice> {
        let unit = Model::Unit(Unit::new(Decimal::parse("0.01")?));
        Ok(self.price(name, cadence)?.usage(self.metric, unit))
    }

    /// Creates a plan with some prices.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn plan(self, account: &Account, prices: Vec<NewPrice>) -> Outcome<PlanId> {
        let mut plan = NewPlan::new(Name::parse("plan")?, self.currency);
        plan.prices = prices.into_iter().map(Into::into).collect();
        Ok(account.create_plan(plan).await?.id)
    }
}

/// Subscribes a new customer to a plan.
///
/// # Errors
///
/// If the store fails.
pub async fn subscribe(account: &Account, plan: PlanId) -> Outcome<accrue::CustomerId> {
    let customer = NewCustomer::new(Name::parse("bench")?, Email::parse("bench@example.com")?);
    let id = account.create_customer(customer).await?.id;
    account.create_subscription(NewSubscription::new(id, plan)).await?;
    Ok(id)
}

/// Makes an event of seven units of a customer, now.
///
/// # Errors
///
/// If it is no key.
pub fn call(
    customer: accrue::CustomerId,
    number: usize,
    clock: &ManualClock,
    properties: &[(&str, &str)],
) -> Outcome<Event> {
    let mut all = vec![(PropertyName::parse("n")?, 7_u64.into())];
    for (name, value) in properties {
        all.push((PropertyName::parse(*name)?, (*value).into()));
    }
    Ok(Event {
        idempotency_key: EventKey::parse(format!("event {number}"))?,
        event_name: EventName::parse("call")?,
        timestamp: clock.now(),
        properties: all.into_iter().collect(),
        customer: customer.into(),
    })
}
