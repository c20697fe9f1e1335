//! A server of each framework over one database of PostgreSQL: what one was told the other knows, and what both were
//! told at once counts once.
//!
//! `.ci/postgres.sh` starts a server for it; without its programs the tests pass and say what they left out.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{collections::BTreeSet, thread};

use accrue::{Clock as _, SystemClock, Timestamp};
use accrue_postgres_server::{Server as Database, is_installed};
use accrue_servers_tests::{Answer, Client, Framework, Server};
use accrue_tests::receiver::Receiver;
use serde_json::{Value, json};

const EVENTS: usize = 40;

/// Starts both over a database that is made for them, runs a test with a client of each, and ends them.
fn both(test: impl Fn(&mut Client, &mut Client)) {
    if !is_installed() {
        return;
    }
    let database = Database::start(&[]);
    let store = format!("postgres:{}", database.connection());
    // Both have the key that secrets and links are computed from.
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key").display().to_string();
    let start = ["--api-key", Server::KEY, "--webhook-allow-private", "--key-file", &key];
    let arguments = [&start[..], &["--store", &store]].concat();
    let servers = Framework::ALL
        .map(|framework| Server::serve(framework, Server::open(&arguments).unwrap()).unwrap());
    let [mut one, mut other] = servers.each_ref().map(|server| Client::new(server.address()));
    test(&mut one, &mut other);
    servers.into_iter().for_each(|server| server.end().unwrap());
}

/// A customer on a plan that charges 2.00 for each event.
fn subscribe(client: &mut Client) -> Value {
    let item = client.ask("POST", "/items", &json!({"name": "Calls"})).unwrap();
    let metric = json!({"name": "Calls", "item_id": item["id"], "description": null,
        "sql": "SELECT count(*) FROM events WHERE event_name = 'call'"});
    let metric = client.ask("POST", "/metrics", &metric).unwrap();
    let price = json!({"name": "Calls", "item_id": item["id"], "model_type": "unit",
        "cadence": "monthly", "billable_metric_id": metric["id"],
        "unit_config": {"unit_amount": "2.00"}});
    let plan = json!({"name": "Plan", "currency": "USD", "prices": [{"price": price}]});
    let plan = client.ask("POST", "/plans", &plan).unwrap();
    let customer =
        json!({"name": "Ada", "email": "ada@example.com", "external_customer_id": "ada"});
    client.ask("POST", "/customers", &customer).unwrap();
    let subscription = json!({"external_customer_id": "ada", "plan_id": plan["id"]});
    client.ask("POST", "/subscriptions", &subscription).unwrap()
}

fn ingest(client: &mut Client, name: &str, at: Timestamp) -> Answer {
    let event = json!({"event_name": "call", "idempotency_key": name, "timestamp": at.to_string(),
        "external_customer_id": "ada", "properties": {}});
    let body = json!({"events": [event]}).to_string();
    client.send("POST", "/v1/ingest", &[], body.as_bytes()).unwrap()
}

fn total(client: &mut Client, subscription: &Value) -> Value {
    let path = format!("/subscriptions/{}/costs", subscription["id"].as_str().unwrap());
    let costs = client.ask("GET", &path, &Value::Null).unwrap();
    costs["data"].as_array().unwrap().last().unwrap()["total"].clone()
}

#[test]
fn events_that_come_to_both_at_once_are_counted_by_both() {
    both(|one, other| {
        let subscription = subscribe(one);
        let now = SystemClock.now();
        thread::scope(|scope| {
            for (name, client) in [("one", &mut *one), ("other", &mut *other)] {
                scope.spawn(move || {
                    for event in 0..EVENTS {
                        // Each event also comes to the other server, as one whose answer was lost.
                        for name in [format!("{name}-{event}"), format!("shared-{event}")] {
                            let answer = ingest(client, &name, now);
                            assert_eq!(answer.status, 200, "{answer:?}");
                        }
                    }
                });
            }
        });
        let all = format!("{}.00", 3 * EVENTS * 2);
        assert_eq!([total(one, &subscription), total(other, &subscription)], [&*all; 2]);
    });
}

#[test]
fn a_request_that_is_sent_again_to_the_other_is_answered_by_the_first() {
    both(|one, other| {
        let body = json!({"name": "Ada", "email": "ada@example.com"}).to_string();
        let key = [("idempotency-key", "same")];
        let [first, again] = [&mut *one, &mut *other]
            .map(|client| client.send("POST", "/v1/customers", &key, body.as_bytes()).unwrap());
        assert_eq!((first.status, &first.body), (again.status, &again.body));
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        for client in [one, other] {
            let listed = client.ask("GET", "/customers", &Value::Null).unwrap();
            assert_eq!(listed["data"].as_array().unwrap().len(), 1);
        }
    });
}

#[test]
fn workers_of_both_deliver_each_message_once() {
    both(|one, other| {
        let receiver = Receiver::listen().unwrap();
        one.ask("POST", "/webhook_endpoints", &json!({"url": receiver.url()})).unwrap();
        for name in 0..EVENTS {
            let customer = json!({"name": format!("C{name}"), "email": "c@example.com"});
            let client = if name % 2 == 0 { &mut *one } else { &mut *other };
            client.ask("POST", "/customers", &customer).unwrap();
        }
        let names: Vec<_> = (0..EVENTS)
            .map(|_| {
                let body: Value = serde_json::from_str(&receiver.next().unwrap().body).unwrap();
                body["customer"]["name"].to_string()
            })
            .collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), EVENTS, "{names:?}");
    });
}
