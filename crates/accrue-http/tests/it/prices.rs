//! Prices over HTTP.

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Host, event};

/// Creates an item and a metric of it, and returns their ids.
fn catalogue(host: &Host) -> (String, String) {
    let item = host.post("/v1/items", json!({"name": "Model"})).ok(StatusCode::CREATED);
    let item_id = item["id"].as_str().unwrap().to_owned();
    let sql = accrue::metric::MetricQuery::parse("SELECT sum(tokens) FROM events").unwrap();
    let name = accrue::Name::parse("Tokens").unwrap();
    let metric = accrue::metric::NewMetric::new(name, item_id.parse().unwrap(), sql);
    let metric = pollster::block_on(host.account().create_metric(metric)).unwrap();
    (item_id, metric.id.to_string())
}

/// A price of usage with one member more.
fn usage(item_id: &str, metric_id: &str, model_type: &str, config: Value) -> Value {
    let mut price = json!({
        "name": "Output tokens", "item_id": item_id, "billable_metric_id": metric_id,
        "currency": "USD", "cadence": "monthly", "model_type": model_type,
    });
    price[format!("{model_type}_config")] = config;
    price
}

fn with(mut value: Value, name: &str, field: Value) -> Value {
    value[name] = field;
    value
}

#[test]
fn wire_5_2_a_usage_price_is_answered_whole() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let mut new = usage(&item_id, &metric_id, "unit", json!({"unit_amount": "0.00001"}));
    new["external_price_id"] = json!("tokens");
    new["invoice_grouping_key"] = json!("models");
    new["invoicing_cycle_configuration"] = json!({"duration": 3, "duration_unit": "month"});
    new["conversion_rate_config"] =
        json!({"conversion_rate_type": "unit", "unit_config": {"unit_amount": "0.5"}});
    new["metadata"] = json!({"team": "a", "gone": null});
    let price = host.post("/v1/prices", new).ok(StatusCode::CREATED);
    let expected = json!({
        "id": price["id"],
        "external_price_id": "tokens",
        "name": "Output tokens",
        "price_type": "usage_price",
        "model_type": "unit",
        "unit_config": {"unit_amount": "0.00001"},
        "created_at": "2026-03-10T12:00:00.000000+00:00",
        "cadence": "monthly",
        "billing_cycle_configuration": {"duration": 1, "duration_unit": "month"},
        "invoicing_cycle_configuration": {"duration": 3, "duration_unit": "month"},
        "billing_mode": "in_arrear",
        "item": {"id": item_id, "name": "Model"},
        "billable_metric": {"id": metric_id},
        "fixed_price_quantity": null,
        "currency": "USD",
        "conversion_rate": 0.5,
        "conversion_rate_config":
            {"conversion_rate_type": "unit", "unit_config": {"unit_amount": "0.5"}},
        "discount": null,
        "minimum": null,
        "minimum_amount": null,
        "maximum": null,
        "maximum_amount": null,
        "invoice_grouping_key": "models",
        "dimensional_price_configuration": null,
        "license_type": null,
        "credit_allocation": null,
        "composite_price_filters": null,
        "plan_phase_order": null,
        "replaces_price_id": null,
        "metadata": {"team": "a"},
    });
    assert_eq!(price, expected);
    let id = price["id"].as_str().unwrap();
    assert_eq!(host.get(&format!("/v1/prices/{id}")).ok(StatusCode::OK), expected);
    let by_alias = host.get("/v1/prices/external_price_id/tokens").ok(StatusCode::OK);
    assert_eq!(by_alias, expected);
}

#[test]
fn wire_5_2_a_fee_says_how_many_and_when() {
    let host = Host::new();
    let (item_id, _) = catalogue(&host);
    let fee = json!({
        "name": "Seats", "item_id": item_id, "currency": "USD", "cadence": "custom",
        "billing_cycle_configuration": {"duration": 10, "duration_unit": "day"},
        "model_type": "unit", "unit_config": {"unit_amount": "10", "prorated": true},
        "fixed_price_quantity": 3,
    });
    let first = host.post("/v1/prices", fee.clone()).ok(StatusCode::CREATED);
    assert_eq!(first["price_type"], "fixed_price");
    assert_eq!(first["fixed_price_quantity"], 3);
    assert_eq!(first["billing_mode"], "in_advance");
    assert_eq!(first["billable_metric"], Value::Null);
    assert_eq!(first["cadence"], "custom");
    let cycle = json!({"duration": 10, "duration_unit": "day"});
    assert_eq!(first["billing_cycle_configuration"], cycle);
    let later = with(fee.clone(), "billed_in_advance", json!(false));
    let later = host.post("/v1/prices", later).ok(StatusCode::CREATED);
    assert_eq!(later["billing_mode"], "in_arrear");
    let mut once = fee;
    once["cadence"] = json!("one_time");
    once["billing_cycle_configuration"] = Value::Null;
    let once = host.post("/v1/prices", once).ok(StatusCode::CREATED);
    assert_eq!(once["cadence"], "one_time");
}

