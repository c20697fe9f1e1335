//! Prices that give credits, over HTTP (subscriptions 9.3, price models 7.2).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{set, shop},
    subscriptions::Shop,
};

const VALIDATION: &str = "400-request-validation-errors";

fn allocation(more: Value) -> Value {
    let mut new = json!({
        "currency": "credits", "amount": "500", "cadence": "monthly",
        "expires_at_end_of_cadence": true, "per_unit_cost_basis": "0.02",
    });
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    new
}

fn plan(shop: &Shop, allocation: &Value) -> Value {
    let new = json!({
        "name": "Included", "currency": "EUR", "external_plan_id": "included",
        "prices": [{"allocation_price": allocation, "price": null}],
    });
    shop.host.post("/v1/plans", new).ok(StatusCode::CREATED)
}

fn blocks(shop: &Shop) -> Vec<Value> {
    let path = "/v1/customers/external_customer_id/ada/credits?include_all_blocks=true";
    let page = shop.host.get(path).ok(StatusCode::OK);
    page["data"].as_array().unwrap().clone()
}

#[test]
fn subscriptions_9_3_a_plan_gives_credits() {
    let (shop, _) = shop();
    let plan = plan(&shop, &allocation(json!({"metadata": {"tier": "2"}})));
    let price = &plan["prices"][0];
    assert_eq!(price["name"], "Included Allocation (credits)");
    assert_eq!(price["price_type"], "fixed_price");
    assert_eq!(
        (&price["model_type"], &price["billing_mode"]),
        (&json!("unit"), &json!("in_advance"))
    );
    assert_eq!(price["unit_config"]["unit_amount"], "0.02");
    assert_eq!(price["fixed_price_quantity"], 500);
    assert_eq!((&price["currency"], &price["metadata"]), (&json!("EUR"), &json!({"tier": "2"})));
    let expected = json!({
        "currency": "credits", "allows_rollover": false, "custom_expiration": null, "filters": [],
        "license_type_id": null,
    });
    assert_eq!(price["credit_allocation"], expected);

    set(&shop.host, "2026-04-01T00:00:00Z");
    let new = json!({
        "external_plan_id": "included", "billing_cycle_anchor_configuration": {"day": 1},
    });
    shop.subscribe(new);
    set(&shop.host, "2026-04-01T00:00:01Z");
    let [block] = blocks(&shop).try_into().unwrap();
    assert_eq!(
        (&block["balance"], &block["credit_block_source"]),
        (&json!(500), &json!("allocation"))
    );
    assert_eq!(block["expiry_date"], "2026-04-30T22:00:00.000000+00:00");
    let mut expected = expected;
    expected["item_id"] = price["item"]["id"].clone();
    assert_eq!(block["credit_allocation"], expected);
    let id = block["id"].as_str().unwrap();
    let found = shop.host.get(&format!("/v1/credit_blocks/{id}/invoices")).ok(StatusCode::OK);
    let [invoice] = found["invoices"].as_array().unwrap().as_slice() else { panic!("{found}") };
    let invoice = shop.host.get(&format!("/v1/invoices/{}", invoice["id"].as_str().unwrap()));
    let invoice = invoice.ok(StatusCode::OK);
    let line = &invoice["line_items"][0];
    assert_eq!((&line["quantity"], &line["subtotal"]), (&json!(500), &json!("10.00")));
}

#[test]
fn subscriptions_9_3_a_custom_expiration_is_shown() {
    let (shop, _) = shop();
    let time = json!({"duration": 45, "duration_unit": "day"});
    let own = json!({
        "expires_at_end_of_cadence": null, "custom_expiration": time, "per_unit_cost_basis": "0.00",
        "filters": [{"field": "item_id", "operator": "includes",
                     "values": [shop.plan["prices"][0]["item"]["id"]]}],
    });
    let plan = plan(&shop, &allocation(own.clone()));
    let shown = &plan["prices"][0]["credit_allocation"];
    assert_eq!((&shown["custom_expiration"], &shown["allows_rollover"]), (&time, &json!(true)));
    assert_eq!(shown["filters"], own["filters"]);
}

#[test]
fn subscriptions_1_2_and_2_1_a_subscription_gets_credits_of_its_own() {
    let (shop, subscription) = shop();
    let free = allocation(json!({"per_unit_cost_basis": "0"}));
    set(&shop.host, "2026-04-01T00:00:00Z");
    let added = json!([{"allocation_price": free}]);
    let created = shop.subscribe(json!({"add_prices": added}));
    let gives = |of: &Value| -> usize {
        let all = of["price_intervals"].as_array().unwrap().iter();
        all.filter(|of| of["price"]["credit_allocation"] != Value::Null).count()
    };
    assert_eq!(gives(&created), 1);
    let path =
        format!("/v1/subscriptions/{}/price_intervals", subscription["id"].as_str().unwrap());
    let more = json!({"add": [{"allocation_price": free, "start_date": "2026-04-01T00:00:00Z"}]});
    let changed = shop.host.post(&path, more).ok(StatusCode::OK);
    assert_eq!(gives(&changed), 1);
    set(&shop.host, "2026-04-01T00:00:01Z");
    assert_eq!(blocks(&shop).len(), 2);
}

#[test]
fn subscriptions_9_3_what_is_wrong_is_told_with_its_place() {
    let (shop, _) = shop();
    let check = |more: Value, expect: &str| {
        let new = json!({
            "name": "Included", "currency": "EUR", "prices": [{"allocation_price": allocation(more)}],
        });
        let body = shop.host.post("/v1/plans", new).error(400, VALIDATION);
        let errors = body["validation_errors"].as_array().unwrap();
        let [error] = errors.as_slice() else { panic!("{body}") };
        let at = format!("/prices/0/allocation_price/{expect}");
        assert!(error.as_str().unwrap().starts_with(&at), "{error} {expect}");
    };
    check(json!({"currency": null}), "currency");
    check(json!({"amount": 5}), "amount");
    check(json!({"amount": "0"}), "amount");
    check(json!({"cadence": "custom"}), "cadence");
    check(json!({"cadence": "one_time"}), "expires_at_end_of_cadence");
    check(json!({"per_unit_cost_basis": "-1"}), "per_unit_cost_basis");
    let time = json!({"duration": 1, "duration_unit": "month"});
    check(json!({"custom_expiration": time}), "custom_expiration");
    let by_price = json!([{"field": "price_id", "operator": "includes", "values": []}]);
    check(json!({"filters": by_price}), "filters/0/field");
    let both = json!([{"allocation_price": allocation(json!({})), "price": {}}]);
    let new = json!({"name": "Included", "currency": "EUR", "prices": both});
    let body = shop.host.post("/v1/plans", new).error(400, VALIDATION);
    let text = body.to_string();
    assert!(text.contains("/prices/0/allocation_price: is there beside price"), "{text}");
}
