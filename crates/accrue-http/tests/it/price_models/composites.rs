//! Models of what other prices come to, over HTTP: what they cost beside others on a subscription, and what is
//! refused.

use http::StatusCode;
use serde_json::{Value, json};

use super::{Scene, decimal, trimmed};
use crate::invoices::upcoming;

/// The models, which no events can be evaluated with.
pub(crate) const MODELS: [&str; 2] = ["percent", "minimum_composite"];

impl Scene {
    /// A price of such a model to create.
    pub(crate) fn composite(&self, model: &str, config: &Value) -> Value {
        let mut price = self.price(model, config);
        price.as_object_mut().unwrap().remove("billable_metric_id");
        price
    }

    /// What such a price comes to beside a fee, on the invoice of April.
    pub(crate) fn beside(&self, price: &Value, fee: &accrue::Decimal) -> accrue::Decimal {
        let mut other = self.composite("unit", &json!({"unit_amount": fee.to_string()}));
        other["billed_in_advance"] = json!(false);
        let subscription =
            self.subscription_to("USD", &[price.clone(), other], "2026-04-01T00:00:00Z");
        let invoice = upcoming(&self.host, &subscription);
        decimal(&line_of(&invoice, &price["model_type"])["subtotal"])
    }
}

/// The line of a price by its model.
fn line_of<'a>(invoice: &'a Value, model: &Value) -> &'a Value {
    let lines = invoice["line_items"].as_array().unwrap();
    lines.iter().find(|line| line["price"]["model_type"] == *model).unwrap()
}

#[test]
fn price_models_8_composites_cost_what_is_published() {
    for line in include_str!("composites.jsonl").lines() {
        let scene = Scene::new();
        let example: Value = serde_json::from_str(line).unwrap();
        let (model, config) = (example["model"].as_str().unwrap(), &example["config"]);
        let price = scene.composite(model, config);
        let created = scene.host.post("/v1/prices", price.clone()).ok(StatusCode::CREATED);
        assert_eq!(trimmed(&created[format!("{model}_config")]), trimmed(config), "{line}");
        assert_eq!(created["price_type"], json!("composite_price"));
        assert_eq!(created["billing_mode"], json!("in_arrear"));
        for name in ["billable_metric", "fixed_price_quantity", "composite_price_filters"] {
            assert_eq!(created[name], Value::Null);
        }

        let others = example["subtotals"].as_array().unwrap().iter();
        let others = others.map(|of| scene.price("unit", &json!({"unit_amount": of})));
        let prices: Vec<_> = [price].into_iter().chain(others).collect();
        let start = match example["days"].as_u64() {
            None => "2026-04-01T00:00:00Z",
            Some(_) => "2026-04-16T00:00:00Z",
        };
        scene.invoices_from(start);
        let subscription = scene.subscription_to("USD", &prices, start);
        let event = json!({
            "idempotency_key": "one", "event_name": "use", "timestamp": start,
            "customer_id": scene.customer, "properties": {"units": 1},
        });
        scene.host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);

        let id = subscription["id"].as_str().unwrap();
        let costs = scene.host.get(&format!("/v1/subscriptions/{id}/costs")).ok(StatusCode::OK);
        let costs = costs["data"][0]["per_price_costs"].as_array().unwrap();
        let own = costs.iter().find(|of| of["price"]["model_type"] == *model).unwrap();
        let running = example.get("running").unwrap_or(&example["amount"]);
        assert_eq!(decimal(&own["subtotal"]), decimal(running), "{line}");
        let invoice = upcoming(&scene.host, &subscription);
        let invoiced = line_of(&invoice, &json!(model));
        let (found, expect) = (decimal(&invoiced["subtotal"]), decimal(&example["amount"]));
        assert_eq!(found, expect.round(2), "{line}");
        assert_eq!(
            (&invoiced["quantity"], &invoiced["start_date"]),
            (&json!(1), &json!(start.replace("Z", ".000000+00:00")))
        );
        let parts = invoiced["sub_line_items"].as_array().unwrap();
        let sum: accrue::Decimal = parts.iter().map(|part| decimal(&part["amount"])).sum();
        assert!(parts.is_empty() || sum == found, "{line}: {invoiced}");
        let has_minimum = parts.iter().any(|part| part["name"] == "Minimum");
        assert_eq!(has_minimum, running != &example["amount"], "{line}: {invoiced}");
    }
}

