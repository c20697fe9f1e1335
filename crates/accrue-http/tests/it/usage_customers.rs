//! Hierarchies of customers, and usage of children that counts for their parent, over HTTP (wire 4.3, subscriptions
//! 1.5).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{listed, set, shop},
    subscriptions::{Shop, customer, path},
};

const VALIDATION: &str = "400-request-validation-errors";
const CONSTRAINT: &str = "400-constraint-violation";
const UNKNOWN: &str = "404-resource-not-found";

fn customer_path(customer: &Value) -> String {
    format!("/v1/customers/{}", customer["id"].as_str().unwrap())
}

/// A customer that is a child of the shop's.
fn child(shop: &Shop, external: &str) -> Value {
    let new = json!({
        "name": external, "email": "a@example.com", "external_customer_id": external,
        "hierarchy": {"parent_customer_id": shop.customer["id"]},
    });
    shop.host.post("/v1/customers", new).ok(StatusCode::CREATED)
}

fn use_tokens(shop: &Shop, customer: &str, key: &str, tokens: u64) {
    let event = json!({
        "idempotency_key": key, "event_name": "completion", "external_customer_id": customer,
        "timestamp": shop.host.billing.now().to_string(), "properties": {"tokens": tokens},
    });
    shop.host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
}

fn minified(customer: &Value) -> Value {
    json!({"id": customer["id"], "external_customer_id": customer["external_customer_id"]})
}

#[test]
fn wire_4_3_a_hierarchy_is_shown_from_either_side() {
    let shop = Shop::new();
    let a = child(&shop, "a");
    assert_eq!(a["hierarchy"], json!({"parent": minified(&shop.customer), "children": []}));
    let b = customer(&shop.host, "b");
    let more = json!({"hierarchy": {"child_customer_ids": [b["id"]]}});
    let parent = shop.host.put(&customer_path(&shop.customer), more).ok(StatusCode::OK);
    let expected = json!({"parent": null, "children": [minified(&a), minified(&b)]});
    assert_eq!(parent["hierarchy"], expected);
    let fetched = shop.host.get(&customer_path(&shop.customer)).ok(StatusCode::OK);
    assert_eq!(fetched, parent);
    let page = shop.host.get("/v1/customers").ok(StatusCode::OK);
    assert!(page["data"].as_array().unwrap().contains(&parent), "{page}");
    let within = &shop.subscribe(json!({}))["customer"];
    assert_eq!(within["hierarchy"], parent["hierarchy"], "within others too");
    let leave = json!({"hierarchy": {"parent_customer_id": null}});
    let left = shop.host.put(&customer_path(&b), leave).ok(StatusCode::OK);
    assert_eq!(left["hierarchy"], json!({"parent": null, "children": []}));
    let put = |hierarchy: Value| shop.host.put(&customer_path(&b), json!({"hierarchy": hierarchy}));
    put(json!({"parent_customer_id": a["id"]})).error(400, CONSTRAINT);
    put(json!({"parent_customer_id": "nobody"})).error(404, UNKNOWN);
    put(json!({"child_customer_ids": "a"})).error(400, VALIDATION);
    // Those that are deleted are not shown.
    let delete = shop.host.call("DELETE", &customer_path(&a), ());
    assert_eq!(delete.status, StatusCode::NO_CONTENT);
    let fetched = shop.host.get(&customer_path(&shop.customer)).ok(StatusCode::OK);
    assert_eq!(fetched["hierarchy"], json!({"parent": null, "children": []}));
}

#[test]
fn subscriptions_1_5_usage_of_children_counts_and_is_invoiced() {
    let (shop, _) = shop();
    let ids = [child(&shop, "a"), child(&shop, "b")].map(|of| of["id"].clone());
    let mut sorted: Vec<_> = ids.to_vec();
    sorted.sort_by_key(ToString::to_string);
    let subscription = shop.subscribe(json!({
        "usage_customer_ids": ids, "billing_cycle_anchor_configuration": {"day": 1},
    }));
    let intervals = subscription["price_intervals"].as_array().unwrap();
    assert!(intervals.iter().all(|of| of["usage_customer_ids"] == json!(sorted)), "{intervals:?}");
    use_tokens(&shop, "a", "1", 300);
    use_tokens(&shop, "b", "2", 200);
    use_tokens(&shop, "ada", "3", 50);
    let costs = shop.host.get(&path(&subscription, "/costs")).ok(StatusCode::OK);
    assert_eq!(
        costs["data"][0]["total"], "264.19",
        "500 at 0.5, and two seats at 10 for 22 of 31 days"
    );
    let usage = shop.host.get(&path(&subscription, "/usage")).ok(StatusCode::OK);
    assert_eq!(usage["data"][0]["usage"][0]["quantity"], 500);
    set(&shop.host, "2026-04-03T00:00:00Z");
    let lines: Vec<_> = listed(&shop.host, "?status[]=issued")
        .iter()
        .flat_map(|invoice| invoice["line_items"].as_array().unwrap().clone())
        .filter(|line| line["usage_customer_ids"] != Value::Null)
        .map(|line| (line["quantity"].clone(), line["usage_customer_ids"].clone()))
        .collect();
    let own = json!([shop.customer["id"]]);
    assert!(lines.contains(&(json!(500), json!(sorted))), "{lines:?}");
    assert!(lines.contains(&(json!(50), own)), "{lines:?}");
}

