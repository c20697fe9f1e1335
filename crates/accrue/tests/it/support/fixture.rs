use std::{sync::Arc, time::Duration};

use super::figures;

use accrue::{
    Account, AccountId, Billing, Currency, CustomerId, Decimal, Email, Error, ErrorKind, EventKey,
    EventName, ExternalId, ManualClock, MetricId, Name, PageRequest, PropertyName, SeededEntropy,
    Timestamp,
    alert::Exceeded,
    alert::{NewAlert, Thresholds},
    customer::{Customer, NewCustomer},
    item::{Item, NewItem},
    metric::{Metric, MetricQuery, NewMetric},
    plan::{NewPlan, Plan, PlanPrice},
    price::{Cadence, Matrix, MatrixCell, Model, NewPrice, Unit},
    store::{MemoryStore, Scan, Store, Table},
    subscription::{BillingAnchor, NewSubscription, Subscription},
    usage::{Event, PropertyValue},
    webhook::{Body, Message},
};
pub(crate) use pollster::block_on;

/// One account on a store in memory, at noon of the 10th of March 2026.
pub(crate) struct Fixture {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: ManualClock,
    pub(crate) billing: Billing,
    pub(crate) account: Account,
}

/// An id that nothing has.
pub(crate) const UNKNOWN: &str = "07070707-0707-7707-8707-070707070707";

pub(crate) const NOON: &str = "2026-03-10T12:00:00Z";

impl Fixture {
    pub(crate) fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let clock = ManualClock::at(at(NOON));
        let billing = Billing::new(Arc::clone(&store), clock.clone(), SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("acme").unwrap());
        Self { store, clock, billing, account }
    }

    pub(crate) fn set(&self, now: &str) {
        self.clock.set(at(now));
    }

    pub(crate) fn item(&self) -> Item {
        block_on(self.account.create_item(NewItem::new(name("item"))).into_future()).unwrap()
    }

    pub(crate) fn metric(&self, sql: &str) -> Metric {
        let query = MetricQuery::parse(sql).unwrap();
        let new = NewMetric::new(name(sql), self.item().id, query);
        block_on(self.account.create_metric(new).into_future()).unwrap()
    }

    pub(crate) fn plan(&self) -> Plan {
        let new = NewPlan::new(name("plan"), Currency::parse("USD").unwrap());
        block_on(self.account.create_plan(new).into_future()).unwrap()
    }

    /// A plan whose first version has these prices.
    pub(crate) fn priced_plan(&self, prices: impl IntoIterator<Item = PlanPrice>) -> Plan {
        let mut new = NewPlan::new(name("plan"), usd());
        new.prices = prices.into_iter().collect();
        run(self.account.create_plan(new)).unwrap()
    }

    /// A fee of 5 in advance, of an item of its own.
    pub(crate) fn fee(&self, cadence: Cadence) -> NewPrice {
        let fee = NewPrice::builder(name("fee"), self.item().id).billed(cadence, usd());
        fee.fee_in_advance(number("5"))
    }

    /// A price of 0.25 for each unit of a metric.
    pub(crate) fn per_unit(&self, metric: &Metric, cadence: Cadence) -> NewPrice {
        let model = Model::Unit(Unit::new(number("0.25")));
        let usage = NewPrice::builder(name("usage"), metric.item_id).billed(cadence, usd());
        usage.usage(metric.id, model)
    }

    /// A monthly price with so many cells, by the property `region`.
    pub(crate) fn by_region(&self, metric: &Metric, cells: usize) -> NewPrice {
        let cell = |n| MatrixCell::new(vec![Some(format!("region {n}"))], number("2"));
        let model = Model::Matrix(Matrix::new(
            vec![PropertyName::parse("region").unwrap()],
            number("1"),
            (0..cells).map(cell),
        ));
        NewPrice::builder(name("regions"), metric.item_id)
            .billed(Cadence::Monthly, usd())
            .usage(metric.id, model)
    }

    pub(crate) fn customer(&self, external: &str) -> Customer {
        let mut new = NewCustomer::new(name(external), Email::parse("a@example.com").unwrap());
        new.external_customer_id = Some(ExternalId::parse(external).unwrap());
        block_on(self.account.create_customer(new).into_future()).unwrap()
    }

    pub(crate) fn subscribe(&self, customer: CustomerId, plan: &Plan) -> Subscription {
        self.subscribe_from(customer, plan, None)
    }

    pub(crate) fn subscribe_from(
        &self,
        customer: CustomerId,
        plan: &Plan,
        start: Option<&str>,
    ) -> Subscription {
        let mut new = NewSubscription::new(customer, plan.id);
        new.anchor = BillingAnchor::SubscriptionStart;
        new.start_date = Some(start.map_or_else(|| accrue::Clock::now(&self.clock), at));
        block_on(self.account.create_subscription(new).into_future()).unwrap()
    }

    /// Ingests one event of the customer now, with the property `n`.
    pub(crate) fn use_now(&self, external: &str, key: &str, n: &str) {
        let event = event(external, key, accrue::Clock::now(&self.clock), n);
        block_on(self.account.ingest([event]).into_future()).unwrap();
    }

    pub(crate) fn usage(&self, subscription: &Subscription, metric: &Metric) -> Option<String> {
        let usage = block_on(self.account.subscription_usage(subscription.id)).unwrap();
        let of = usage.metrics.into_iter().find(|usage| usage.metric_id == metric.id).unwrap();
        of.quantity.map(|quantity| quantity.to_string())
    }

    /// Reads the first messages that wait, and leaves them where they are.
    pub(crate) fn waiting(&self, limit: usize) -> Vec<Message> {
        let page = PageRequest::first_of_messages(limit).unwrap();
        block_on(self.account.list_messages(&page)).unwrap().data
    }

    /// Reads and acknowledges every message that waits, but for those about plans and prices.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.taken(|body| body.plan_id().is_none() && body.price_id().is_none())
    }

    /// Reads and acknowledges every message about plans and prices that waits.
    pub(crate) fn messages_of_catalogue(&self) -> Vec<Message> {
        self.taken(|body| body.plan_id().is_some() || body.price_id().is_some())
    }

    fn taken(&self, is_taken: impl Fn(&Body) -> bool) -> Vec<Message> {
        let mut messages = self.waiting(1_000);
        messages.retain(|message| is_taken(&message.body));
        let places = messages.iter().map(|message| message.place);
        block_on(self.account.acknowledge(places).into_future()).unwrap();
        messages
    }

    pub(crate) fn message_types(&self) -> Vec<&'static str> {
        self.messages().iter().map(Message::message_type).collect()
    }

    /// Reads and acknowledges every message, and gives those of alerts as
    /// `threshold: before -> after`.
    pub(crate) fn fired(&self) -> Vec<String> {
        let describe = |exceeded: &Exceeded| {
            let before =
                exceeded.value_before.as_ref().map_or("none".to_owned(), Decimal::to_string);
            let thresholds: Vec<_> = exceeded.thresholds.iter().map(Decimal::to_string).collect();
            format!("{}: {before} -> {}", thresholds.join(" "), exceeded.value_after)
        };
        let messages = self.messages();
        let exceeded = messages.iter().filter_map(|message| match &message.body {
            Body::UsageExceeded(exceeded) => Some(describe(exceeded)),
            _ => None,
        });
        exceeded.collect()
    }

    /// Every row of every table, to see that nothing changed.
    pub(crate) fn dump(&self) -> Vec<String> {
        let rows = accrue::schema::TABLES.iter().flat_map(|table| {
            block_on(self.store.scan(&Scan::prefix(*table, b"", usize::MAX))).unwrap()
        });
        rows.map(|row| format!("{row:?}")).collect()
    }

    /// Tables that have a row.
    pub(crate) fn tables(&self) -> Vec<&'static str> {
        let has_rows = |table: &&Table| {
            !block_on(self.store.scan(&Scan::prefix(**table, b"", 1))).unwrap().is_empty()
        };
        accrue::schema::TABLES.iter().filter(has_rows).map(|table| table.name()).collect()
    }

    /// Figures that are kept, but for those of some tables: the same whether they are open or not.
    pub(crate) fn figures(&self, without: &[&str]) -> Vec<String> {
        let rows = accrue::schema::TABLES.iter().flat_map(|table| {
            block_on(self.store.scan(&Scan::prefix(*table, b"", usize::MAX))).unwrap()
        });
        let rows = rows.map(|row| (row.key.to_string(), row.document.as_str().to_owned()));
        let rows: Vec<_> = rows.collect();
        let rows = rows.iter().map(|(key, document)| (key.as_str(), document.as_str()));
        let is_asked = |key: &str| !without.iter().any(|table| key.starts_with(table));
        let figures = figures::figures(rows).into_iter().filter(|(key, _)| is_asked(key));
        figures.map(|(key, document)| format!("{key} {document}")).collect()
    }

    pub(crate) fn advance_days(&self, days: u64) {
        self.clock.advance(Duration::from_secs(days * 24 * 60 * 60));
    }
}

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(crate) fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

