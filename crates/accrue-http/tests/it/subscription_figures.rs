//! What subscriptions cost and use, over HTTP.

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::{MONTH_END, START, Shop, path};

#[test]
fn wire_5_1_what_a_subscription_costs() {
    let shop = Shop::new();
    let align = json!({"align_billing_with_subscription_start_date": true});
    let subscription = shop.subscribe(align);
    shop.use_tokens("1", 4, "small");
    let get = |query: &str| shop.host.get(&path(&subscription, &format!("/costs{query}")));
    let day = "?timeframe_start=2026-03-10T12:00:00Z&timeframe_end=2026-03-11T12:00:00Z";
    let costs = get(&format!("{day}&view_mode=periodic")).ok(StatusCode::OK);
    let (usage, seats) = (&shop.plan["prices"][0], &shop.plan["prices"][1]);
    let expected = json!({
        "timeframe_start": START,
        "timeframe_end": "2026-03-11T12:00:00.000000+00:00",
        "subtotal": "22.00",
        "total": "22.00",
        "per_price_costs": [
            {"price": usage, "price_id": usage["id"], "quantity": 4, "subtotal": "2.00", "total": "2.00"},
            {"price": seats, "price_id": seats["id"], "quantity": 2, "subtotal": "20.00", "total": "20.00"},
        ],
    });
    assert_eq!(costs["data"][0], expected);
    assert_eq!(costs["data"].as_array().unwrap().len(), 1);
    let cumulative = get(day).ok(StatusCode::OK);
    assert_eq!(cumulative, costs, "it is one day");
    let current = get("").ok(StatusCode::OK);
    assert_eq!(current["data"][0]["timeframe_start"], START);
    let other = get("?currency=tokens").ok(StatusCode::OK);
    assert_eq!(other["data"][0]["total"], "0.00", "no price counts in it");
    for wrong in ["?view_mode=all", "?timeframe_start=2026-03-10T12:00:01Z"] {
        get(wrong).error(400, "400-request-validation-errors");
    }
    shop.host.get("/v1/subscriptions/nothing/costs").error(404, "404-resource-not-found");
}

#[test]
fn wire_5_1_what_a_subscription_uses() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    shop.use_tokens("1", 4, "small");
    shop.now("2026-03-11T12:00:00Z");
    shop.use_tokens("2", 6, "large");
    let get = |query: &str| shop.host.get(&path(&subscription, &format!("/usage{query}")));
    let metric = json!({"id": shop.metric_id, "name": "Tokens"});
    let whole = json!({"data": [{
        "billable_metric": metric, "view_mode": "periodic",
        "usage": [{"timeframe_start": START, "timeframe_end": MONTH_END, "quantity": 10}],
    }]});
    assert_eq!(get("").ok(StatusCode::OK), whole);
    let days = "?granularity=day&timeframe_start=2026-03-10T12:00:00Z\
                &timeframe_end=2026-03-11T23:00:00Z";
    let quantities = |answer: Value| {
        let usage = answer["data"][0]["usage"].as_array().unwrap().clone();
        usage.iter().map(|slot| slot["quantity"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(quantities(get(days).ok(StatusCode::OK)), [4, 6]);
    let cumulative = get(&format!("{days}&view_mode=cumulative")).ok(StatusCode::OK);
    assert_eq!(cumulative["data"][0]["view_mode"], "cumulative");
    assert_eq!(quantities(cumulative), [4, 10]);
    let grouped = get(&format!("?group_by=model&billable_metric_id={}", shop.metric_id));
    let group = |model: &str, quantity: u32| {
        json!({
            "billable_metric": metric,
            "metric_group": {"property_key": "model", "property_value": model},
            "view_mode": "periodic",
            "usage": [
                {"timeframe_start": START, "timeframe_end": MONTH_END, "quantity": quantity},
            ],
        })
    };
    let expected = json!({
        "data": [group("large", 6), group("small", 4)],
        "pagination_metadata": {"has_more": false, "next_cursor": null},
    });
    assert_eq!(grouped.ok(StatusCode::OK), expected);
    get("?granularity=hour").error(400, "400-request-validation-errors");
    get("?billable_metric_id=nothing").error(404, "404-resource-not-found");
}
