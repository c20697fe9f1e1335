//! What most walks need first.

use std::{
    env,
    sync::atomic::{AtomicU32, Ordering},
};

use futures_util::{Stream, TryStreamExt};
use orb_billing::{Client, ClientConfig, CreateCustomerRequest, Customer, Error};
use serde_json::{json, Value};
use time::{Duration, OffsetDateTime, Time};

/// The base address of the server.
fn base() -> String {
    env::var("ACCRUE_URL").expect("ACCRUE_URL says what to test")
}

fn api_key() -> String {
    env::var("ACCRUE_API_KEY").expect("ACCRUE_API_KEY is the key that the server lets in")
}

/// The host and port of the server.
pub(crate) fn server_address() -> String {
    let base = base();
    let rest = base.strip_prefix("http://").expect("the server has no TLS");
    let (address, path) = rest.split_once('/').expect("the server has a base path");
    assert_eq!(path, "v1", "the client knows no other base path");
    address.to_owned()
}

/// The client under test.
pub(crate) fn client() -> Client {
    Client::new(ClientConfig { api_key: api_key() })
}

/// The client under test, with another key.
pub(crate) fn client_with(api_key: &str) -> Client {
    Client::new(ClientConfig { api_key: api_key.to_owned() })
}

/// A name that nothing else has.
pub(crate) fn unique(word: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("rust-{word}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// An instant without a fraction of a second, so many days from now.
pub(crate) fn now(days: i64) -> OffsetDateTime {
    OffsetDateTime::now_utc().replace_nanosecond(0).unwrap() + Duration::days(days)
}

/// The begin of a day, so many days from today.
pub(crate) fn midnight(days: i64) -> OffsetDateTime {
    now(days).replace_time(Time::MIDNIGHT)
}

/// Walks a list to its end.
pub(crate) async fn all<T>(list: impl Stream<Item = Result<T, Error>>) -> Vec<T> {
    list.try_collect().await.unwrap()
}

/// Sends over plain HTTP what the client cannot.
pub(crate) async fn post(path: &str, body: Value) -> Value {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.post(format!("{}{path}", base())).bearer_auth(api_key());
    let request = request.header("content-type", "application/json").body(body.to_string());
    let response = request.send().await.unwrap();
    let (status, text) = (response.status(), response.text().await.unwrap());
    assert!(status.is_success(), "{status}: {text}");
    serde_json::from_str(&text).unwrap()
}

/// A customer with an external id.
pub(crate) async fn customer() -> Customer {
    let external = unique("customer");
    let new = CreateCustomerRequest {
        external_id: Some(&external),
        name: &external,
        email: "billing@example.com",
        ..CreateCustomerRequest::default()
    };
    client().create_customer(&new).await.unwrap()
}

/// A plan with an external id, and the prices of its first version.
pub(crate) struct PricedPlan {
    pub(crate) id: String,
    pub(crate) external: String,
    pub(crate) prices: Vec<Value>,
}

/// A fee of 20, and each unit of usage at 0.5.
pub(crate) async fn plan(more: Value) -> PricedPlan {
    plan_with(None, more).await
}

/// Besides, each unit by region: at 2 in the EU, in America at 3 and elsewhere at 1. An account has
/// 20 kinds of matrices at most.
pub(crate) async fn plan_by_region() -> PricedPlan {
    let matrix = json!({
        "dimensions": ["region", null],
        "default_unit_amount": "1",
        "matrix_values": [
            {"dimension_values": ["eu", null], "unit_amount": "2"},
            {"dimension_values": ["us", null], "unit_amount": "3"},
        ],
    });
    plan_with(Some(matrix), json!({})).await
}

async fn plan_with(matrix: Option<Value>, more: Value) -> PricedPlan {
    let external = format!("{}/a b", unique("plan"));
    let item = post("/items", json!({"name": unique("item")})).await;
    let metric = json!({
        "name": unique("metric"), "description": null, "item_id": item["id"],
        "sql": "SELECT sum(amount) FROM events",
    });
    let metric = post("/metrics", metric).await;
    let price = |name: &str, model: &str, more: Value| {
        let price = json!({
            "name": name, "model_type": model, "cadence": "monthly", "item_id": item["id"],
        });
        json!({"price": with(price, more)})
    };
    let fee = json!({
        "unit_config": {"unit_amount": "20"}, "fixed_price_quantity": 1, "billed_in_advance": true,
    });
    let usage = json!({
        "unit_config": {"unit_amount": "0.5"}, "billable_metric_id": metric["id"],
        "external_price_id": format!("{external} unit"),
    });
    let by_region = matrix.map(|matrix| {
        let config = json!({"billable_metric_id": metric["id"], "matrix_config": matrix});
        price("By region", "matrix", config)
    });
    let prices = [price("Seat", "unit", fee), price("Tokens", "unit", usage)];
    let new = json!({
        "name": "Pro", "currency": "USD", "external_plan_id": external,
        "prices": prices.into_iter().chain(by_region).collect::<Vec<_>>(),
    });
    let plan = post("/plans", with(new, more)).await;
    let id = plan["id"].as_str().unwrap().to_owned();
    PricedPlan { id, external, prices: plan["prices"].as_array().unwrap().clone() }
}

/// Adds members to an object.
fn with(mut object: Value, more: Value) -> Value {
    let more = more.as_object().unwrap().clone();
    object.as_object_mut().unwrap().extend(more);
    object
}
