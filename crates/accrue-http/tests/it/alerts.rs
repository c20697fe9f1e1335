//! Alerts over HTTP.

use std::time::Duration;

use accrue::{Currency, Name, plan::NewPlan, subscription::NewSubscription};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::Host;

/// A customer that is subscribed to a plan, and a metric.
struct Setting {
    host: Host,
    customer: String,
    plan: String,
    subscription: String,
    metric: String,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn setting() -> Setting {
    let host = Host::new();
    let new = json!({"name": "Ada", "email": "ada@example.com", "external_customer_id": "ada"});
    let customer = text(&host.post("/v1/customers", new).ok(StatusCode::CREATED)["id"]);
    let item = host.post("/v1/items", json!({"name": "Model"})).ok(StatusCode::CREATED);
    let new = json!({
        "name": "Tokens", "description": null, "item_id": item["id"],
        "sql": "SELECT sum(tokens) FROM events",
    });
    let metric = text(&host.post("/v1/metrics", new).ok(StatusCode::CREATED)["id"]);
    let account = host.account();
    let mut plan = NewPlan::new(Name::parse("Pro").unwrap(), Currency::parse("USD").unwrap());
    plan.external_plan_id = Some(accrue::ExternalId::parse("pro").unwrap());
    let plan = pollster::block_on(account.create_plan(plan).into_future()).unwrap();
    let new = NewSubscription::new(customer.parse::<accrue::CustomerId>().unwrap(), plan.id);
    let subscription = pollster::block_on(account.create_subscription(new).into_future()).unwrap();
    let (plan, subscription) = (plan.id.to_string(), subscription.id.to_string());
    Setting { host, customer, plan, subscription, metric }
}

impl Setting {
    fn on_customer(&self, new: Value) -> Value {
        let path = format!("/v1/alerts/customer_id/{}", self.customer);
        self.host.post(&path, new).ok(StatusCode::CREATED)
    }

    fn on_subscription(&self, new: Value) -> Value {
        let path = format!("/v1/alerts/subscription_id/{}", self.subscription);
        self.host.post(&path, new).ok(StatusCode::CREATED)
    }

    fn on_plan(&self, new: Value) -> Value {
        let path = format!("/v1/alerts/plan_id/{}", self.plan);
        self.host.post(&path, new).ok(StatusCode::CREATED)
    }

    fn usage(&self) -> Value {
        json!({"type": "usage_exceeded", "metric_id": self.metric, "thresholds": [{"value": 10}]})
    }

