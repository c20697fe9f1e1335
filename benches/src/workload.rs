mod backfill;

use std::time::Duration;

use accrue::{
    Account, AccountId, Billing, Currency, CustomerId, Decimal, Email, EventKey, EventName,
    ExternalId, ItemId, ManualClock, MetricId, Name, PricingUnit, PropertyName, SeededEntropy,
    SubscriptionId, Timeframe, Timestamp,
    alert::{NewAlert, NewBalanceAlert, Thresholds},
    cost::{Cost, CostQuery},
    credit::NewLedgerEntry,
    customer::NewCustomer,
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::{NewPlan, PlanPrice},
    price::{Cadence, Model, NewPrice, Tier, Tiered, Unit},
    store::Store,
    subscription::NewSubscription,
    usage::Event,
};
use clap::ValueEnum;
use pollster::block_on;

use crate::{BATCH, Outcome};

/// An account with customers on one plan, three metrics, a plan alert and an alert on each
/// subscription, and an endless row of events for it. The plan has a fee and two usage prices.
#[derive(Debug)]
pub struct Workload {
    account: Account,
    clock: ManualClock,
    /// When the next event happens.
    next: Timestamp,
    step: Duration,
    customers: Vec<ExternalId>,
    ids: Vec<CustomerId>,
    subscriptions: Vec<SubscriptionId>,
    events: u64,
    /// How many stores it was on.
    stores: u64,
}

/// What the account of a workload has, and how fast it is used.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What the alerts watch.
    pub watch: Watch,
    /// How many customers there are.
    pub customers: u64,
    /// What lies between one event and the next.
    pub step: Duration,
}

/// What the alerts watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Watch {
    /// Usage: one alert of the plan, one of each subscription.
    #[value(name = "usage")]
    Usage,
    /// The same, and an alert of the plan on cost beside them.
    #[value(name = "cost")]
    UsageAndCost,
    /// The same as usage, and credits that each event draws down, with an alert of each kind on the
    /// balance.
    #[value(name = "credits")]
    UsageAndCredits,
}

const ACCOUNT: &str = "bench";
const START: &str = "2026-03-01T00:00:00Z";

impl Workload {
    /// Sets the account up in a store.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn new(store: impl Store, shape: Shape) -> Outcome<Self> {
        let clock = ManualClock::at(Timestamp::parse(START)?);
        let billing = Billing::new(store, clock.clone(), SeededEntropy::new(1));
        let account = billing.account(AccountId::parse(ACCOUNT)?);
        let mut workload = Self {
            account,
            clock,
            next: Timestamp::parse(START)?,
            step: shape.step,
            customers: Vec::new(),
            ids: Vec::new(),
            subscriptions: Vec::new(),
            events: 0,
            stores: 1,
        };
        block_on(workload.set_up(shape))?;
        Ok(workload)
    }

    /// Goes on in another store, which has the same rows.
    ///
    /// # Errors
    ///
    /// None in practice.
    pub fn move_to(&mut self, store: impl Store) -> Outcome<()> {
        self.account = self.account_in(store)?;
        Ok(())
    }

    /// Returns the account in another store, which has the same rows, by the same clock.
    ///
    /// # Errors
    ///
    /// None in practice: the account has a name.
    pub fn account_in(&mut self, store: impl Store) -> Outcome<Account> {
        // Ids that are drawn in no other store.
        self.stores += 1;
        let entropy = SeededEntropy::new(self.stores);
        let billing = Billing::new(store, self.clock.clone(), entropy);
        Ok(billing.account(AccountId::parse(ACCOUNT)?))
    }

    /// Returns the account.
    #[must_use]
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// Returns how many events were made.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Returns the customers.
    #[must_use]
    pub fn customers(&self) -> &[CustomerId] {
        &self.ids
    }

    async fn set_up(&mut self, shape: Shape) -> Outcome<()> {
        let Shape { watch, customers, .. } = shape;
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
        let [requests, output, ..] = metrics.as_slice() else { return Err("no metrics".into()) };
        let mut plan = NewPlan::new(Name::parse("pro")?, Currency::parse("USD")?);
        plan.prices = prices(item.id, *requests, *output)?;
        let plan = account.create_plan(plan).await?;
        // Thresholds that are far away, so that all alerts are judged for every event.
        let far = || Decimal::parse("1e20").map(|value| Thresholds::new([value]));
        let alert = NewAlert::usage_exceeded(*output, far()??);
        account.create_plan_alert(plan.id, alert).await?;
        if watch == Watch::UsageAndCost {
            account.create_plan_alert(plan.id, NewAlert::cost_exceeded(far()??)).await?;
        }
        for number in 0..customers {
            let external = ExternalId::parse(format!("customer-{number}"))?;
            let mut customer =
                NewCustomer::new(Name::parse("bench")?, Email::parse("bench@example.com")?);
            customer.external_customer_id = Some(external.clone());
            let customer = account.create_customer(customer).await?;
            let subscription = NewSubscription::new(customer.id, plan.id);
            let subscription = account.create_subscription(subscription).await?;
            let alert = NewAlert::usage_exceeded(*requests, far()??);
            account.create_subscription_alert(subscription.id, alert).await?;
            if watch == Watch::UsageAndCredits {
                give_credits(&account, customer.id).await?;
            }
            self.subscriptions.push(subscription.id);
            self.ids.push(customer.id);
            self.customers.push(external);
        }
        Ok(())
    }

    /// Makes the next batch, of all customers in turn, and sets the clock to its last event.
    ///
    /// # Errors
    ///
    /// None in practice: its names are within their bounds.
    pub fn next_batch(&mut self) -> Outcome<Vec<Event>> {
        let customers = u64::try_from(self.customers.len())?;
        self.next_events(BATCH, |number| number % customers)
    }

    /// Makes the first 100 events of the next batch: those of a request.
    ///
    /// # Errors
    ///
    /// None in practice, as for a [batch](Self::next_batch).
    pub fn next_hundred(&mut self) -> Outcome<Vec<Event>> {
        let mut events = self.next_batch()?;
        events.truncate(100);
        Ok(events)
    }

    /// Makes the next events, all of one customer, and sets the clock to the last.
    ///
    /// # Errors
    ///
    /// If there is no such customer.
    pub fn next_of(&mut self, customer: u64, events: u64) -> Outcome<Vec<Event>> {
        self.next_events(events, |_| customer)
    }

    fn next_events(&mut self, events: u64, whose: impl Fn(u64) -> u64) -> Outcome<Vec<Event>> {
        let mut made = Vec::new();
        for number in self.events..self.events + events {
            self.clock.set(self.next);
            made.push(self.event("request", number, self.next, whose(number))?);
            self.next = self.next.saturating_add(self.step);
        }
        self.events += events;
        Ok(made)
    }

    fn event(&self, key: &str, number: u64, at: Timestamp, customer: u64) -> Outcome<Event> {
        let customer = self.customers.get(usize::try_from(customer)?).ok_or("no customer")?;
        let property = |name: &str, value: u64| -> Outcome<_> {
            Ok((PropertyName::parse(name)?, value.into()))
        };
        Ok(Event {
            idempotency_key: EventKey::parse(format!("{key}-{number:012}"))?,
            event_name: EventName::parse("completion")?,
            timestamp: at,
            properties: [
                property("input_tokens", number * 7919 % 8192)?,
                property("output_tokens", number * 104_729 % 1024)?,
                property("row", number)?,
            ]
            .into_iter()
            .collect(),
            customer: customer.clone().into(),
        })
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

    /// Ingests until so many events are stored.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn ingest_until(&mut self, events: u64) -> Outcome<()> {
        while self.events < events {
            let batch = self.next_batch()?;
            self.ingest(batch)?;
        }
        Ok(())
    }

    /// Computes what the first subscription costs.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn costs(&self, query: &CostQuery) -> Outcome<Vec<Cost>> {
        let subscription = self.subscriptions.first().ok_or("no subscription")?;
        Ok(block_on(self.account.subscription_costs(*subscription, query))?)
    }

    /// The timeframe from one time after the first event to another.
    ///
    /// # Errors
    ///
    /// If it ends before it starts.
    pub fn timeframe(from: Duration, until: Duration) -> Outcome<Timeframe> {
        let start = Timestamp::parse(START)?;
        Ok(Timeframe::new(start.saturating_add(from), start.saturating_add(until))?)
    }
}

