//! Alerts on the cost of groups over HTTP (subscriptions 8, wire 1.2 and 1.3).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{messages::taken, subscriptions::Shop};

/// `ada`, whose usage costs 0.5 for each token, beside fees.
struct Scene {
    shop: Shop,
    subscription: String,
}

fn scene() -> Scene {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}))["id"].as_str().unwrap().to_owned();
    taken(&shop.host);
    Scene { shop, subscription }
}

impl Scene {
    fn path(&self) -> String {
        format!("/v1/alerts/subscription_id/{}", self.subscription)
    }

    fn plan_path(&self) -> String {
        format!("/v1/alerts/plan_id/{}", self.shop.plan["id"].as_str().unwrap())
    }

    fn alert(&self, new: Value) -> Value {
        self.shop.host.post(&self.path(), new).ok(StatusCode::CREATED)
    }

    fn update(&self, alert: &Value, body: Value) -> Value {
        self.shop.host.put(&of(alert), body).ok(StatusCode::OK)
    }

    /// Ingests usage of a team and region that costs so much.
    fn cost(&self, key: &str, euro: u32, team: &str, region: &str) {
        let event = json!({
            "event_name": "tokens", "idempotency_key": key, "external_customer_id": "ada",
            "timestamp": self.shop.host.billing.now().to_string(),
            "properties": {"tokens": euro * 2, "team": team, "region": region},
        });
        self.shop.host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
    }

    /// Takes what groups have fired: `team region threshold evaluated` of each in a message.
    fn told(&self) -> Vec<String> {
        let text = |of: &Value| of.as_str().unwrap().to_owned();
        let group = |of: &Value| {
            let values: Vec<_> = of["group_values"].as_array().unwrap().iter().map(text).collect();
            let [threshold, amount] =
                ["amount_threshold", "evaluated_amount"].map(|name| text(&of[name]));
            format!("{} {threshold} {amount}", values.join(" "))
        };
        let told = taken(&self.shop.host).into_iter().map(|[payload, _]| payload);
        let told = told.filter(|of| of["type"] == "subscription.grouped_cost_exceeded");
        let groups = |of: Value| {
            let groups = of["properties"]["groups"].as_array().unwrap().iter().map(group);
            groups.collect::<Vec<_>>().join(", ")
        };
        told.map(groups).collect()
    }

    /// Refuses an alert of a subscription, and of a plan, where they say what is wrong.
    fn refuses(&self, path: &str, new: Value, pointers: &[&str]) {
        let refused = self.shop.host.post(path, new);
        let refused = refused.error(400, "400-request-validation-errors");
        assert_eq!(pointers_of(&refused), pointers, "{refused}");
    }
}

fn of(alert: &Value) -> String {
    format!("/v1/alerts/{}", alert["id"].as_str().unwrap())
}

fn pointers_of(refused: &Value) -> Vec<&str> {
    let errors = refused["validation_errors"].as_array().unwrap();
    errors.iter().map(|of| of.as_str().unwrap().split_once(':').unwrap().0).collect()
}

/// The alert of the example: 50 and 100 by team and region; 200 for ml, none for ml in eu.
fn example() -> Value {
    json!({
        "type": "cost_exceeded", "currency": "EUR", "grouping_keys": ["team", "region"],
        "thresholds": [{"value": 50}, {"value": 100}],
        "threshold_overrides": [
            {"group_keys": ["team"], "group_values": ["ml"], "thresholds": [{"value": 200}]},
            {"group_values": ["ml", "eu"], "thresholds": []},
        ],
    })
}

/// The same for some keys and one threshold, with more beside.
fn by(keys: Value, more: Value) -> Value {
    let mut new = json!({
        "type": "cost_exceeded", "currency": "EUR", "grouping_keys": keys,
        "thresholds": [{"value": 10}],
    });
    for (name, value) in more.as_object().unwrap() {
        new[name] = value.clone();
    }
    new
}

