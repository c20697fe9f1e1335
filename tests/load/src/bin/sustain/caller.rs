use std::{net::SocketAddr, sync::Arc, time::Duration};

use accrue_crash_tests::Dice;
use accrue_load_tests::{Client, Request, before_now, event, ingest, new_customer};
use serde_json::json;

use crate::{
    operation::Operation,
    pace::Pace,
    record::Record,
    setting::{Setting, customer},
};

/// A connection, and who asks over it.
pub(crate) struct Caller {
    client: Client,
    setting: Arc<Setting>,
    pace: Arc<Pace>,
    /// What its keys begin with.
    name: String,
    /// How many customers the events of one request are of at most.
    mixed: usize,
    dice: Dice,
    /// The keys of the events that it ingested last.
    events: Vec<String>,
    record: Record,
}

impl Caller {
    pub(crate) fn new(
        address: SocketAddr,
        setting: Arc<Setting>,
        pace: Arc<Pace>,
        name: String,
        mixed: usize,
        dice: Dice,
    ) -> Self {
        // A search looks for one that is not there until some were ingested.
        let (client, events) = (Client::new(address), vec![name.clone()]);
        let record = Record::default();
        Self { client, setting, pace, name, mixed, dice, events, record }
    }

    /// Asks for one thing after another until the time is over.
    pub(crate) async fn run(mut self) -> Record {
        for step in 0.. {
            if self.pace.elapsed().is_none() {
                break;
            }
            let key = format!("{}-{step}", self.name);
            match Operation::draw(&mut self.dice) {
                Operation::Ingest => self.ingest(&key).await,
                other => {
                    let request = self.request(other, &key);
                    self.record.send(&mut self.client, &request).await;
                }
            }
            self.pace.answer();
        }
        self.record
    }

    /// Ingests events of a few customers, in turn.
    async fn ingest(&mut self, key: &str) {
        let batch = self.pace.next_batch();
        let at = before_now(Duration::from_millis(10));
        let customers = self.setting.subscriptions.len();
        let mixed: Vec<_> = (0..self.mixed).map(|_| customer(self.dice.below(customers))).collect();
        let (mut events, mut keys) = (Vec::new(), Vec::new());
        for (nth, customer) in (0..batch).zip(mixed.iter().cycle()) {
            let properties = json!({"tokens": self.dice.below(20), "model": "large"});
            let key = format!("{key}-{nth}");
            events.push(event(&key, customer, at, &properties));
            keys.push(key);
        }
        let request = ingest("ingest", &events).keyed(key);
        if self.record.send(&mut self.client, &request).await.is_some() {
            self.pace.acknowledge(batch);
            self.events = keys;
        }
    }

    /// Asks for anything else, about some customer.
    fn request(&mut self, operation: Operation, key: &str) -> Request {
        let nth = self.dice.below(self.setting.subscriptions.len());
        let customer = customer(nth);
        let subscription = self.setting.subscriptions.get(nth).map_or("", String::as_str);
        let of = format!("/customers/external_customer_id/{customer}");
        match operation {
            Operation::Ingest | Operation::FetchCustomer => Request::get("fetch of a customer", of),
            Operation::Usage => {
                Request::get("usage", format!("/subscriptions/{subscription}/usage"))
            }
            Operation::Costs => {
                Request::get("costs", format!("/subscriptions/{subscription}/costs"))
            }
            Operation::LedgerEntry => {
                let amount = 1 + self.dice.below(20);
                let entry = json!({"entry_type": "increment", "amount": amount, "currency": "USD"});
                let path = format!("{of}/credits/ledger_entry");
                Request::post("new ledger entry", path, entry.to_string()).keyed(key)
            }
            Operation::Credits => Request::get("credits", format!("{of}/credits?currency=USD")),
            Operation::Subscriptions => {
                let path = format!("/subscriptions?external_customer_id={customer}");
                Request::get("subscriptions of a customer", path)
            }
            Operation::Alerts => {
                let path = format!("/alerts?subscription_id={subscription}");
                Request::get("alerts of a subscription", path)
            }
            Operation::Search => {
                let body = json!({"event_ids": self.events}).to_string();
                Request::post("search of events", "/events/search", body)
            }
            Operation::UpdateCustomer => {
                let body = json!({"name": format!("{customer} {key}")}).to_string();
                Request { method: "PUT", ..Request::post("update of a customer", of, body) }
            }
            Operation::NewCustomer => {
                Request { label: "new customer", ..new_customer(key) }.keyed(format!("new-{key}"))
            }
            Operation::Volume => {
                let start = self.setting.start.to_string().replace('+', "%2B");
                let path = format!("/events/volume?timeframe_start={start}");
                Request::get("event volume", path)
            }
            Operation::Customers => Request::get("page of 20 customers", "/customers"),
        }
    }
}
