//! Intervals and plans of subscriptions that change, over HTTP (subscriptions 2, 3).

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::Shop;

fn at(subscription: &Value, rest: &str) -> String {
    format!("/v1/subscriptions/{}/{rest}", subscription["id"].as_str().unwrap())
}

impl Shop {
    fn plan_named(&self, name: &str) -> Value {
        let plan = json!({
            "name": name, "currency": "EUR", "external_plan_id": name, "prices": [],
        });
        self.host.post("/v1/plans", plan).ok(StatusCode::CREATED)
    }

    fn fee(&self) -> Value {
        json!({
            "name": "Support", "item_id": self.plan["prices"][0]["item"]["id"], "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": "31"}, "fixed_price_quantity": 1,
            "currency": "EUR",
        })
    }

    fn change(&self, of: &Value, body: Value) -> Value {
        self.host.post(&at(of, "price_intervals"), body).ok(StatusCode::OK)
    }

    fn wrong(&self, path: &str, body: Value) -> Vec<String> {
        let problem = self.host.post(path, body).error(400, "400-request-validation-errors");
        let errors = problem["validation_errors"].as_array().unwrap();
        let pointer = |text: &Value| text.as_str().unwrap().split(':').next().unwrap().to_owned();
        errors.iter().map(pointer).collect()
    }
}

#[test]
fn subscriptions_2_1_prices_are_added_with_all_that_an_interval_may_have() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({}));
    let after = shop.change(
        &of,
        json!({"add": [{
            "price": shop.fee(), "start_date": "start_of_term", "end_date": "end_of_term",
            "fixed_fee_quantity_transitions": [
                {"effective_date": "2026-03-20T00:00:00Z", "quantity": 2.5},
            ],
            "discounts": [{"discount_type": "amount", "amount_discount": "1"}],
            "minimum_amount": 3, "maximum_amount": "400",
            "can_defer_billing": false, "filter": null, "usage_customer_ids": null,
        }]}),
    );
    let added = after["price_intervals"].as_array().unwrap().last().unwrap();
    let (start, end) = (&added["start_date"], &added["end_date"]);
    assert_eq!(start, &of["current_billing_period_start_date"]);
    assert_eq!(end, &of["current_billing_period_end_date"]);
    let quantities: Vec<_> = added["fixed_fee_quantity_transitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["quantity"].clone())
        .collect();
    assert_eq!(quantities, [json!(1), json!(2.5)]);
    let own: Vec<_> = after["adjustment_intervals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["adjustment"]["adjustment_type"].clone())
        .collect();
    assert_eq!(own, ["amount_discount", "minimum", "maximum"]);

    let id = added["id"].clone();
    let edit = json!({"edit": [{"price_interval_id": id, "fixed_fee_quantity_transitions": null}]});
    let after = shop.change(&of, edit);
    let last = after["price_intervals"].as_array().unwrap().last().unwrap();
    assert_eq!(last["fixed_fee_quantity_transitions"].as_array().unwrap().len(), 1);
    assert_eq!(&last["end_date"], end, "what is left out stays");
    let after = shop.change(&of, json!({"edit": [{"price_interval_id": id, "end_date": null}]}));
    assert_eq!(
        after["price_intervals"].as_array().unwrap().last().unwrap()["end_date"],
        json!(null)
    );
    let gone = json!({"edit": [{"price_interval_id": id, "end_date": start}]});
    assert_eq!(shop.change(&of, gone)["price_intervals"], of["price_intervals"]);
}

#[test]
fn subscriptions_2_6_6_the_word_of_a_request_is_for_what_has_an_end_in_it() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({}));
    let start = "2026-03-20T00:00:00Z";
    let end = "2026-03-25T00:00:00Z";
    let usage = || {
        json!({
            "name": "Calls", "item_id": shop.plan["prices"][0]["item"]["id"], "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": "1"}, "currency": "EUR",
            "billable_metric_id": shop.plan["prices"][0]["billable_metric"]["id"],
        })
    };
    let new = |more: Value| {
        let mut new = json!({"price": usage(), "start_date": start});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        new
    };
    let before = of["price_intervals"].as_array().unwrap().len();
    let after = shop.change(
        &of,
        json!({
            "can_defer_billing": true,
            "add": [
                new(json!({"end_date": end})),
                new(json!({"end_date": end, "can_defer_billing": false})),
                new(json!({"end_date": null, "can_defer_billing": null})),
                new(json!({"can_defer_billing": true})),
            ],
        }),
    );
    let added = &after["price_intervals"].as_array().unwrap()[before..];
    let defer: Vec<_> = added.iter().map(|of| of["can_defer_billing"].clone()).collect();
    assert_eq!(defer, [true, false, false, true].map(Value::from));
    let edit = |place: usize, more: Value| {
        let mut edit = json!({"price_interval_id": added[place]["id"]});
        edit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let after = shop.change(&of, json!({"can_defer_billing": true, "edit": [edit]}));
        after["price_intervals"].as_array().unwrap()[before + place]["can_defer_billing"].clone()
    };
    assert_eq!(edit(1, json!({"fixed_fee_quantity_transitions": null})), false);
    assert_eq!(edit(1, json!({"end_date": end})), true);
    assert_eq!(edit(0, json!({"can_defer_billing": false})), false);
}

