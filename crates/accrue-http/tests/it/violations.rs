//! Everything that is wrong with a request is listed at once, rules between fields too.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    scene::Scene,
    support::{Answer, Host, event},
};

/// Expects violations at these places.
#[track_caller]
fn check(answer: &Answer, expect: &[&str]) {
    let body = answer.error(400, "400-request-validation-errors");
    let errors = body["validation_errors"].as_array().unwrap().iter();
    let found = errors.map(|text| text.as_str().unwrap().split_once(": ").unwrap().0);
    assert_eq!(found.collect::<Vec<_>>(), expect, "{body}");
}

fn unavailable(answer: &Answer) {
    answer.error(404, "404-feature-not-available");
}

#[test]
fn s7_each_price_of_a_plan_that_is_missing_is_listed() {
    let host = Host::new();
    let plan = |prices: Value| json!({"name": "Pro", "currency": "USD", "prices": prices});
    let answer = host.post("/v1/plans", plan(json!([{}, {"price": null}])));
    check(&answer, &["/prices/0/price", "/prices/1/price"]);
    let Scene { item, metric, .. } = Scene::set(&host);
    let ahead = json!({
        "name": "Calls", "item_id": item, "billable_metric_id": metric, "cadence": "monthly",
        "billed_in_advance": true, "model_type": "unit", "unit_config": {"unit_amount": "1"},
    });
    // What is wrong is told before what is not available.
    check(&host.post("/v1/plans", plan(json!([{"price": ahead}, {}]))), &["/prices/1/price"]);
    unavailable(&host.post("/v1/plans", plan(json!([{"price": ahead}]))));
    let plan = host.post("/v1/plans", plan(json!([]))).ok(StatusCode::CREATED);
    let id = "0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001";
    let version = json!({
        "version": 2, "add_prices": [{}, {}], "replace_prices": [{"replaces_price_id": id}],
    });
    let path = format!("/v1/plans/{}/versions", plan["id"].as_str().unwrap());
    let expect = ["/add_prices/0/price", "/add_prices/1/price", "/replace_prices/0/price"];
    check(&host.post(&path, version), &expect);
}

#[test]
fn s7_the_rules_of_a_price_are_judged_beside_fields_that_are_wrong() {
    let host = Host::new();
    let Scene { item, metric, .. } = Scene::set(&host);
    let price = json!({
        "name": 1, "item_id": item, "billable_metric_id": metric, "fixed_price_quantity": "two",
        "cadence": "custom", "model_type": "unit", "package_config": {"package_size": 1},
        "reference_id": "seat",
        "conversion_rate_config": {"conversion_rate_type": "unit"},
    });
    let expect = [
        "/name",
        "/fixed_price_quantity",
        "/package_config/package_amount",
        "/billing_cycle_configuration",
        "/unit_config",
        "/package_config",
        "/fixed_price_quantity",
        "/conversion_rate_config/unit_config",
        "/reference_id",
        "/currency",
    ];
    check(&host.post("/v1/prices", price.clone()), &expect);
    let plan = json!({"name": "Pro", "currency": "USD", "prices": [{"price": price}, {}]});
    let mut places: Vec<_> =
        expect[..8].iter().map(|place| format!("/prices/0/price{place}")).collect();
    places.push("/prices/1/price".to_owned());
    let places: Vec<_> = places.iter().map(String::as_str).collect();
    check(&host.post("/v1/plans", plan), &places);
    let cycle = json!({"duration": 2, "duration_unit": "month"});
    let price = json!({
        "item_id": item, "cadence": "monthly", "billing_cycle_configuration": cycle,
        "model_type": "none", "currency": 1, "conversion_rate": 2,
        "conversion_rate_config":
            {"conversion_rate_type": "unit", "unit_config": {"unit_amount": "3"}},
    });
    let expect = [
        "/name",
        "/model_type",
        "/currency",
        "/billing_cycle_configuration",
        "/conversion_rate_config",
    ];
    check(&host.post("/v1/prices", price), &expect);
}

