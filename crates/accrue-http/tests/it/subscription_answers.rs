//! Subscriptions as they are answered, and what is refused of their creation (subscriptions 1.10 to 1.15).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    messages::taken,
    subscriptions::{MONTH_END, START, Shop, path},
};

const VALIDATION: &str = "400-request-validation-errors";
const CONSTRAINT: &str = "400-constraint-violation";
const UNKNOWN: &str = "404-resource-not-found";

/// A new subscription of `ada` to `pro` with more, or other, fields.
fn with(more: &Value) -> Value {
    let mut new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    new
}

#[test]
fn subscriptions_1_10_1_a_threshold_is_above_zero() {
    let shop = Shop::new();
    let post = |threshold: Value| {
        let new = with(&json!({"invoicing_threshold": threshold}));
        shop.host.post("/v1/subscriptions", new)
    };
    for wrong in ["0", "0.00", "-5", "ten"] {
        let body = post(json!(wrong)).error(400, VALIDATION);
        let error = body["validation_errors"][0].as_str().unwrap();
        assert!(error.starts_with("/invoicing_threshold: "), "{wrong}: {error}");
    }
    let made = post(json!("0.01")).ok(StatusCode::CREATED);
    assert_eq!(made["invoicing_threshold"], "0.01");
    assert_eq!(post(Value::Null).ok(StatusCode::CREATED)["invoicing_threshold"], Value::Null);
}

#[test]
fn subscriptions_1_10_6_what_exceeds_a_threshold_is_told_of_the_small_subscription() {
    let (shop, _) = crate::invoices::shop();
    let made = shop.subscribe(json!({"invoicing_threshold": "10"}));
    taken(&shop.host);
    shop.use_tokens("a", 24, "small");
    let told = taken(&shop.host);
    let name = "subscription.invoicing_threshold_exceeded";
    let told: Vec<_> = told.iter().filter(|[of, _]| of["type"] == name).collect();
    assert_eq!(told.len(), 1);
    for payload in told[0] {
        let small = json!({
            "id": made["id"], "start_date": START, "end_date": null, "status": "active",
            "customer": {"id": shop.customer["id"], "external_customer_id": "ada"},
            "plan": {"id": shop.plan["id"], "external_plan_id": "pro", "name": "Pro"},
        });
        assert_eq!(payload["subscription"], small, "{payload}");
        let properties = &payload["properties"];
        let amounts = (&properties["evaluated_amount"], &properties["invoicing_threshold"]);
        assert_eq!(amounts, (&json!("12.00"), &json!("10.00")));
        assert_eq!(properties["threshold_invoice_created"], true);
        assert!(properties["invoice_id"].is_string());
    }
}

#[test]
fn subscriptions_1_11_the_anchor_is_never_null_and_said_once() {
    let shop = Shop::new();
    let anchor = |more: Value| {
        let made = shop.subscribe(more);
        (made["billing_cycle_day"].clone(), made["billing_cycle_anchor_configuration"].clone())
    };
    let first = (json!(1), json!({"day": 1, "month": null, "year": null}));
    assert_eq!(anchor(json!({})), first);
    assert_eq!(anchor(json!({"billing_cycle_anchor_configuration": null})), first);
    let last = json!({"day": 31, "month": 2, "year": 2026});
    let whole = json!({"billing_cycle_anchor_configuration": last});
    assert_eq!(anchor(whole), (json!(31), last.clone()));
    let check = |configuration: Value, pointer: &str| {
        let new = with(&json!({"billing_cycle_anchor_configuration": configuration}));
        let body = shop.host.post("/v1/subscriptions", new).error(400, VALIDATION);
        let error = body["validation_errors"][0].as_str().unwrap();
        let found = error.split(':').next().unwrap();
        assert_eq!(found, format!("/billing_cycle_anchor_configuration{pointer}"));
    };
    check(json!({}), "/day");
    check(json!({"day": 0}), "/day");
    check(json!({"day": 32}), "/day");
    check(json!({"day": 1, "month": 13}), "/month");
    check(json!({"day": 1, "hour": 1}), "/hour");
    let both = with(&json!({
        "billing_cycle_anchor_configuration": last,
        "align_billing_with_subscription_start_date": true,
    }));
    shop.host.post("/v1/subscriptions", both).error(400, VALIDATION);
}