#[test]
fn wire_5_2_every_model_comes_back_as_it_was_given() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let same = |model_type: &str, config: Value| {
        let new = usage(&item_id, &metric_id, model_type, config.clone());
        let price = host.post("/v1/prices", new).ok(StatusCode::CREATED);
        assert_eq!(price["model_type"], model_type);
        assert_eq!(price[format!("{model_type}_config")], config);
        let found = host.get(&format!("/v1/prices/{}", price["id"].as_str().unwrap()));
        assert_eq!(found.ok(StatusCode::OK), price);
    };
    same("unit", json!({"unit_amount": "1.50"}));
    same("unit", json!({"unit_amount": "0.1", "scaling_factor": 0.001}));
    same("package", json!({"package_amount": "1.250", "package_size": 1000}));
    same(
        "tiered",
        json!({"tiers": [
            {"first_unit": 0, "last_unit": 10.5, "unit_amount": "2.00"},
            {"first_unit": 10.5, "last_unit": null, "unit_amount": "1"},
        ]}),
    );
    same(
        "bulk",
        json!({"tiers": [
            {"maximum_units": 10, "unit_amount": "2e0"},
            {"maximum_units": null, "unit_amount": "1"},
        ]}),
    );
    let two = json!({
        "dimensions": ["region", "tier"],
        "default_unit_amount": "1",
        "matrix_values": [
            {"dimension_values": ["eu", "a"], "unit_amount": "2", "scaling_factor": 2},
            {"dimension_values": ["eu", null], "unit_amount": "3"},
        ],
    });
    same("matrix", two);
    let cell = |values: Value| json!({"dimension_values": values, "unit_amount": "2.50"});
    same(
        "matrix",
        json!({
            "dimensions": ["region", null],
            "default_unit_amount": "1.00",
            "matrix_values": [cell(json!(["eu", null])), cell(json!(["us"]))],
        }),
    );
}

#[test]
fn wire_5_2_a_discount_a_minimum_and_a_maximum_are_shown() {
    use accrue::{
        Currency, Decimal, Name,
        price::{Cadence, Discount, NewPrice},
    };
    let host = Host::new();
    let (item_id, _) = catalogue(&host);
    let mut fee = NewPrice::builder(Name::parse("Seats").unwrap(), item_id.parse().unwrap())
        .billed(Cadence::Monthly, Currency::parse("USD").unwrap())
        .fee_in_advance(Decimal::from(10));
    fee.adjustments.minimum = Some(Decimal::from(5));
    fee.adjustments.maximum = Some(Decimal::from(50));
    for (discount, expect) in [
        (
            Discount::Percentage(accrue::Fraction::parse("0.15").unwrap()),
            json!({"discount_type": "percentage", "percentage_discount": 0.15}),
        ),
        (
            Discount::Amount(Decimal::from(2)),
            json!({"discount_type": "amount", "amount_discount": "2"}),
        ),
    ] {
        fee.adjustments.discounts = vec![discount];
        let price = pollster::block_on(host.account().create_price(fee.clone())).unwrap();
        let price = host.get(&format!("/v1/prices/{}", price.id)).ok(StatusCode::OK);
        assert_eq!(price["discount"], expect);
        let own = json!([price["id"]]);
        let minimum = json!({"applies_to_price_ids": own, "filters": [], "minimum_amount": "5"});
        assert_eq!((&price["minimum"], &price["minimum_amount"]), (&minimum, &json!("5")));
        let maximum = json!({"applies_to_price_ids": own, "filters": [], "maximum_amount": "50"});
        assert_eq!((&price["maximum"], &price["maximum_amount"]), (&maximum, &json!("50")));
    }
}