#[test]
fn s7_whose_an_event_is_is_judged_beside_fields_that_are_wrong() {
    let host = Host::new();
    let mut both = event("both");
    both["event_name"] = json!(7);
    both["customer_id"] = json!(7);
    let mut neither = event("neither");
    neither["timestamp"] = json!("yesterday");
    neither["external_customer_id"] = Value::Null;
    let answer = host.post("/v1/ingest", json!({"events": [both, neither]}));
    let body = answer.error(400, "400-request-validation-errors");
    let rule = json!("expected one of customer_id and external_customer_id");
    for (refused, count) in [(0, 3), (1, 2)] {
        let reasons = body["validation_failed"][refused]["validation_errors"].as_array().unwrap();
        assert_eq!(reasons.len(), count, "{body}");
        assert!(reasons.contains(&rule), "{body}");
    }
}

#[test]
fn s7_a_trial_hides_nothing_that_is_wrong() {
    let host = Host::new();
    let answer = host.post("/v1/subscriptions", json!({"trial_duration_days": 3}));
    check(&answer, &["/customer_id"]);
    let trial = json!({
        "trial_duration_days": 3, "external_customer_id": "ada", "external_plan_id": "pro",
    });
    host.post("/v1/subscriptions", trial).error(404, "404-resource-not-found");
}

#[test]
fn s7_a_timeframe_is_judged_beside_fields_that_are_wrong() {
    let host = Host::new();
    let Scene { customer, price, .. } = Scene::set(&host);
    let backwards = "timeframe_start=2026-03-02T00:00:00Z&timeframe_end=2026-03-01T00:00:00Z";
    let none = "/v1/subscriptions/0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001";
    let costs = format!("/v1/customers/{customer}/costs");
    for (path, expect) in [
        (format!("{costs}?view_mode=x&{backwards}"), ["/view_mode", "/timeframe_end"]),
        (format!("{none}/costs?view_mode=x&{backwards}"), ["/view_mode", "/timeframe_end"]),
        (format!("{none}/usage?granularity=x&{backwards}"), ["/granularity", "/timeframe_end"]),
    ] {
        check(&host.get(&path), &expect);
    }
    let body = json!({
        "timeframe_start": "2026-03-02T00:00:00Z", "timeframe_end": "2026-03-01T00:00:00Z",
        "customer_id": customer, "external_customer_id": "two", "filter": "tokens >",
        "metric_parameter_overrides": [],
    });
    let answer = host.post(&format!("/v1/prices/{price}/evaluate"), body);
    let expect =
        ["/filter", "/metric_parameter_overrides", "/external_customer_id", "/timeframe_end"];
    check(&answer, &expect);
}

#[test]
fn wire_1_3_overrides_of_thresholds_need_groups() {
    let host = Host::new();
    let path = "/v1/alerts/subscription_id/0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001";
    let alert = |keys: Value| {
        let overrides = json!([{"group_values": ["a"], "thresholds": []}]);
        let new = json!({
            "type": "cost_exceeded", "thresholds": [{"value": 1}], "currency": "USD",
            "grouping_keys": keys, "threshold_overrides": overrides,
        });
        host.post(path, new)
    };
    check(&alert(Value::Null), &["/threshold_overrides"]);
    check(&alert(json!([])), &["/threshold_overrides"]);
    check(&alert(json!("a")), &["/grouping_keys"]);
    alert(json!(["a"])).error(404, "404-resource-not-found");
}

#[test]
fn s7_what_is_rarely_given_has_a_type_too() {
    let host = Host::new();
    let subscription = |more: Value| {
        let mut new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
        for (name, value) in more.as_object().unwrap() {
            new[name] = value.clone();
        }
        host.post("/v1/subscriptions", new)
    };
    let wrong = json!({
        "filter": [], "usage_customer_ids": [1],
        "add_prices": {}, "credits_overage_rate": "1", "remove_prices": ["a"],
    });
    let mut fields: Vec<_> =
        wrong.as_object().unwrap().keys().map(|name| format!("/{name}")).collect();
    let answer = subscription(wrong).error(400, "400-request-validation-errors");
    let errors = answer["validation_errors"].as_array().unwrap();
    for field in &mut fields {
        let is_listed = errors.iter().any(|text| text.as_str().unwrap().starts_with(&*field));
        assert!(is_listed, "{field}: {answer}");
    }
    assert_eq!(errors.len(), fields.len(), "{answer}");
    let nothing = json!({
        "filter": null, "usage_customer_ids": null,
    });
    subscription(nothing).error(404, "404-resource-not-found");
}
