//! Whether a store holds what was told of it: each effect that was acknowledged, once.

use std::collections::BTreeMap;

use accrue::SubscriptionId;
use pollster::block_on;
use serde_json::{Value, json};

use crate::{
    host::Host,
    told::{Asked, Told},
    work::LATE,
};

/// How many events a search is asked for.
const SEARCHED: usize = 500;

/// What was asked for, as it is to be found.
#[derive(Default)]
struct Expected {
    /// Entries of ledgers, by their customers: what each says, and by how much.
    credits: BTreeMap<String, Vec<(String, u64)>>,
    items: Vec<String>,
    /// Events that count, by their keys: whose they are, and their tokens.
    events: BTreeMap<String, (String, u64)>,
    /// The same of those in backfills, by the backfill.
    backfilled: BTreeMap<String, Vec<(String, u64)>>,
    closed: Vec<String>,
    /// Subscriptions, by their customers.
    subscriptions: BTreeMap<String, String>,
}

impl Told {
    /// Asks again what is in doubt, under the same keys. Returns how many were done before.
    pub(crate) fn apply_transitions(&mut self, host: &Host) -> usize {
        let mut done = 0;
        for Asked { key, path, body } in self.in_doubt() {
            let answer = host.post(&path, &key, &body);
            done += usize::from(answer.is_replayed);
            self.answer(key, answer.status, answer.body);
        }
        done
    }

    /// Compares the store with everything that was told, and asks again what was asked from the
    /// request of this number on.
    ///
    /// # Panics
    ///
    /// If anything is lost, doubled, or another than it was.
    pub(crate) fn check(&mut self, host: &Host, since: usize) {
        host.tick();
        for Asked { key, path, body } in &self.asked[since..] {
            let answer = host.post(path, key, body);
            assert!(answer.is_replayed, "{key} is lost: {}", self.answered[key].1);
            assert_eq!(self.answered[key], (answer.status, answer.body), "{key}: not as before");
        }
        let expected = self.expected();
        check_items(host, &expected);
        check_events(host, &expected, &self.asked[since..]);
        check_credits(host, &expected);
        check_figures(host, &expected);
        self.check_messages(host, &expected);
    }

    fn expected(&self) -> Expected {
        let mut expected = Expected::default();
        for Asked { key, path, body } in &self.asked {
            let body: Value = serde_json::from_str(body).unwrap();
            let answer: Value = serde_json::from_str(&self.answered[key].1).unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let parts: Vec<_> = path.split('/').skip(2).collect();
            match parts.as_slice() {
                ["items"] => expected.items.push(text(&body["name"])),
                ["subscriptions"] => {
                    let customer = text(&body["external_customer_id"]);
                    expected.subscriptions.insert(customer, text(&answer["id"]));
                }
                ["customers", _, customer, "credits", "ledger_entry"] => {
                    let entry = (key.clone(), body["amount"].as_u64().unwrap());
                    expected.credits.entry((*customer).to_owned()).or_default().push(entry);
                }
                ["events", "backfills", id, "close"] => expected.closed.push((*id).to_owned()),
                [ingest] if ingest.starts_with("ingest") => {
                    let backfill = ingest.split_once("backfill_id=");
                    for event in body["events"].as_array().unwrap() {
                        let id = text(&event["idempotency_key"]);
                        let tokens = event["properties"]["tokens"].as_u64().unwrap();
                        let customer = text(&event["external_customer_id"]);
                        match backfill {
                            Some((_, backfill)) => {
                                let of = expected.backfilled.entry(backfill.to_owned());
                                of.or_default().push((id, tokens));
                            }
                            None => drop(expected.events.insert(id, (customer, tokens))),
                        }
                    }
                }
                _ => {}
            }
        }
        for backfill in &expected.closed {
            for (id, tokens) in expected.backfilled.get(backfill).into_iter().flatten() {
                expected.events.insert(id.clone(), (LATE.to_owned(), *tokens));
            }
        }
        expected
    }

    /// Each threshold that was reached has one message, each backfill that was reflected another
    /// one; a message waits until it is acknowledged, and not longer.
    fn check_messages(&mut self, host: &Host, expected: &Expected) {
        let waiting: BTreeMap<String, Value> = host
            .waiting()
            .into_iter()
            .map(|message| (message.id.to_string(), serde_json::to_value(&message.body).unwrap()))
            .collect();
        for id in &self.acknowledged {
            assert!(!waiting.contains_key(id), "the message {id} was acknowledged, and waits");
        }
        for id in self.seen.keys().filter(|id| !self.acknowledging.contains(*id)) {
            assert!(waiting.contains_key(id), "the message {id} is lost");
        }
        for (id, body) in waiting {
            self.see(id, body);
        }
        let mut reached: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut reflected = Vec::new();
        for body in self.seen.values() {
            if let Some(exceeded) = body.get("subscription.usage_exceeded") {
                let thresholds = exceeded["thresholds"].as_array().unwrap().iter().map(number);
                let of = exceeded["subscription_id"].as_str().unwrap().to_owned();
                reached.entry(of).or_default().extend(thresholds);
            } else if let Some(backfill) = body.get("backfill.reflected") {
                reflected.push(backfill["backfill_id"].as_str().unwrap().to_owned());
            }
        }
        for (customer, subscription) in &expected.subscriptions {
            let tokens = tokens_of(expected, customer);
            let thresholds = (1..=100).map(|nth| nth * 20).filter(|least| *least <= tokens);
            let thresholds: Vec<u64> = if customer == LATE { vec![] } else { thresholds.collect() };
            let mut found = reached.remove(subscription).unwrap_or_default();
            found.sort_unstable();
            assert_eq!(found, thresholds, "the alerts of {customer}, who has {tokens} tokens");
        }
        check_same(reflected, expected.closed.clone(), "backfills that are told of");
    }
}

