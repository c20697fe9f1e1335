//! What the published clients need of an answer to read it: values of one type, and no null where they
//! know none.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    subscriptions::{Shop, path},
    support::{Host, event},
};

/// Creates a customer with more fields than it needs.
fn customer(host: &Host, more: Value) -> Value {
    let mut new = json!({"name": "Eve", "email": "eve@example.com"});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    host.post("/v1/customers", new).ok(StatusCode::CREATED)
}

#[test]
fn clients_11_automatic_tax_is_a_boolean() {
    let host = Host::new();
    let check = |tax: Value, expect: bool| {
        let created = customer(&host, json!({"tax_configuration": tax}));
        let path = format!("/v1/customers/{}", created["id"].as_str().unwrap());
        let fetched = host.get(&path).ok(StatusCode::OK);
        let mut rows = host.walk("/v1/customers?limit=1").into_iter();
        let listed = rows.find(|row| row["id"] == created["id"]).unwrap();
        let cleared = host.put(&path, json!({"tax_configuration": null})).ok(StatusCode::OK);
        for answer in [created, fetched, listed] {
            assert_eq!(answer["automatic_tax_enabled"], expect, "{tax}");
        }
        assert_eq!(cleared["automatic_tax_enabled"], false);
    };
    check(Value::Null, false);
    check(json!({"tax_provider": "avalara", "tax_exempt": false}), false);
    check(
        json!({"tax_provider": "avalara", "tax_exempt": false, "automatic_tax_enabled": null}),
        false,
    );
    check(
        json!({"tax_provider": "avalara", "tax_exempt": false, "automatic_tax_enabled": false}),
        false,
    );
    check(
        json!({"tax_provider": "avalara", "tax_exempt": false, "automatic_tax_enabled": true}),
        true,
    );
    let shop = Shop::new();
    assert_eq!(shop.subscribe(json!({}))["customer"]["automatic_tax_enabled"], false);
}

#[test]
fn clients_11_collection_of_a_customer_is_a_boolean() {
    let host = Host::new();
    let check = |more: Value, expect: bool| {
        assert_eq!(customer(&host, more.clone())["auto_collection"], expect, "{more}");
    };
    check(json!({}), false);
    check(json!({"auto_collection": null}), false);
    check(json!({"auto_collection": true}), true);
    check(json!({"payment_provider": "stripe_charge"}), true);
    check(json!({"payment_provider": "stripe_charge", "auto_collection": null}), true);
    check(json!({"payment_provider": "stripe_charge", "auto_collection": false}), false);
}

/// Subscribes a customer with some fields to the plan of a shop, with others of its own.
fn subscribe(shop: &Shop, of: Value, own: &Value) -> Value {
    let customer = customer(&shop.host, of);
    let mut new = json!({"customer_id": customer["id"], "external_plan_id": "pro"});
    new.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    shop.host.post("/v1/subscriptions", new).ok(StatusCode::CREATED)
}

#[test]
fn clients_11_collection_is_as_the_customers_where_nothing_was_said() {
    let shop = Shop::new();
    let check = |of: Value, own: Value, expect: bool| {
        let created = subscribe(&shop, of, &own);
        assert_eq!(created["auto_collection"], expect, "{own}");
        let fetched = shop.host.get(&path(&created, "")).ok(StatusCode::OK);
        assert_eq!(fetched["auto_collection"], expect, "{own}");
    };
    check(json!({}), json!({}), false);
    check(json!({}), json!({"auto_collection": true}), true);
    check(json!({"auto_collection": true}), json!({}), true);
    check(json!({"auto_collection": true}), json!({"auto_collection": null}), true);
    check(json!({"auto_collection": true}), json!({"auto_collection": false}), false);
    check(json!({"payment_provider": "stripe_charge"}), json!({}), true);
}

#[test]
fn subscriptions_1_13_issuance_is_as_the_customers_where_nothing_was_said() {
    let shop = Shop::new();
    let check = |of: Value, own: Value, expect: Value| {
        assert_eq!(subscribe(&shop, of, &own)["auto_issuance"], expect, "{own}");
    };
    check(json!({}), json!({}), Value::Null);
    check(json!({"auto_issuance": false}), json!({}), json!(false));
    check(json!({"auto_issuance": false}), json!({"auto_issuance": true}), json!(true));
}

/// Creates a plan without prices that says some of what its subscriptions take from it.
fn plan(host: &Host, external: &str, more: Value) -> Value {
    let mut new =
        json!({"name": "Plan", "currency": "EUR", "prices": [], "external_plan_id": external});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    host.post("/v1/plans", new).ok(StatusCode::CREATED)
}