#[test]
fn wire_1_2_an_alert_on_groups_is_answered_whole() {
    let scene = scene();
    let alert = scene.alert(example());
    let expect = json!({
        "id": alert["id"], "type": "cost_exceeded", "created_at": "2026-03-10T12:00:00.000000+00:00",
        "enabled": true, "thresholds": [{"value": 50}, {"value": 100}], "customer": null, "plan": null,
        "subscription": {"id": scene.subscription}, "metric": null, "currency": "EUR",
        "license_type": null,
        "grouping_keys": ["team", "region"], "price_filters": [],
        "threshold_overrides": [
            {"group_keys": ["team"], "group_values": ["ml"], "thresholds": [{"value": 200}]},
            {"group_keys": null, "group_values": ["ml", "eu"], "thresholds": []},
        ],
        "balance_alert_status": null,
    });
    assert_eq!(alert, expect);
    let host = &scene.shop.host;
    assert_eq!(host.get(&of(&alert)).ok(StatusCode::OK), expect);
    let listed = host.walk(&format!("/v1/alerts?subscription_id={}&limit=1", scene.subscription));
    assert_eq!(listed, [expect]);
    let without = scene.alert(by(json!(["team"]), json!({})));
    assert_eq!(without["threshold_overrides"], Value::Null, "there only where there are some");
}

#[test]
fn subscriptions_8_1_1_keys_are_of_cost_exceeded_and_need_a_currency() {
    let scene = scene();
    for path in [scene.path(), scene.plan_path()] {
        let none = json!({"currency": null});
        scene.refuses(&path, by(json!(["team"]), none), &["/currency"]);
        let spend = json!({"type": "spend_exceeded"});
        scene.refuses(&path, by(json!(["team"]), spend), &["/grouping_keys"]);
        let usage = json!({"type": "usage_exceeded", "metric_id": scene.shop.metric_id});
        scene.refuses(&path, by(json!(["team"]), usage), &["/grouping_keys"]);
        scene.refuses(&path, by(json!("team"), json!({})), &["/grouping_keys"]);
        scene.refuses(&path, by(json!([""]), json!({})), &["/grouping_keys/0"]);
    }
    let whole = scene.alert(by(json!([]), json!({"currency": null})));
    assert_eq!(whole["grouping_keys"], Value::Null, "no keys are none");
}

#[test]
fn subscriptions_8_1_2_keys_are_distinct_and_at_most_four() {
    let scene = scene();
    for path in [scene.path(), scene.plan_path()] {
        let five = json!(["a", "b", "c", "d", "e"]);
        scene.refuses(&path, by(five, json!({})), &["/grouping_keys"]);
        scene.refuses(&path, by(json!(["a", "b", "a"]), json!({})), &["/grouping_keys"]);
        let four = scene.shop.host.post(&path, by(json!(["a", "b", "c", "d"]), json!({})));
        four.ok(StatusCode::CREATED);
    }
}

#[test]
fn subscriptions_8_1_3_filters_name_prices_items_and_types() {
    let scene = scene();
    let filter = |field: &str, value: &str| {
        let filter = json!({"field": field, "operator": "includes", "values": [value]});
        by(json!(["team"]), json!({"price_filters": [filter]}))
    };
    let alert = scene.alert(filter("price_type", "usage"));
    assert_eq!(alert["price_filters"][0]["values"], json!(["usage"]));
    let wrong = filter("currency", "EUR");
    scene.refuses(&scene.path(), wrong, &["/price_filters/0/field"]);
    let mut ungrouped = filter("price_type", "usage");
    ungrouped["grouping_keys"] = Value::Null;
    scene.refuses(&scene.path(), ungrouped, &["/price_filters"]);
    let cleared = json!({"thresholds": [{"value": 1}], "price_filters": []});
    assert_eq!(scene.update(&alert, cleared)["price_filters"], json!([]));
}

