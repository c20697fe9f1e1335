//! Numbers and lists that come back as they were written.

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::{Shop, path};

#[test]
fn clients_7_what_was_written_comes_back_as_it_was() {
    let shop = Shop::new();
    let price = |model_type: &str, config: Value| {
        let mut price = json!({
            "name": "Tokens", "item_id": shop.plan["prices"][0]["item"]["id"], "currency": "EUR",
            "cadence": "monthly", "billable_metric_id": shop.metric_id, "model_type": model_type,
        });
        let name = format!("{model_type}_config");
        price[&name] = config.clone();
        let created = shop.host.post("/v1/prices", price).ok(StatusCode::CREATED);
        assert_eq!(created[&name], config);
        let path = format!("/v1/prices/{}", created["id"].as_str().unwrap());
        assert_eq!(shop.host.get(&path).ok(StatusCode::OK)[&name], config);
    };
    price("unit", json!({"unit_amount": "1.50"}));
    price("package", json!({"package_amount": "0.0010", "package_size": 10}));
    let tier = |first: Value, last: Value, amount: &str| json!({"first_unit": first, "last_unit": last, "unit_amount": amount});
    let tiers = [tier(json!(0), json!(10), "1.00"), tier(json!(10), Value::Null, "0.50")];
    price("tiered", json!({"tiers": tiers}));
    price(
        "bulk",
        json!({"tiers": [{"maximum_units": 10, "unit_amount": "2.0"},
            {"maximum_units": null, "unit_amount": "1.90"}]}),
    );
    price(
        "matrix",
        json!({
            "dimensions": ["region", null],
            "default_unit_amount": "1.0",
            "matrix_values": [{"dimension_values": ["eu", null], "unit_amount": "0.10"}],
        }),
    );
    let credits = format!("/v1/customers/{}/credits", shop.customer["id"].as_str().unwrap());
    let entry = json!({
        "entry_type": "increment", "amount": 5, "per_unit_cost_basis": "0.00",
    });
    let entry = shop.host.post(&format!("{credits}/ledger_entry"), entry).ok(StatusCode::CREATED);
    assert_eq!(entry["credit_block"]["per_unit_cost_basis"], "0.00");
    let blocks = shop.host.get(&credits).ok(StatusCode::OK);
    assert_eq!(blocks["data"][0]["per_unit_cost_basis"], "0.00");
}

#[test]
fn clients_7_computed_amounts_have_the_digits_of_their_currency_at_least() {
    let shop = Shop::new();
    let item = &shop.plan["prices"][0]["item"]["id"];
    let total = |currency: &str, each: &str| {
        let price = json!({
            "name": "Tokens", "item_id": item, "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": each}, "fixed_price_quantity": 1,
        });
        let plan = json!({"name": currency, "currency": currency, "prices": [{"price": price}]});
        let plan = shop.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
        let bob = json!({"name": "Bob", "email": "b@example.com"});
        let bob = shop.host.post("/v1/customers", bob).ok(StatusCode::CREATED);
        let new = json!({
            "customer_id": bob["id"], "external_customer_id": null,
            "plan_id": plan["id"], "external_plan_id": null,
            "start_date": "2026-03-01T00:00:00Z",
        });
        let subscription = shop.subscribe(new);
        let costs = shop.host.get(&path(&subscription, "/costs")).ok(StatusCode::OK);
        let day = &costs["data"][0];
        assert_eq!(day["subtotal"], day["total"]);
        assert_eq!(day["per_price_costs"][0]["total"], day["total"]);
        day["total"].clone()
    };
    assert_eq!(total("USD", "3"), "3.00");
    assert_eq!(total("USD", "0.125"), "0.125");
    assert_eq!(total("JPY", "3"), "3");
    assert_eq!(total("KWD", "3.5"), "3.500");
    // Of a pricing unit that is no currency, two.
    let price = json!({
        "name": "Tokens", "item_id": item, "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "2"}, "billable_metric_id": shop.metric_id,
        "currency": "credits", "conversion_rate": 0.5,
    });
    let plan = json!({"name": "Credits", "currency": "EUR", "prices": [{"price": price}]});
    let plan = shop.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    let credits = shop.subscribe(json!({"external_plan_id": null, "plan_id": plan["id"]}));
    shop.use_tokens("1", 3, "small");
    let costs = shop.host.get(&path(&credits, "/costs")).ok(StatusCode::OK);
    let day = &costs["data"][0];
    assert_eq!(
        (&day["per_price_costs"][0]["total"], &day["total"]),
        (&json!("6.00"), &json!("3.00"))
    );
}