impl Shape {
    /// Eight customers, and an event every 10 milliseconds.
    #[must_use]
    pub const fn new(watch: Watch) -> Self {
        Self { watch, customers: 8, step: Duration::from_millis(10) }
    }
}

/// Gives a customer more credits than it will use, and watches them.
async fn give_credits(account: &Account, customer: CustomerId) -> Outcome<()> {
    let usd = PricingUnit::from(Currency::parse("USD")?);
    let amount = Decimal::parse("1e15")?;
    let thresholds = Thresholds::new([Decimal::from(1)])?;
    account.create_ledger_entry(customer, NewLedgerEntry::increment(usd.clone(), amount)).await?;
    for alert in [
        NewBalanceAlert::credit_balance_dropped(usd.clone(), thresholds),
        NewBalanceAlert::credit_balance_depleted(usd.clone()),
        NewBalanceAlert::credit_balance_recovered(usd),
    ] {
        account.create_customer_alert(customer, alert).await?;
    }
    Ok(())
}

/// A monthly fee, a price for each request, and a graduated one for output tokens.
fn prices(item: ItemId, requests: MetricId, output: MetricId) -> Outcome<Vec<PlanPrice>> {
    let usd = Currency::parse("USD")?;
    let amount = Decimal::parse;
    let usage = |name: &str, metric, model| -> Outcome<PlanPrice> {
        let name = Name::parse(name)?;
        Ok(NewPrice::builder(name, item).billed(Cadence::Monthly, usd).usage(metric, model).into())
    };
    let fee = Name::parse("monthly fee")?;
    let fee = NewPrice::builder(fee, item).billed(Cadence::Monthly, usd);
    let fee = fee.fee_in_advance(Decimal::from(20));
    let tier = |first: u64, last: Option<u64>, unit_amount| {
        Tier::new(first.into(), last.map(Decimal::from), unit_amount)
    };
    let tiers = vec![
        tier(0, Some(100_000), amount("0.00001")?),
        tier(100_000, Some(300_000), amount("0.000008")?),
        tier(300_000, None, amount("0.000005")?),
    ];
    let each = Model::Unit(Unit::new(amount("0.0025")?));
    Ok(vec![
        fee.into(),
        usage("requests", requests, each)?,
        usage("output tokens", output, Model::Tiered(Tiered::new(tiers)))?,
    ])
}
