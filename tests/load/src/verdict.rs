use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Duration,
};

use accrue::{Timestamp, limits};
use serde_json::{Value, json};

use crate::{Asked, CREDITS, Client, Effect, Outcome, Request, before_now};

/// What is to be there.
#[derive(Debug, Default)]
pub struct Expected {
    /// The keys of events.
    pub events: BTreeSet<String>,
    /// The tokens of each customer.
    pub tokens: BTreeMap<String, u64>,
    /// What new customers have.
    customers: BTreeMap<String, Belongings>,
}

#[derive(Debug, Default)]
struct Belongings {
    alerts: usize,
    entries: Vec<usize>,
}

/// Whether a server has what was asked for: each effect, once.
#[derive(Debug)]
pub struct Verdict {
    client: Client,
    /// Answers that came again, byte for byte.
    pub replays: usize,
    /// What is missing.
    pub lost: usize,
    /// What is there too often.
    pub doubled: usize,
}

impl Expected {
    /// What there is once all of this was done.
    pub fn of<'a>(asked: impl IntoIterator<Item = &'a Asked>) -> Self {
        let mut expected = Self::default();
        for Asked { effect, .. } in asked {
            match effect {
                Effect::Events { customer, keys, tokens } => {
                    expected.events.extend(keys.iter().cloned());
                    *expected.tokens.entry(customer.clone()).or_default() += tokens;
                }
                Effect::Customer(name) => drop(expected.belongings(name)),
                Effect::Alert(customer) => expected.belongings(customer).alerts += 1,
                Effect::Entry { customer, amount } => {
                    expected.belongings(customer).entries.push(*amount);
                }
            }
        }
        expected
    }

    fn belongings(&mut self, customer: &str) -> &mut Belongings {
        self.customers.entry(customer.to_owned()).or_default()
    }
}

impl Verdict {
    /// Begins to look at what a server says.
    #[must_use]
    pub const fn new(address: SocketAddr) -> Self {
        Self { client: Client::new(address), replays: 0, lost: 0, doubled: 0 }
    }

    /// Asks again what was answered: the answer is that of before.
    ///
    /// # Errors
    ///
    /// Where it is not answered.
    pub async fn replays(&mut self, asked: &Asked) -> Outcome<()> {
        let Some(before) = &asked.answer else { return Ok(()) };
        let again = self.client.send(&asked.request).await?;
        match again.is_replayed && (again.status, &again.body) == (before.status, &before.body) {
            true => self.replays += 1,
            false => self.find(0, 1, &format!("the same as {before:?}, {again:?} was answered,")),
        }
        Ok(())
    }

    /// Looks each event up by its key.
    ///
    /// # Errors
    ///
    /// Where it is not answered.
    pub async fn has_events(&mut self, expected: &Expected) -> Outcome<()> {
        let keys: Vec<_> = expected.events.iter().collect();
        for keys in keys.chunks(limits::SEARCH_EVENTS) {
            let search = json!({"event_ids": keys}).to_string();
            let found = self.client.ask(&Request::post("search", "/events/search", search)).await?;
            let found: Vec<_> = rows(&found)?.iter().map(|event| text(event, "id")).collect();
            for key in keys {
                let times = found.iter().filter(|id| *id == *key).count();
                self.find(times, 1, &format!("the event {key}"));
            }
        }
        Ok(())
    }

    /// Looks at each customer, its alerts and its ledger.
    ///
    /// # Errors
    ///
    /// Where it is not answered.
    pub async fn has_customers(&mut self, expected: &Expected) -> Outcome<()> {
        for (name, Belongings { alerts, entries }) in &expected.customers {
            let customer = format!("/customers/external_customer_id/{name}");
            let answer = self.client.send(&Request::get("customer", customer.clone())).await?;
            self.find(usize::from(answer.is_success()), 1, &format!("the customer {name}"));
            if !answer.is_success() {
                continue;
            }
            let path = format!("/alerts?external_customer_id={name}");
            let found = self.client.ask(&Request::get("alerts", path)).await?;
            self.find(rows(&found)?.len(), *alerts, &format!("the alert of {name}"));
            let path = format!("{customer}/credits/ledger?currency={CREDITS}&limit=100");
            let found = self.client.ask(&Request::get("ledger", path)).await?;
            let found: Vec<_> = rows(&found)?.iter().map(|entry| text(entry, "amount")).collect();
            for amount in entries {
                let times = found.iter().filter(|found| **found == amount.to_string()).count();
                self.find(times, 1, &format!("the entry of {amount} of {name}"));
            }
            self.find(found.len(), entries.len(), &format!("the entries of {name}"));
        }
        Ok(())
    }

    /// Counts all events.
    ///
    /// # Errors
    ///
    /// Where it is not answered.
    pub async fn counts(&mut self, start: Timestamp, events: usize) -> Outcome<()> {
        let path = format!("/events/volume?limit=100&timeframe_start={}", in_query(start));
        let hours = self.client.ask(&Request::get("volume", path)).await?;
        let counts = rows(&hours)?.iter().map(|hour| hour.get("count").and_then(Value::as_u64));
        let found: u64 = counts.flatten().sum();
        self.find(usize::try_from(found)?, events, "events");
        Ok(())
    }

    /// Reads how many tokens a subscription used.
    ///
    /// # Errors
    ///
    /// Where it is not answered.
    pub async fn uses(&mut self, subscription: &str, start: Timestamp, tokens: u64) -> Outcome<()> {
        let [start, end] = [start, before_now(Duration::ZERO)].map(in_query);
        let path = format!(
            "/subscriptions/{subscription}/usage?timeframe_start={start}&timeframe_end={end}"
        );
        let answer = self.client.send(&Request::get("usage", path)).await?;
        let usage = answer.json().unwrap_or_default();
        let quantity = usage.pointer("/data/0/usage/0/quantity").and_then(Value::as_u64);
        let found = quantity.unwrap_or_default();
        let what = format!("tokens of {subscription}");
        self.find(usize::try_from(found)?, usize::try_from(tokens)?, &what);
        Ok(())
    }

    /// Notes what is there too rarely or too often, and says so.
    pub fn find(&mut self, found: usize, expected: usize, what: &str) {
        if found != expected {
            eprintln!("{what}: {found} found, {expected} expected");
        }
        self.lost += expected.saturating_sub(found);
        self.doubled += found.saturating_sub(expected);
    }
}

/// Returns the rows of a list.
///
/// # Errors
///
/// Where it is none.
pub fn rows(answer: &Value) -> Outcome<&Vec<Value>> {
    let rows = answer.get("data").and_then(Value::as_array);
    Ok(rows.ok_or_else(|| format!("an answer without rows: {answer}"))?)
}

/// Returns a field as text.
fn text(row: &Value, name: &str) -> String {
    match row.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn in_query(at: Timestamp) -> String {
    at.to_string().replace('+', "%2B")
}