#[test]
fn clients_11_a_memo_that_nobody_gave_is_empty() {
    let shop = Shop::new();
    plan(&shop.host, "polite", json!({"default_invoice_memo": "Thank \u{1f600} \"you\""}));
    let check = |plan: &str, own: Value, expect: &str| {
        let own = json!({"external_plan_id": plan, "default_invoice_memo": own});
        let created = shop.subscribe(own);
        assert_eq!(created["default_invoice_memo"], expect);
        let gone = json!({"default_invoice_memo": null});
        shop.host.put(&path(&created, ""), gone).ok(StatusCode::OK)
    };
    assert_eq!(check("pro", Value::Null, "")["default_invoice_memo"], "");
    assert_eq!(check("pro", json!("Hello"), "Hello")["default_invoice_memo"], "");
    let plans = "Thank \u{1f600} \"you\"";
    assert_eq!(check("polite", Value::Null, plans)["default_invoice_memo"], plans);
    assert_eq!(check("polite", json!("Hello"), "Hello")["default_invoice_memo"], plans);
    assert_eq!(check("polite", json!(""), "")["default_invoice_memo"], plans);
}

#[test]
fn subscriptions_1_13_net_terms_are_a_whole_number() {
    let shop = Shop::new();
    plan(&shop.host, "none", json!({}));
    let thirty = "{\"name\": \"Plan\", \"currency\": \"EUR\", \"prices\": [], \
                  \"external_plan_id\": \"thirty\", \"net_terms\": 3e1}";
    let thirty = shop.host.post("/v1/plans", thirty).ok(StatusCode::CREATED);
    assert_eq!(thirty["net_terms"].to_string(), "30");
    let check = |plan: &str, own: Value, expect: &str| {
        let created = shop.subscribe(json!({"external_plan_id": plan, "net_terms": own}));
        assert_eq!(created["net_terms"].to_string(), expect, "{plan}");
    };
    check("none", Value::Null, "0");
    check("none", json!(7), "7");
    check("none", json!(7.0), "7");
    check("pro", Value::Null, "14");
    check("thirty", Value::Null, "30");
    check("thirty", json!(0), "0");
}

#[test]
fn wire_3_5_a_search_is_one_page() {
    let host = Host::new();
    host.post("/v1/ingest", json!({"events": [event("a")]})).ok(StatusCode::OK);
    let found = host.post("/v1/events/search", json!({"event_ids": ["a"]})).ok(StatusCode::OK);
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    let last = json!({"has_more": false, "next_cursor": null});
    assert_eq!(found["pagination_metadata"], last);
}

#[test]
fn wire_6_6_an_error_has_a_title() {
    let shop = Shop::new();
    let (host, item) = (&shop.host, json!({"name": "Model"}));
    host.keyed("POST", "/v1/items", "key", item).ok(StatusCode::CREATED);
    for refused in [
        host.get("/v1/nothing"),
        host.get("/v1/customers/nothing"),
        host.post("/v1/customers", json!({})),
        host.post("/v1/customers", "{"),
        host.post(
            "/v1/plans",
            json!({"name": "Pro", "currency": "EUR", "external_plan_id": "pro", "prices": []}),
        ),
        host.keyed("POST", "/v1/items", "key", json!({"name": "other"})),
        host.post("/v1/customers", vec![b' '; 21 * 1024 * 1024]),
    ] {
        assert!(refused.status >= 400, "{refused:?}");
        assert!(refused.json()["title"].is_string(), "{refused:?}");
    }
}

#[test]
fn wire_6_4_dates_that_are_not_there_are_null() {
    let shop = Shop::new();
    let upcoming = shop.subscribe(json!({"start_date": "2026-05-01T00:00:00Z"}));
    for name in ["end_date", "current_billing_period_start_date", "current_billing_period_end_date"]
    {
        assert_eq!(upcoming.get(name), Some(&Value::Null), "{name}");
    }
    assert_eq!(upcoming["fixed_fee_quantity_schedule"][0].get("end_date"), Some(&Value::Null));
    let credits = |rest: &str| {
        format!("/v1/customers/{}/credits{rest}", shop.customer["id"].as_str().unwrap())
    };
    let new = json!({"entry_type": "increment", "amount": 5});
    let entry = shop.host.post(&credits("/ledger_entry"), new).ok(StatusCode::CREATED);
    assert_eq!(entry["credit_block"].get("expiry_date"), Some(&Value::Null));
    let block = shop.host.walk(&credits("")).remove(0);
    assert_eq!(block.get("expiry_date"), Some(&Value::Null));
}