#[test]
fn subscriptions_8_1_4_a_second_one_on_the_same_groups_is_refused() {
    let scene = scene();
    scene.alert(by(json!([]), json!({})));
    scene.alert(by(json!(["team", "region"]), json!({})));
    let again = scene.shop.host.post(&scene.path(), by(json!(["region", "team"]), json!({})));
    again.error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_8_1_5_to_8_1_7_what_is_wrong_with_overrides() {
    let scene = scene();
    let of =
        |overrides: Value| by(json!(["team", "region"]), json!({"threshold_overrides": overrides}));
    let path = scene.path();
    let one = |more: Value| {
        let mut one = json!({"group_values": ["ml", "eu"], "thresholds": []});
        for (name, value) in more.as_object().unwrap() {
            one[name] = value.clone();
        }
        of(json!([one]))
    };
    let plan_path = scene.plan_path();
    scene.refuses(&plan_path, one(json!({})), &["/threshold_overrides"]);
    let mut ungrouped = one(json!({}));
    ungrouped["grouping_keys"] = json!([]);
    scene.refuses(&path, ungrouped, &["/threshold_overrides"]);
    let check = |more: Value, pointer: &str| {
        scene.refuses(&path, one(more), &[&format!("/threshold_overrides/0/{pointer}")]);
    };
    check(json!({"group_values": ["ml"]}), "group_values");
    check(json!({"group_keys": []}), "group_keys");
    check(json!({"group_keys": ["team", "user"]}), "group_keys");
    check(json!({"group_keys": ["team"]}), "group_values");
    check(json!({"group_values": null}), "group_values");
    check(json!({"thresholds": null}), "thresholds");
    check(json!({"thresholds": [{"value": 1}, {"value": 1}]}), "thresholds");
    let same = json!([
        {"group_values": ["ml", "eu"], "thresholds": []},
        {"group_keys": ["region", "team"], "group_values": ["eu", "ml"], "thresholds": []},
    ]);
    scene.refuses(&path, of(same), &["/threshold_overrides/1"]);
}

#[test]
fn subscriptions_8_2_example() {
    let scene = scene();
    scene.alert(example());
    scene.cost("a", 120, "ml", "us");
    assert_eq!(scene.told(), [""; 0]);
    scene.cost("b", 85, "ml", "us");
    assert_eq!(scene.told(), ["ml us 200 205"]);
    scene.cost("c", 900, "ml", "eu");
    assert_eq!(scene.told(), [""; 0]);
    scene.cost("d", 60, "web", "eu");
    assert_eq!(scene.told(), ["web eu 50 60"]);
}

#[test]
fn subscriptions_8_3_and_11_2_what_a_message_tells() {
    let scene = scene();
    let alert = scene.alert(example());
    scene.cost("a", 120, "web", "us");
    let told = taken(&scene.shop.host);
    let [[expanded, standard]] = told.as_slice() else { panic!("{told:?}") };
    let mut configuration = alert;
    configuration["thresholds"] = json!([{"value": "50"}, {"value": "100"}]);
    configuration["threshold_overrides"][0]["thresholds"] = json!([{"value": "200"}]);
    let expect = json!({
        "alert_configuration": configuration,
        "grouping_keys": ["team", "region"],
        "groups": [{
            "group_values": ["web", "us"], "amount_threshold": "100", "evaluated_amount": "120",
        }],
        "timeframe_start": "2026-03-10T12:00:00.000000+00:00",
        "timeframe_end": "2026-03-31T22:00:00.000000+00:00",
    });
    for payload in [expanded, standard] {
        assert_eq!(payload["type"], "subscription.grouped_cost_exceeded");
        assert_eq!(payload["properties"], expect);
        is_small(&payload["subscription"]);
    }
}

fn is_small(subscription: &Value) {
    let keys: Vec<_> = subscription.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["customer", "end_date", "id", "plan", "start_date", "status"]);
}

