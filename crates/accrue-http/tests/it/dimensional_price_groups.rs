//! Dimensional price groups over HTTP, and prices of them (subscriptions 6).

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Host, event};

const GROUPS: &str = "/v1/dimensional_price_groups";

/// An item and a metric of it.
struct Catalogue {
    host: Host,
    item: String,
    metric: String,
}

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

fn with(mut value: Value, name: &str, field: Value) -> Value {
    value[name] = field;
    value
}

impl Catalogue {
    fn new() -> Self {
        let host = Host::new();
        let item = id(&host.post("/v1/items", json!({"name": "Model"})).ok(StatusCode::CREATED));
        let metric = Self::metric(&host, &item);
        Self { host, item, metric }
    }

    fn metric(host: &Host, item: &str) -> String {
        let metric = json!({
            "name": "Tokens", "description": null, "item_id": item,
            "sql": "SELECT sum(tokens) FROM events",
        });
        id(&host.post("/v1/metrics", metric).ok(StatusCode::CREATED))
    }

    fn new_group(&self) -> Value {
        json!({
            "name": "Tokens by region", "billable_metric_id": self.metric,
            "dimensions": ["region", "tier"],
        })
    }

    fn group(&self) -> Value {
        self.host.post(GROUPS, self.new_group()).ok(StatusCode::CREATED)
    }

    /// A price that says no metric.
    fn price(&self, configuration: Value) -> Value {
        json!({
            "name": "eu, gold", "item_id": self.item, "currency": "USD", "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": "0.02"},
            "dimensional_price_configuration": configuration,
        })
    }

    /// What is wrong with a request.
    fn wrong(&self, path: &str, body: Value) -> Vec<String> {
        let problem = self.host.post(path, body).error(400, "400-request-validation-errors");
        let errors = problem["validation_errors"].as_array().unwrap();
        let pointer = |text: &Value| text.as_str().unwrap().split(':').next().unwrap().to_owned();
        errors.iter().map(pointer).collect()
    }

    fn data(&self, path: &str) -> Vec<Value> {
        self.host.get(path).ok(StatusCode::OK)["data"].as_array().unwrap().clone()
    }
}