#[test]
fn subscriptions_2_1_dates_without_an_offset_are_those_of_the_customer() {
    let shop = Shop::new();
    let customer = json!({
        "name": "Bea", "email": "bea@example.com", "external_customer_id": "bea",
        "timezone": "America/New_York",
    });
    shop.host.post("/v1/customers", customer).ok(StatusCode::CREATED);
    let of = shop.subscribe(json!({"external_customer_id": "bea"}));
    let add = json!({"add": [{"price": shop.fee(), "start_date": "2026-04-05"}]});
    let after = shop.change(&of, add);
    let added = after["price_intervals"].as_array().unwrap().last().unwrap();
    assert_eq!(added["start_date"], "2026-04-05T04:00:00.000000+00:00");
}

#[test]
fn subscriptions_2_1_an_adjustment_of_a_plan_is_given_to_a_subscription() {
    let shop = Shop::new();
    let half = json!({"adjustment": {
        "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
        "applies_to_all": true,
    }});
    let other = json!({
        "name": "Other", "currency": "EUR", "prices": [], "adjustments": [half],
    });
    let other = shop.host.post("/v1/plans", other).ok(StatusCode::CREATED);
    let id = &other["adjustments"][0]["id"];
    let of = shop.subscribe(json!({}));
    let add = json!({"add_adjustments": [
        {"adjustment_id": id, "start_date": "2026-03-12T00:00:00Z", "end_date": "end_of_term"},
        {"adjustment_id": id, "start_date": "2026-05-01T00:00:00Z"},
    ]});
    let after = shop.change(&of, add);
    let [first, second] = after["adjustment_intervals"].as_array().unwrap().as_slice() else {
        panic!("{after}")
    };
    assert_eq!((&first["adjustment"]["id"], &second["adjustment"]["id"]), (id, id));
    assert_ne!(first["id"], second["id"]);
    assert_eq!(first["applies_to_price_interval_ids"].as_array().unwrap().len(), 2);
    let edit = json!({"edit_adjustments": [
        {"adjustment_interval_id": first["id"], "end_date": "2026-03-12T00:00:00Z"},
    ]});
    let after = shop.change(&of, edit);
    assert_eq!(after["adjustment_intervals"].as_array().unwrap().len(), 1);
    let path = at(&of, "price_intervals");
    let unknown = json!({"add_adjustments": [
        {"adjustment_id": of["id"], "start_date": "2026-03-12T00:00:00Z"},
    ]});
    shop.host.post(&path, unknown).error(404, "404-resource-not-found");

    let coupon = json!({
        "redemption_code": "HALF",
        "discount": {"discount_type": "percentage", "percentage_discount": 0.5},
    });
    shop.host.post("/v1/coupons", coupon).ok(StatusCode::CREATED);
    let redemption = json!({"coupon_redemption_code": "HALF", "change_option": "immediate"});
    let after = shop.host.post(&at(&of, "redeem_coupon"), redemption).ok(StatusCode::OK);
    let coupons = after["adjustment_intervals"].as_array().unwrap().iter();
    let coupon = coupons.map(|of| &of["adjustment"]["id"]).find(|of| *of != id).unwrap();
    let again = json!({"add_adjustments": [
        {"adjustment_id": coupon, "start_date": "2026-07-01T00:00:00Z"},
    ]});
    shop.host.post(&path, again).error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_2_8_what_is_wrong_with_a_change_of_intervals_is_told_where() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({}));
    let path = at(&of, "price_intervals");
    let check = |body: Value, expected: &[&str]| {
        assert_eq!(shop.wrong(&path, body.clone()), expected, "{body}");
    };
    let price = &shop.plan["prices"][1]["id"];
    check(json!({}), &["/edit"]);
    check(json!({"add": null}), &["/add"]);
    check(json!({"other": []}), &["/other"]);
    check(json!({"add": [{"start_date": "start_of_term"}]}), &["/add/0/price_id"]);
    check(
        json!({"add": [{
            "start_date": "start_of_term", "price_id": price, "external_price_id": "x",
        }]}),
        &["/add/0/external_price_id"],
    );
    check(json!({"add": [{"start_date": "some_day", "price_id": price}]}), &["/add/0/start_date"]);
    check(
        json!({"edit": [{"price_interval_id": of["price_intervals"][0]["id"], "start_date": null}]}),
        &["/edit/0/start_date"],
    );
    check(
        json!({"add": [{"start_date": "start_of_term", "price_id": price, "discounts": [
            {"discount_type": "amount"}, {"discount_type": "tiered_percentage"},
            {"discount_type": "percentage", "percentage_discount": 2},
        ]}]}),
        &[
            "/add/0/discounts/0/amount_discount",
            "/add/0/discounts/1/discount_type",
            "/add/0/discounts/2/percentage_discount",
        ],
    );
    check(
        json!({"add": [{"start_date": "end_of_term", "price_id": price, "minimum_amount": -1}]}),
        &["/add/0/minimum_amount"],
    );
    check(
        json!({"add_adjustments": [{"start_date": "end_of_term"}]}),
        &["/add_adjustments/0/adjustment_id"],
    );
    let unknown = json!({"edit": [{"price_interval_id": "nobody"}]});
    shop.host.post(&path, unknown).error(404, "404-resource-not-found");
    let parameters = json!({"a": 1});
    let add = json!({
        "price_id": price, "start_date": "end_of_term", "metric_parameter_overrides": parameters,
    });
    let found = shop.host.post(&path, json!({"add": [add]}));
    found.error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_3_7_example_the_schedule_lists_every_plan() {
    let shop = Shop::new();
    let [b, c] = ["b", "c"].map(|name| shop.plan_named(name));
    let of = shop.subscribe(json!({}));
    shop.now("2026-03-11T00:00:00Z");
    let path = at(&of, "schedule_plan_change");
    let change = |option: &str, date: Value, plan: &str| {
        let body = json!({
            "change_option": option, "change_date": date, "external_plan_id": plan,
        });
        shop.host.post(&path, body).ok(StatusCode::OK)
    };
    let after = change("immediate", Value::Null, "b");
    assert_eq!(after["plan"]["id"], b["id"]);
    assert_eq!(after["net_terms"], 0, "that of the new plan");
    let after = change("requested_date", json!("2026-06-01T00:00:00Z"), "c");
    assert_eq!(after["plan"]["id"], b["id"]);
    let rows = |query: &str| -> Vec<(Value, Value, Value)> {
        let rows = shop.host.walk(&at(&of, &format!("schedule{query}")));
        let row = |of: &Value| {
            let (plan, start, end) = (&of["plan"]["id"], &of["start_date"], &of["end_date"]);
            (plan.clone(), start.clone(), end.clone())
        };
        rows.iter().map(row).collect()
    };
    let [march, june] =
        ["2026-03-11T00:00:00.000000+00:00", "2026-06-01T00:00:00.000000+00:00"].map(Value::from);
    let first = (shop.plan["id"].clone(), of["start_date"].clone(), march.clone());
    let expected = [
        (c["id"].clone(), june.clone(), Value::Null),
        (b["id"].clone(), march, june),
        first.clone(),
    ];
    assert_eq!(rows("?limit=2"), expected);
    assert_eq!(rows("?start_date[lt]=2026-03-11T00:00:00Z"), [first]);
    shop.now("2026-06-01T00:00:00Z");
    let fetched = shop.host.get(at(&of, "").trim_end_matches('/')).ok(StatusCode::OK);
    assert_eq!(fetched["plan"]["id"], c["id"], "that of now, before anybody has looked");
}