#[test]
fn subscriptions_8_2_7_and_8_2_8_with_more_than_1000_groups_it_is_disabled() {
    let scene = scene();
    let alert = scene.alert(by(json!(["team"]), json!({})));
    let host = &scene.shop.host;
    let now = host.billing.now().to_string();
    let event = |place: u32| {
        json!({
            "event_name": "tokens", "idempotency_key": place.to_string(), "timestamp": now,
            "external_customer_id": "ada", "properties": {"tokens": 1, "team": place.to_string()},
        })
    };
    let ingest = |places: std::ops::Range<u32>| {
        let events: Vec<_> = places.map(event).collect();
        host.post("/v1/ingest", json!({"events": events})).ok(StatusCode::OK);
    };
    ingest(0..500);
    ingest(500..1_000);
    assert!(taken(host).is_empty());
    ingest(1_000..1_001);
    let disabled = |cardinality: u32| {
        let told = taken(host);
        let [[expanded, standard]] = told.as_slice() else { panic!("{told:?}") };
        for payload in [expanded, standard] {
            assert_eq!(payload["type"], "subscription.alert_disabled");
            let properties = &payload["properties"];
            assert_eq!(properties["cardinality"], json!(cardinality));
            assert_eq!(properties["cardinality_limit"], json!(1_000));
            assert_eq!(properties["reason"], "system_cardinality_limit");
            assert_eq!(properties["alert_configuration"]["id"], alert["id"]);
            assert_eq!(properties["alert_configuration"]["enabled"], json!(false));
            is_small(&payload["subscription"]);
        }
    };
    disabled(1_001);
    assert_eq!(host.get(&of(&alert)).ok(StatusCode::OK)["enabled"], json!(false));
    let enabled = host.post(&format!("{}/enable", of(&alert)), ()).ok(StatusCode::OK);
    assert_eq!(enabled["enabled"], json!(false));
    disabled(1_001);
    let reasons = host.post(&format!("{}/disable", of(&alert)), ()).ok(StatusCode::OK);
    assert_eq!(reasons["enabled"], json!(false));
    assert!(taken(host).is_empty(), "what a host disables is not told");
}

#[test]
fn subscriptions_8_4_updates_keep_what_they_do_not_name() {
    let scene = scene();
    let alert = scene.alert(example());
    let mut expect = alert.clone();
    for nothing in [json!({}), json!({"threshold_overrides": null, "price_filters": null})] {
        let mut body = json!({"thresholds": [{"value": 70}]});
        for (name, value) in nothing.as_object().unwrap() {
            body[name] = value.clone();
        }
        expect["thresholds"] = json!([{"value": 70}]);
        assert_eq!(scene.update(&alert, body), expect);
    }
    scene.cost("a", 60, "web", "eu");
    assert_eq!(scene.told(), [""; 0]);
    let other = json!([{"group_values": ["web", "eu"], "thresholds": [{"value": 55.5}]}]);
    let body = json!({"thresholds": [{"value": 70}], "threshold_overrides": other});
    let changed = scene.update(&alert, body);
    let answered = json!({
        "group_keys": null, "group_values": ["web", "eu"], "thresholds": [{"value": 55.5}],
    });
    assert_eq!(changed["threshold_overrides"], json!([answered]));
    assert_eq!(scene.told(), ["web eu 55.5 60"]);
    let cleared = json!({"thresholds": [{"value": 60}], "threshold_overrides": []});
    assert_eq!(scene.update(&alert, cleared)["threshold_overrides"], Value::Null);
    assert_eq!(scene.told(), ["web eu 60 60"]);
    let fixed = json!({"thresholds": [{"value": 1}], "grouping_keys": ["user"]});
    scene.shop.host.put(&of(&alert), fixed).error(400, "400-request-validation-errors");
}

#[test]
fn subscriptions_8_4_3_overrides_of_plan_alerts_and_of_those_without_keys_are_refused() {
    let scene = scene();
    let host = &scene.shop.host;
    let of_plan = host.post(&scene.plan_path(), by(json!(["team"]), json!({})));
    let of_plan = of_plan.ok(StatusCode::CREATED);
    assert_eq!(of_plan["plan"]["id"], scene.shop.plan["id"]);
    let whole = scene.alert(by(json!([]), json!({})));
    for alert in [of_plan, whole] {
        let overrides = json!([{"group_values": ["ml"], "thresholds": []}]);
        let update = json!({"thresholds": [{"value": 2}], "threshold_overrides": overrides});
        let refused = host.put(&of(&alert), update).error(400, "400-request-validation-errors");
        assert_eq!(pointers_of(&refused), ["/threshold_overrides"]);
        let nothing = json!({"thresholds": [{"value": 2}], "threshold_overrides": []});
        scene.update(&alert, nothing);
    }
}