#[test]
fn subscriptions_6_2_a_group_is_answered_whole_and_found_by_both_ids() {
    let catalogue = Catalogue::new();
    let host = &catalogue.host;
    let mut new = catalogue.new_group();
    new["external_dimensional_price_group_id"] = json!("by region");
    new["metadata"] = json!({"team": "a", "gone": null});
    let group = host.post(GROUPS, new.clone()).ok(StatusCode::CREATED);
    let expected = json!({
        "id": group["id"],
        "external_dimensional_price_group_id": "by region",
        "name": "Tokens by region",
        "billable_metric_id": catalogue.metric,
        "dimensions": ["region", "tier"],
        "price_count": 0,
        "metadata": {"team": "a"},
    });
    assert_eq!(group, expected);
    let by_id = format!("{GROUPS}/{}", id(&group));
    let by_alias = format!("{GROUPS}/external_dimensional_price_group_id/by%20region");
    for path in [&by_id, &by_alias] {
        assert_eq!(host.get(path).ok(StatusCode::OK), expected);
    }
    host.post(GROUPS, new).error(400, "400-duplicate-resource-creation");
    let change = json!({"metadata": {"team": null, "b": "2"}});
    let changed = host.put(&by_alias, change).ok(StatusCode::OK);
    assert_eq!(changed, with(expected, "metadata", json!({"b": "2"})));
    let taken = json!({"external_dimensional_price_group_id": null});
    let taken = host.put(&by_id, taken).ok(StatusCode::OK);
    assert_eq!(taken["external_dimensional_price_group_id"], Value::Null);
    host.get(&by_alias).error(404, "404-resource-not-found");
    host.put(&by_alias, json!({})).error(404, "404-resource-not-found");
    host.get(&format!("{GROUPS}/nobody")).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_6_1_the_external_id_wins_over_the_id_template() {
    let catalogue = Catalogue::new();
    let host = &catalogue.host;
    // A group of this name, and the prices of a group by its id, have paths of one form.
    let mut new = catalogue.new_group();
    new["external_dimensional_price_group_id"] = json!("prices");
    let group = host.post(GROUPS, new).ok(StatusCode::CREATED);
    let path = format!("{GROUPS}/external_dimensional_price_group_id/prices");
    assert_eq!(host.get(&path).ok(StatusCode::OK), group);
}

#[test]
fn subscriptions_6_4_what_is_wrong_with_a_group_is_listed() {
    let catalogue = Catalogue::new();
    let check = |name: &str, value: Value, expect: &[&str]| {
        assert_eq!(catalogue.wrong(GROUPS, with(catalogue.new_group(), name, value)), expect);
    };
    check("dimensions", json!([]), &["/dimensions"]);
    check("dimensions", json!(["a", "b", "a"]), &["/dimensions/2"]);
    check("dimensions", json!("a"), &["/dimensions"]);
    check("name", json!(null), &["/name"]);
    check("price_count", json!(1), &["/price_count"]);
    let unknown = with(catalogue.new_group(), "billable_metric_id", json!("nobody"));
    catalogue.host.post(GROUPS, unknown).error(404, "404-resource-not-found");
    let path = format!("/v1/metrics/{}/archive", catalogue.metric);
    catalogue.host.post(&path, json!({})).ok(StatusCode::OK);
    let archived = catalogue.host.post(GROUPS, catalogue.new_group());
    archived.error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_6_2_groups_are_listed_by_metric() {
    let catalogue = Catalogue::new();
    let first = catalogue.group();
    let other = Catalogue::metric(&catalogue.host, &catalogue.item);
    let new = with(catalogue.new_group(), "billable_metric_id", json!(other));
    let second = catalogue.host.post(GROUPS, new).ok(StatusCode::CREATED);
    assert_eq!(catalogue.data(GROUPS).len(), 2);
    let of = |metric: &str| catalogue.data(&format!("{GROUPS}?billable_metric_id={metric}"));
    assert_eq!((of(&catalogue.metric), of(&other)), (vec![first], vec![second]));
    assert!(of("nobody").is_empty());
}

#[test]
fn subscriptions_6_2_several_prices_are_created_at_once_as_in_the_example() {
    let catalogue = Catalogue::new();
    let host = &catalogue.host;
    let group = id(&catalogue.group());
    let path = format!("{GROUPS}/{group}/prices");
    let new = json!({
        "model_type": "tiered", "cadence": "monthly", "currency": "USD", "item_id": catalogue.item,
        "tiers": [{"first_unit": 0, "last_unit": 100}, {"first_unit": 100, "last_unit": null}],
        "prices": [
            {"dimension_values": ["eu", "gold"], "amounts": [0.05, 0.03]},
            {"dimension_values": ["us", "gold"], "amounts": [0.06, 0.04], "name": "American gold"},
        ],
    });
    let prices = host.post(&path, new.clone()).ok(StatusCode::CREATED)["data"].clone();
    let prices = prices.as_array().unwrap();
    let shown: Vec<_> = prices
        .iter()
        .map(|price| (price["name"].clone(), price["dimensional_price_configuration"].clone()))
        .collect();
    let of = |values: [&str; 2]| json!({"dimensional_price_group_id": group, "dimension_values": values});
    let expected =
        [(json!("eu, gold"), of(["eu", "gold"])), (json!("American gold"), of(["us", "gold"]))];
    assert_eq!(shown, expected);
    let config = json!({"tiers": [
        {"first_unit": 0, "last_unit": 100, "unit_amount": "0.05"},
        {"first_unit": 100, "last_unit": null, "unit_amount": "0.03"},
    ]});
    assert_eq!(prices[0]["tiered_config"], config);
    assert_eq!(prices[0]["billable_metric"]["id"], json!(catalogue.metric));
    assert_eq!(prices[0]["item"], json!({"id": catalogue.item, "name": "Model"}));
    let found = format!("/v1/prices/{}", id(&prices[1]));
    assert_eq!(host.get(&found).ok(StatusCode::OK), prices[1]);
    assert_eq!(host.get(&format!("{GROUPS}/{group}")).ok(StatusCode::OK)["price_count"], 2);

    let listed = |query: &str| catalogue.data(&format!("{path}{query}")).len();
    assert_eq!((listed(""), listed("?status=active"), listed("?status=all")), (2, 2, 2));
    assert_eq!((listed("?status=archived"), listed("?limit=1")), (0, 1));
    host.get(&format!("{path}?status=draft")).error(400, "400-request-validation-errors");
    host.get(&format!("{GROUPS}/nobody/prices")).error(404, "404-resource-not-found");
    host.post(&format!("{GROUPS}/nobody/prices"), new).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_6_4_what_is_wrong_with_several_prices_is_listed() {
    let catalogue = Catalogue::new();
    let host = &catalogue.host;
    let group = id(&catalogue.group());
    let path = format!("{GROUPS}/{group}/prices");
    let unit = json!({
        "model_type": "unit", "cadence": "monthly", "currency": "USD", "item_id": catalogue.item,
        "prices": [{"dimension_values": ["eu", "gold"], "amounts": [1]}],
    });
    let tiered = with(unit.clone(), "model_type", json!("tiered"));
    let tiers = json!([{"first_unit": 0, "last_unit": null}]);
    let check = |body: &Value, name: &str, value: Value, expect: &[&str]| {
        assert_eq!(catalogue.wrong(&path, with(body.clone(), name, value)), expect);
    };
    check(&unit, "tiers", tiers.clone(), &["/tiers"]);
    check(&tiered, "tiers", Value::Null, &["/tiers"]);
    check(&tiered, "tiers", json!([{"first_unit": 2}]), &["/tiers/0/first_unit"]);
    check(&unit, "model_type", json!("package"), &["/model_type"]);
    check(&unit, "cadence", json!("custom"), &["/cadence"]);
    check(&unit, "prices", json!([]), &["/prices"]);
    let row = |amounts: Value| json!([{"dimension_values": ["eu", "gold"], "amounts": amounts}]);
    check(&unit, "prices", row(json!([1, 2])), &["/prices/0/amounts"]);
    check(&unit, "prices", row(json!(["1"])), &["/prices/0/amounts/0"]);
    check(&unit, "extra", json!(1), &["/extra"]);
    let refused = |body: &Value, name: &str, value: Value| {
        host.post(&path, with(body.clone(), name, value)).error(400, "400-constraint-violation");
    };
    refused(&unit, "cadence", json!("one_time"));
    refused(&unit, "prices", json!([{"dimension_values": ["eu"], "amounts": [1]}]));
    let other = id(&host.post("/v1/items", json!({"name": "Other"})).ok(StatusCode::CREATED));
    refused(&unit, "item_id", json!(other));
    let nobody = with(unit.clone(), "item_id", json!("nobody"));
    host.post(&path, nobody).error(404, "404-resource-not-found");
    host.post(&path, with(tiered, "tiers", tiers)).ok(StatusCode::CREATED);
}

#[test]
fn subscriptions_6_3_a_price_is_created_of_a_group_by_either_id() {
    let catalogue = Catalogue::new();
    let host = &catalogue.host;
    let mut new = catalogue.new_group();
    new["external_dimensional_price_group_id"] = json!("by region");
    let group = id(&host.post(GROUPS, new).ok(StatusCode::CREATED));
    let values = json!(["eu", "gold"]);
    let by_id = json!({"dimensional_price_group_id": group, "dimension_values": values});
    let by_alias = json!({
        "external_dimensional_price_group_id": "by region", "dimensional_price_group_id": null,
        "dimension_values": values,
    });
    for configuration in [&by_id, &by_alias] {
        let price = host.post("/v1/prices", catalogue.price(configuration.clone()));
        let price = price.ok(StatusCode::CREATED);
        assert_eq!(price["dimensional_price_configuration"], by_id);
        assert_eq!(price["billable_metric"]["id"], json!(catalogue.metric));
        assert_eq!(
            (&price["price_type"], &price["billing_mode"]),
            (&json!("usage_price"), &json!("in_arrear"))
        );
    }
    let named = with(catalogue.price(by_id.clone()), "billable_metric_id", json!(catalogue.metric));
    host.post("/v1/prices", named).ok(StatusCode::CREATED);
    let plan = json!({
        "name": "Pro", "currency": "USD", "prices": [{"price": catalogue.price(by_id.clone())}],
    });
    let plan = host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    assert_eq!(plan["prices"][0]["dimensional_price_configuration"], by_id);
    let version = json!({"version": 2, "add_prices": [{"price": catalogue.price(by_alias)}]});
    let path = format!("/v1/plans/{}/versions", id(&plan));
    let version = host.post(&path, version).ok(StatusCode::CREATED);
    assert_eq!(version["prices"][1]["dimensional_price_configuration"], by_id);
    assert_eq!(host.get(&format!("{GROUPS}/{group}")).ok(StatusCode::OK)["price_count"], 5);
}

#[test]
fn subscriptions_6_3_9_group_and_values_of_a_price_never_change() {
    let catalogue = Catalogue::new();
    let host = &catalogue.host;
    let group = id(&host.post(GROUPS, catalogue.new_group()).ok(StatusCode::CREATED));
    let of =
        |values: Value| json!({"dimensional_price_group_id": group, "dimension_values": values});
    let price = host.post("/v1/prices", catalogue.price(of(json!(["eu", "gold"]))));
    let path = format!("/v1/prices/{}", id(&price.ok(StatusCode::CREATED)));
    let before = host.get(&path).ok(StatusCode::OK);
    let other = json!({"dimensional_price_configuration": of(json!(["us", "gold"]))});
    host.put(&path, other).error(400, "400-request-validation-errors");
    let dimensions = json!({"dimensions": ["region"]});
    let of_group = host.put(&format!("{GROUPS}/{group}"), dimensions);
    of_group.error(400, "400-request-validation-errors");
    assert_eq!(host.get(&path).ok(StatusCode::OK), before);
}

#[test]
fn subscriptions_6_3_what_is_wrong_with_a_configuration_is_listed() {
    let catalogue = Catalogue::new();
    let host = &catalogue.host;
    let group = id(&catalogue.group());
    let at = |field: &str| format!("/dimensional_price_configuration{field}");
    let check = |configuration: Value, field: &str| {
        assert_eq!(catalogue.wrong("/v1/prices", catalogue.price(configuration)), [at(field)]);
    };
    let by_id =
        |values: Value| json!({"dimensional_price_group_id": group, "dimension_values": values});
    check(json!({"dimension_values": ["a", "b"]}), "/dimensional_price_group_id");
    let both = with(by_id(json!(["a", "b"])), "external_dimensional_price_group_id", json!("a"));
    check(both, "/external_dimensional_price_group_id");
    check(json!({"dimensional_price_group_id": group}), "/dimension_values");
    check(by_id(json!(["a", null])), "/dimension_values/1");
    check(by_id(json!(["a", "x".repeat(129)])), "/dimension_values/1");
    check(with(by_id(json!(["a", "b"])), "extra", json!(1)), "/extra");
    check(json!("a"), "");
    let constraint = |price: Value| {
        host.post("/v1/prices", price).error(400, "400-constraint-violation");
    };
    constraint(catalogue.price(by_id(json!(["a"]))));
    let other = Catalogue::metric(host, &catalogue.item);
    let price = catalogue.price(by_id(json!(["a", "b"])));
    constraint(with(price.clone(), "billable_metric_id", json!(other)));
    // With a quantity it is a fee, which is of no group.
    constraint(with(price.clone(), "fixed_price_quantity", json!(1)));
    let prepaid = with(price.clone(), "billed_in_advance", json!(true));
    host.post("/v1/prices", prepaid).error(404, "404-feature-not-available");
    let unknown = json!({
        "external_dimensional_price_group_id": "nobody", "dimension_values": ["a", "b"],
    });
    host.post("/v1/prices", catalogue.price(unknown)).error(404, "404-resource-not-found");
    let nobody = json!({"dimensional_price_group_id": "nobody", "dimension_values": ["a", "b"]});
    host.post("/v1/prices", catalogue.price(nobody)).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_6_3_events_cost_by_their_combination_as_in_the_example() {
    let catalogue = Catalogue::new();
    let host = &catalogue.host;
    let group = id(&catalogue.group());
    let price = |region: &str, amount: &str| {
        let values = json!([region, "gold"]);
        let of = json!({"dimensional_price_group_id": group, "dimension_values": values});
        let price = with(catalogue.price(of), "unit_config", json!({"unit_amount": amount}));
        json!({"price": with(price, "name", json!(region))})
    };
    let prices = [price("eu", "0.02"), price("us", "0.03")];
    let plan = json!({"name": "Pro", "currency": "USD", "prices": prices});
    let plan = id(&host.post("/v1/plans", plan).ok(StatusCode::CREATED));
    let ada = json!({"name": "Ada", "email": "a@example.com", "external_customer_id": "ada"});
    let ada = id(&host.post("/v1/customers", ada).ok(StatusCode::CREATED));
    let subscription = json!({"customer_id": ada, "plan_id": plan});
    let subscription = host.post("/v1/subscriptions", subscription).ok(StatusCode::CREATED);
    let used = |key: &str, properties: Value| with(event(key), "properties", properties);
    let events = [
        used("a", json!({"tokens": 500, "region": "eu", "tier": "gold"})),
        used("b", json!({"tokens": 200, "region": "us", "tier": "gold"})),
        used("c", json!({"tokens": 40, "region": "eu", "tier": "silver"})),
        used("d", json!({"tokens": 10, "tier": "gold"})),
    ];
    host.post("/v1/ingest", json!({"events": events})).ok(StatusCode::OK);
    let costs = host.get(&format!("/v1/subscriptions/{}/costs", id(&subscription)));
    let costs = costs.ok(StatusCode::OK);
    let lines = costs["data"][0]["per_price_costs"].as_array().unwrap().iter();
    let lines: Vec<_> =
        lines.map(|line| (line["quantity"].clone(), line["total"].clone())).collect();
    assert_eq!(lines, [(json!(500), json!("10.00")), (json!(200), json!("6.00"))]);
}
