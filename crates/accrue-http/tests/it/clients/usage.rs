//! Usage and costs over time.

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::{Shop, path};

/// A shop with a metric that no price of its plan has, and ten tokens in two regions.
fn used() -> (Shop, Value, Value) {
    let shop = Shop::new();
    let count = json!({
        "name": "Calls", "description": null, "item_id": shop.plan["prices"][0]["item"]["id"],
        "sql": "SELECT count(*) FROM events",
    });
    let count = shop.host.post("/v1/metrics", count).ok(StatusCode::CREATED);
    let subscription = shop.subscribe(json!({}));
    let event = |key: &str, tokens: u32, region: Option<&str>, model: &str| {
        let mut event = json!({
            "idempotency_key": key, "event_name": "call", "timestamp": "2026-03-10T12:00:00Z",
            "properties": {"tokens": tokens, "model": model}, "external_customer_id": "ada",
        });
        if let Some(region) = region {
            event["properties"]["region"] = json!(region);
        }
        event
    };
    let events = [
        event("1", 1, Some("eu"), "small"),
        event("2", 2, Some("eu"), "large"),
        event("3", 3, Some("us"), "small"),
        event("4", 4, None, "small"),
    ];
    shop.host.post("/v1/ingest", json!({"events": events})).ok(StatusCode::OK);
    (shop, subscription, count)
}

#[test]
fn clients_4_usage_is_of_the_metrics_that_are_priced_or_asked_for() {
    let (shop, subscription, count) = used();
    let usage = |query: &str| {
        let found = shop.host.get(&path(&subscription, &format!("/usage{query}")));
        let found = found.ok(StatusCode::OK);
        let series = found["data"].as_array().unwrap().iter();
        let series = series
            .map(|of| (of["billable_metric"]["id"].clone(), of["usage"][0]["quantity"].clone()));
        series.collect::<Vec<_>>()
    };
    assert_eq!(usage(""), [(json!(shop.metric_id), json!(10))]);
    let asked = format!("?billable_metric_id={}", count["id"].as_str().unwrap());
    assert_eq!(usage(&asked), [(count["id"].clone(), json!(4))]);
}

#[test]
fn clients_4_events_without_the_value_are_no_group() {
    let (shop, subscription, _) = used();
    let found = shop.host.get(&path(&subscription, "/usage?group_by=region")).ok(StatusCode::OK);
    let groups = found["data"].as_array().unwrap().iter();
    let groups = groups.map(|of| (of["metric_group"].clone(), of["usage"][0]["quantity"].clone()));
    let group = |value: &str| json!({"property_key": "region", "property_value": value});
    let expected = [(group("eu"), json!(3)), (group("us"), json!(3))];
    assert_eq!(groups.collect::<Vec<_>>(), expected);
}

#[test]
fn clients_4_usage_is_that_of_the_values_of_one_or_two_dimensions() {
    let (shop, subscription, _) = used();
    let get = |query: &str| shop.host.get(&path(&subscription, &format!("/usage?{query}")));
    let quantity = |query: &str| {
        let found = get(query).ok(StatusCode::OK);
        assert_eq!(found["data"].as_array().unwrap().len(), 1);
        assert_eq!(found["data"][0].get("metric_group"), None);
        found["data"][0]["usage"][0]["quantity"].clone()
    };
    let (eu, small) = (
        "first_dimension_key=region&first_dimension_value=eu",
        "second_dimension_key=model&second_dimension_value=small",
    );
    assert_eq!(quantity(eu), 3);
    assert_eq!(quantity(small), 8);
    assert_eq!(quantity(&format!("{eu}&{small}")), 1);
    assert_eq!(quantity("first_dimension_key=region&first_dimension_value=asia"), 0);
    let grouped = get(&format!("{small}&group_by=region")).ok(StatusCode::OK);
    assert_eq!(grouped["data"].as_array().unwrap().len(), 2);
    for half in ["first_dimension_key=region", "second_dimension_value=small"] {
        get(half).error(400, "400-request-validation-errors");
    }
}

