//! Webhook messages that the servers deliver (subscriptions 10).

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use accrue_servers_tests::{Client, Framework, Server};
use accrue_tests::receiver::{Received, Receiver};
use example_server::Host;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

const START: [&str; 2] = ["--api-key", Server::KEY];
const PRIVATE: &str = "--webhook-allow-private";

/// Tells what a message is about, which is verified by a secret.
fn verified(received: &Received, secret: &Value) -> Value {
    let mut headers = http::HeaderMap::new();
    for (name, value) in &received.headers {
        let name = http::HeaderName::try_from(name).unwrap();
        headers.insert(name, value.parse().unwrap());
    }
    let webhook = Webhook::new(secret.as_str().unwrap()).unwrap();
    webhook.verify(received.body.as_bytes(), &headers).unwrap();
    let body: Value = serde_json::from_str(&received.body).unwrap();
    json!([body["type"], body["customer"]["name"]])
}

fn create(client: &mut Client, name: &str) {
    let body = json!({"name": name, "email": "ada@example.com"});
    client.ask("POST", "/customers", &body).unwrap();
}

/// Opens a store again whose server has ended: threads of a framework may let go of it a moment later.
fn reopened(arguments: &[&str]) -> Host {
    for _ in 0..5_000 {
        if let Ok(host) = Server::open(arguments) {
            return host;
        }
        std::thread::yield_now();
    }
    Server::open(arguments).unwrap()
}

#[test]
fn subscriptions_10_a_message_arrives_also_after_a_restart() {
    for (framework, store) in [(Framework::Axum, "fjall"), (Framework::Actix, "sled")] {
        eprintln!("{framework:?}");
        let folder = tempfile::tempdir().unwrap();
        let store = format!("{store}:{}", folder.path().join("data").display());
        let arguments = [&START[..], &[PRIVATE, "--store", &store]].concat();
        let receiver = Receiver::listen().unwrap();

        let server = Server::serve(framework, Server::open(&arguments).unwrap()).unwrap();
        let client = &mut Client::new(server.address());
        let endpoint = json!({"url": receiver.url()});
        let endpoint = client.ask("POST", "/webhook_endpoints", &endpoint).unwrap();
        create(client, "Ada");
        let first = receiver.next().unwrap();
        assert_eq!(verified(&first, &endpoint["secret"]), json!(["customer.created", "Ada"]));
        server.end().unwrap();

        let server = Server::serve(framework, reopened(&arguments)).unwrap();
        let client = &mut Client::new(server.address());
        create(client, "Bob");
        let second = receiver.next().unwrap();
        assert_eq!(verified(&second, &endpoint["secret"]), json!(["customer.created", "Bob"]));
        server.end().unwrap();
    }
}

#[test]
fn subscriptions_10_1_private_addresses_are_refused_without_the_option() {
    for framework in Framework::ALL {
        let server = Server::serve(framework, Server::open(&START).unwrap()).unwrap();
        let client = &mut Client::new(server.address());
        for url in ["http://127.0.0.1:9000/", "https://127.0.0.1:9000/", "https://10.1.2.3/"] {
            let body = json!({"url": url}).to_string();
            let answer = client.send("POST", "/v1/webhook_endpoints", &[], body.as_bytes());
            assert_eq!(answer.unwrap().status, 400, "{url}");
        }
        server.end().unwrap();
    }
}
