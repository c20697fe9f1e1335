//! Several accounts on one server, each with API keys of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use accrue::{AccountId, Name, store::MemoryStore};
use accrue_servers_tests::{Answer, Client, Framework, Server};
use clap::Parser as _;
use example_server::{FixedKeys, Host, Options};
use serde_json::{Value, json};

/// Two accounts, of which the first has two keys, beside the account `default`.
const ACCOUNTS: [&str; 12] = [
    "--api-key",
    "key-of-default",
    "--account",
    "acme",
    "--api-key",
    "key-of-acme",
    "--api-key",
    "second-of-acme",
    "--account",
    "other",
    "--api-key",
    "key-of-other",
];

/// Sends a request with an API key.
fn send(client: &mut Client, key: &str, method: &str, target: &str, body: &Value) -> Answer {
    let key = format!("Bearer {key}");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len().to_string();
    let headers = [("authorization", &*key), ("content-length", &length)];
    client.send_with(method, target, &headers, body.as_bytes()).unwrap()
}

fn get(client: &mut Client, key: &str, target: &str) -> Answer {
    send(client, key, "GET", target, &Value::Null)
}

/// Runs a test against each server, started with these arguments.
fn each(arguments: &[&str], test: impl Fn(&mut Client)) {
    for framework in Framework::ALL {
        eprintln!("{framework:?}");
        let server = Server::serve(framework, Server::open(arguments).unwrap()).unwrap();
        test(&mut Client::new(server.address()));
        server.end().unwrap();
    }
}

#[test]
fn clients_12_a_customer_of_one_account_is_404_for_the_others() {
    each(&ACCOUNTS, |client| {
        let ada = json!({"name": "Ada", "email": "a@example.com", "external_customer_id": "ada"});
        let created = send(client, "key-of-acme", "POST", "/v1/customers", &ada);
        assert_eq!(created.status, 201, "{created:?}");
        let created: Value = serde_json::from_str(&created.body).unwrap();
        let id = created.get("id").and_then(Value::as_str).unwrap();
        let by_id = format!("/v1/customers/{id}");
        for target in [&*by_id, "/v1/customers/external_customer_id/ada"] {
            for (key, expected) in [
                ("key-of-acme", 200),
                ("second-of-acme", 200),
                ("key-of-other", 404),
                ("key-of-default", 404),
                ("key-of-nobody", 401),
            ] {
                assert_eq!(get(client, key, target).status, expected, "{key} {target}");
            }
        }
        let listed = get(client, "key-of-other", "/v1/customers").body;
        assert!(listed.contains(r#""data":[]"#), "{listed}");
        let again = send(client, "key-of-other", "POST", "/v1/customers", &ada);
        assert_eq!(again.status, 201, "the same external id in another account: {again:?}");
    });
}

#[test]
fn clients_12_every_key_of_visible_characters_is_let_in() {
    let all: String = ('!'..='~').collect();
    let (long, reversed) = ("k".repeat(4_096), all.chars().rev().collect::<String>());
    let signs =
        [&*all, &*reversed, &*long, "-", "--x", "~", "=", ",", "\"", "a,b", "Bearer", "%20"];
    let arguments: Vec<_> = signs.iter().flat_map(|key| ["--api-key", key]).collect();
    each(&arguments, |client| {
        for key in signs {
            assert_eq!(get(client, key, "/v1/ping").status, 200, "{key}");
            let other = format!("{key}x");
            assert_eq!(get(client, &other, "/v1/ping").status, 401, "{other}");
        }
    });
}

/// Reports an event of so many minutes ago.
fn report(client: &mut Client, key: &str, minutes: u32) -> u16 {
    let (days, minutes) = (minutes / 1_440, minutes % 1_440);
    // Noon of the 20th is the present.
    let at = i64::from(20 - days) * 1_440 + 720 - i64::from(minutes);
    let (day, hour, minute) = (at / 1_440, at / 60 % 24, at % 60);
    let event = json!({
        "idempotency_key": format!("{key} {day} {hour} {minute}"),
        "event_name": "call",
        "external_customer_id": "ada",
        "timestamp": format!("2026-03-{day:02}T{hour:02}:{minute:02}:00Z"),
        "properties": {},
    });
    send(client, key, "POST", "/v1/ingest", &json!({"events": [event]})).status
}

#[test]
fn clients_12_an_event_is_taken_within_the_grace_period() {
    const HOUR: u32 = 60;
    const DAY: u32 = 24 * HOUR;
    let clock = ["--manual-clock", "2026-03-20T12:00:00Z"];
    for (grace_period, last) in
        [(None, DAY), (Some("90m"), 90), (Some("12h"), 12 * HOUR), (Some("3d"), 3 * DAY)]
    {
        let more: Vec<_> = grace_period.iter().flat_map(|time| ["--grace-period", time]).collect();
        each(&[&clock, &ACCOUNTS[..], &more].concat(), |client| {
            for key in ["key-of-default", "key-of-acme", "second-of-acme", "key-of-other"] {
                let found = [last - 1, last, last + 1].map(|minutes| report(client, key, minutes));
                assert_eq!(found, [200, 200, 400], "{grace_period:?} {key}");
            }
        });
    }
}

#[test]
fn keys_of_a_store_have_the_grace_period_and_invoices_too() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let options = Options::try_parse_from(["server", "--grace-period", "3h"]).unwrap().serve;
    for framework in Framework::ALL {
        let billing = Server::engine(MemoryStore::new()).unwrap();
        let acme = billing.account(AccountId::parse("acme").unwrap());
        let issued = runtime.block_on(acme.issue_api_key(Name::parse("x").unwrap())).unwrap();
        let host = Host::over(billing, &options, &FixedKeys::default()).unwrap();
        let server = Server::serve(framework, host).unwrap();
        let answer = get(&mut Client::new(server.address()), &issued.token.reveal(), "/v1/ping");
        assert_eq!(answer.status, 200, "{framework:?}");
        let configuration = runtime.block_on(acme.configuration()).unwrap();
        assert_eq!(configuration.grace_period.as_secs(), 3 * 60 * 60);
        assert!(configuration.features.invoices);
        server.end().unwrap();
    }
}