#[test]
fn subscriptions_3_1_and_3_3_what_is_wrong_with_a_change_of_plan_is_told_where() {
    let shop = Shop::new();
    shop.plan_named("b");
    let of = shop.subscribe(json!({}));
    let path = at(&of, "schedule_plan_change");
    let check = |body: Value, expected: &[&str]| {
        assert_eq!(shop.wrong(&path, body.clone()), expected, "{body}");
    };
    check(json!({"external_plan_id": "b"}), &["/change_option"]);
    check(json!({"change_option": "immediate"}), &["/plan_id"]);
    check(json!({"change_option": "requested_date", "external_plan_id": "b"}), &["/change_date"]);
    check(
        json!({
            "change_option": "immediate", "external_plan_id": "b",
            "change_date": "2026-03-11T00:00:00Z",
        }),
        &["/change_date"],
    );
    check(
        json!({
            "change_option": "immediate", "external_plan_id": "b",
            "billing_cycle_alignment": "unchanged", "align_billing_with_plan_change_date": true,
        }),
        &["/billing_cycle_alignment"],
    );
    check(
        json!({"change_option": "immediate", "external_plan_id": "b", "metadata": {}}),
        &["/metadata"],
    );
    let nothing = shop.host.post(&at(&of, "unschedule_pending_plan_changes"), "");
    nothing.error(400, "400-request-validation-errors");
}