#[test]
fn wire_5_2_usage_that_is_billed_in_advance_is_not_available() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let unit = usage(&item_id, &metric_id, "unit", json!({"unit_amount": "1"}));
    let in_advance = with(unit.clone(), "billed_in_advance", json!(true));
    host.post("/v1/prices", in_advance).error(404, "404-feature-not-available");
    for name in ["dimensional_price_configuration", "license_type_id", "billed_in_advance"] {
        host.post("/v1/prices", with(unit.clone(), name, Value::Null)).ok(StatusCode::CREATED);
    }
}

#[test]
fn price_models_7_1_a_conversion_rate_is_shown_as_a_number_and_as_an_object() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let unit = usage(&item_id, &metric_id, "unit", json!({"unit_amount": "1"}));
    let shown = |field: &str, value: Value| {
        let created = host.post("/v1/prices", with(unit.clone(), field, value));
        let created = created.ok(StatusCode::CREATED);
        ["conversion_rate", "conversion_rate_config"].map(|field| created[field].clone())
    };
    let rate = json!({"conversion_rate_type": "unit", "unit_config": {"unit_amount": "0.5"}});
    assert_eq!(shown("conversion_rate", json!(0.5)), [json!(0.5), rate]);
    let tiers = json!([
        {"first_unit": 0, "last_unit": 100, "unit_amount": "2.00"},
        {"first_unit": 100, "last_unit": null, "unit_amount": "1.5"},
    ]);
    let rates = json!({"conversion_rate_type": "tiered", "tiered_config": {"tiers": tiers}});
    assert_eq!(shown("conversion_rate_config", rates.clone()), [Value::Null, rates.clone()]);

    let refused = |conversion_rate: Value, config: Value, at: &str| {
        let price = with(
            with(unit.clone(), "conversion_rate", conversion_rate),
            "conversion_rate_config",
            config,
        );
        let body = host.post("/v1/prices", price).error(400, "400-request-validation-errors");
        let found = body["validation_errors"][0].as_str().unwrap();
        assert!(found.starts_with(&format!("{at}: ")), "{found}, not {at}");
    };
    let tiered =
        |tiers: Value| json!({"conversion_rate_type": "tiered", "tiered_config": {"tiers": tiers}});
    let tier = |last: Value, amount: &str| json!({"first_unit": 0, "last_unit": last, "unit_amount": amount});
    let config = "/conversion_rate_config";
    let tiers = format!("{config}/tiered_config/tiers");
    refused(json!(2), rates.clone(), "/conversion_rate");
    refused(
        Value::Null,
        json!({"conversion_rate_type": "tiered"}),
        &format!("{config}/tiered_config"),
    );
    refused(
        Value::Null,
        with(rates, "unit_config", json!({"unit_amount": "1"})),
        &format!("{config}/unit_config"),
    );
    refused(Value::Null, tiered(json!([])), &tiers);
    refused(
        Value::Null,
        tiered(json!([tier(Value::Null, "-0.1")])),
        &format!("{tiers}/0/unit_amount"),
    );
    refused(Value::Null, tiered(json!([tier(json!(5), "1")])), &format!("{tiers}/0/last_unit"));
}

#[test]
fn s7_what_is_wrong_with_a_price_is_listed() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let unit = usage(&item_id, &metric_id, "unit", json!({"unit_amount": "1"}));
    let check = |price: Value, expect: &[&str]| {
        let body = host.post("/v1/prices", price).error(400, "400-request-validation-errors");
        let errors = body["validation_errors"].as_array().unwrap();
        let found =
            errors.iter().map(|text| text.as_str().unwrap().split(':').next().unwrap().to_owned());
        assert_eq!(found.collect::<Vec<_>>(), expect, "{body}");
    };
    check(json!({}), &["/name", "/item_id", "/cadence", "/model_type", "/currency"]);
    check(with(unit.clone(), "currency", Value::Null), &["/currency"]);
    check(with(unit.clone(), "model_type", json!("free")), &["/model_type"]);
    check(with(unit.clone(), "unit_config", Value::Null), &["/unit_config"]);
    let two =
        with(unit.clone(), "package_config", json!({"package_amount": "1", "package_size": 1}));
    check(two, &["/package_config"]);
    check(
        with(unit.clone(), "unit_config", json!({"unit_amount": 1})),
        &["/unit_config/unit_amount"],
    );
    let more = json!({"unit_amount": "1", "more": 1});
    check(with(unit.clone(), "unit_config", more), &["/unit_config/more"]);
    check(with(unit.clone(), "fixed_price_quantity", json!(1)), &["/fixed_price_quantity"]);
    check(with(unit.clone(), "invoice_grouping_key", json!("")), &["/invoice_grouping_key"]);
    check(with(unit.clone(), "reference_id", json!("a")), &["/reference_id"]);
    check(with(unit.clone(), "cadence", json!("custom")), &["/billing_cycle_configuration"]);
    let year = json!({"duration": 12, "duration_unit": "month"});
    let other = with(unit.clone(), "billing_cycle_configuration", year);
    check(other, &["/billing_cycle_configuration"]);
    let tiers = json!({"tiers": [{"maximum_units": 0, "unit_amount": "1"}]});
    let last = usage(&item_id, &metric_id, "bulk", tiers);
    check(last, &["/bulk_config/tiers/0/maximum_units"]);

    let nobody = with(unit.clone(), "item_id", json!("nobody"));
    host.post("/v1/prices", nobody).error(404, "404-resource-not-found");
    let aliased = with(unit, "external_price_id", json!("one"));
    host.post("/v1/prices", aliased.clone()).ok(StatusCode::CREATED);
    host.post("/v1/prices", aliased).error(400, "400-duplicate-resource-creation");
    host.get("/v1/prices/nothing").error(404, "404-resource-not-found");
    host.get("/v1/prices/external_price_id/two").error(404, "404-resource-not-found");
}