#[test]
fn subscriptions_1_12_what_belongs_to_a_marketplace_needs_it_and_is_not_shown() {
    let shop = Shop::new();
    let check = |more: Value, expected: &[&str]| {
        let body = shop.host.post("/v1/subscriptions", with(&more)).error(400, VALIDATION);
        let errors = body["validation_errors"].as_array().unwrap().iter();
        let found = errors.map(|text| text.as_str().unwrap().split(':').next().unwrap());
        assert_eq!(found.collect::<Vec<_>>(), expected, "{more}");
    };
    let id = "external_marketplace_reporting_id";
    check(json!({id: "m-1"}), &["/external_marketplace_reporting_id"]);
    check(json!({"aws_region": "eu-west-1"}), &["/aws_region"]);
    let google = json!({"external_marketplace": "google", "aws_region": "eu-west-1"});
    check(google, &["/aws_region"]);
    check(json!({"external_marketplace": "ebay"}), &["/external_marketplace"]);
    let made = shop.subscribe(json!({
        "external_marketplace": "aws", id: "m-1", "aws_region": "eu-west-1",
        "per_credit_overage_amount": 0.5,
    }));
    for name in [
        "external_marketplace",
        id,
        "aws_region",
        "per_credit_overage_amount",
        "credits_overage_rate",
    ] {
        assert_eq!(made.get(name), None, "{name}");
    }
    shop.subscribe(json!({"external_marketplace": "azure", id: "m-2"}));
}

#[test]
fn subscriptions_1_14_an_interval_has_a_current_period_as_long_as_it_runs() {
    let shop = Shop::new();
    let seats = &shop.plan["prices"][1]["id"];
    let made = shop.subscribe(json!({
        "remove_prices": [{"price_id": shop.plan["prices"][0]["id"]}],
        "end_date": "2026-06-01",
    }));
    let interval = || {
        let of = shop.host.get(&path(&made, "")).ok(StatusCode::OK);
        let [only] = of["price_intervals"].as_array().unwrap().as_slice() else { panic!("{of}") };
        only.clone()
    };
    let period = |of: &Value| {
        let keys = ["current_billing_period_start_date", "current_billing_period_end_date"];
        keys.map(|key| of[key].clone())
    };
    let first = interval();
    assert_eq!((&first["price"]["id"], &first["start_date"]), (seats, &json!(START)));
    assert_ne!(first["id"], first["price"]["id"]);
    assert_eq!(period(&first), [json!(START), json!(MONTH_END)]);
    shop.now("2026-06-02T00:00:00Z");
    let ended = interval();
    assert_eq!(ended["end_date"], "2026-05-31T22:00:00.000000+00:00");
    assert_eq!(period(&ended), [Value::Null, Value::Null]);
    let upcoming = shop.subscribe(json!({"start_date": "2026-07-01"}));
    assert_eq!(period(&upcoming["price_intervals"][0]), [Value::Null, Value::Null]);
}

#[test]
fn subscriptions_1_14_an_adjustment_interval_is_shown_as_filters() {
    let shop = Shop::new();
    let price = &shop.plan["prices"][0]["id"];
    let made = shop.subscribe(json!({"add_adjustments": [{
        "start_date": "2026-04-01T00:00:00Z",
        "adjustment": {
            "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
            "is_invoice_level": false, "applies_to_price_ids": [price],
        },
    }]}));
    let [only] = made["adjustment_intervals"].as_array().unwrap().as_slice() else {
        panic!("{made}")
    };
    let over = json!([made["price_intervals"][0]["id"]]);
    let filters = json!([{"field": "price_id", "operator": "includes", "values": [price]}]);
    let start = "2026-04-01T00:00:00.000000+00:00";
    let expected = json!({
        "id": only["id"], "start_date": start, "end_date": null,
        "applies_to_price_interval_ids": over,
        "adjustment": {
            "id": only["adjustment"]["id"], "adjustment_type": "percentage_discount",
            "percentage_discount": 0.5, "is_invoice_level": false, "filters": filters,
            "applies_to_price_ids": [price], "reason": null, "replaces_adjustment_id": null,
            "plan_phase_order": null,
        },
    });
    assert_eq!(only, &expected, "the example of the page");
    let projected = json!([{
        "discount_type": "percentage", "percentage_discount": 0.5, "start_date": start,
        "end_date": null, "filters": filters, "applies_to_price_interval_ids": over,
    }]);
    assert_eq!(made["discount_intervals"], projected);
    assert_eq!((&made["minimum_intervals"], &made["maximum_intervals"]), (&json!([]), &json!([])));
}