fn check_items(host: &Host, expected: &Expected) {
    let items = host.list("/v1/items?limit=100");
    let names = items.iter().map(|item| item["name"].as_str().unwrap().to_owned());
    check_same(names.collect(), expected.items.clone(), "items");
}

/// The events of these requests are found, each once.
fn check_events(host: &Host, expected: &Expected, asked: &[Asked]) {
    let mut keys = Vec::new();
    for Asked { path, body, .. } in asked {
        if path.starts_with("/v1/ingest") {
            let body: Value = serde_json::from_str(body).unwrap();
            let events = body["events"].as_array().unwrap().iter();
            keys.extend(events.map(|event| event["idempotency_key"].as_str().unwrap().to_owned()));
        }
    }
    keys.retain(|key| expected.events.contains_key(key));
    for keys in keys.chunks(SEARCHED) {
        let search = json!({"event_ids": keys, "timeframe_start": "2026-03-09T00:00:00Z",
            "timeframe_end": "2026-03-11T00:00:00Z"});
        let found = host.search("/v1/events/search", &search);
        let found = found.iter().map(|event| {
            assert_eq!(event["deprecated"], false, "{event}");
            let id = event["id"].as_str().unwrap();
            let of = event["external_customer_id"].as_str().map(str::to_owned);
            let (customer, tokens) = &expected.events[id];
            assert_eq!(of.as_ref(), Some(customer), "{event}");
            assert_eq!(number(&event["properties"]["tokens"]), *tokens, "{event}");
            id.to_owned()
        });
        check_same(found.collect(), keys.to_vec(), "events");
    }
}

/// Each entry is in its ledger once, and balances are their sums.
fn check_credits(host: &Host, expected: &Expected) {
    for (customer, entries) in &expected.credits {
        let path = format!("/v1/customers/external_customer_id/{customer}/credits");
        let ledger = host.list(&format!("{path}/ledger?limit=1000"));
        let found = ledger.iter().map(|entry| {
            (entry["description"].as_str().unwrap().to_owned(), number(&entry["amount"]))
        });
        check_same(found.collect(), entries.clone(), &format!("credits of {customer}"));
        let sum: u64 = entries.iter().map(|(_, amount)| amount).sum();
        let blocks = host.list(&format!("{path}?limit=100"));
        let balance: u64 = blocks.iter().map(|block| number(&block["balance"])).sum();
        assert_eq!(balance, sum, "the balance of {customer}");
    }
}

/// Usage is the sum of the events that count.
fn check_figures(host: &Host, expected: &Expected) {
    for (customer, subscription) in &expected.subscriptions {
        let id: SubscriptionId = subscription.parse().unwrap();
        let usage = block_on(host.account.subscription_usage(id)).unwrap();
        let found = usage.metrics.first().and_then(|metric| metric.quantity.clone());
        let found = found.map_or(0, |found| found.to_string().parse::<u64>().unwrap());
        assert_eq!(found, tokens_of(expected, customer), "the usage of {customer}");
    }
}

fn tokens_of(expected: &Expected, customer: &str) -> u64 {
    let events = expected.events.values();
    events.filter(|(of, _)| of == customer).map(|(_, tokens)| tokens).sum()
}

/// A number, or a text that is one.
fn number(value: &Value) -> u64 {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse().unwrap_or_else(|_| panic!("not a whole number: {value}"))
}

fn check_same<T: Ord + std::fmt::Debug>(mut found: Vec<T>, mut expected: Vec<T>, what: &str) {
    found.sort();
    expected.sort();
    let lost: Vec<_> =
        expected.iter().filter(|one| found.binary_search(one).is_err()).take(5).collect();
    let more: Vec<_> =
        found.iter().filter(|one| expected.binary_search(one).is_err()).take(5).collect();
    assert!(lost.is_empty() && more.is_empty(), "{what}: {lost:?} lost, {more:?} not expected");
    assert_eq!(found.len(), expected.len(), "{what}: some are there twice");
}