#[test]
fn wire_5_1_the_metadata_of_a_price_changes() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let new = usage(&item_id, &metric_id, "unit", json!({"unit_amount": "1"}));
    let mut new = with(new, "metadata", json!({"a": "1", "b": "2"}));
    new["external_price_id"] = json!("tokens");
    let before = host.post("/v1/prices", new).ok(StatusCode::CREATED);
    let path = format!("/v1/prices/{}", before["id"].as_str().unwrap());
    let after = host.put(&path, json!({"metadata": {"a": null, "c": "3"}})).ok(StatusCode::OK);
    assert_eq!(after, with(before, "metadata", json!({"b": "2", "c": "3"})));
    let path = "/v1/prices/external_price_id/tokens";
    let kept = host.put(path, json!({})).ok(StatusCode::OK);
    assert_eq!(kept, after);
    let cleared = host.put(path, json!({"metadata": null})).ok(StatusCode::OK);
    assert_eq!(cleared["metadata"], json!({}));
    host.put(path, json!({"name": "x"})).error(400, "400-request-validation-errors");
}

#[test]
fn wire_6_2_a_list_of_prices_is_walked_to_its_end() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let new = usage(&item_id, &metric_id, "unit", json!({"unit_amount": "1"}));
    let mut prices: Vec<_> =
        (0..3).map(|_| host.post("/v1/prices", new.clone()).ok(StatusCode::CREATED)).collect();
    prices.sort_by_key(|price| std::cmp::Reverse(price["id"].as_str().unwrap().to_owned()));
    let mut found = host.walk("/v1/prices?limit=1");
    found.sort_by_key(|price| std::cmp::Reverse(price["id"].as_str().unwrap().to_owned()));
    assert_eq!(found, prices);
    host.get("/v1/prices?limit=0").error(400, "400-request-validation-errors");
}

#[test]
fn s4_5_6_creating_a_price_replays() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let new = usage(&item_id, &metric_id, "unit", json!({"unit_amount": "1"}));
    let send = || host.keyed("POST", "/v1/prices", "one", new.clone());
    let (first, second) = (send(), send());
    first.ok(StatusCode::CREATED);
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(host.walk("/v1/prices?limit=1"), [first.json()]);
}

