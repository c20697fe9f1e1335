//! What is read of queries, and what is served of prices and plans.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    subscriptions::{Shop, path},
    support::Host,
};

#[test]
fn clients_8_parameters_that_nobody_knows_are_let_pass() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    let ada = shop.customer["id"].as_str().unwrap();
    for list in [
        "/v1/items".to_owned(),
        "/v1/plans".to_owned(),
        "/v1/events/backfills".to_owned(),
        format!("/v1/customers/{ada}"),
        format!("/v1/customers/{ada}/costs"),
        path(&subscription, "/usage"),
    ] {
        let plain = shop.host.get(&list).ok(StatusCode::OK);
        let more = format!("{list}?expand=all&expand=none&sort[]=name&%C3%BC=");
        assert_eq!(shop.host.get(&more).ok(StatusCode::OK), plain, "{list}");
    }
    let event = json!({
        "idempotency_key": "1", "event_name": "call", "timestamp": "2026-03-10T12:00:00Z",
        "properties": {}, "external_customer_id": "ada",
    });
    shop.host.post("/v1/ingest?debug=true", json!({"events": [event]})).ok(StatusCode::OK);
    let search = json!({"event_ids": ["none"]});
    shop.host.post("/v1/events/search?limit=20", search).ok(StatusCode::OK);
    // What is known is still read, and bodies are strict.
    shop.host.get("/v1/items?limit=0&expand=all").error(400, "400-request-validation-errors");
    shop.host.get("/v1/items?limit=1&limit=2").error(400, "400-request-validation-errors");
    let unknown = json!({"name": "Model", "expand": true});
    shop.host.post("/v1/items", unknown).error(400, "400-request-validation-errors");
}

#[test]
fn clients_8_a_limit_above_the_bound_is_the_bound_but_of_backfills() {
    let host = Host::new();
    for n in 0..101 {
        host.item(&format!("Item {n}"));
    }
    for limit in ["100", "101", "1000000", &"9".repeat(40)] {
        let found = host.get(&format!("/v1/items?limit={limit}")).ok(StatusCode::OK);
        assert_eq!(found["data"].as_array().unwrap().len(), 100, "{limit}");
        assert_eq!(found["pagination_metadata"]["has_more"], true);
    }
    host.get("/v1/events/backfills?limit=100").ok(StatusCode::OK);
    let refused = host.get("/v1/events/backfills?limit=101");
    refused.error(400, "400-request-validation-errors");
}

#[test]
fn clients_8_a_scaling_factor_multiplies_the_quantity() {
    let shop = Shop::new();
    let ada = shop.customer["id"].as_str().unwrap();
    shop.use_tokens("1", 4, "small");
    shop.use_tokens("2", 6, "large");
    let evaluated = |model_type: &str, config: Value| {
        let mut price = json!({
            "name": "Tokens", "item_id": shop.plan["prices"][0]["item"]["id"], "currency": "EUR",
            "cadence": "monthly", "billable_metric_id": shop.metric_id, "model_type": model_type,
        });
        price[format!("{model_type}_config")] = config;
        let price = shop.host.post("/v1/prices", price).ok(StatusCode::CREATED);
        let usage = json!({
            "timeframe_start": "2026-03-10T00:00:00Z", "timeframe_end": "2026-03-11T00:00:00Z",
            "customer_id": ada,
        });
        let path = format!("/v1/prices/{}/evaluate", price["id"].as_str().unwrap());
        let found = shop.host.post(&path, usage).ok(StatusCode::OK);
        let group = found["data"][0].clone();
        (group["quantity"].clone(), group["amount"].clone())
    };
    let unit = json!({"unit_amount": "3", "scaling_factor": 0.5});
    assert_eq!(evaluated("unit", unit), (json!(10), json!("15.00")));
    let matrix = json!({
        "dimensions": ["model"], "default_unit_amount": "1", "scaling_factor": 10,
        "matrix_values": [
            {"dimension_values": ["small"], "unit_amount": "2", "scaling_factor": 0.25},
        ],
    });
    assert_eq!(evaluated("matrix", matrix), (json!(10), json!("62.00")));
    let none = json!({
        "name": "Tokens", "item_id": shop.plan["prices"][0]["item"]["id"], "currency": "EUR",
        "cadence": "monthly", "billable_metric_id": shop.metric_id, "model_type": "unit",
        "unit_config": {"unit_amount": "3", "scaling_factor": 0},
    });
    shop.host.post("/v1/prices", none).error(400, "400-request-validation-errors");
}

#[test]
fn clients_8_a_plan_is_renamed() {
    let shop = Shop::new();
    let path = format!("/v1/plans/{}", shop.plan["id"].as_str().unwrap());
    let renamed = shop.host.put(&path, json!({"name": "Team"})).ok(StatusCode::OK);
    assert_eq!(renamed["name"], "Team");
    assert_eq!(shop.host.get(&path).ok(StatusCode::OK), renamed);
}
