//! Taxes of the servers' provider for tests, and the objects of the facts as they answer them (invoicing 16.1, 21).

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;

use accrue_servers_tests::{Client, Framework, Server};
use serde_json::{Value, json};

const START: [&str; 6] =
    ["--manual-clock", "2026-01-10T09:00:00Z", "--api-key", Server::KEY, "--sandbox-tax", "20"];

#[track_caller]
fn send(client: &mut Client, method: &str, path: &str, body: &Value) -> Value {
    client.ask(method, path, body).unwrap()
}

#[track_caller]
fn turn(client: &mut Client, now: &str) {
    send(client, "PUT", "/clock", &json!({"now": now}));
}

/// Starts a server of each kind, and runs a test against it.
fn each(test: impl Fn(&mut Client)) {
    for framework in Framework::ALL {
        eprintln!("{framework:?}");
        let server = Server::serve(framework, Server::open(&START).unwrap()).unwrap();
        test(&mut Client::new(server.address()));
        server.end().unwrap();
    }
}

/// Invoices `acme` for March: 160 requests in tiers, a coupon of 10 % and 30.00 of its balance.
fn invoice(client: &mut Client) -> Value {
    let item = send(client, "POST", "/items", &json!({"name": "Requests"}))["id"].clone();
    let metric = json!({
        "name": "requests", "description": null, "item_id": item,
        "sql": "SELECT count(*) FROM events WHERE event_name = 'request'",
    });
    let metric = send(client, "POST", "/metrics", &metric)["id"].clone();
    let price = json!({
        "name": "Requests", "item_id": item, "cadence": "monthly", "model_type": "tiered",
        "billable_metric_id": metric,
        "tiered_config": {"tiers": [
            {"first_unit": 0, "last_unit": 100, "unit_amount": "1.00"},
            {"first_unit": 100, "last_unit": null, "unit_amount": "0.50"},
        ]},
    });
    let plan = json!({"name": "Pro", "currency": "USD", "prices": [{"price": price}]});
    let plan = send(client, "POST", "/plans", &plan)["id"].clone();
    turn(client, "2026-03-01T00:00:00Z");
    let customer = json!({
        "name": "Acme", "email": "billing@acme.example", "external_customer_id": "acme",
        "payment_provider": "stripe_charge", "payment_provider_id": "cus_1",
        "billing_address": {
            "line1": "1 Elm Road", "city": "Leeds", "postal_code": "LS1 1AA", "country": "GB",
        },
        "tax_id": {"country": "GB", "type": "gb_vat", "value": "GB123456789"}, "currency": "USD",
    });
    let customer = send(client, "POST", "/customers", &customer)["id"].clone();
    let coupon = json!({
        "redemption_code": "WELCOME",
        "discount": {"discount_type": "percentage", "percentage_discount": 0.1},
    });
    send(client, "POST", "/coupons", &coupon);
    let path = format!("/customers/{}/balance_transactions", customer.as_str().unwrap());
    send(client, "POST", &path, &json!({"amount": "30.00", "type": "increment"}));
    let subscription = json!({
        "external_customer_id": "acme", "plan_id": plan, "net_terms": 30,
        "coupon_redemption_code": "WELCOME",
    });
    send(client, "POST", "/subscriptions", &subscription);
    let event = |number: usize| {
        json!({
            "event_name": "request", "external_customer_id": "acme", "properties": {},
            "idempotency_key": number.to_string(), "timestamp": "2026-03-01T00:00:00Z",
        })
    };
    let events: Vec<_> = (0..160).map(event).collect();
    send(client, "POST", "/ingest", &json!({"events": events}));
    turn(client, "2026-04-02T00:00:05Z");
    let found = send(client, "GET", "/invoices?status[]=issued", &Value::Null);
    let [invoice] = found["data"].as_array().unwrap().as_slice() else { panic!("{found}") };
    invoice.clone()
}

/// Returns the objects of section 21, in their order.
fn objects() -> Vec<Value> {
    let facts = include_str!("../../../docs/spec/invoicing.md");
    let (_, section) = facts.split_once("\n## 21. ").unwrap();
    let blocks = section.split("```json\n").skip(1);
    let block = |text: &str| serde_json::from_str(text.split("```").next().unwrap()).unwrap();
    blocks.map(block).collect()
}

/// Compares what was answered with an object of the facts. Ids and numbers of invoices differ, each in one way;
/// instants are answered with their microseconds.
#[derive(Default)]
struct Alike {
    ids: BTreeMap<String, String>,
}