#[test]
fn subscriptions_2_5_9_transitions_begin_with_the_quantity_of_the_start() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({}));
    let (seats, start) = (&of["price_intervals"][1], &of["start_date"]);
    let id = &seats["id"];
    let price = &seats["price"]["id"];
    let entry = |date: &Value, quantity: Value| json!({"effective_date": date, "price_id": price, "quantity": quantity});
    let transitions =
        |of: &Value| of["price_intervals"][1]["fixed_fee_quantity_transitions"].clone();
    assert_eq!(transitions(&of), json!([entry(start, json!(2))]));
    assert_eq!(of["price_intervals"][0]["fixed_fee_quantity_transitions"], Value::Null, "of usage");
    let edit = |list: Value| {
        let edit = json!({"price_interval_id": id, "fixed_fee_quantity_transitions": list});
        transitions(&shop.change(&of, json!({"edit": [edit]})))
    };
    let [april, may] =
        ["2026-04-01T00:00:00.000000+00:00", "2026-05-01T00:00:00.000000+00:00"].map(Value::from);
    let later = edit(json!([
        {"effective_date": "2026-05-01T00:00:00Z", "quantity": 7},
        {"effective_date": "2026-04-01T00:00:00Z", "quantity": 0.5},
    ]));
    let expected = [entry(start, json!(2)), entry(&april, json!(0.5)), entry(&may, json!(7))];
    assert_eq!(later, json!(expected));
    assert_eq!(edit(Value::Null), json!([entry(start, json!(2))]), "2.5.8: null is no transitions");
}

#[test]
fn subscriptions_3_6_a_date_is_midnight_where_the_customer_is_and_decides_the_option() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({}));
    let path = at(&of, "update_fixed_fee_quantity");
    let with = |more: Value| {
        let mut body = json!({"price_id": shop.plan["prices"][1]["id"], "quantity": 5});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for option in [Value::Null, json!("effective_date")] {
        let body = with(json!({"effective_date": "2026-04-10", "change_option": option}));
        let after = shop.host.post(&path, body).ok(StatusCode::OK);
        let last = after["fixed_fee_quantity_schedule"].as_array().unwrap().last().unwrap();
        assert_eq!(last["start_date"], "2026-04-09T22:00:00.000000+00:00");
    }
    for option in ["immediate", "upcoming_invoice"] {
        let body = with(json!({"effective_date": "2026-04-10", "change_option": option}));
        assert_eq!(shop.wrong(&path, body), ["/effective_date"], "{option}");
    }
    let body = with(json!({"change_option": "effective_date"}));
    assert_eq!(shop.wrong(&path, body), ["/effective_date"]);
    assert_eq!(shop.wrong(&path, with(json!({"quantity": -1}))), ["/quantity"]);
    assert_eq!(shop.wrong(&path, with(json!({"something": 1}))), ["/something"]);
    let now = shop.host.post(&path, with(json!({}))).ok(StatusCode::OK);
    assert_eq!(now["fixed_fee_quantity_schedule"][0]["quantity"], 5, "at once where none is said");
}

#[test]
fn subscriptions_2_3_12_a_price_is_added_once_more_for_other_usage() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({}));
    let usage = of["price_intervals"].as_array().unwrap();
    let usage = usage.iter().find(|of| of["price"]["price_type"] == "usage_price").unwrap();
    let price = &usage["price"]["id"];
    let again = |filter: Value| {
        json!({"add": [{
            "price_id": price, "start_date": of["start_date"], "filter": filter,
            "discounts": [{"discount_type": "percentage", "percentage_discount": 0.5}],
        }]})
    };
    let refused = shop.host.post(&at(&of, "price_intervals"), again(Value::Null));
    refused.error(400, "400-constraint-violation");
    let after = shop.change(&of, again(json!("region = 'eu'")));
    let added = after["price_intervals"].as_array().unwrap().last().unwrap();
    assert_eq!((&added["price"]["id"], &added["filter"]), (price, &json!("region = 'eu'")));
    let own = after["adjustment_intervals"].as_array().unwrap().last().unwrap();
    assert_eq!(own["applies_to_price_interval_ids"], json!([added["id"]]));
}
