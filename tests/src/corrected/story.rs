//! Two customers with much usage, and a backfill for both or for one: what tests about steps of a correction
//! begin with.

use accrue::{
    BackfillId, Clock as _, Currency, CustomerId, Decimal, MetricId, PricingUnit, SubscriptionId,
    Timeframe, Timestamp,
    backfill::{Backfill, NewBackfill},
    cost::CostQuery,
    credit::NewLedgerEntry,
    plan::NewPlan,
    price::{Cadence, Cycle, Matrix, MatrixCell, Model, NewPrice, Tier, Tiered, Unit},
    store::{MemoryStore, Store},
    subscription::{BillingAnchor, NewSubscription},
    usage::Event,
};
use pollster::block_on;

use crate::{
    host::{Host, customer, event, instant, micros, name, number},
    stores::copied,
};

/// When the story is told, and from when up to when its backfill lies.
const NOW: &str = "2026-03-10T09:07:31.000001Z";
const FROM: &str = "2026-03-07T22:40:00.5Z";
const UNTIL: &str = "2026-03-09T15:07:00Z";
/// What each customer has of credits.
pub const GRANTED: u64 = 1_000_000_000;
pub const ALIASES: [&str; 2] = ["ada", "bob"];

/// What there is.
#[derive(Clone, Debug)]
pub struct Story {
    pub host: Host,
    pub customers: Vec<CustomerId>,
    pub subscriptions: Vec<SubscriptionId>,
    pub metrics: Vec<MetricId>,
    pub backfill: BackfillId,
}

impl Story {
    /// Ingests events of three days, and so many for each customer into a backfill for all.
    #[must_use]
    pub fn told(store: impl Store, ordinary: u64, brought: u64) -> Self {
        Self::told_of(store, ordinary, brought, None)
    }

    /// The same with a backfill for one of the customers, where one is named.
    #[must_use]
    pub fn told_of(
        store: impl Store,
        ordinary: u64,
        brought: u64,
        customer_of: Option<usize>,
    ) -> Self {
        Self::told_to(store, ordinary, brought, customer_of, 0)
    }

    /// The same where each customer has so many more subscriptions, with a period for each day.
    #[must_use]
    pub fn told_to(
        store: impl Store,
        ordinary: u64,
        brought: u64,
        customer_of: Option<usize>,
        daily: usize,
    ) -> Self {
        let host = Host::on(store);
        host.clock.set(instant("2026-03-01T12:34:56.789Z"));
        let metrics: Vec<_> = [
            "SELECT sum(n) FROM events",
            "SELECT count(*) FROM events",
            "SELECT count(DISTINCT n) FROM events WHERE n > 3",
        ]
        .iter()
        .map(|sql| host.metric(sql))
        .collect();
        let item = metrics[0].item_id;
        let metrics: Vec<_> = metrics.iter().map(|metric| metric.id).collect();
        let (usd, credits) =
            (Currency::parse("USD").unwrap(), PricingUnit::parse("credits").unwrap());
        let mut plan = NewPlan::new(name("plan"), usd);
        let tiers = [("0", Some("1000"), "0.5"), ("1000", None, "0.25")]
            .map(|(from, to, each)| Tier::new(number(from), to.map(number), number(each)));
        let matrix = Matrix::new(
            vec![accrue::PropertyName::parse("n").unwrap()],
            number("1"),
            vec![MatrixCell::new(vec![Some("3".to_owned())], number("7"))],
        );
        let price = |named, cadence, unit: &PricingUnit| {
            NewPrice::builder(name(named), item).billed(cadence, unit.clone())
        };
        let (monthly, dollars) = (Cadence::Monthly, PricingUnit::from(usd));
        let tiered = Model::Tiered(Tiered::new(tiers));
        let unit = Model::Unit(Unit::new(number("2")));
        plan.prices = vec![
            price("tiers", monthly, &dollars).usage(metrics[0], tiered).into(),
            price("each", monthly, &credits).usage(metrics[1], unit).into(),
            price("cells", monthly, &dollars).usage(metrics[1], Model::Matrix(matrix)).into(),
        ];
        let mut by_day = NewPlan::new(name("by day"), usd);
        let unit = Model::Unit(Unit::new(number("1")));
        let day = Cadence::Custom(Cycle::Days(1));
        by_day.prices = vec![price("day", day, &credits).usage(metrics[0], unit).into()];
        let account = &host.account;
        let by_day = block_on(account.create_plan(by_day).into_future()).unwrap().id;
        let plan = block_on(account.create_plan(plan).into_future()).unwrap().id;
        let (mut customers, mut subscriptions) = (Vec::new(), Vec::new());
        for alias in ALIASES {
            let id = block_on(account.create_customer(customer(alias)).into_future()).unwrap().id;
            let grant = NewLedgerEntry::increment(credits.clone(), GRANTED.into());
            block_on(account.create_ledger_entry(id, grant).into_future()).unwrap();
            let subscribe = |plan| {
                let mut new = NewSubscription::new(id, plan);
                new.anchor = BillingAnchor::SubscriptionStart;
                block_on(account.create_subscription(new).into_future()).unwrap().id
            };
            customers.push(id);
            subscriptions.push(subscribe(plan));
            let _: Vec<_> = (0..daily).map(|_| subscribe(by_day)).collect();
        }
        host.clock.set(instant("2026-03-08T12:00:00Z"));
        let within = Timeframe::new(instant(FROM), instant(UNTIL)).unwrap();
        for alias in ALIASES {
            use_events(&host, alias, ordinary);
        }
        host.clock.set(instant(NOW));
        host.tick();
        let mut new = NewBackfill::new(within);
        new.customer = customer_of.map(|of| customers[of].into());
        let created = host.account.create_backfill(new);
        let backfill = block_on(created.into_future()).unwrap().id;
        for (of, alias) in ALIASES.iter().enumerate() {
            if customer_of.is_none_or(|only| only == of) {
                bring(&host, backfill, alias, brought);
            }
        }
        Self { host, customers, subscriptions, metrics, backfill }
    }

