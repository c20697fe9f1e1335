//! Fields that say nothing: an empty text in a query, an empty description, what is not built.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    scene::Scene,
    support::{Host, event},
};

/// Subscribes the customer of a scene, and returns the id.
fn subscribe(host: &Host, scene: &Scene) -> String {
    let plan = json!({"name": "Pro", "currency": "USD", "prices": []});
    let plan = host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    let new = json!({"customer_id": scene.customer, "plan_id": plan["id"]});
    let subscription = host.post("/v1/subscriptions", new).ok(StatusCode::CREATED);
    subscription["id"].as_str().unwrap().to_owned()
}

#[test]
fn wire_6_3_a_null_in_a_query_is_an_empty_text() {
    let host = Host::new();
    let scene = Scene::set(&host);
    let subscription = subscribe(&host, &scene);
    let customer = &scene.customer;
    let check = |path: &str, more: &str| {
        let found = host.get(&format!("{path}{more}")).ok(StatusCode::OK);
        assert_eq!(found, host.get(path).ok(StatusCode::OK), "{more}");
    };
    check(
        &format!("/v1/alerts?customer_id={customer}"),
        "&subscription_id=&external_customer_id=&created_at[gte]=&created_at%5Blt%5D=&cursor=&limit=",
    );
    check(
        "/v1/subscriptions?limit=1",
        "&status=&customer_id=&external_customer_id=&plan_id=&external_plan_id=&created_at[gt]=",
    );
    check("/v1/metrics?limit=1", "&status=");
    check("/v1/events/backfills?limit=1", "&status=&customer_id=&cursor=");
    check(
        &format!("/v1/customers/{customer}/credits?limit=1"),
        "&currency=&include_all_blocks=&effective_date[gte]=",
    );
    check(
        "/v1/events/volume?timeframe_start=2026-03-10T09:00:00Z",
        "&timeframe_end=&limit=&cursor=",
    );
    let usage = format!("/v1/subscriptions/{subscription}/usage?view_mode=periodic");
    check(
        &usage,
        "&granularity=&group_by=&billable_metric_id=&timeframe_start=&timeframe_end=\
         &first_dimension_key=&second_dimension_value=",
    );
    check(&format!("/v1/subscriptions/{subscription}/costs?view_mode="), "&currency=");
    let batch = json!({"events": [event("without a backfill")]});
    host.post("/v1/ingest?backfill_id=", batch).ok(StatusCode::OK);
    let alert = format!("/v1/alerts/{}/disable?subscription_id=", scene.alert);
    assert_eq!(host.post(&alert, ()).ok(StatusCode::OK)["enabled"], false);
    // What has to be there is not, with an empty text.
    let volume = host.get("/v1/events/volume?timeframe_start=");
    volume.error(400, "400-request-validation-errors");
}

#[test]
fn an_empty_description_says_nothing() {
    let host = Host::new();
    let item_id = host.item("Tokens");
    let sql = "SELECT count(*) FROM events";
    let metric = json!({"name": "Tokens", "description": "", "item_id": item_id, "sql": sql});
    let metric = host.post("/v1/metrics", metric).ok(StatusCode::CREATED);
    assert_eq!(metric["description"], Value::Null);
    let path = format!("/v1/metrics/{}", metric["id"].as_str().unwrap());
    let described = host.put(&path, json!({"description": "Output"})).ok(StatusCode::OK);
    assert_eq!(described["description"], "Output");
    assert_eq!(host.put(&path, json!({})).ok(StatusCode::OK)["description"], "Output");
    let cleared = host.put(&path, json!({"description": ""})).ok(StatusCode::OK);
    assert_eq!(cleared["description"], Value::Null);

    let plan = json!({"name": "Pro", "currency": "USD", "prices": [], "description": ""});
    let plan = host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    assert_eq!(plan["description"], "");
    let path = format!("/v1/plans/{}", plan["id"].as_str().unwrap());
    let described = host.put(&path, json!({"description": "For teams"})).ok(StatusCode::OK);
    assert_eq!(described["description"], "For teams");
    let cleared = host.put(&path, json!({"description": ""})).ok(StatusCode::OK);
    assert_eq!(cleared["description"], "");

    let scene = Scene::set(&host);
    let path = format!("/v1/customers/{}/credits/ledger_entry", scene.customer);
    let entry = json!({"entry_type": "increment", "amount": 1, "description": ""});
    let entry = host.post(&path, entry).ok(StatusCode::CREATED);
    assert_eq!(entry["description"], Value::Null);
}

#[test]
fn what_is_looked_for_by_an_id_that_cannot_be_one_is_not_found() {
    let host = Host::new();
    let scene = Scene::set(&host);
    let subscription = subscribe(&host, &scene);
    let customer = &scene.customer;
    let unknown = "0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001";
    let check = |query: &str, expect: &[&str]| {
        for path in ["/v1/subscriptions", "/v1/subscriptions/summary"] {
            let rows = host.walk(&format!("{path}?limit=1&{query}"));
            let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
            assert_eq!(ids, expect, "{query}");
        }
    };
    for id in ["nope", unknown, "%F0%9F%A6%80"] {
        check(&format!("customer_id={id}"), &[]);
        check(&format!("customer_id[]={id}"), &[]);
        check(&format!("plan_id={id}"), &[]);
        check(&format!("plan_id={id}&customer_id={customer}"), &[]);
        check(&format!("customer_id[]={id}&customer_id[]={customer}"), &[&subscription]);
        check(&format!("customer_id[]={id}&external_customer_id=two"), &[&subscription]);
    }
    let both = host.get("/v1/subscriptions?plan_id=nope&external_plan_id=pro");
    both.error(400, "400-request-validation-errors");
}
