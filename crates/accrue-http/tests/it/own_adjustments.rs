//! What the adjustments that a request gives a subscription are over, over HTTP (subscriptions 1.4).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{subscriptions::Shop, support::Answer};

/// Answers to a subscription with an adjustment of 1 % over what some fields say.
fn over(shop: &Shop, fields: &Value) -> Answer {
    let mut adjustment =
        json!({"adjustment_type": "percentage_discount", "percentage_discount": 0.01});
    adjustment.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let new = json!({
        "external_customer_id": "ada", "external_plan_id": "pro",
        "add_adjustments": [{"adjustment": adjustment}],
    });
    shop.host.post("/v1/subscriptions", new)
}

#[test]
fn subscriptions_1_4_1_prices_are_named_in_one_way_or_narrowed_from_all() {
    let shop = Shop::new();
    let price = &shop.plan["prices"][0];
    let ways = [
        ("applies_to_all", json!(true)),
        ("applies_to_price_ids", json!([price["id"]])),
        ("applies_to_item_ids", json!([price["item"]["id"]])),
        ("filters", json!([{"field": "price_type", "operator": "includes", "values": ["usage"]}])),
    ];
    for (name, value) in &ways {
        over(&shop, &json!({*name: value})).ok(StatusCode::CREATED);
        for (other, beside) in ways.iter().filter(|(other, _)| other != name) {
            let both = over(&shop, &json!({*name: value, *other: beside}));
            both.error(400, "400-request-validation-errors");
        }
    }
    over(&shop, &json!({})).error(400, "400-request-validation-errors");
    let reached = |fields: Value| {
        let made = over(&shop, &fields).ok(StatusCode::CREATED);
        made["adjustment_intervals"][0]["adjustment"]["applies_to_price_ids"].clone()
    };
    assert_eq!(reached(json!({"price_type": "usage"})), json!([price["id"]]));
    assert_eq!(reached(json!({"currency": "EUR"})).as_array().unwrap().len(), 2);
    assert_eq!(reached(json!({"currency": "USD"})), json!([]));
    let narrowed = json!({"applies_to_all": true, "price_type": "fixed"});
    assert_eq!(reached(narrowed), json!([shop.plan["prices"][1]["id"]]));
}

#[test]
fn subscriptions_1_4_a_filter_looks_at_five_fields() {
    let shop = Shop::new();
    let [usage, fee] = [0, 1].map(|place: usize| &shop.plan["prices"][place]);
    let both = json!([usage["id"], fee["id"]]);
    for (field, value, expected) in [
        ("price_id", &usage["id"], json!([usage["id"]])),
        ("item_id", &usage["item"]["id"], both.clone()),
        ("price_type", &json!("fixed"), json!([fee["id"]])),
        ("currency", &json!("EUR"), both.clone()),
        ("pricing_unit_id", &json!("EUR"), both),
        ("pricing_unit_id", &json!("credits"), json!([])),
    ] {
        let filter = json!({"field": field, "operator": "includes", "values": [value]});
        let made = over(&shop, &json!({"filters": [filter]})).ok(StatusCode::CREATED);
        let found = &made["adjustment_intervals"][0]["adjustment"]["applies_to_price_ids"];
        let mut found: Vec<_> = found.as_array().unwrap().clone();
        found.sort_by_key(|id| *id != usage["id"]);
        assert_eq!(json!(found), expected, "{field} {value}");
    }
    let filter = json!({"field": "name", "operator": "includes", "values": ["Seats"]});
    over(&shop, &json!({"filters": [filter]})).error(400, "400-request-validation-errors");
}

#[test]
fn subscriptions_1_4_4_a_filter_of_types_has_five_words() {
    let shop = Shop::new();
    let of = |words: Value| {
        let filter = json!({"field": "price_type", "operator": "includes", "values": words});
        over(&shop, &json!({"filters": [filter]}))
    };
    let (usage, fee) = (&shop.plan["prices"][0]["id"], &shop.plan["prices"][1]["id"]);
    for (word, expected) in [
        ("usage", json!([usage])),
        ("fixed_in_advance", json!([fee])),
        ("fixed_in_arrears", json!([])),
        ("fixed", json!([fee])),
        ("in_arrears", json!([usage])),
    ] {
        let made = of(json!([word])).ok(StatusCode::CREATED);
        let found = &made["adjustment_intervals"][0]["adjustment"]["applies_to_price_ids"];
        assert_eq!(found, &expected, "{word}");
    }
    for wrong in ["usage_price", "in_advance", "Usage"] {
        of(json!([wrong])).error(400, "400-request-validation-errors");
    }
}