#[test]
fn wire_5_1_usage_is_evaluated_by_a_price() {
    use accrue::{
        CustomerId, Email, EventKey, EventName, Name, PropertyName, customer::NewCustomer,
        usage::Event,
    };
    let host = Host::new();
    let account = host.account();
    let (item_id, metric_id) = catalogue(&host);
    let new =
        usage(&item_id, &metric_id, "package", json!({"package_amount": "2", "package_size": 10}));
    let price = host.post("/v1/prices", new).ok(StatusCode::CREATED);
    let ada = NewCustomer::new(Name::parse("Ada").unwrap(), Email::parse("a@example.com").unwrap());
    let ada = pollster::block_on(account.create_customer(ada)).unwrap();
    let event = |key: &str, model: &str, tokens: u64, customer: CustomerId| Event {
        idempotency_key: EventKey::parse(key).unwrap(),
        event_name: EventName::parse("completion").unwrap(),
        timestamp: host.billing.now(),
        properties: [
            (PropertyName::parse("tokens").unwrap(), tokens.into()),
            (PropertyName::parse("model").unwrap(), model.into()),
        ]
        .into_iter()
        .collect(),
        customer: customer.into(),
    };
    let events = [event("1", "small", 5, ada.id), event("2", "large", 11, ada.id)];
    pollster::block_on(account.ingest(events)).unwrap();
    let path = format!("/v1/prices/{}/evaluate", price["id"].as_str().unwrap());
    let whole = json!({
        "timeframe_start": "2026-03-01T00:00:00Z", "timeframe_end": "2026-04-01T00:00:00Z",
        "customer_id": ada.id.to_string(),
    });
    let found = host.post(&path, whole.clone()).ok(StatusCode::OK);
    let expect = json!({"data": [{"grouping_values": [], "quantity": 16, "amount": "4.00"}]});
    assert_eq!(found, expect);
    let grouped = with(whole.clone(), "grouping_keys", json!(["model"]));
    let found = host.post(&path, grouped).ok(StatusCode::OK);
    let expect = json!({"data": [
        {"grouping_values": ["large"], "quantity": 11, "amount": "4.00"},
        {"grouping_values": ["small"], "quantity": 5, "amount": "2.00"},
    ]});
    assert_eq!(found, expect);
    let filtered = with(whole.clone(), "filter", json!("model = 'small'"));
    let found = host.post(&path, filtered).ok(StatusCode::OK);
    assert_eq!(found["data"][0]["quantity"], 5);

    let both = with(whole.clone(), "external_customer_id", json!("ada"));
    host.post(&path, both).error(400, "400-request-validation-errors");
    let neither = with(whole.clone(), "customer_id", Value::Null);
    host.post(&path, neither).error(404, "404-feature-not-available");
    let wrong = with(whole.clone(), "filter", json!("model ="));
    host.post(&path, wrong).error(400, "400-request-validation-errors");
    let backwards = with(whole.clone(), "timeframe_end", json!("2026-02-01T00:00:00Z"));
    host.post(&path, backwards).error(400, "400-request-validation-errors");
    let overridden = with(whole, "metric_parameter_overrides", json!({"a": 1}));
    host.post(&path, overridden).error(400, "400-constraint-violation");
}

#[test]
fn wire_5_2_a_price_of_no_metric_is_a_fee_of_one() {
    let host = Host::new();
    let (item_id, metric_id) = catalogue(&host);
    let unit = usage(&item_id, &metric_id, "unit", json!({"unit_amount": "7"}));
    let price = with(unit, "billable_metric_id", Value::Null);
    let price = host.post("/v1/prices", price).ok(StatusCode::CREATED);
    let found = (&price["price_type"], &price["fixed_price_quantity"], &price["billing_mode"]);
    assert_eq!(found, (&json!("fixed_price"), &json!(1), &json!("in_advance")));
}

#[test]
fn wire_5_1_usage_is_grouped_by_properties_by_name() {
    let host = Host::new();
    let scene = crate::scene::Scene::set(&host);
    let event = with(event("grouped"), "external_customer_id", json!("two"));
    host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
    let path = format!("/v1/prices/{}/evaluate", scene.price);
    let evaluate = |key: Value| {
        let body = json!({
            "timeframe_start": "2026-03-01T00:00:00Z", "timeframe_end": "2026-04-01T00:00:00Z",
            "customer_id": scene.customer, "grouping_keys": [key],
        });
        host.post(&path, body)
    };
    let values = |key: &str| {
        let found = evaluate(json!(key)).ok(StatusCode::OK);
        assert_eq!(found["data"].as_array().unwrap().len(), 1, "{found}");
        found["data"][0]["grouping_values"].clone()
    };
    assert_eq!(values("tokens"), json!([7]));
    assert_eq!(values("\"tokens\""), json!([7]));
    for nowhere in ["_region2", "\"a region\"", "\"a \"\"region\"\"\"", "lower(model)", "a.b"] {
        assert_eq!(values(nowhere), json!([""]), "{nowhere}");
    }
    assert_eq!(values("'a'"), json!(["a"]));
    for wrong in ["a || b", "2b", "\"a", "\"a\"b\"", "a-b"] {
        evaluate(json!(wrong)).error(400, "400-request-validation-errors");
    }
    for wrong in [json!(""), json!("\"\""), json!(1), json!("a".repeat(10_000))] {
        evaluate(wrong).error(400, "400-request-validation-errors");
    }
}