pub(crate) fn usd() -> Currency {
    Currency::parse("USD").unwrap()
}

pub(crate) fn external(text: &str) -> ExternalId {
    ExternalId::parse(text).unwrap()
}

pub(crate) fn thresholds(values: &[&str]) -> Thresholds {
    Thresholds::new(values.iter().map(|value| Decimal::parse(value).unwrap())).unwrap()
}

pub(crate) fn usage_alert(metric: MetricId, values: &[&str]) -> NewAlert {
    NewAlert::usage_exceeded(metric, thresholds(values))
}

/// An event with the number `n`; without one where it is empty.
pub(crate) fn event(external: &str, key: &str, timestamp: Timestamp, n: &str) -> Event {
    let number = Decimal::parse(n).ok();
    let properties = number
        .map(|number| (PropertyName::parse("n").unwrap(), PropertyValue::Number(number)))
        .into_iter()
        .collect();
    Event {
        idempotency_key: EventKey::parse(key).unwrap(),
        event_name: EventName::parse("call").unwrap(),
        timestamp,
        properties,
        customer: ExternalId::parse(external).unwrap().into(),
    }
}

/// Runs an operation to its end.
pub(crate) fn run<T: Send + 'static>(call: accrue::Call<T>) -> Result<T, Error> {
    block_on(call.into_future())
}

pub(crate) const COUNT: &str = "SELECT count(*) FROM events";
pub(crate) const SUM: &str = "SELECT sum(n) FROM events";

/// Runs an operation that is refused, and gives the kind of error and its text. Nothing is written.
pub(crate) fn refused<T: std::fmt::Debug + Send + 'static>(
    fixture: &Fixture,
    call: accrue::Call<T>,
) -> (ErrorKind, String) {
    let before = fixture.dump();
    let error = run(call).unwrap_err();
    assert_eq!(fixture.dump(), before, "nothing is written");
    (error.kind(), error.to_string())
}
