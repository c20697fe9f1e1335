//! Prices of one subscription over HTTP (subscriptions 1.2, 1.3, 3.1).

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::{Shop, path};

impl Shop {
    fn id(&self, place: usize) -> &Value {
        &self.plan["prices"][place]["id"]
    }

    /// A price of usage, without a currency.
    fn cheap(&self) -> Value {
        json!({
            "name": "Cheap", "item_id": self.plan["prices"][0]["item"]["id"], "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": "0.08"},
            "billable_metric_id": self.metric_id, "reference_id": "cheap",
        })
    }
}

fn prices(subscription: &Value) -> Vec<Value> {
    let intervals = subscription["price_intervals"].as_array().unwrap();
    intervals.iter().map(|of| of["price"].clone()).collect()
}

#[test]
fn subscriptions_1_3_example_over_http() {
    let shop = Shop::new();
    let half = json!({
        "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
        "applies_to_price_ids": ["cheap"],
    });
    let of = shop.subscribe(json!({
        "remove_prices": [{"price_id": shop.id(0)}],
        "replace_prices": [{"replaces_price_id": shop.id(1), "fixed_price_quantity": 3}],
        "add_prices": [{"price": shop.cheap()}],
        "add_adjustments": [{"adjustment": half}],
    }));
    let found = prices(&of);
    assert_eq!(found.len(), 2);
    assert_eq!((&found[0]["id"], &found[0]["replaces_price_id"]), (shop.id(1), &Value::Null));
    assert_eq!(of["fixed_fee_quantity_schedule"][0]["quantity"], 3);
    assert_eq!((&found[1]["name"], &found[1]["currency"]), (&json!("Cheap"), &json!("EUR")));
    let adjustment = &of["adjustment_intervals"][0];
    assert_eq!(adjustment["adjustment"]["applies_to_price_ids"], json!([found[1]["id"]]));
    let filter = json!({"field": "price_id", "operator": "includes", "values": [found[1]["id"]]});
    assert_eq!(adjustment["adjustment"]["filters"], json!([filter]));
    assert_eq!(
        adjustment["applies_to_price_interval_ids"],
        json!([of["price_intervals"][1]["id"]])
    );
}

#[test]
fn subscriptions_1_3_3_a_replacement_shows_what_it_replaces() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({"replace_prices": [{
        "replaces_price_id": shop.id(0), "price": shop.cheap(), "price_id": null,
        "discounts": [{"discount_type": "percentage", "percentage_discount": 0.5}],
        "minimum_amount": "3", "maximum_amount": null,
    }]}));
    let found = prices(&of);
    assert_eq!(&found[0]["replaces_price_id"], shop.id(0));
    let own: Vec<_> = of["adjustment_intervals"].as_array().unwrap().iter().collect();
    let types: Vec<_> = own.iter().map(|of| &of["adjustment"]["adjustment_type"]).collect();
    assert_eq!(types, ["percentage_discount", "minimum"]);
    assert!(own.iter().all(|of| of["adjustment"]["is_invoice_level"] == false));
}

#[test]
fn subscriptions_1_2_dates_without_an_offset_are_those_of_the_customer() {
    let shop = Shop::new();
    let customer = json!({
        "name": "Bea", "email": "bea@example.com", "external_customer_id": "bea",
        "timezone": "America/New_York",
    });
    shop.host.post("/v1/customers", customer).ok(StatusCode::CREATED);
    let of = shop.subscribe(json!({
        "external_customer_id": "bea",
        "add_prices": [{"price": shop.cheap(), "start_date": "2026-04-05", "end_date": "2026-05-05"}],
    }));
    let added = of["price_intervals"].as_array().unwrap().last().unwrap();
    assert_eq!(added["start_date"], "2026-04-05T04:00:00.000000+00:00");
    assert_eq!(added["end_date"], "2026-05-05T04:00:00.000000+00:00");
}

#[test]
fn subscriptions_3_1_a_plan_change_has_prices_of_its_own() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({}));
    let body = json!({
        "change_option": "immediate", "external_plan_id": "pro",
        "remove_prices": [{"price_id": shop.id(0)}], "add_prices": [{"price": shop.cheap()}],
    });
    let path = format!("/v1/subscriptions/{}/schedule_plan_change", of["id"].as_str().unwrap());
    let after = shop.host.post(&path, body).ok(StatusCode::OK);
    let running = after["price_intervals"].as_array().unwrap().iter();
    let running = running.filter(|of| of["end_date"].is_null());
    let names: Vec<_> = running.map(|of| of["price"]["name"].clone()).collect();
    assert_eq!(names, ["Seats", "Cheap"]);
}

