//! Payments by the gateway of the servers that moves no money (invoicing 8).

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use accrue_servers_tests::{Answer, Client, Framework, Server};
use serde_json::{Value, json};

const START: [&str; 4] = ["--manual-clock", "2026-03-01T00:00:00Z", "--api-key", Server::KEY];

/// Starts a server of each kind, with more arguments, and runs a test against it.
fn each(more: &[&str], test: impl Fn(&mut Client)) {
    for framework in Framework::ALL {
        eprintln!("{framework:?}");
        let server =
            Server::serve(framework, Server::open(&[&START, more].concat()).unwrap()).unwrap();
        test(&mut Client::new(server.address()));
        server.end().unwrap();
    }
}

fn send(client: &mut Client, method: &str, path: &str, body: &Value) -> Answer {
    client.send(method, &format!("/v1{path}"), &[], body.to_string().as_bytes()).unwrap()
}

#[track_caller]
fn ok(client: &mut Client, method: &str, path: &str, body: &Value) -> Value {
    client.ask(method, path, body).unwrap()
}

/// Subscribes a customer that pays with a card to a fee of 20 a month, due at once.
fn subscribe(client: &mut Client, card: &str) {
    let item = ok(client, "POST", "/items", &json!({"name": "Seats"}));
    let fee = json!({
        "name": "Seats", "item_id": item["id"], "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "20"}, "fixed_price_quantity": 1, "billed_in_advance": true,
    });
    let plan = json!({"name": "Pro", "currency": "USD", "prices": [{"price": fee}]});
    let plan = ok(client, "POST", "/plans", &plan);
    let customer = json!({
        "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada",
        "payment_provider": "stripe_charge", "payment_provider_id": card,
    });
    ok(client, "POST", "/customers", &customer);
    let subscription = json!({"external_customer_id": "ada", "plan_id": plan["id"]});
    ok(client, "POST", "/subscriptions", &subscription);
}

/// Lists what is not a draft, the newest first.
fn invoices(client: &mut Client) -> Vec<Value> {
    let path = "/invoices?status[]=issued&status[]=paid";
    ok(client, "GET", path, &Value::Null)["data"].as_array().unwrap().clone()
}

fn attempts(invoice: &Value) -> Vec<bool> {
    let attempts = invoice["payment_attempts"].as_array().unwrap().iter();
    attempts.map(|attempt| attempt["succeeded"].as_bool().unwrap()).collect()
}

#[test]
fn clients_12_a_clock_that_is_moved_far_collects_on_its_way() {
    each(&["--sandbox-gateway"], |client| {
        subscribe(client, "cus_4242424242424242");
        ok(client, "PUT", "/clock", &json!({"now": "2026-06-15T00:00:00Z"}));
        let all = invoices(client);
        assert_eq!(all.len(), 4, "March to June");
        for invoice in all {
            assert_eq!((&invoice["status"], attempts(&invoice)), (&json!("paid"), vec![true]));
            let days = [&invoice["payment_started_at"], &invoice["issued_at"]];
            assert_eq!(days[0], days[1], "it is collected when it is due");
        }
    });
}

#[test]
fn invoicing_8_7_a_card_that_declines_is_tried_again() {
    each(&["--sandbox-gateway"], |client| {
        subscribe(client, "cus_4000000000000002");
        ok(client, "PUT", "/clock", &json!({"now": "2026-03-20T00:00:00Z"}));
        let invoice = invoices(client).remove(0);
        assert_eq!((&invoice["status"], attempts(&invoice)), (&json!("issued"), vec![false; 4]));
        let path = format!("/invoices/{}/pay", invoice["id"].as_str().unwrap());
        let token = json!({"shared_payment_token_id": "tok_4242424242424242"});
        assert_eq!(ok(client, "POST", &path, &token)["status"], "paid");
    });
}

#[test]
fn clients_12_a_card_whose_holder_is_asked_pays_an_hour_later() {
    each(&["--sandbox-gateway"], |client| {
        subscribe(client, "cus_1");
        let invoice = invoices(client).remove(0);
        let path = format!("/invoices/{}", invoice["id"].as_str().unwrap());
        ok(client, "PUT", "/clock", &json!({"now": "2026-03-12T00:00:00Z"}));
        let token = json!({"shared_payment_token_id": "tok_4000000000003220"});
        let begun = ok(client, "POST", &format!("{path}/pay"), &token);
        assert_eq!((&begun["status"], attempts(&begun).last()), (&json!("issued"), Some(&false)));
        ok(client, "PUT", "/clock", &json!({"now": "2026-04-20T00:00:00Z"}));
        let paid = ok(client, "GET", &path, &Value::Null);
        assert_eq!(paid["status"], "paid");
        assert_eq!(paid["payment_received_at"], "2026-03-12T01:00:00.000000+00:00");
    });
}

#[test]
fn invoicing_8_4_without_the_option_there_is_no_gateway() {
    each(&[], |client| {
        subscribe(client, "cus_4242424242424242");
        let invoice = invoices(client).remove(0);
        let path = format!("/invoices/{}/pay", invoice["id"].as_str().unwrap());
        let answer = send(client, "POST", &path, &json!({}));
        assert_eq!(answer.status, 404, "{answer:?}");
        assert!(answer.body.contains("#404-feature-not-available"), "{answer:?}");
    });
}
