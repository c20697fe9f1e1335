//! What customers cost, over HTTP.

use accrue::{
    Currency, CustomerId, Name, PriceId,
    plan::{NewPlan, PlanPrice},
    subscription::{BillingAnchor, NewSubscription},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::Host;

/// A customer with 30 tokens of usage at 0.5 each on the 10th of March.
fn spender() -> (Host, String, Value) {
    let host = Host::new();
    let new = json!({"name": "Ada", "email": "ada@example.com", "external_customer_id": "ada"});
    let ada = host.post("/v1/customers", new).ok(StatusCode::CREATED)["id"].clone();
    let ada = ada.as_str().unwrap().to_owned();
    let item = host.post("/v1/items", json!({"name": "Model"})).ok(StatusCode::CREATED);
    let metric = json!({
        "name": "Tokens", "description": null, "item_id": item["id"],
        "sql": "SELECT sum(tokens) FROM events",
    });
    let metric = host.post("/v1/metrics", metric).ok(StatusCode::CREATED);
    let price = json!({
        "name": "Tokens", "item_id": item["id"], "billable_metric_id": metric["id"],
        "currency": "USD", "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "0.5"},
    });
    let price = host.post("/v1/prices", price).ok(StatusCode::CREATED);
    let price_id: PriceId = price["id"].as_str().unwrap().parse().unwrap();
    let account = host.account();
    pollster::block_on(async {
        let mut plan = NewPlan::new(Name::parse("Pro").unwrap(), Currency::parse("USD").unwrap());
        plan.prices = vec![PlanPrice::Existing(price_id.into())];
        let plan = account.create_plan(plan).await.unwrap();
        let mut pro = NewSubscription::new(ada.parse::<CustomerId>().unwrap(), plan.id);
        pro.anchor = BillingAnchor::SubscriptionStart;
        pro.start_date = Some(host.billing.now());
        account.create_subscription(pro).await.unwrap();
    });
    let event = json!({
        "idempotency_key": "e1", "event_name": "call", "timestamp": "2026-03-10T12:00:00Z",
        "properties": {"tokens": 30}, "customer_id": ada,
    });
    host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
    (host, ada, price)
}

/// What one row has where the tokens came to something.
fn row(price: &Value, start: &str, end: &str, quantity: u32, total: &str) -> Value {
    json!({
        "timeframe_start": start,
        "timeframe_end": end,
        "subtotal": total,
        "total": total,
        "per_price_costs": [{
            "price": price, "price_id": price["id"], "quantity": quantity,
            "subtotal": total, "total": total,
        }],
    })
}

#[test]
fn wire_4_4_costs_are_cumulative_or_by_the_day() {
    let (host, ada, price) = spender();
    let days = "timeframe_start=2026-03-10T12:00:00Z&timeframe_end=2026-03-12T00:00:00Z";
    let (noon, tenth, eleventh) = (
        "2026-03-10T12:00:00.000000+00:00",
        "2026-03-11T12:00:00.000000+00:00",
        "2026-03-12T00:00:00.000000+00:00",
    );
    let cumulative = json!({"data": [
        row(&price, noon, tenth, 30, "15.00"), row(&price, noon, eleventh, 30, "15.00"),
    ]});
    let periodic = json!({"data": [
        row(&price, noon, tenth, 30, "15.00"), row(&price, tenth, eleventh, 0, "0.00"),
    ]});
    for of in [ada.as_str(), "external_customer_id/ada"] {
        let get = |mode: &str| {
            let path = format!("/v1/customers/{of}/costs?{days}&{mode}currency=USD");
            host.get(&path).ok(StatusCode::OK)
        };
        assert_eq!(get(""), cumulative);
        assert_eq!(get("view_mode=cumulative&"), cumulative);
        assert_eq!(get("view_mode=periodic&"), periodic);
    }
}

#[test]
fn wire_4_4_costs_are_of_the_current_period_where_nothing_is_said() {
    let (host, ada, price) = spender();
    let instants =
        ["10T12", "11T12", "12T12", "13T00"].map(|at| format!("2026-03-{at}:00:00.000000+00:00"));
    let [noon, next, third, now] = instants.each_ref().map(String::as_str);
    let costs = |mode: &str| {
        host.get(&format!("/v1/customers/{ada}/costs?view_mode={mode}")).ok(StatusCode::OK)
    };
    let day = |start, end, quantity, total| row(&price, start, end, quantity, total);
    // What begins now is there.
    assert_eq!(costs("periodic"), json!({"data": [day(noon, next, 30, "15.00")]}));
    // Nothing behind now is.
    host.clock.advance(std::time::Duration::from_secs(60 * 60 * 60));
    let days =
        [day(noon, next, 30, "15.00"), day(next, third, 0, "0.00"), day(third, now, 0, "0.00")];
    assert_eq!(costs("periodic"), json!({"data": days}));
    let so_far = [next, third, now].map(|end| day(noon, end, 30, "15.00"));
    assert_eq!(costs("cumulative"), json!({"data": so_far}));
    let asked = "timeframe_start=2026-03-12T12:00:00Z&timeframe_end=2026-03-14T12:00:00Z";
    let asked = host.get(&format!("/v1/customers/{ada}/costs?{asked}")).ok(StatusCode::OK);
    assert_eq!(asked["data"].as_array().unwrap().len(), 2, "it was asked for");
}

#[test]
fn wire_4_1_a_timeframe_with_one_end_begins_with_the_period_or_ends_now() {
    let (host, ada, _) = spender();
    host.clock.advance(std::time::Duration::from_secs(48 * 60 * 60));
    let costs = |query: &str| {
        let path = format!("/v1/customers/{ada}/costs?view_mode=periodic&{query}");
        host.get(&path).ok(StatusCode::OK)
    };
    let (begin, later, now) =
        ("2026-03-10T12:00:00Z", "2026-03-11T00:00:00Z", "2026-03-12T12:00:00Z");
    let both =
        |start: &str, end: &str| costs(&format!("timeframe_start={start}&timeframe_end={end}"));
    assert_eq!(costs(&format!("timeframe_start={later}")), both(later, now));
    assert_eq!(costs(&format!("timeframe_end={later}")), both(begin, later));
}

#[test]
fn what_is_wrong_with_a_query_of_costs_is_told() {
    let (host, ada, _) = spender();
    for query in [
        "timeframe_start=2026-03-10T12:00:01Z",
        "timeframe_end=2026-03-10T11:59:59Z",
        "timeframe_start=2026-03-10T12:00:00Z&timeframe_end=2026-03-09T12:00:00Z",
        "view_mode=weekly",
    ] {
        let refused = host.get(&format!("/v1/customers/{ada}/costs?{query}"));
        refused.error(400, "400-request-validation-errors");
    }
    for of in ["none", "external_customer_id/none"] {
        let refused = host.get(&format!("/v1/customers/{of}/costs"));
        refused.error(404, "404-resource-not-found");
    }
}

#[test]
fn a_customer_without_subscriptions_costs_nothing() {
    let host = Host::new();
    let new = json!({"name": "Bob", "email": "bob@example.com"});
    let bob = host.post("/v1/customers", new).ok(StatusCode::CREATED);
    let path = format!("/v1/customers/{}/costs", bob["id"].as_str().unwrap());
    assert_eq!(host.get(&path).ok(StatusCode::OK), json!({"data": []}));
}