    fn of_subscription(&self) -> String {
        format!("/v1/alerts?subscription_id={}", self.subscription)
    }
}

fn path(alert: &Value) -> String {
    format!("/v1/alerts/{}", alert["id"].as_str().unwrap())
}

fn dropped() -> Value {
    json!({
        "type": "credit_balance_dropped", "currency": "credits",
        "thresholds": [{"value": 100}, {"value": 20.5}],
    })
}

/// What every alert has that is said nothing of.
fn plain(alert: &Value) -> Value {
    json!({
        "id": alert["id"],
        "type": alert["type"],
        "created_at": "2026-03-10T12:00:00.000000+00:00",
        "enabled": true,
        "thresholds": null,
        "customer": null,
        "plan": null,
        "subscription": null,
        "metric": null,
        "currency": null,
        "license_type": null, "grouping_keys": null,
        "price_filters": null,
        "threshold_overrides": null,
        "balance_alert_status": null,
    })
}

#[test]
fn wire_1_2_an_alert_on_credits_is_answered_whole() {
    let setting = setting();
    let alert = setting.on_customer(dropped());
    let mut expected = plain(&alert);
    expected["type"] = json!("credit_balance_dropped");
    expected["thresholds"] = json!([{"value": 100}, {"value": 20.5}]);
    expected["customer"] = json!({"id": setting.customer, "external_customer_id": "ada"});
    expected["currency"] = json!("credits");
    expected["balance_alert_status"] = json!([
        {"threshold_value": 100, "in_alert": false}, {"threshold_value": 20.5, "in_alert": false},
    ]);
    assert_eq!(alert, expected);
    assert_eq!(setting.host.get(&path(&alert)).ok(StatusCode::OK), expected);
}

#[test]
fn wire_1_1_an_alert_on_credits_is_created_by_the_external_id() {
    let Setting { host, customer, .. } = setting();
    let path = "/v1/alerts/external_customer_id/ada";
    let recovered = json!({"type": "credit_balance_recovered", "currency": "credits"});
    let alert = host.post(path, recovered).ok(StatusCode::CREATED);
    let mut expected = plain(&alert);
    expected["type"] = json!("credit_balance_recovered");
    expected["customer"] = json!({"id": customer, "external_customer_id": "ada"});
    expected["currency"] = json!("credits");
    expected["balance_alert_status"] = json!([{"threshold_value": 0, "in_alert": false}]);
    assert_eq!(alert, expected);
    let none = "/v1/alerts/external_customer_id/none";
    host.post(none, dropped()).error(404, "404-resource-not-found");
}

#[test]
fn wire_1_3_a_drop_needs_thresholds_and_the_others_ignore_them() {
    let Setting { host, customer, .. } = setting();
    let path = format!("/v1/alerts/customer_id/{customer}");
    let create = |kind: &str, thresholds: Value| {
        let new = json!({"type": kind, "currency": "credits", "thresholds": thresholds});
        host.post(&path, new)
    };
    for nothing in [json!(null), json!([])] {
        let refused = create("credit_balance_dropped", nothing);
        refused.error(400, "400-request-validation-errors");
    }
    let twice = create("credit_balance_dropped", json!([{"value": 5}, {"value": 5.0}]));
    twice.error(400, "400-request-validation-errors");
    for kind in ["credit_balance_depleted", "credit_balance_recovered"] {
        let ignored = create(kind, json!([{"value": 5}, {"value": 5}])).ok(StatusCode::CREATED);
        assert_eq!(ignored["thresholds"], Value::Null);
        assert_eq!(ignored["balance_alert_status"][0]["threshold_value"], 0);
    }
    let again = create("credit_balance_depleted", json!(null));
    again.error(400, "400-constraint-violation");
}

#[test]
fn wire_1_2_an_alert_on_usage_is_answered_whole() {
    let setting = setting();
    let alert = setting.on_subscription(setting.usage());
    let mut expected = plain(&alert);
    expected["type"] = json!("usage_exceeded");
    expected["thresholds"] = json!([{"value": 10}]);
    expected["subscription"] = json!({"id": setting.subscription});
    expected["metric"] = json!({"id": setting.metric});
    assert_eq!(alert, expected);
    assert_eq!(setting.host.get(&path(&alert)).ok(StatusCode::OK), expected);
}

#[test]
fn wire_1_2_an_alert_on_a_plan_is_answered_whole() {
    let setting = setting();
    let new = json!({
        "type": "cost_exceeded", "thresholds": [{"value": 0.1}], "plan_version": 1,
        "currency": null, "metric_id": null, "grouping_keys": [], "price_filters": null,
    });
    let alert = setting.on_plan(new);
    let mut expected = plain(&alert);
    expected["type"] = json!("cost_exceeded");
    expected["thresholds"] = json!([{"value": 0.1}]);
    expected["plan"] = json!({
        "id": setting.plan, "external_plan_id": "pro", "name": "Pro", "plan_version": "1",
    });
    expected["currency"] = json!("USD");
    assert_eq!(alert, expected);
    let default = setting.on_plan(setting.usage());
    assert_eq!(default["plan"], expected["plan"]);
    let unknown = json!({"type": "cost_exceeded", "thresholds": [{"value": 1}], "plan_version": 9});
    let path = format!("/v1/alerts/plan_id/{}", setting.plan);
    setting.host.post(&path, unknown).error(404, "404-resource-not-found");
}

#[test]
fn wire_1_2_an_alert_on_spend_has_its_filters() {
    let setting = setting();
    let filters = json!([{"field": "price_type", "operator": "includes", "values": ["usage"]}]);
    let new = json!({
        "type": "spend_exceeded", "currency": "USD", "thresholds": [{"value": 1}],
        "price_filters": filters,
    });
    let alert = setting.on_subscription(new);
    assert_eq!(alert["price_filters"], filters);
    assert_eq!(alert["currency"], json!("USD"));
    let without = json!({
        "type": "spend_exceeded", "currency": "USD", "thresholds": [{"value": 1}],
    });
    assert_eq!(setting.on_subscription(without)["price_filters"], json!([]));
}

#[test]
fn clients_11_values_of_a_filter_on_the_type() {
    let setting = setting();
    let new = |values: Value| {
        let filter = json!({"field": "price_type", "operator": "includes", "values": values});
        json!({
            "type": "spend_exceeded", "currency": "USD", "thresholds": [{"value": 1}],
            "price_filters": [filter],
        })
    };
    for word in ["usage", "fixed_in_advance", "fixed_in_arrears", "fixed", "in_arrears"] {
        let alert = setting.on_subscription(new(json!([word])));
        assert_eq!(alert["price_filters"][0]["values"], json!([word]));
    }
    let path = format!("/v1/alerts/subscription_id/{}", setting.subscription);
    for wrong in ["usage_price", "fixed_price", "Fixed", ""] {
        let refused = setting.host.post(&path, new(json!(["usage", wrong])));
        let refused = refused.error(400, "400-request-validation-errors");
        let words = "usage, fixed_in_advance, fixed_in_arrears, fixed, in_arrears";
        let message = format!("/price_filters/0/values/1: expected one of {words}");
        assert_eq!(refused["validation_errors"], json!([message]));
    }
}

#[test]
fn wire_1_3_what_is_wrong_with_an_alert_is_listed() {
    let setting = setting();
    let path = format!("/v1/alerts/subscription_id/{}", setting.subscription);
    let check = |new: Value, expected: &[&str]| {
        let refused = setting.host.post(&path, new).error(400, "400-request-validation-errors");
        let errors = refused["validation_errors"].as_array().unwrap();
        let fields = errors.iter().map(|of| of.as_str().unwrap().split_once(':').unwrap().0);
        assert_eq!(fields.collect::<Vec<_>>(), expected, "{refused}");
    };
    let thresholds = json!([{"value": 1}]);
    check(json!({}), &["/type", "/thresholds"]);
    check(
        json!({"type": "license_balance_threshold_reached", "thresholds": [{}, {"value": "1"}]}),
        &["/type", "/thresholds/0/value", "/thresholds/1/value"],
    );
    check(json!({"type": "credit_balance_dropped", "thresholds": thresholds}), &["/type"]);
    check(json!({"type": "usage_exceeded", "thresholds": thresholds}), &["/metric_id"]);
    check(json!({"type": "spend_exceeded", "thresholds": thresholds}), &["/currency"]);
    let metric = &setting.metric;
    check(
        json!({"type": "cost_exceeded", "thresholds": thresholds, "metric_id": metric}),
        &["/metric_id"],
    );
    let twice = json!([{"value": 1}, {"value": 1}]);
    let metric_id = &setting.metric;
    check(
        json!({
            "type": "spend_exceeded", "thresholds": twice, "metric_id": metric_id,
        }),
        &["/metric_id", "/currency", "/thresholds"],
    );
    let filter = |field: &str, values: Value| {
        json!({
            "type": "spend_exceeded", "currency": "USD", "thresholds": thresholds,
            "price_filters": [{"field": field, "operator": "excludes", "values": values}],
        })
    };
    check(filter("pricing_unit_id", json!(["x"])), &["/price_filters/0/field"]);
    check(
        filter("price_type", json!(["fixed", "x", "y"])),
        &["/price_filters/0/values/1", "/price_filters/0/values/2"],
    );
    check(filter("price_type", json!([])), &["/price_filters/0/values"]);
    let mut on_cost = filter("price_type", json!(["fixed"]));
    on_cost["type"] = json!("cost_exceeded");
    check(on_cost, &["/price_filters"]);
    let no_price = filter("price_id", json!(["none"]));
    setting.host.post(&path, no_price).error(404, "404-resource-not-found");
}

#[test]
fn wire_1_5_an_update_replaces_the_thresholds_and_keeps_filters() {
    let setting = setting();
    let filters = json!([{"field": "price_type", "operator": "excludes", "values": ["fixed"]}]);
    let new = json!({
        "type": "spend_exceeded", "currency": "USD", "thresholds": [{"value": 1}],
        "price_filters": filters,
    });
    let mut alert = setting.on_subscription(new);
    let update = |body: Value| setting.host.put(&path(&alert), body);
    let changed = update(json!({
        "thresholds": [{"value": 3}, {"value": 2}], "price_filters": null,
        "threshold_overrides": [],
    }));
    let changed = changed.ok(StatusCode::OK);
    let cleared = update(json!({"thresholds": [{"value": 3}], "price_filters": []}));
    let cleared = cleared.ok(StatusCode::OK);
    update(json!({})).error(400, "400-request-validation-errors");
    update(json!({"thresholds": []})).error(400, "400-request-validation-errors");
    update(json!({"thresholds": [], "type": "x"})).error(400, "400-request-validation-errors");
    alert["thresholds"] = json!([{"value": 3}, {"value": 2}]);
    assert_eq!(changed, alert);
    alert["thresholds"] = json!([{"value": 3}]);
    alert["price_filters"] = json!([]);
    assert_eq!(cleared, alert);
    let unknown = setting.host.put("/v1/alerts/none", json!({"thresholds": [{"value": 1}]}));
    unknown.error(404, "404-resource-not-found");
}

#[test]
fn wire_1_6_a_list_names_a_customer_or_a_subscription() {
    let Setting { host, .. } = setting();
    let refused = host.get("/v1/alerts").error(400, "400-request-validation-errors");
    let expected =
        json!(["/customer_id: is missing, as are external_customer_id and subscription_id"]);
    assert_eq!(refused["validation_errors"], expected);
    for query in ["customer_id=x", "external_customer_id=x", "subscription_id=x"] {
        host.get(&format!("/v1/alerts?{query}")).error(404, "404-resource-not-found");
    }
}

#[test]
fn wire_1_6_all_that_a_list_names_is_one_customer() {
    let setting = setting();
    let Setting { host, customer, subscription, .. } = &setting;
    let on_customer = setting.on_customer(dropped());
    let on_subscription = setting.on_subscription(setting.usage());
    let eve = json!({"name": "Eve", "email": "eve@example.com", "external_customer_id": "eve"});
    let eve = text(&host.post("/v1/customers", eve).ok(StatusCode::CREATED)["id"]);
    let check = |query: &str, expected: &[&Value]| {
        let found = host.walk(&format!("/v1/alerts?limit=1&{query}"));
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    };
    let of = format!("subscription_id={subscription}");
    check(&format!("customer_id={customer}&external_customer_id=ada"), &[&on_customer]);
    check(&format!("customer_id={customer}&external_customer_id=eve"), &[]);
    check(&format!("{of}&customer_id={customer}"), &[&on_subscription]);
    check(&format!("{of}&external_customer_id=ada"), &[&on_subscription]);
    check(&format!("{of}&customer_id={customer}&external_customer_id=ada"), &[&on_subscription]);
    check(&format!("{of}&customer_id={eve}"), &[]);
    check(&format!("{of}&customer_id={customer}&external_customer_id=eve"), &[]);
    let nobody = format!("/v1/alerts?{of}&external_customer_id=nobody");
    host.get(&nobody).error(404, "404-resource-not-found");
}

#[test]
fn wire_1_6_alerts_are_listed_newest_first_to_the_end() {
    let setting = setting();
    let mut own = Vec::new();
    for unit in ["a", "b", "c"] {
        let new = json!({"type": "credit_balance_depleted", "currency": unit});
        own.insert(0, setting.on_customer(new));
        setting.host.clock.advance(Duration::from_secs(60));
    }
    let walk = |query: &str| setting.host.walk(&format!("/v1/alerts?{query}"));
    let of_customer = format!("customer_id={}", setting.customer);
    assert_eq!(walk(&format!("{of_customer}&limit=1")), own);
    assert_eq!(walk("external_customer_id=ada&limit=2"), own);
    let since = format!("{of_customer}&created_at%5Bgt%5D=2026-03-10T12:00:00%2B00:00");
    assert_eq!(walk(&since), own[..2]);

    let on_plan = setting.on_plan(setting.usage());
    setting.host.clock.advance(Duration::from_secs(60));
    let on_subscription = setting.on_subscription(setting.usage());
    let of_subscription = format!("{}&limit=1", setting.of_subscription());
    assert_eq!(setting.host.walk(&of_subscription), [on_subscription, on_plan]);
}

#[test]
fn wire_1_7_an_alert_is_disabled_and_enabled() {
    let setting = setting();
    let alert = setting.on_customer(dropped());
    let call = |what: &str| setting.host.post(&format!("{}/{what}", path(&alert)), ());
    let mut disabled = alert.clone();
    disabled["enabled"] = json!(false);
    assert_eq!(call("disable").ok(StatusCode::OK), disabled);
    assert_eq!(call("disable").ok(StatusCode::OK), disabled);
    assert_eq!(call("enable").ok(StatusCode::OK), alert);
    setting.host.post("/v1/alerts/none/disable", ()).error(404, "404-resource-not-found");
    setting.host.post("/v1/alerts/none/enable", ()).error(404, "404-resource-not-found");
}

#[test]
fn wire_1_7_a_plans_alert_is_disabled_for_one_subscription() {
    let setting = setting();
    let alert = setting.on_plan(setting.usage());
    let call = |what: &str, subscription: &str| {
        let query = format!("subscription_id={subscription}");
        setting.host.post(&format!("{}/{what}?{query}", path(&alert)), ())
    };
    let mut disabled = alert.clone();
    disabled["enabled"] = json!(false);
    assert_eq!(call("disable", &setting.subscription).ok(StatusCode::OK), disabled);
    assert_eq!(setting.host.get(&path(&alert)).ok(StatusCode::OK), alert);
    assert_eq!(setting.host.walk(&setting.of_subscription()), [disabled]);
    assert_eq!(call("enable", &setting.subscription).ok(StatusCode::OK), alert);
    call("disable", "none").error(404, "404-resource-not-found");
}

#[test]
fn wire_1_7_a_deleted_alert_is_gone() {
    let setting = setting();
    let alert = setting.on_subscription(setting.usage());
    let delete = |alert: &Value| setting.host.call("DELETE", &path(alert), ());
    let deleted = delete(&alert);
    assert_eq!((deleted.status, deleted.bytes.len()), (204, 0));
    delete(&alert).error(404, "404-resource-not-found");
    setting.host.get(&path(&alert)).error(404, "404-resource-not-found");
    assert!(setting.host.walk(&setting.of_subscription()).is_empty());
    let on_plan = setting.on_plan(setting.usage());
    delete(&on_plan).error(400, "400-constraint-violation");
}

#[test]
fn wire_1_2_which_thresholds_are_in_alert_is_told() {
    let setting = setting();
    let entry = |kind: &str, amount: u32| {
        let path = format!("/v1/customers/{}/credits/ledger_entry", setting.customer);
        let new = json!({"entry_type": kind, "amount": amount});
        setting.host.post(&path, new).ok(StatusCode::CREATED)
    };
    entry("increment", 150);
    let alert = setting.on_customer(dropped());
    entry("decrement", 60);
    let alert = setting.host.get(&path(&alert)).ok(StatusCode::OK);
    let expected = json!([
        {"threshold_value": 100, "in_alert": true}, {"threshold_value": 20.5, "in_alert": false},
    ]);
    assert_eq!(alert["balance_alert_status"], expected);
}

#[test]
fn s4_5_6_what_alerts_do_is_replayed_byte_for_byte() {
    let setting = setting();
    let path = format!("/v1/alerts/customer_id/{}", setting.customer);
    let send = || setting.host.keyed("POST", &path, "alert-1", dropped());
    let (first, second) = (send(), send());
    let alert = first.ok(StatusCode::CREATED);
    assert_eq!(second.bytes, first.bytes);
    let path = format!("{}/disable", self::path(&alert));
    let disable = || setting.host.keyed("POST", &path, "alert-2", ());
    let (first, second) = (disable(), disable());
    first.ok(StatusCode::OK);
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
}

#[test]
fn an_account_without_alerts_has_none() {
    let setting = setting();
    let alert = setting.on_customer(dropped());
    let mut configuration = accrue::account::Configuration::default();
    configuration.features.alerts = false;
    let account = setting.host.account();
    pollster::block_on(account.configure(configuration).into_future()).unwrap();
    let on_customer = format!("/v1/alerts/customer_id/{}", setting.customer);
    let answers = [
        setting.host.get(&path(&alert)),
        setting.host.get("/v1/alerts?external_customer_id=ada"),
        setting.host.post(&on_customer, dropped()),
        setting.host.post(&format!("{}/disable", path(&alert)), ()),
        setting.host.put(&path(&alert), json!({"thresholds": [{"value": 1}]})),
        setting.host.call("DELETE", &path(&alert), ()),
    ];
    for answer in answers {
        answer.error(404, "404-feature-not-available");
    }
}
