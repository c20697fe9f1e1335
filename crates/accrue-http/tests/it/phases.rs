//! Phases and trials over HTTP (subscriptions 1.7, 1.8, 3.4, 3.5, 5.1, 5.3).

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::Shop;

impl Shop {
    /// A price of usage, in a phase.
    fn in_phase(&self, phase: u32, unit_amount: &str) -> Value {
        let price = json!({
            "name": "Calls", "item_id": self.plan["prices"][0]["item"]["id"], "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": unit_amount},
            "billable_metric_id": self.metric_id,
        });
        json!({"price": price, "plan_phase_order": phase})
    }

    fn ramp(&self) -> Value {
        let half = json!({
            "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
            "applies_to_all": true,
        });
        self.host
            .post(
                "/v1/plans",
                json!({
                    "name": "Ramp", "currency": "EUR", "external_plan_id": "ramp",
                    "prices": [self.in_phase(2, "2"), self.in_phase(1, "1")],
                    "adjustments": [{"adjustment": half, "plan_phase_order": 1}],
                    "plan_phases": [
                        {"order": 2, "align_billing_with_phase_start_date": true},
                        {"order": 1, "duration": 2, "duration_unit": "monthly"},
                    ],
                }),
            )
            .ok(StatusCode::CREATED)
    }

    fn on_ramp(&self, more: Value) -> Value {
        let mut new = json!({
            "external_plan_id": "ramp", "start_date": "2026-02-15",
        });
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.subscribe(new)
    }
}

fn orders(prices: &Value) -> Vec<&Value> {
    prices.as_array().unwrap().iter().map(|price| &price["plan_phase_order"]).collect()
}

/// The starts and ends of price intervals, as far as the day.
fn lives(of: &Value) -> Vec<String> {
    let day = |at: &Value| at.as_str().map_or("-".to_owned(), |at| at[..10].to_owned());
    let intervals = of["price_intervals"].as_array().unwrap().iter();
    let lives = intervals.map(|of| {
        let phase = &of["price"]["plan_phase_order"];
        format!("{phase} {} {}", day(&of["start_date"]), day(&of["end_date"]))
    });
    lives.collect()
}

#[test]
fn subscriptions_5_3_a_plan_shows_its_phases() {
    let shop = Shop::new();
    let ramp = shop.ramp();
    let phases = ramp["plan_phases"].as_array().unwrap();
    let first = &phases[0];
    assert_eq!(first["discount"]["percentage_discount"], 0.5);
    let shown = |phase: &Value| {
        let names = ["name", "description", "order", "duration", "duration_unit", "minimum"];
        names.map(|name| phase[name].clone())
    };
    let expected =
        [json!("Phase 1"), Value::Null, json!(1), json!(2), json!("monthly"), Value::Null];
    assert_eq!(shown(first), expected);
    assert_eq!(shown(&phases[1])[2..5], [json!(2), Value::Null, Value::Null]);
    assert_eq!(phases[1]["discount"], Value::Null);
    assert_eq!(orders(&ramp["prices"]), [2, 1]);
    assert_eq!(ramp["adjustments"][0]["plan_phase_order"], 1);
    let fetched = shop.host.get("/v1/plans/external_plan_id/ramp").ok(StatusCode::OK);
    assert_eq!(fetched, ramp);
    let version = shop.host.get("/v1/plans/external_plan_id/ramp/versions/1").ok(StatusCode::OK);
    assert_eq!(version["plan_phases"][1]["order"], 2);
    assert_eq!(version["plan_phases"][0].get("discount"), None, "only in the plan");
    assert_eq!(shop.plan["plan_phases"], Value::Null);
}

