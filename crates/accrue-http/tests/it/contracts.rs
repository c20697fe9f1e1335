//! Contracts over HTTP: subscriptions without a plan (subscriptions 1.9).

use http::StatusCode;
use pollster::block_on;
use serde_json::{Value, json};

use crate::{
    messages::taken,
    subscriptions::{Shop, path},
    support::request,
};

impl Shop {
    fn contract(&self) -> Value {
        let price = json!({
            "name": "Support", "item_id": self.plan["prices"][0]["item"]["id"], "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": "31"}, "fixed_price_quantity": 1,
        });
        json!({
            "external_customer_id": "ada", "name": "Ada 2026", "currency": "EUR", "net_terms": 30,
            "start_date": "2026-03-01", "end_date": "2027-03-01", "add_prices": [{"price": price}],
        })
    }

    fn create(&self, new: &Value) -> Value {
        self.host.post("/v1/subscriptions", new.clone()).ok(StatusCode::CREATED)
    }

    fn pointers(&self, new: Value) -> Vec<String> {
        let problem = self.host.post("/v1/subscriptions", new);
        let problem = problem.error(400, "400-request-validation-errors");
        let errors = problem["validation_errors"].as_array().unwrap();
        let pointer = |text: &Value| text.as_str().unwrap().split(':').next().unwrap().to_owned();
        errors.iter().map(pointer).collect()
    }
}

#[test]
fn subscriptions_1_9_a_contract_has_no_plan_in_any_answer() {
    let shop = Shop::new();
    let made = shop.create(&shop.contract());
    assert_eq!((&made["plan"], &made["name"]), (&Value::Null, &json!("Ada 2026")));
    assert_eq!((&made["net_terms"], &made["default_invoice_memo"]), (&json!(30), &json!("")));
    assert_eq!(made["price_intervals"][0]["price"]["currency"], "EUR", "of the contract");
    assert_eq!(made["end_date"], "2027-02-28T23:00:00.000000+00:00", "in the zone of the customer");
    let fetched = shop.host.get(&path(&made, "")).ok(StatusCode::OK);
    assert_eq!(fetched["plan"], Value::Null);
    let schedule = shop.host.walk(&path(&made, "/schedule"));
    assert_eq!(schedule.len(), 1);
    let plan = &schedule[0]["plan"];
    assert_eq!((plan, &schedule[0]["end_date"]), (&Value::Null, &made["end_date"]));
    let summary = shop.host.walk("/v1/subscriptions/summary").remove(0);
    assert_eq!((&summary["id"], &summary["plan"]), (&made["id"], &Value::Null));
    assert!(shop.host.walk("/v1/subscriptions?external_plan_id=pro").is_empty());
    shop.host.get(&path(&made, "/costs")).ok(StatusCode::OK);
    shop.host.get(&path(&made, "/usage")).ok(StatusCode::OK);
}

#[test]
fn subscriptions_1_9_what_a_contract_needs_and_what_it_cannot_have() {
    let shop = Shop::new();
    let bare = json!({"external_customer_id": "ada"});
    let needed = ["/name", "/currency", "/start_date", "/end_date", "/net_terms", "/add_prices"];
    assert_eq!(shop.pointers(bare), needed);
    for name in ["name", "start_date", "end_date", "net_terms", "add_prices"] {
        let mut new = shop.contract();
        new[name] = Value::Null;
        assert_eq!(shop.pointers(new), [format!("/{name}")]);
    }
    let (price, seven) = (&shop.plan["prices"][0]["id"], json!(7));
    let replacement = json!({"replaces_price_id": price, "fixed_price_quantity": 3});
    let half = json!({
        "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
        "applies_to_all": true,
    });
    let replaced = json!([{"replaces_adjustment_id": price, "adjustment": half}]);
    let lists = [
        ("remove_prices", json!([{"price_id": price}])),
        ("replace_prices", json!([replacement])),
        ("remove_adjustments", json!([{"adjustment_id": price}])),
        ("replace_adjustments", replaced),
        ("plan_version_number", seven.clone()),
        ("initial_phase_order", seven),
    ];
    for (name, value) in lists {
        let mut new = shop.contract();
        new[name] = value;
        assert_eq!(shop.pointers(new), [format!("/{name}")]);
    }
    let mut new = shop.contract();
    new["add_adjustments"] = json!([{"adjustment": half}]);
    let made = shop.create(&new);
    assert_eq!(made["adjustment_intervals"].as_array().unwrap().len(), 1);
}