impl Alike {
    #[track_caller]
    fn check(&mut self, expected: &Value, found: &Value, at: &str) {
        match (expected, found) {
            (Value::Object(expected), Value::Object(found)) => {
                let names = |of: &serde_json::Map<String, Value>| -> Vec<String> {
                    of.keys().filter(|name| !is_optional(name)).cloned().collect()
                };
                let (mut all, mut own) = (names(expected), names(found));
                all.sort_unstable();
                own.sort_unstable();
                assert_eq!(own, all, "fields of {at}");
                for (name, expected) in
                    expected.iter().filter(|(name, _)| found.contains_key(*name))
                {
                    self.check(expected, &found[name], &format!("{at}.{name}"));
                }
            }
            (Value::Array(expected), Value::Array(found)) => {
                assert_eq!(found.len(), expected.len(), "{at}: {found:?}");
                let pairs = expected.iter().zip(found).enumerate();
                pairs.for_each(|(place, (one, other))| {
                    self.check(one, other, &format!("{at}[{place}]"));
                });
            }
            (Value::String(expected), Value::String(found)) if is_own(at) => {
                let known = self.ids.entry(expected.clone()).or_insert_with(|| found.clone());
                assert_eq!(found, known, "{at}");
            }
            (Value::Number(expected), Value::Number(found)) => {
                assert_eq!(found.as_f64(), expected.as_f64(), "{at}");
            }
            (Value::String(expected), Value::String(found)) => {
                assert_eq!(&found.replace(".000000+", "+"), expected, "{at}");
            }
            _ => assert_eq!(found, expected, "{at}"),
        }
    }
}

/// Tells whether a field may be left out: it is not always in the facts, either.
fn is_optional(name: &str) -> bool {
    let of_others = [
        "credit_allocation",
        "credit_commitment",
        "dimensional_price_configuration",
        "license_type",
    ];
    ["tax_reason", "prorated", "price_group_id"].contains(&name) || of_others.contains(&name)
}

/// Tells whether something is an id, or a number that is drawn.
fn is_own(at: &str) -> bool {
    let name = at.rsplit('.').next().unwrap_or(at);
    let drawn = ["id", "invoice_id", "item_id", "invoice_number", "credit_note_number"];
    drawn.contains(&name)
        || name.starts_with("applies_to_price_ids[")
        || name.starts_with("usage_customer_ids[")
}

#[test]
fn invoicing_21_the_objects_of_the_facts_are_what_a_server_answers() {
    let [invoice_, note_, block_, _] = objects().try_into().unwrap();
    each(|client| {
        let mut alike = Alike::default();
        let invoice = invoice(client);
        alike.check(&invoice_, &invoice, "invoice");

        turn(client, "2026-04-03T00:00:00Z");
        let bea = json!({
            "name": "Bea", "email": "bea@example.com", "currency": "USD",
            "payment_provider": "stripe_charge", "payment_provider_id": "cus_2",
        });
        let bea = send(client, "POST", "/customers", &bea)["id"].clone();
        let top_up = json!({
            "amount": "50", "currency": "USD", "per_unit_cost_basis": "1.00", "threshold": "10",
            "invoice_settings": {
                "auto_collection": true, "net_terms": 0, "require_successful_payment": true,
            },
        });
        let customer = format!("/customers/{}/credits", bea.as_str().unwrap());
        send(client, "POST", &format!("{customer}/top_ups"), &top_up);
        turn(client, "2026-04-03T00:00:00Z");
        let found = send(
            client,
            "GET",
            &format!("{customer}?include_all_blocks=true&currency=USD"),
            &Value::Null,
        );
        let [block] = found["data"].as_array().unwrap().as_slice() else { panic!("{found}") };
        let path = format!("/credit_blocks/{}/invoices", block["id"].as_str().unwrap());
        let found = send(client, "GET", &path, &Value::Null);
        // It is another customer than that of the invoice.
        Alike::default().check(&block_, &found, "block");

        turn(client, "2026-04-10T12:00:00Z");
        let line = json!({
            "invoice_line_item_id": invoice["line_items"][0]["id"], "amount": "65.00",
        });
        let new = json!({"line_items": [line], "reason": "order_change"});
        let note = send(client, "POST", "/credit_notes", &new);
        alike.check(&note_, &note, "note");
        let path = format!("/invoices/{}", invoice["id"].as_str().unwrap());
        assert_eq!(send(client, "GET", &path, &Value::Null)["amount_due"], "40.20");
    });
}

#[test]
fn clients_12_a_draft_that_is_issued_by_hand_is_taxed_and_an_exempt_customer_is_not() {
    each(|client| {
        let item = send(client, "POST", "/items", &json!({"name": "Setup"}))["id"].clone();
        for (external, is_exempt, total) in [("ada", false, "54.00"), ("bea", true, "45.00")] {
            let customer = json!({
                "name": external, "email": "a@example.com", "external_customer_id": external,
                "tax_configuration": {"tax_provider": "anrok", "tax_exempt": is_exempt},
            });
            send(client, "POST", "/customers", &customer);
            let new = json!({
                "external_customer_id": external, "currency": "USD", "net_terms": 0,
                "invoice_date": "2026-01-10",
                "line_items": [{
                    "start_date": "2026-01-01", "end_date": "2026-01-10", "quantity": 1,
                    "name": "Setup", "item_id": item, "model_type": "unit",
                    "unit_config": {"unit_amount": "45.00"},
                }],
            });
            let draft = send(client, "POST", "/invoices", &new);
            let path = format!("/invoices/{}/issue", draft["id"].as_str().unwrap());
            let issued = send(client, "POST", &path, &json!({}));
            assert_eq!((&issued["status"], &issued["total"]), (&json!("issued"), &json!(total)));
        }
    });
}
