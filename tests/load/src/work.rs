use std::time::Duration;

use accrue::Timestamp;
use accrue_crash_tests::Dice;
use serde_json::json;

use crate::{Answer, Outcome, Request, before_now, event, ingest, new_customer};

/// The currency of all credits.
pub const CREDITS: &str = "credits";

/// A request, what it is to bring about, and what it was answered: nothing, where it is in doubt.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The request, under a key of its own.
    pub request: Request,
    /// What is there once it was done.
    pub effect: Effect,
    /// Its answer.
    pub answer: Option<Answer>,
    /// How often it was sent without one.
    pub doubts: usize,
}

/// What is there once a request was done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Events of a customer.
    Events {
        /// Whose they are.
        customer: String,
        /// Their keys.
        keys: Vec<String>,
        /// Their tokens together.
        tokens: u64,
    },
    /// A customer.
    Customer(String),
    /// The one alert of a customer.
    Alert(String),
    /// An entry in the ledger of a customer.
    Entry {
        /// Whose ledger it is.
        customer: String,
        /// An amount that none of its others has.
        amount: usize,
    },
}

/// What became of a request.
#[derive(Clone, Debug)]
pub enum Sent {
    /// It was answered, after it had been sent so often without an answer.
    Answered(Answer, usize),
    /// It was sent so often, and nobody knows whether it was done.
    InDoubt(usize),
    /// It was not sent.
    Not,
}

/// Whoever sends what a [`Worker`] asks.
pub trait Ask {
    /// Sends a request.
    ///
    /// # Errors
    ///
    /// Where nothing that follows would mean anything.
    fn ask(&mut self, request: &Request) -> impl Future<Output = Outcome<Sent>> + Send;
}

/// What one caller asks, drawn by chance, until it is not answered.
#[derive(Debug)]
pub struct Worker<A> {
    ask: A,
    /// What its keys begin with.
    name: String,
    /// Who uses something.
    customers: Vec<String>,
    dice: Dice,
    asked: Vec<Asked>,
}

impl<A: Ask> Worker<A> {
    /// A worker whose keys begin with a name, and which reports usage of these customers.
    pub const fn new(ask: A, name: String, customers: Vec<String>, seed: u64) -> Self {
        Self { ask, name, customers, dice: Dice::new(seed), asked: Vec::new() }
    }

    /// Asks until something does not succeed, and returns all that was asked.
    ///
    /// # Errors
    ///
    /// Those of [`Ask::ask`].
    pub async fn run(mut self) -> Outcome<Vec<Asked>> {
        let mut is_done = true;
        for step in 0.. {
            if !is_done {
                break;
            }
            let key = format!("{}-{step}", self.name);
            is_done = match self.dice.below(5) {
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

    /// Tells whether it was done.
    async fn ask(&mut self, request: Request, effect: Effect) -> Outcome<bool> {
        let (answer, doubts) = match self.ask.ask(&request).await? {
            Sent::Answered(answer, doubts) => (Some(answer), doubts),
            Sent::InDoubt(doubts) => (None, doubts),
            Sent::Not => return Ok(false),
        };
        let is_done = answer.as_ref().is_some_and(Answer::is_success);
        self.asked.push(Asked { request, effect, answer, doubts });
        Ok(is_done)
    }
}