#[test]
fn subscriptions_1_5_4_bad_lists_are_refused_with_their_pointer() {
    let shop = Shop::new();
    let a = child(&shop, "a");
    let stranger = customer(&shop.host, "stranger");
    let post = |ids: Value| {
        let new = json!({
            "external_customer_id": "ada", "external_plan_id": "pro", "usage_customer_ids": ids,
        });
        shop.host.post("/v1/subscriptions", new)
    };
    for wrong in [json!([]), json!("a"), json!([1])] {
        let answer = post(wrong.clone()).error(400, VALIDATION);
        let first = answer["validation_errors"][0].as_str().unwrap();
        assert!(first.starts_with("/usage_customer_ids"), "{wrong}: {first}");
    }
    let too_many: Vec<_> = (0..102).map(|_| a["id"].clone()).collect();
    post(json!(too_many)).error(400, VALIDATION);
    post(json!(["nobody"])).error(404, UNKNOWN);
    post(json!([a["id"], stranger["id"]])).error(400, CONSTRAINT);
}

#[test]
fn subscriptions_1_5_11_a_list_is_shown_in_the_order_of_the_ids_each_once() {
    let shop = Shop::new();
    let [a, b] = ["a", "b"].map(|name| child(&shop, name)["id"].clone());
    let made = shop.subscribe(json!({"usage_customer_ids": [b, a, b]}));
    let mut sorted = [a, b];
    sorted.sort_by_key(ToString::to_string);
    assert_eq!(made["price_intervals"][0]["usage_customer_ids"], json!(sorted));
}

#[test]
fn subscriptions_1_5_15_children_are_added_leave_and_are_not_shown_once_deleted() {
    let shop = Shop::new();
    let [a, b] = ["a", "b"].map(|name| child(&shop, name));
    let c = customer(&shop.host, "c");
    let more = json!({"hierarchy": {"child_customer_ids": [c["id"]]}});
    let put = |of: &Value, body: Value| shop.host.put(&customer_path(of), body);
    let children = || {
        let parent = shop.host.get(&customer_path(&shop.customer)).ok(StatusCode::OK);
        parent["hierarchy"]["children"].clone()
    };
    put(&shop.customer, more).ok(StatusCode::OK);
    assert_eq!(children(), json!([minified(&a), minified(&b), minified(&c)]), "none has gone");
    put(&b, json!({"hierarchy": {"parent_customer_id": null}})).ok(StatusCode::OK);
    assert_eq!(children(), json!([minified(&a), minified(&c)]));
    put(&b, json!({"hierarchy": {"parent_customer_id": c["id"]}})).error(400, CONSTRAINT);
    let delete = shop.host.call("DELETE", &customer_path(&a), ());
    assert_eq!(delete.status, StatusCode::NO_CONTENT);
    assert_eq!(children(), json!([minified(&c)]));
}

#[test]
fn subscriptions_2_1_and_3_1_other_requests_list_customers_too() {
    let shop = Shop::new();
    let a = child(&shop, "a");
    let ids = json!([a["id"]]);
    let created = shop.subscribe(json!({}));
    let usage = |of: &Value| {
        let mut intervals = of["price_intervals"].as_array().unwrap().iter();
        intervals.rfind(|of| of["price"]["price_type"] == "usage_price").unwrap().clone()
    };
    let intervals = path(&created, "/price_intervals");
    let edit = |ids: &Value| {
        let edit = json!({"price_interval_id": usage(&created)["id"], "usage_customer_ids": ids});
        shop.host.post(&intervals, json!({"edit": [edit]})).ok(StatusCode::OK)
    };
    assert_eq!(usage(&edit(&ids))["usage_customer_ids"], ids);
    assert_eq!(usage(&edit(&Value::Null))["usage_customer_ids"], Value::Null);
    let add = json!({
        "start_date": "end_of_term", "price_id": usage(&created)["price"]["id"],
        "usage_customer_ids": ids,
    });
    let end = json!({
        "price_interval_id": usage(&created)["id"], "end_date": "end_of_term",
    });
    let changed = shop.host.post(&intervals, json!({"edit": [end], "add": [add]}));
    assert_eq!(usage(&changed.ok(StatusCode::OK))["usage_customer_ids"], ids);
    let change = json!({
        "change_option": "immediate", "external_plan_id": "pro", "usage_customer_ids": ids,
    });
    let changed = shop.host.post(&path(&created, "/schedule_plan_change"), change);
    assert_eq!(usage(&changed.ok(StatusCode::OK))["usage_customer_ids"], ids);
}
