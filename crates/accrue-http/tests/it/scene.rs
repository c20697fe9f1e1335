//! An account with two of everything that is listed.

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Host, event};

/// The ids of what there is: the last of each kind.
pub(crate) struct Scene {
    pub(crate) item: String,
    pub(crate) metric: String,
    pub(crate) customer: String,
    pub(crate) price: String,
    pub(crate) alert: String,
}

fn create(host: &Host, path: &str, body: Value) -> String {
    let created = host.post(path, body).ok(StatusCode::CREATED);
    created["id"].as_str().unwrap().to_owned()
}

impl Scene {
    pub(crate) fn set(host: &Host) -> Self {
        Self::one(host, "one");
        for hour in ["09", "10"] {
            let mut event = event(hour);
            event["timestamp"] = json!(format!("2026-03-10T{hour}:30:00Z"));
            event["external_customer_id"] = json!("two");
            host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
        }
        host.clock.advance(std::time::Duration::from_secs(1));
        let mut scene = Self::one(host, "two");
        for amount in [10, 20] {
            let entry = json!({"entry_type": "increment", "amount": amount, "currency": "credits"});
            let path = format!("/v1/customers/{}/credits/ledger_entry", scene.customer);
            host.post(&path, entry).ok(StatusCode::CREATED);
        }
        for kind in ["credit_balance_depleted", "credit_balance_recovered"] {
            let path = format!("/v1/alerts/customer_id/{}", scene.customer);
            scene.alert = create(host, &path, json!({"type": kind, "currency": "credits"}));
        }
        for hour in ["08", "09"] {
            let backfill = json!({
                "timeframe_start": format!("2026-03-01T{hour}:00:00Z"),
                "timeframe_end": format!("2026-03-01T{hour}:59:00Z"),
                "customer_id": scene.customer,
            });
            host.post("/v1/events/backfills", backfill).ok(StatusCode::OK);
        }
        scene
    }

    fn one(host: &Host, name: &str) -> Self {
        let item = host.item(name);
        let sql = "SELECT sum(tokens) FROM events";
        let metric = json!({"name": name, "description": null, "item_id": item, "sql": sql});
        let metric = create(host, "/v1/metrics", metric);
        let customer = json!({
            "name": name, "email": "a@example.com", "external_customer_id": name,
        });
        let customer = create(host, "/v1/customers", customer);
        let price = json!({
            "name": name, "item_id": item, "billable_metric_id": metric, "currency": "USD",
            "cadence": "monthly", "model_type": "unit", "unit_config": {"unit_amount": "1"},
            "external_price_id": name,
        });
        let price = create(host, "/v1/prices", price);
        Self { item, metric, customer, price, alert: String::new() }
    }

    /// The lists of all kinds, each with two rows or more.
    pub(crate) fn lists(&self) -> Vec<String> {
        let Self { customer, .. } = self;
        vec![
            "/v1/items?".to_owned(),
            "/v1/events/backfills?".to_owned(),
            "/v1/metrics?".to_owned(),
            "/v1/customers?".to_owned(),
            "/v1/prices?".to_owned(),
            format!("/v1/alerts?customer_id={customer}&"),
            format!("/v1/customers/{customer}/credits?currency=credits&"),
            format!("/v1/customers/{customer}/credits/ledger?currency=credits&"),
            "/v1/events/volume?timeframe_start=2026-03-10T09:00:00Z&".to_owned(),
        ]
    }
}