#[test]
fn subscriptions_1_9_a_contract_is_tried_waits_and_changes_to_a_plan() {
    let shop = Shop::new();
    let send = |header: (&str, &str)| {
        let body = shop.contract().into();
        shop.host.send(request("POST", "/v1/subscriptions", body, &[header]))
    };
    let dry = send(("dry-run", "True")).ok(StatusCode::CREATED);
    assert_eq!(dry["plan"], Value::Null);
    assert!(shop.host.walk("/v1/subscriptions").is_empty());
    let staged = send(("create-pending-subscription-change", "True")).ok(StatusCode::CREATED);
    let change = staged["pending_subscription_change"]["id"].as_str().unwrap();
    let change = format!("/v1/subscription_changes/{change}");
    let waits = shop.host.get(&change).ok(StatusCode::OK);
    assert_eq!((&waits["plan_id"], &waits["subscription"]["plan"]), (&Value::Null, &Value::Null));
    assert_eq!(waits["change_type"], "create_subscription");
    let applied = shop.host.post(&format!("{change}/apply"), json!({})).ok(StatusCode::OK);
    assert_eq!(applied["subscription"]["plan"], Value::Null);
    taken(&shop.host);

    let to_pro = json!({"change_option": "immediate", "external_plan_id": "pro"});
    let changed = shop.host.post(&path(&staged, "/schedule_plan_change"), to_pro);
    let changed = changed.ok(StatusCode::OK);
    assert_eq!((&changed["plan"]["id"], &changed["end_date"]), (&shop.plan["id"], &Value::Null));
    let schedule = shop.host.walk(&path(&staged, "/schedule"));
    let plans: Vec<_> = schedule.iter().map(|of| &of["plan"]["id"]).collect();
    assert_eq!(plans, [&shop.plan["id"], &Value::Null]);
    let told = taken(&shop.host);
    let told = told.iter().find(|[of, _]| of["type"] == "subscription.plan_changed").unwrap();
    for payload in told {
        assert_eq!(payload["properties"], json!({"previous_plan_id": ""}), "{payload}");
    }
}

#[test]
fn subscriptions_11_2_messages_of_a_contract_show_no_plan() {
    let shop = Shop::new();
    let account = shop.host.account();
    let mut configuration = block_on(account.configuration()).unwrap();
    configuration.features.invoices = true;
    block_on(account.configure(configuration).into_future()).unwrap();
    let mut new = shop.contract();
    new["add_prices"].as_array_mut().unwrap().push(json!({"price": {
        "name": "Tokens", "item_id": shop.plan["prices"][0]["item"]["id"], "cadence": "monthly",
        "model_type": "unit", "unit_config": {"unit_amount": "0.5"},
        "billable_metric_id": shop.metric_id,
    }}));
    new["invoicing_threshold"] = json!("10");
    shop.create(&new);
    shop.use_tokens("a", 100, "small");
    let told = taken(&shop.host);
    let of = |name: &str| {
        told.iter().find(|[of, _]| of["type"] == name).unwrap_or_else(|| panic!("{name}: {told:?}"))
    };
    for name in ["subscription.created", "subscription.invoicing_threshold_exceeded"] {
        for payload in of(name) {
            let shown = payload["subscription"].as_object().unwrap();
            assert_eq!(shown.get("plan"), Some(&Value::Null), "{payload}");
        }
    }
}