/// Costs of a price with cells, by region and model, of two days.
fn matrix_costs(view_mode: &str) -> Vec<Value> {
    let (shop, _, _) = used();
    let cell =
        |values: Value, amount: &str| json!({"dimension_values": values, "unit_amount": amount});
    let price = json!({
        "name": "Tokens", "item_id": shop.plan["prices"][0]["item"]["id"], "cadence": "monthly",
        "billable_metric_id": shop.metric_id, "model_type": "matrix",
        "matrix_config": {
            "dimensions": ["region", "model"], "default_unit_amount": "1",
            "matrix_values": [cell(json!(["eu", "small"]), "2"), cell(json!([null, "small"]), "3")],
        },
    });
    let plan = json!({"name": "Cells", "currency": "EUR", "prices": [{"price": price}]});
    let plan = shop.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    let cells = shop.subscribe(json!({"external_plan_id": null, "plan_id": plan["id"]}));
    shop.now("2026-03-11T18:00:00Z");
    shop.use_tokens("5", 7, "small");
    let costs = path(&cells, &format!("/costs?view_mode={view_mode}"));
    let costs = shop.host.get(&costs).ok(StatusCode::OK);
    let costs = costs["data"].as_array().unwrap().iter();
    costs.map(|day| day["per_price_costs"][0].clone()).collect()
}

/// The groups of a cost with cells, each with its total.
fn groups(totals: [&str; 3]) -> Value {
    let values =
        [[json!("eu"), json!("small")], [Value::Null, json!("small")], [Value::Null, Value::Null]];
    let groups = values.into_iter().zip(totals).map(|([first, second], total)| {
        json!({
            "grouping_key": "region", "grouping_value": first,
            "secondary_grouping_key": "model", "secondary_grouping_value": second,
            "total": total,
        })
    });
    groups.collect()
}

#[test]
fn clients_5_costs_of_cells_have_their_groups() {
    let periodic = matrix_costs("periodic");
    assert_eq!(periodic.len(), 2);
    assert_eq!(periodic[0]["price_groups"], groups(["2.00", "12.00", "5.00"]));
    assert_eq!((&periodic[0]["quantity"], &periodic[0]["subtotal"]), (&json!(10), &json!("19.00")));
    assert_eq!(periodic[1]["price_groups"], groups(["0.00", "21.00", "0.00"]));
    let cumulative = matrix_costs("cumulative");
    assert_eq!(cumulative[1]["price_groups"], groups(["2.00", "33.00", "5.00"]));
    assert_eq!(cumulative[1]["subtotal"], "40.00");
}

#[test]
fn clients_5_usage_that_is_not_divided_is_of_the_whole_period() {
    let (shop, subscription, _) = used();
    shop.now("2026-03-12T18:00:00Z");
    let end = |query: &str| {
        let usage = shop.host.get(&path(&subscription, &format!("/usage{query}")));
        let usage = usage.ok(StatusCode::OK);
        let slots = usage["data"][0]["usage"].as_array().unwrap();
        slots.last().unwrap()["timeframe_end"].clone()
    };
    assert_eq!(end(""), subscription["current_billing_period_end_date"]);
    let now = "2026-03-12T18:00:00.000000+00:00";
    assert_eq!(end("?granularity=day"), now);
    assert_eq!(end("?timeframe_start=2026-03-11T18:00:00Z"), now);
}

#[test]
fn clients_5_windows_are_of_a_day_from_the_instant_asked_for() {
    let (shop, subscription, _) = used();
    shop.now("2026-03-12T18:00:00Z");
    let windows = |query: &str| {
        let costs = path(&subscription, &format!("/costs?view_mode=periodic{query}"));
        let costs = shop.host.get(&costs).ok(StatusCode::OK);
        let windows = costs["data"].as_array().unwrap().iter();
        let windows = windows.map(|of| {
            let text = |end: &str| of[end].as_str().unwrap()[8..16].to_owned();
            format!("{} to {}", text("timeframe_start"), text("timeframe_end"))
        });
        windows.collect::<Vec<_>>()
    };
    let asked = windows("&timeframe_start=2026-03-10T12:30:00Z&timeframe_end=2026-03-12T18:00:00Z");
    assert_eq!(asked, ["10T12:30 to 11T12:30", "11T12:30 to 12T12:30", "12T12:30 to 12T18:00"]);
    // Nothing behind now, unless it is asked for.
    assert_eq!(
        windows(""),
        ["10T12:00 to 11T12:00", "11T12:00 to 12T12:00", "12T12:00 to 12T18:00"]
    );
    assert_eq!(windows("&timeframe_start=2026-03-11T18:00:00Z"), ["11T18:00 to 12T18:00"]);
    let later = windows("&timeframe_start=2026-03-12T00:00:00Z&timeframe_end=2026-03-14T00:00:00Z");
    assert_eq!(later, ["12T00:00 to 13T00:00", "13T00:00 to 14T00:00"]);
}