#[test]
fn subscriptions_5_1_phases_that_are_wrong() {
    let shop = Shop::new();
    let plan = |phases: Value, prices: Value| {
        let new = json!({"name": "P", "currency": "EUR", "prices": prices, "plan_phases": phases});
        shop.host.post("/v1/plans", new)
    };
    for (phases, pointer) in [
        (json!([]), "/plan_phases"),
        (json!([{"order": 1, "duration": 2}]), "/plan_phases/0/duration_unit"),
        (json!([{"order": 1, "duration": 0, "duration_unit": "daily"}]), "/plan_phases/0/duration"),
        (json!([{"order": 1, "duration_unit": "weekly"}]), "/plan_phases/0/duration_unit"),
    ] {
        let answer = plan(phases, json!([])).error(400, "400-request-validation-errors");
        let found = answer["validation_errors"][0].as_str().unwrap();
        assert_eq!(found.split(':').next().unwrap(), pointer);
    }
    let constraint = "400-constraint-violation";
    plan(json!([{"order": 1}, {"order": 3}]), json!([])).error(400, constraint);
    plan(json!([{"order": 2}]), json!([])).error(400, constraint);
    plan(json!([{"order": 1}, {"order": 1}]), json!([])).error(400, constraint);
    plan(json!([{"order": 1}, {"order": 2}]), json!([])).error(400, constraint);
    plan(json!([{"order": 1}]), json!([shop.in_phase(2, "1")])).error(400, constraint);
    plan(Value::Null, json!([shop.in_phase(1, "1")])).error(400, constraint);
    plan(Value::Null, json!([])).ok(StatusCode::CREATED);
}

#[test]
fn subscriptions_1_8_a_subscription_is_in_a_phase_until_the_next_is_triggered() {
    let shop = Shop::new();
    shop.ramp();
    let made = shop.on_ramp(json!({}));
    assert_eq!(made["active_plan_phase_order"], 1);
    assert_eq!(lives(&made), ["2 2026-04-14 -", "1 2026-02-14 2026-04-14"]);
    let half = &made["adjustment_intervals"][0];
    assert_eq!(half["adjustment"]["plan_phase_order"], 1);
    assert_eq!(half["end_date"], "2026-04-14T22:00:00.000000+00:00");
    let path = format!("/v1/subscriptions/{}/trigger_phase", made["id"].as_str().unwrap());
    let trigger = |body: Value| shop.host.post(&path, body);
    trigger(json!({"effective_date": "2026-02-15"})).error(400, "400-constraint-violation");
    trigger(json!({"effective_date": "x"})).error(400, "400-request-validation-errors");
    trigger(json!({"phase": 2})).error(400, "400-request-validation-errors");
    let triggered = trigger(json!({})).ok(StatusCode::OK);
    assert_eq!(triggered["active_plan_phase_order"], 2);
    assert_eq!(lives(&triggered), ["2 2026-03-09 -", "1 2026-02-14 2026-03-09"]);
    assert_eq!(triggered["billing_cycle_day"], 10, "its phase begins the grid anew");
    trigger(json!({"effective_date": "2026-03-20", "allow_invoice_credit_or_void": null}))
        .error(400, "400-constraint-violation");

    let second = shop.on_ramp(json!({"initial_phase_order": 2}));
    assert_eq!(
        (lives(&second), &second["active_plan_phase_order"]),
        (vec!["2 2026-02-14 -".to_owned()], &json!(2))
    );
    let added = shop.on_ramp(json!({"add_prices": [shop.in_phase(1, "7")]}));
    assert_eq!(lives(&added)[2], "1 2026-02-14 2026-04-14");
}

