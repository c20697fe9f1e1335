//! What clients ask until their server is killed.

use std::{net::SocketAddr, time::Duration};

use accrue::Timestamp;
use accrue_crash_tests::Dice;
use accrue_load_tests::{
    Answer, Client, Outcome, Request, before_now, event, ingest, new_customer,
};
use serde_json::json;

/// The currency of all credits.
pub(crate) const CREDITS: &str = "credits";

/// A request, what it is to bring about, and what it was answered: nothing, where it is in doubt.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) effect: Effect,
    pub(crate) answer: Option<Answer>,
}

/// What is there once a request was done.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// Events of a customer, by their keys, and their tokens together.
    Events { customer: String, keys: Vec<String>, tokens: u64 },
    /// A customer.
    Customer(String),
    /// The one alert of a customer.
    Alert(String),
    /// An entry in the ledger of a customer, with an amount that none of its others has.
    Entry { customer: String, amount: usize },
}

/// A client that asks until it is not answered.
pub(crate) struct Worker {
    client: Client,
    /// What its keys begin with.
    name: String,
    /// Who uses something.
    customers: Vec<String>,
    dice: Dice,
    asked: Vec<Asked>,
}

impl Worker {
    pub(crate) fn new(
        address: SocketAddr,
        name: String,
        customers: Vec<String>,
        seed: u64,
    ) -> Self {
        let (client, dice) = (Client::new(address), Dice::new(seed));
        Self { client, name, customers, dice, asked: Vec::new() }
    }

    /// Asks until an answer does not come, and returns all that was asked.
    pub(crate) async fn run(mut self) -> Outcome<Vec<Asked>> {
        let mut is_answered = true;
        for step in 0.. {
            if !is_answered {
                break;
            }
            let key = format!("{}-{step}", self.name);
            is_answered = match self.dice.below(5) {
                0 => self.customer(&key).await?,
                _ => self.usage(&key).await?,
            };
        }
        Ok(self.asked)
    }

    /// A few events of a customer who is also another worker's, or its own.
    async fn usage(&mut self, key: &str) -> Outcome<bool> {
        let customer = self.dice.below(self.customers.len());
        let customer = self.customers.get(customer).cloned().unwrap_or_default();
        let at: Timestamp = before_now(Duration::from_secs(1));
        let (mut events, mut keys, mut tokens) = (Vec::new(), Vec::new(), 0);
        for nth in 0..=self.dice.below(4) {
            let (key, more) = (format!("{key}-{nth}"), 1 + self.dice.below(9));
            events.push(event(&key, &customer, at, &json!({"tokens": more})));
            keys.push(key);
            tokens += u64::try_from(more)?;
        }
        let request = ingest("ingest", &events).keyed(key);
        self.ask(request, Effect::Events { customer, keys, tokens }).await
    }

    /// A new customer, with an alert and credits.
    async fn customer(&mut self, key: &str) -> Outcome<bool> {
        let request = new_customer(key).keyed(format!("{key}-customer"));
        if !self.ask(request, Effect::Customer(key.to_owned())).await? {
            return Ok(false);
        }
        let alert = json!({
            "type": "credit_balance_dropped", "currency": CREDITS, "thresholds": [{"value": 10}],
        });
        let path = format!("/alerts/external_customer_id/{key}");
        let request = Request::post("alert", path, alert.to_string());
        let request = request.keyed(format!("{key}-alert"));
        if !self.ask(request, Effect::Alert(key.to_owned())).await? {
            return Ok(false);
        }
        for amount in 1..=1 + self.dice.below(3) {
            let entry = json!({"entry_type": "increment", "amount": amount, "currency": CREDITS});
            let path = format!("/customers/external_customer_id/{key}/credits/ledger_entry");
            let request = Request::post("ledger entry", path, entry.to_string());
            let request = request.keyed(format!("{key}-entry-{amount}"));
            let effect = Effect::Entry { customer: key.to_owned(), amount };
            if !self.ask(request, effect).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tells whether it was answered.
    async fn ask(&mut self, request: Request, effect: Effect) -> Outcome<bool> {
        let answer = self.client.send(&request).await.ok();
        if let Some(refused) = answer.as_ref().filter(|answer| !answer.is_success()) {
            let (path, body) = (&request.path, String::from_utf8_lossy(&refused.body));
            return Err(format!("{path}: {} {body}", refused.status).into());
        }
        let is_answered = answer.is_some();
        self.asked.push(Asked { request, effect, answer });
        Ok(is_answered)
    }
}