#[test]
fn price_models_6_what_is_wrong_with_a_composite_is_told() {
    let scene = Scene::new();
    let percent = |config: Value| scene.composite("percent", &config);
    let own = || percent(json!({"percent": 0.1}));
    let with = |mut price: Value, name: &str, value: Value| {
        price[name] = value;
        price
    };
    let minimum = |config: Value| scene.composite("minimum_composite", &config);
    for (price, at) in [
        (percent(json!({})), "/percent_config/percent"),
        (percent(json!({"percent": 0})), "/percent_config/percent"),
        (percent(json!({"percent": 1.01})), "/percent_config/percent"),
        (percent(json!({"percent": "0.1"})), "/percent_config/percent"),
        (
            percent(json!({"percent": 0.1, "minimum_amount": "-1"})),
            "/percent_config/minimum_amount",
        ),
        (
            percent(json!({"percent": 0.1, "maximum_amount": "-1"})),
            "/percent_config/maximum_amount",
        ),
        (
            percent(json!({"percent": 0.1, "minimum_amount": "2", "maximum_amount": "1"})),
            "/percent_config/minimum_amount",
        ),
        (percent(json!({"percent": 0.1, "other": 1})), "/percent_config/other"),
        (minimum(json!({})), "/minimum_composite_config/minimum_amount"),
        (minimum(json!({"minimum_amount": "-1"})), "/minimum_composite_config/minimum_amount"),
        (
            with(
                own(),
                "billable_metric_id",
                scene.price("unit", &json!({}))["billable_metric_id"].clone(),
            ),
            "/billable_metric_id",
        ),
        (with(own(), "fixed_price_quantity", json!(1)), "/fixed_price_quantity"),
        (with(own(), "billed_in_advance", json!(true)), "/billed_in_advance"),
        (with(own(), "cadence", json!("one_time")), "/cadence"),
        (with(own(), "invoice_grouping_key", json!("region")), "/invoice_grouping_key"),
        (with(own(), "unit_config", json!({"unit_amount": "1"})), "/unit_config"),
    ] {
        let answer = scene.host.post("/v1/prices", price.clone());
        let body = answer.error(400, "400-request-validation-errors");
        let found = body["validation_errors"][0].as_str().unwrap();
        assert!(found.starts_with(&format!("{at}: ")), "{price}: {found}");
    }
    let seat = json!({"name": "Seat", "grouping_key": "seat"});
    let seat = scene.host.post("/v1/license_types", seat).ok(StatusCode::CREATED);
    let licensed = with(own(), "license_type_id", seat["id"].clone());
    scene.host.post("/v1/prices", licensed).error(400, "400-constraint-violation");
    let metric = scene.price("unit", &json!({}))["billable_metric_id"].clone();
    let group = json!({"name": "Group", "billable_metric_id": metric, "dimensions": ["region"]});
    let group = scene.host.post("/v1/dimensional_price_groups", group).ok(StatusCode::CREATED);
    let of = json!({"dimensional_price_group_id": group["id"], "dimension_values": ["eu"]});
    let dimensional = with(own(), "dimensional_price_configuration", of);
    scene.host.post("/v1/prices", dimensional).error(400, "400-constraint-violation");
    let none = scene.host.get("/v1/prices").ok(StatusCode::OK);
    assert_eq!(none["data"], json!([]), "nothing is written");
    let nulls =
        with(with(own(), "billable_metric_id", Value::Null), "fixed_price_quantity", Value::Null);
    scene
        .host
        .post("/v1/prices", with(nulls, "billed_in_advance", json!(false)))
        .ok(StatusCode::CREATED);
}
