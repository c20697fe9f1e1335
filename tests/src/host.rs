//! A host that embeds the engine, as short as tests like it.

use std::sync::Arc;

use accrue::{
    Account, AccountId, Billing, Currency, Decimal, Email, EventKey, EventName, ExternalId,
    IdempotencyKey, ManualClock, Name, PageRequest, PropertyName, SeededEntropy, Timestamp,
    alert::Thresholds,
    customer::NewCustomer,
    item::NewItem,
    metric::{Metric, MetricQuery, NewMetric},
    plan::{NewPlan, Plan},
    store::Store,
    usage::{Event, PropertyValue},
    webhook::Message,
};
use pollster::block_on;

use crate::stores::BoundedStore;

/// When scripts begin, unless they say otherwise.
pub const BEGINNING: &str = "2026-03-10T09:00:00Z";

/// An engine on a store, whose bounds are watched, with a clock to be moved by hand.
#[derive(Clone, Debug)]
pub struct Host {
    pub store: Arc<dyn Store>,
    pub clock: ManualClock,
    pub billing: Billing,
    pub account: Account,
}

impl Host {
    /// Begins on a store, at [`BEGINNING`].
    pub fn on(store: impl Store) -> Self {
        Self::at(store, ManualClock::at(instant(BEGINNING)), 1)
    }

    /// One more process on the same store: with locks and a memory of its own.
    #[must_use]
    pub fn another(&self, seed: u64) -> Self {
        Self::at(Arc::clone(&self.store), self.clock.clone(), seed)
    }

    fn at(store: impl Store, clock: ManualClock, seed: u64) -> Self {
        let store: Arc<dyn Store> = Arc::new(BoundedStore(store));
        let billing = Billing::new(Arc::clone(&store), clock.clone(), SeededEntropy::new(seed));
        let account = billing.account(AccountId::parse("acme").unwrap());
        Self { store, clock, billing, account }
    }

    #[must_use]
    pub fn metric(&self, sql: &str) -> Metric {
        let item = block_on(self.account.create_item(NewItem::new(name("item"))).into_future());
        let sql = MetricQuery::parse(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let metric = NewMetric::new(name("metric"), item.unwrap().id, sql);
        block_on(self.account.create_metric(metric).into_future()).unwrap()
    }

    #[must_use]
    pub fn plan(&self) -> Plan {
        let plan = NewPlan::new(name("plan"), Currency::parse("USD").unwrap());
        block_on(self.account.create_plan(plan).into_future()).unwrap()
    }

    /// Applies everything that is due.
    pub fn tick(&self) {
        while block_on(self.billing.tick(100)).unwrap().more {}
    }

    /// Reads all messages, and leaves them where they are.
    #[must_use]
    pub fn waiting(&self) -> Vec<Message> {
        let (mut all, mut page) = (Vec::new(), PageRequest::first_of_messages(1_000).unwrap());
        loop {
            let found = block_on(self.account.list_messages(&page)).unwrap();
            all.extend(found.data);
            let Some(cursor) = found.next_cursor else { return all };
            page = page.after(cursor);
        }
    }

    /// Reads and acknowledges all messages.
    #[must_use]
    pub fn drain(&self) -> Vec<Message> {
        let (mut all, page) = (Vec::new(), PageRequest::first_of_messages(1_000).unwrap());
        loop {
            let messages = block_on(self.account.list_messages(&page)).unwrap().data;
            if messages.is_empty() {
                return all;
            }
            let places: Vec<_> = messages.iter().map(|message| message.place).collect();
            block_on(self.account.acknowledge(places).into_future()).unwrap();
            all.extend(messages);
        }
    }
}

#[must_use]
pub fn instant(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[must_use]
pub fn micros(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).unwrap()
}

#[must_use]
pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[must_use]
pub fn external(text: &str) -> ExternalId {
    ExternalId::parse(text).unwrap()
}

#[must_use]
pub fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

#[must_use]
pub fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

#[must_use]
pub fn thresholds(texts: &[&str]) -> Thresholds {
    Thresholds::new(texts.iter().map(|text| number(text))).unwrap()
}

/// A customer with an external id.
#[must_use]
pub fn customer(external_id: &str) -> NewCustomer {
    let mut new = NewCustomer::new(name(external_id), Email::parse("a@example.com").unwrap());
    new.external_customer_id = Some(external(external_id));
    new
}

/// An event of a customer named by its external id.
#[must_use]
pub fn event(
    external_id: &str,
    key: &str,
    at: Timestamp,
    properties: &[(&str, PropertyValue)],
) -> Event {
    let property = |(name, value): &(&str, PropertyValue)| {
        (PropertyName::parse(*name).unwrap(), value.clone())
    };
    Event {
        idempotency_key: EventKey::parse(key).unwrap(),
        event_name: EventName::parse("call").unwrap(),
        timestamp: at,
        properties: properties.iter().map(property).collect(),
        customer: external(external_id).into(),
    }
}
