//! The messages that wait in a store: one for each threshold that usage has reached.

use std::collections::{BTreeMap, BTreeSet};

use accrue::{AccountId, Billing, PageRequest};
use accrue_load_tests::Outcome;
use accrue_postgres::PostgresStore;
use serde_json::Value;

use crate::setting::{STEP, THRESHOLDS};

/// The account of the servers.
const ACCOUNT: &str = "default";

/// How many messages are read at a time.
const PAGE: usize = 1_000;

/// All messages that were read.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    ids: BTreeSet<String>,
    /// The ids that came again, after they were acknowledged.
    pub(crate) again: usize,
    /// What alerts told, by the subscription that they watch.
    reached: BTreeMap<String, Vec<u64>>,
}

impl Messages {
    /// Reads what waits, as a process of its own, and acknowledges it.
    pub(crate) async fn read(&mut self, connection: &str) -> Outcome<()> {
        let billing = Billing::with_system(PostgresStore::open(connection).await?);
        let account = billing.account(AccountId::parse(ACCOUNT)?);
        let page = PageRequest::first_of_messages(PAGE)?;
        loop {
            let waiting = account.list_messages(&page).await?.data;
            if waiting.is_empty() {
                return Ok(());
            }
            for message in &waiting {
                self.note(message.id.to_string(), &serde_json::to_value(&message.body)?)?;
            }
            account.acknowledge(waiting.iter().map(|message| message.place)).await?;
        }
    }

    fn note(&mut self, id: String, body: &Value) -> Outcome<()> {
        self.again += usize::from(!self.ids.insert(id));
        let Some(exceeded) = body.get("subscription.usage_exceeded") else { return Ok(()) };
        let of = exceeded.get("subscription_id").and_then(Value::as_str);
        let thresholds = exceeded.get("thresholds").and_then(Value::as_array);
        let (Some(of), Some(thresholds)) = (of, thresholds) else {
            return Err(format!("a message of another shape: {body}").into());
        };
        let told = self.reached.entry(of.to_owned()).or_default();
        for threshold in thresholds {
            let text = threshold.as_str().map_or_else(|| threshold.to_string(), str::to_owned);
            told.push(text.parse()?);
        }
        Ok(())
    }

    /// Returns what was told of a subscription, and what there is to tell, in order.
    pub(crate) fn of(&self, subscription: &str, tokens: u64) -> [Vec<u64>; 2] {
        let mut told = self.reached.get(subscription).cloned().unwrap_or_default();
        told.sort_unstable();
        let reached = (1..=THRESHOLDS).map(|nth| nth * STEP).take_while(|value| *value <= tokens);
        [told, reached.collect()]
    }
}
