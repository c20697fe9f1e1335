//! Invoices that the servers' invoicing provider for tests takes (invoicing 16.2).

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use accrue_servers_tests::{Client, Framework, Server};
use serde_json::{Value, json};

const START: [&str; 5] =
    ["--manual-clock", "2026-01-01T09:00:00Z", "--api-key", Server::KEY, "--sandbox-invoicing"];

#[track_caller]
fn send(client: &mut Client, method: &str, path: &str, body: &Value) -> Value {
    client.ask(method, path, body).unwrap()
}

/// Returns the invoice of a new customer of NetSuite with a fee of 80, after a clock was moved by a second.
fn invoiced(client: &mut Client, plan: &Value, id: Value, now: &str) -> Value {
    let customer = json!({
        "name": "Acme", "email": "billing@acme.example", "currency": "USD",
        "payment_provider": "netsuite", "payment_provider_id": id,
    });
    let customer = send(client, "POST", "/customers", &customer)["id"].clone();
    send(client, "POST", "/subscriptions", &json!({"customer_id": customer, "plan_id": plan}));
    send(client, "PUT", "/clock", &json!({"now": now}));
    let path = format!("/invoices?customer_id={}", customer.as_str().unwrap());
    send(client, "GET", &path, &Value::Null)["data"][0].clone()
}

#[test]
fn invoicing_16_2_the_servers_sync_invoices() {
    for framework in Framework::ALL {
        eprintln!("{framework:?}");
        let server = Server::serve(framework, Server::open(&START).unwrap()).unwrap();
        let client = &mut Client::new(server.address());
        let item = send(client, "POST", "/items", &json!({"name": "Seat"}))["id"].clone();
        let price = json!({
            "name": "Seat", "item_id": item, "cadence": "monthly", "model_type": "unit",
            "fixed_price_quantity": 1, "billed_in_advance": true,
            "unit_config": {"unit_amount": "80.00"},
        });
        let plan = json!({"name": "Pro", "currency": "USD", "prices": [{"price": price}]});
        let plan = send(client, "POST", "/plans", &plan)["id"].clone();
        let synced = invoiced(client, &plan, json!("ns_1"), "2026-01-01T09:00:01Z");
        assert_eq!(
            (&synced["status"], &synced["amount_due"], &synced["sync_failed_at"]),
            (&json!("synced"), &json!("80.00"), &Value::Null)
        );
        let failed = invoiced(client, &plan, Value::Null, "2026-01-01T09:00:02Z");
        assert_eq!(
            (&failed["status"], &failed["sync_failed_at"]),
            (&json!("issued"), &json!("2026-01-01T09:00:02.000000+00:00"))
        );
        let path = format!("/invoices/{}/void", synced["id"].as_str().unwrap());
        let answer = client.send("POST", &format!("/v1{path}"), &[], b"").unwrap();
        assert_eq!(answer.status, 400, "{answer:?}");
        server.end().unwrap();
    }
}