    /// The same story on a copy of its store, told on by another process.
    #[must_use]
    pub fn copied(&self, wrap: impl FnOnce(MemoryStore) -> Host, seed: u64) -> Self {
        let host = wrap(copied(&*self.host.store));
        host.clock.set(self.host.clock.now());
        Self { host: host.another(seed), ..self.clone() }
    }

    #[must_use]
    pub fn fetched(&self) -> Backfill {
        block_on(self.host.account.fetch_backfill(self.backfill)).unwrap()
    }

    /// What a customer has used, owes and has left, over several timeframes.
    #[must_use]
    pub fn figures(&self, of: usize) -> String {
        let account = &self.host.account;
        let (customer, subscription) = (self.customers[of], self.subscriptions[of]);
        let usage = block_on(account.subscription_usage(subscription)).unwrap();
        let mut said: Vec<String> =
            usage.metrics.iter().map(|metric| format!("{:?}", metric.quantity)).collect();
        for (from, until) in [(FROM, UNTIL), ("2026-03-08T00:07:00Z", "2026-03-09T00:00:00Z")] {
            let within = Timeframe::new(instant(from), instant(until)).unwrap();
            for metric in &self.metrics {
                let used = block_on(account.usage_between(customer, *metric, within)).unwrap();
                said.push(format!("{used:?}"));
            }
            let query = CostQuery { timeframe: within.into(), ..CostQuery::default() };
            said.push(self.cost(of, &query));
        }
        said.push(self.cost(of, &CostQuery::default()));
        let credits = PricingUnit::parse("credits").unwrap();
        let balance = block_on(account.credit_balance(customer, &credits)).unwrap().balance;
        said.push(format!("{balance:?}"));
        said.join("\n")
    }

    /// What is left of a customer's credits, and what that of its usage costs which draws them.
    #[must_use]
    pub fn granted(&self, of: usize) -> Decimal {
        let credits = PricingUnit::parse("credits").unwrap();
        let whole = Timeframe::new(instant("2026-03-01T00:00:00Z"), self.host.clock.now()).unwrap();
        let query = CostQuery {
            timeframe: whole.into(),
            currency: Some(credits.clone()),
            ..CostQuery::default()
        };
        let account = &self.host.account;
        let costs = block_on(account.customer_costs(self.customers[of], &query)).unwrap();
        let balance = block_on(account.credit_balance(self.customers[of], &credits)).unwrap();
        balance.balance.unwrap() + costs[0].total.clone()
    }

    fn cost(&self, of: usize, query: &CostQuery) -> String {
        let call = self.host.account.subscription_costs(self.subscriptions[of], query);
        let costs = block_on(call).unwrap();
        let lines = costs[0].lines.iter().map(|line| format!("{} {}", line.quantity, line.total));
        lines.collect::<Vec<_>>().join(", ")
    }
}

/// Ingests events of the last day.
fn use_events(host: &Host, alias: &str, count: u64) {
    let now = host.clock.now();
    let all = events(alias, "used", count, micros(now.micros() - 86_400_000_000), now);
    for batch in all.chunks(1_000) {
        block_on(host.account.ingest(batch.to_vec()).into_future()).unwrap();
    }
}

/// Ingests events into a backfill.
fn bring(host: &Host, id: BackfillId, alias: &str, count: u64) {
    let all = events(alias, "brought", count, instant(FROM), instant(UNTIL));
    for batch in all.chunks(1_000) {
        block_on(host.account.ingest_backfill(id, batch.to_vec()).into_future()).unwrap();
    }
}

/// Events that are spread over a timeframe.
fn events(alias: &str, kind: &str, count: u64, from: Timestamp, until: Timestamp) -> Vec<Event> {
    let length = until.micros() - from.micros();
    let count = i64::try_from(count).unwrap();
    let one = |n: i64| {
        let at = micros(from.micros() + length / count * n);
        let value = u64::try_from(n % 11).unwrap();
        event(alias, &format!("{kind} {alias} {n}"), at, &[("n", value.into())])
    };
    (0..count).map(one).collect()
}