#[test]
fn subscriptions_1_2_1_and_1_3_one_key_names_a_price() {
    let shop = Shop::new();
    let check = |name: &str, entry: Value, expect: &[&str]| {
        let mut new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
        new[name] = json!([entry]);
        let problem = shop.host.post("/v1/subscriptions", new);
        let problem = problem.error(400, "400-request-validation-errors");
        let errors = problem["validation_errors"].as_array().unwrap();
        let pointer = |text: &Value| text.as_str().unwrap().split(':').next().unwrap().to_owned();
        let found: Vec<_> = errors.iter().map(pointer).collect();
        assert_eq!(found, expect, "{entry}");
    };
    let (id, replaces) = (shop.id(0), shop.id(1));
    check("add_prices", json!({}), &["/add_prices/0/price_id"]);
    check("add_prices", json!({"price_id": id, "price": shop.cheap()}), &["/add_prices/0/price"]);
    check("remove_prices", json!({}), &["/remove_prices/0/price_id"]);
    check(
        "remove_prices",
        json!({"price_id": id, "external_price_id": "a"}),
        &["/remove_prices/0/external_price_id"],
    );
    check(
        "replace_prices",
        json!({"replaces_price_id": replaces}),
        &["/replace_prices/0/price_id"],
    );
    check(
        "replace_prices",
        json!({"replaces_price_id": replaces, "fixed_price_quantity": 1, "price_id": id}),
        &["/replace_prices/0/fixed_price_quantity"],
    );
    check(
        "replace_prices",
        json!({"replaces_price_id": replaces, "fixed_price_quantity": -1}),
        &["/replace_prices/0/fixed_price_quantity"],
    );
    check(
        "add_prices",
        json!({"price": shop.cheap(), "minimum_amount": "-1"}),
        &["/add_prices/0/minimum_amount"],
    );
    let unknown = json!({
        "external_customer_id": "ada", "external_plan_id": "nothing",
        "add_prices": [{"price": shop.cheap()}],
    });
    shop.host.post("/v1/subscriptions", unknown).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_1_6_price_overrides_over_http() {
    let shop = Shop::new();
    let by = |of: Value| json!({"price_overrides": [of]});
    let (usage, fee) = (shop.id(0), shop.id(1));
    let of = shop.subscribe(by(json!({
        "id": usage, "model_type": "unit", "unit_config": {"unit_amount": "0.07"},
        "minimum_amount": "5", "maximum_amount": null,
        "discount": {"discount_type": "percentage", "percentage_discount": 0.5},
    })));
    let found = &prices(&of)[0];
    assert_eq!(found["unit_config"]["unit_amount"], "0.07");
    assert_eq!((&found["replaces_price_id"], &found["minimum_amount"]), (usage, &json!("5")));
    assert_eq!(found["name"], shop.plan["prices"][0]["name"]);
    let of = shop.subscribe(by(json!({"id": fee, "fixed_price_quantity": 3})));
    assert_eq!(of["fixed_fee_quantity_schedule"][0]["quantity"], 3);
    assert_eq!(&prices(&of)[1]["id"], fee, "the price itself stays");

    let refuse = |body: Value, kind: &str| {
        let mut new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
        new.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        shop.host.post("/v1/subscriptions", new).error(400, kind)
    };
    let validation = "400-request-validation-errors";
    let pointer = |problem: Value| {
        let error = problem["validation_errors"][0].as_str().unwrap();
        error.split(':').next().unwrap().to_owned()
    };
    for (wrong, expect) in [
        (json!({"id": usage}), "/price_overrides/0"),
        (json!({"model_type": "unit"}), "/price_overrides/0/id"),
        (json!({"id": usage, "model_type": "unit"}), "/price_overrides/0/unit_config"),
        (
            json!({"id": usage, "unit_config": {"unit_amount": "1"}}),
            "/price_overrides/0/unit_config",
        ),
        (json!({"id": fee, "fixed_price_quantity": -1}), "/price_overrides/0/fixed_price_quantity"),
    ] {
        assert_eq!(pointer(refuse(by(wrong), validation)), expect);
    }
    let mut beside = by(json!({"id": fee, "fixed_price_quantity": 3}));
    beside["remove_prices"] = json!([{"price_id": usage}]);
    assert_eq!(pointer(refuse(beside, validation)), "/price_overrides", "1.6.4");
    let package = json!({
        "id": usage, "model_type": "package",
        "package_config": {"package_amount": "1", "package_size": 10},
    });
    refuse(by(package), "400-constraint-violation");
    let currency = json!({"id": fee, "fixed_price_quantity": 3, "currency": "USD"});
    refuse(by(currency), "400-constraint-violation");

    let path = format!("/v1/subscriptions/{}/schedule_plan_change", of["id"].as_str().unwrap());
    let mut change = by(json!({"id": fee, "fixed_price_quantity": 5}));
    change["change_option"] = json!("immediate");
    change["external_plan_id"] = json!("pro");
    let changed = shop.host.post(&path, change).ok(StatusCode::OK);
    let last = changed["fixed_fee_quantity_schedule"].as_array().unwrap().last().unwrap();
    assert_eq!(last["quantity"], 5);
}

#[test]
fn subscriptions_1_2_8_metrics_have_no_parameters_whatever_they_are_called() {
    let shop = Shop::new();
    let post = |name: &str, mut entry: Value, parameters: Value| {
        entry["metric_parameter_overrides"] = parameters;
        let mut new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
        new[name] = json!([entry]);
        shop.host.post("/v1/subscriptions", new)
    };
    let added = || json!({"price": shop.cheap()});
    let replaced = || json!({"replaces_price_id": shop.id(0), "price": shop.cheap()});
    for parameters in [json!({"rate": 2}), json!({"region": "eu"})] {
        post("add_prices", added(), parameters.clone()).error(400, "400-constraint-violation");
        post("replace_prices", replaced(), parameters).error(400, "400-constraint-violation");
    }
    for none in [Value::Null, json!({})] {
        post("add_prices", added(), none).ok(StatusCode::CREATED);
    }
}

#[test]
fn subscriptions_1_6_4_overrides_stand_beside_none_of_the_lists_that_came_after_them() {
    let shop = Shop::new();
    for list in [
        "add_prices",
        "remove_prices",
        "replace_prices",
        "add_adjustments",
        "remove_adjustments",
        "replace_adjustments",
    ] {
        let mut new = json!({
            "external_customer_id": "ada", "external_plan_id": "pro",
            "price_overrides": [{"id": shop.id(1), "fixed_price_quantity": 3}],
        });
        new[list] = json!([]);
        let body = shop.host.post("/v1/subscriptions", new);
        let body = body.error(400, "400-request-validation-errors");
        let error = body["validation_errors"][0].as_str().unwrap();
        assert!(error.starts_with("/price_overrides: "), "{list}: {error}");
    }
}

#[test]
fn subscriptions_1_5_a_filter_is_shown_and_counts() {
    let shop = Shop::new();
    let text = "model = 'small'";
    let subscription = shop.subscribe(json!({"filter": text}));
    let interval = &subscription["price_intervals"][0];
    assert_eq!(interval["filter"], text);
    shop.use_tokens("a", 5, "small");
    shop.use_tokens("b", 7, "large");
    let costs = shop.host.get(&path(&subscription, "/costs?view_mode=cumulative"));
    let costs = costs.ok(StatusCode::OK);
    let per_price = costs["data"][0]["per_price_costs"].as_array().unwrap();
    let usage = per_price.iter().find(|of| of["price_id"] == interval["price"]["id"]).unwrap();
    assert_eq!((&usage["quantity"], &usage["total"]), (&json!(5), &json!("2.50")));

    let edit = |filter: Value| {
        let edit = json!({"price_interval_id": interval["id"], "filter": filter});
        let changed =
            shop.host.post(&path(&subscription, "/price_intervals"), json!({"edit": [edit]}));
        changed.ok(StatusCode::OK)["price_intervals"][0]["filter"].clone()
    };
    assert_eq!(edit(json!("model = 'large'")), "model = 'large'");
    assert_eq!(edit(Value::Null), Value::Null);
    let new = json!({
        "external_customer_id": "ada", "external_plan_id": "pro", "filter": "model = ",
    });
    let body = shop.host.post("/v1/subscriptions", new).error(400, "400-request-validation-errors");
    assert!(body["validation_errors"][0].as_str().unwrap().starts_with("/filter: "), "{body}");
}