#[test]
fn subscriptions_1_14_what_narrows_an_adjustment_comes_back_as_filters() {
    let shop = Shop::new();
    let filters = |more: Value| {
        let mut adjustment = json!({
            "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
        });
        adjustment.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = shop.subscribe(json!({"add_adjustments": [{"adjustment": adjustment}]}));
        made["adjustment_intervals"][0]["adjustment"]["filters"].clone()
    };
    let includes =
        |field: &str, of: &Value| json!({"field": field, "operator": "includes", "values": [of]});
    assert_eq!(filters(json!({"applies_to_all": true})), json!([]));
    let item = &shop.plan["prices"][0]["item"]["id"];
    assert_eq!(filters(json!({"applies_to_item_ids": [item]})), json!([includes("item_id", item)]));
    let both = filters(json!({"currency": "EUR", "price_type": "usage"}));
    let expected =
        json!([includes("currency", &json!("EUR")), includes("price_type", &json!("usage"))]);
    assert_eq!(both, expected);
}

#[test]
fn subscriptions_1_15_each_mistake_has_the_error_of_its_kind() {
    let shop = Shop::new();
    let post = |new: Value| shop.host.post("/v1/subscriptions", new);
    let (customer, plan) = (&shop.customer["id"], &shop.plan["id"]);
    let unknown = "019d8e5a-0000-7000-8000-000000000000";
    let invalid = [
        json!({"external_customer_id": null}),
        json!({"customer_id": customer}),
        json!({"plan_id": plan}),
        json!({"start_date": "yesterday"}),
        json!({
            "align_billing_with_subscription_start_date": true,
            "billing_cycle_anchor_configuration": {"day": 1},
        }),
        json!({"trial_duration_days": -1}),
        json!({"something": 1}),
    ];
    for wrong in invalid {
        post(with(&wrong)).error(400, VALIDATION);
    }
    let half = json!({
        "adjustment_type": "percentage_discount", "percentage_discount": 0.5, "applies_to_all": true,
    });
    let missing = [
        json!({"external_customer_id": "nobody"}),
        json!({"external_customer_id": null, "customer_id": unknown}),
        json!({"external_plan_id": "nothing"}),
        json!({"external_plan_id": null, "plan_id": unknown}),
        json!({"plan_version_number": 2}),
        json!({"add_prices": [{"price_id": unknown}]}),
        json!({"add_prices": [{"external_price_id": "nothing"}]}),
        json!({"remove_adjustments": [{"adjustment_id": unknown}]}),
        json!({
            "replace_adjustments": [{"replaces_adjustment_id": unknown, "adjustment": half}],
        }),
        json!({"coupon_redemption_code": "NOTHING"}),
    ];
    for wrong in missing {
        let answer = post(with(&wrong));
        assert_eq!(answer.status, 404, "{wrong}: {answer:?}");
        answer.error(404, UNKNOWN);
    }
    let refused = [
        json!({"start_date": "2026-04-01", "end_date": "2026-04-01"}),
        json!({"start_date": "2026-04-01", "end_date": "2026-03-01"}),
        json!({"currency": "USD"}),
    ];
    for wrong in refused {
        post(with(&wrong)).error(400, CONSTRAINT);
    }
    post(with(&json!({}))).ok(StatusCode::CREATED);
    let listed = shop.host.walk("/v1/subscriptions");
    assert_eq!(listed.len(), 1, "nothing that was refused was created");
}
