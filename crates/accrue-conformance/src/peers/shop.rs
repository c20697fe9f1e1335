use std::collections::BTreeMap;

use accrue::{
    Currency, CustomerId, Decimal, Email, EventKey, EventName, ExternalId, ItemId, MetricId, Name,
    PlanId, PriceId, PricingUnit, PropertyName, SubscriptionId, Timeframe, Timestamp,
    alert::{NewAlert, Thresholds},
    cost::CostQuery,
    credit::NewLedgerEntry,
    customer::{Customer, NewCustomer},
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    price::{BilledPriceBuilder, Cadence, Model, NewPrice, Unit},
    subscription::{BillingAnchor, NewSubscription, Subscription},
    usage::{Event, PropertyValue},
    webhook::{Body, Message},
};

use super::{Peer, at};

/// Instant at which subscriptions begin, before a case does.
const START: &str = "2026-03-01T00:00:00Z";

/// What an account sells: units of a sum, a monthly fee, and credits.
pub(crate) struct Shop {
    pub(crate) item: ItemId,
    pub(crate) metric: MetricId,
    pub(crate) plan: PlanId,
    /// Price of the fee.
    pub(crate) fee: PriceId,
}

impl Shop {
    /// Has a process configure the account.
    pub(crate) fn opened_by(peer: &Peer<'_>) -> Self {
        let account = &peer.account;
        let item = peer.run(account.create_item(NewItem::new(name("units")))).id;
        let sum = MetricQuery::parse("SELECT sum(n) FROM events").expect("it is a metric");
        let metric = peer.run(account.create_metric(NewMetric::new(name("sum"), item, sum))).id;
        let unit = Model::Unit(Unit::new(Decimal::from(2)));
        let units = billed(item, "units").usage(metric, unit);
        let mut plan = NewPlan::new(name("plan"), usd());
        plan.prices =
            vec![units.into(), billed(item, "fee").fee_in_advance(Decimal::from(5)).into()];
        let plan = peer.run(account.create_plan(plan));
        let version = peer.read(account.fetch_plan_version(plan.id, plan.version));
        let fee = version.prices.iter().find(|price| price.name == name("fee"));
        let fee = fee.expect("the plan has a fee").id;
        Self { item, metric, plan: plan.id, fee }
    }

    /// Creates a customer with a subscription from the first of the month on.
    pub(crate) fn subscriber(&self, peer: &Peer<'_>, external: &str) -> Subscription {
        let customer = customer(peer, external);
        peer.run(peer.account.create_subscription(self.subscription(customer.id, at(START))))
    }

    pub(crate) fn subscription(&self, customer: CustomerId, start: Timestamp) -> NewSubscription {
        let mut new = NewSubscription::new(customer, self.plan);
        new.anchor = BillingAnchor::FirstOfMonth;
        new.start_date = Some(start);
        new
    }

    /// Alert on the usage of a subscription.
    pub(crate) fn alert(&self, thresholds: &[u64]) -> NewAlert {
        let thresholds = thresholds.iter().map(|threshold| Decimal::from(*threshold));
        let thresholds = Thresholds::new(thresholds).expect("they are thresholds");
        NewAlert::usage_exceeded(self.metric, thresholds)
    }

    /// Usage of a customer within a timeframe, as a process sees it.
    pub(crate) fn usage(&self, peer: &Peer<'_>, customer: CustomerId, of: Timeframe) -> u64 {
        let figure = peer.read(peer.account.usage_between(customer, self.metric, of));
        integer(figure.unwrap_or_default())
    }

    /// Cost of a subscription within a timeframe, as a process sees it.
    pub(crate) fn cost(&self, peer: &Peer<'_>, id: SubscriptionId, of: Timeframe) -> Decimal {
        let query = CostQuery { timeframe: of.into(), ..CostQuery::default() };
        let costs = peer.read(peer.account.subscription_costs(id, &query));
        costs.into_iter().map(|cost| cost.total).sum()
    }

    /// Gives a customer credits.
    pub(crate) fn grant(&self, amount: u64) -> NewLedgerEntry {
        NewLedgerEntry::increment(credits(), Decimal::from(amount))
    }

    /// Balance of a customer's credits, as a process sees it.
    pub(crate) fn balance(&self, peer: &Peer<'_>, customer: CustomerId) -> u64 {
        let balance = peer.read(peer.account.credit_balance(customer, &credits()));
        integer(balance.balance.unwrap_or_default())
    }
}

pub(crate) fn customer(peer: &Peer<'_>, external: &str) -> Customer {
    peer.run(peer.account.create_customer(new_customer(external)))
}

pub(crate) fn new_customer(external: &str) -> NewCustomer {
    let email = Email::parse("a@example.com").expect("it is an address");
    let mut new = NewCustomer::new(name(external), email);
    new.external_customer_id = Some(external_id(external));
    new
}

/// Price of an item, each month.
pub(crate) fn billed(item: ItemId, text: &str) -> BilledPriceBuilder {
    NewPrice::builder(name(text), item).billed(Cadence::Monthly, usd())
}

/// Event of a customer that counts so much.
pub(crate) fn used(customer: &str, key: &str, timestamp: Timestamp, count: u64) -> Event {
    let n = PropertyName::parse("n").expect("it is a name");
    Event {
        idempotency_key: EventKey::parse(key).expect("it is a key"),
        event_name: EventName::parse("call").expect("it is a name"),
        timestamp,
        properties: [(n, PropertyValue::Number(Decimal::from(count)))].into_iter().collect(),
        customer: external_id(customer).into(),
    }
}

/// Thresholds that messages tell of, of each subscription, in the order told.
pub(crate) fn fired(messages: &[Message]) -> BTreeMap<SubscriptionId, Vec<u64>> {
    let mut fired = BTreeMap::<_, Vec<_>>::new();
    for message in messages {
        if let Body::UsageExceeded(exceeded) = &message.body {
            let thresholds = exceeded.thresholds.iter().map(|threshold| integer(threshold.clone()));
            fired.entry(exceeded.subscription_id).or_default().extend(thresholds);
        }
    }
    fired
}

/// Subscriptions of which messages tell that they have begun, as often as they do.
pub(crate) fn started(messages: &[Message]) -> Vec<SubscriptionId> {
    let started = messages.iter().filter_map(|message| match &message.body {
        Body::SubscriptionStarted { subscription_id } => Some(*subscription_id),
        _ => None,
    });
    started.collect()
}

/// Timeframe between two instants.
pub(crate) fn hour(start: &str, end: &str) -> Timeframe {
    Timeframe::new(at(start), at(end)).expect("it begins before it ends")
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("it is a name")
}

pub(crate) fn external_id(text: &str) -> ExternalId {
    ExternalId::parse(text).expect("it is an id")
}

fn credits() -> PricingUnit {
    PricingUnit::parse("credits").expect("it is a unit")
}

fn usd() -> Currency {
    Currency::parse("USD").expect("it is a currency")
}

fn integer(number: Decimal) -> u64 {
    number.to_string().parse().expect("it is a sum of small integers")
}