#[test]
fn subscriptions_5_2_a_version_names_the_phases_of_what_it_changes() {
    let shop = Shop::new();
    let ramp = shop.ramp();
    let version = |number: u32, changes: Value| {
        let mut body = changes;
        body["version"] = number.into();
        shop.host.post("/v1/plans/external_plan_id/ramp/versions", body)
    };
    let remove = |phase: u32| {
        json!({"remove_prices": [
            {"price_id": ramp["prices"][0]["id"], "plan_phase_order": phase},
        ]})
    };
    version(2, remove(1)).error(400, "400-constraint-violation");
    version(2, json!({"add_prices": [shop.in_phase(3, "1")]}))
        .error(400, "400-constraint-violation");
    version(2, remove(2)).ok(StatusCode::CREATED);
    let mut replace = shop.in_phase(1, "3");
    replace["replaces_price_id"] = ramp["prices"][1]["id"].clone();
    let third = version(3, json!({"replace_prices": [replace]})).ok(StatusCode::CREATED);
    assert_eq!(orders(&third["prices"]), [1]);
    let gone = json!({"remove_adjustments": [
        {"adjustment_id": ramp["adjustments"][0]["id"], "plan_phase_order": 2},
    ]});
    version(4, gone).error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_1_7_a_trial_over_http() {
    let shop = Shop::new();
    shop.now("2026-03-20T12:00:00Z");
    let made = shop.subscribe(json!({
        "start_date": "2026-03-20", "trial_duration_days": 14,
    }));
    let end = "2026-04-02T22:00:00.000000+00:00";
    assert_eq!(made["trial_info"]["end_date"], end);
    assert_eq!(made["current_billing_period_end_date"], end);
    let usage: Vec<_> = made["price_intervals"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|of| of["price"]["price_type"] == "usage_price")
        .collect();
    assert_eq!(usage[0]["end_date"], end);
    assert_eq!(
        usage[0]["price"]["discount"],
        json!({
            "discount_type": "trial", "trial_percentage_discount": 1, "trial_amount_discount": null,
            "applies_to_price_ids": null, "filters": null, "reason": null,
        })
    );
    assert_eq!(
        (&usage[1]["price"]["id"], &usage[1]["price"]["discount"]),
        (&usage[0]["price"]["id"], &Value::Null)
    );
    assert_eq!(made["adjustment_intervals"], json!([]), "the discount is shown there alone");
    let path = format!("/v1/subscriptions/{}/update_trial", made["id"].as_str().unwrap());
    let update = |body: Value| shop.host.post(&path, body);
    for body in [json!({}), json!({"trial_end_date": "soon"}), json!({"trial_end_date": null})] {
        update(body).error(400, "400-request-validation-errors");
    }
    let longer = update(json!({"trial_end_date": "2026-04-10", "shift": true})).ok(StatusCode::OK);
    assert_eq!(longer["trial_info"]["end_date"], "2026-04-09T22:00:00.000000+00:00");
    let now = update(json!({"trial_end_date": "immediate"})).ok(StatusCode::OK);
    assert_eq!(now["trial_info"]["end_date"], "2026-03-20T12:00:00.000000+00:00");
    let without = update(json!({"trial_end_date": "2026-03-20"})).ok(StatusCode::OK);
    assert_eq!(without["trial_info"]["end_date"], Value::Null);
    update(json!({"trial_end_date": "2026-04-10"})).error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_1_7_2_the_end_of_a_trial_is_shown_at_all_times_and_null_where_there_was_none() {
    let shop = Shop::new();
    let made = shop.subscribe(json!({"start_date": "2026-03-20", "trial_duration_days": 14}));
    let without = shop.subscribe(json!({"trial_duration_days": 0}));
    let end = "2026-04-02T22:00:00.000000+00:00";
    for now in ["2026-03-11T00:00:00Z", "2026-03-25T00:00:00Z", "2026-06-01T00:00:00Z"] {
        shop.now(now);
        let info = |of: &Value| {
            let path = format!("/v1/subscriptions/{}", of["id"].as_str().unwrap());
            shop.host.get(&path).ok(StatusCode::OK)["trial_info"].clone()
        };
        assert_eq!(info(&made), json!({"end_date": end}), "{now}");
        assert_eq!(info(&without), json!({"end_date": null}), "{now}");
    }
}

#[test]
fn subscriptions_1_8_5_the_order_of_a_phase_is_null_where_there_is_none() {
    let shop = Shop::new();
    shop.ramp();
    let order = |of: &Value| {
        let path = format!("/v1/subscriptions/{}", of["id"].as_str().unwrap());
        shop.host.get(&path).ok(StatusCode::OK)["active_plan_phase_order"].clone()
    };
    let made = shop.on_ramp(json!({"start_date": "2026-03-20", "end_date": "2026-06-20"}));
    assert_eq!(order(&made), Value::Null, "it has not begun");
    assert_eq!(order(&shop.subscribe(json!({}))), Value::Null, "its plan has no phases");
    for (now, expected) in [
        ("2026-03-20T12:00:00Z", json!(1)),
        ("2026-05-20T12:00:00Z", json!(2)),
        ("2026-06-20T12:00:00Z", Value::Null),
    ] {
        shop.now(now);
        assert_eq!(order(&made), expected, "{now}");
    }
}

#[test]
fn subscriptions_1_8_6_a_price_shows_the_phase_that_its_interval_has_the_bounds_of() {
    let shop = Shop::new();
    shop.ramp();
    let made = shop.on_ramp(json!({}));
    assert_eq!(lives(&made), ["2 2026-04-14 -", "1 2026-02-14 2026-04-14"]);
    let half = &made["adjustment_intervals"][0];
    let bounds =
        [&half["start_date"], &half["end_date"]].map(|at| at.as_str().unwrap()[..10].to_owned());
    assert_eq!(bounds, ["2026-02-14", "2026-04-14"], "of the first phase");
}
