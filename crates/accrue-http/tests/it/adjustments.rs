//! Adjustments of plans and subscriptions over HTTP (invoicing 14).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{listed, set},
    subscriptions::{Shop, customer, path},
    support::{Host, request},
};

const START: &str = "2026-03-10T12:00:00.000000+00:00";

fn item(host: &Host) -> Value {
    host.post("/v1/items", json!({"name": "Seats"})).ok(StatusCode::CREATED)["id"].clone()
}

fn fee(item: &Value, amount: &str) -> Value {
    json!({"price": {
        "name": "Seat", "item_id": item, "cadence": "monthly", "fixed_price_quantity": 1,
        "billed_in_advance": false, "model_type": "unit", "unit_config": {"unit_amount": amount},
    }})
}

/// A plan `pro` of two fees in arrears, with some adjustments.
fn plan(host: &Host, adjustments: &[Value]) -> Value {
    let item = item(host);
    let adjustments: Vec<_> = adjustments.iter().map(|of| json!({"adjustment": of})).collect();
    let new = json!({
        "name": "Pro", "currency": "USD", "external_plan_id": "pro",
        "prices": [fee(&item, "30"), fee(&item, "10")], "adjustments": adjustments,
    });
    host.post("/v1/plans", new).ok(StatusCode::CREATED)
}

fn half() -> Value {
    json!({
        "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
        "applies_to_all": true, "currency": null, "something": "else",
    })
}

fn ids(prices: &Value) -> Value {
    prices.as_array().unwrap().iter().map(|price| price["id"].clone()).collect()
}

#[test]
fn invoicing_14_2_a_plan_shows_its_adjustments() {
    let host = Host::new();
    let of_item = item(&host);
    let tiers = json!([
        {"lower_bound": 0, "upper_bound": 100, "percentage": 0.1},
        {"lower_bound": 100, "upper_bound": null, "percentage": 0.2},
    ]);
    let plan = plan(
        &host,
        &[
            half(),
            json!({"adjustment_type": "amount_discount", "amount_discount": "5", "price_type": "fixed"}),
            json!({"adjustment_type": "tiered_percentage_discount", "tiers": tiers,
            "filters": [{"field": "currency", "operator": "includes", "values": ["USD"]}]}),
            json!({"adjustment_type": "minimum", "minimum_amount": "70.0", "item_id": of_item,
            "applies_to_all": true}),
            json!({"adjustment_type": "maximum", "maximum_amount": "90", "applies_to_all": true,
            "currency": "USD"}),
            json!({"adjustment_type": "usage_discount", "usage_discount": 3, "price_type": "usage"}),
        ],
    );
    let shown = plan["adjustments"].as_array().unwrap();
    let prices = ids(&plan["prices"]);
    let usd = json!([{"field": "currency", "operator": "includes", "values": ["USD"]}]);
    let fixed = json!([{"field": "price_type", "operator": "includes", "values": ["fixed"]}]);
    let used = json!([{"field": "price_type", "operator": "includes", "values": ["usage"]}]);
    let check = |index: usize, kind: &str, own: Value, filters: Value, over: &Value| {
        let mut expected = json!({
            "id": shown[index]["id"], "adjustment_type": kind, "is_invoice_level": true,
            "filters": filters, "applies_to_price_ids": over, "reason": null,
            "replaces_adjustment_id": null, "plan_phase_order": null,
        });
        for (name, value) in own.as_object().unwrap() {
            expected[name] = value.clone();
        }
        assert_eq!(shown[index], expected);
    };
    check(0, "percentage_discount", json!({"percentage_discount": 0.5}), json!([]), &prices);
    check(1, "amount_discount", json!({"amount_discount": "5.00"}), fixed, &prices);
    check(2, "tiered_percentage_discount", json!({"tiers": tiers}), usd.clone(), &prices);
    let least = json!({"minimum_amount": "70.00", "item_id": of_item});
    check(3, "minimum", least, json!([]), &prices);
    check(4, "maximum", json!({"maximum_amount": "90.00"}), usd.clone(), &prices);
    check(5, "usage_discount", json!({"usage_discount": 3}), used, &json!([]));
    let discount = json!({
        "discount_type": "percentage", "percentage_discount": 0.5,
        "applies_to_price_ids": prices, "filters": [], "reason": null,
    });
    assert_eq!(plan["discount"], discount);
    let least = json!({"minimum_amount": "70.00", "filters": [], "applies_to_price_ids": prices});
    assert_eq!((&plan["minimum"], &plan["minimum_amount"]), (&least, &json!("70.00")));
    let most = json!({"maximum_amount": "90.00", "filters": usd, "applies_to_price_ids": prices});
    assert_eq!((&plan["maximum"], &plan["maximum_amount"]), (&most, &json!("90.00")));
    assert_eq!(host.get("/v1/plans/external_plan_id/pro").ok(StatusCode::OK), plan);
}

#[test]
fn invoicing_14_3_versions_add_remove_and_replace() {
    let host = Host::new();
    let plan = plan(&host, &[half(), half()]);
    let [first, second] = [0, 1].map(|index| plan["adjustments"][index]["id"].clone());
    let path = "/v1/plans/external_plan_id/pro/versions";
    let version = host.post(
        path,
        json!({
            "version": 2,
            "remove_adjustments": [{"adjustment_id": first, "plan_phase_order": null}],
            "replace_adjustments": [{"replaces_adjustment_id": second, "adjustment": {
                "adjustment_type": "maximum", "maximum_amount": "20", "applies_to_all": true}}],
            "add_adjustments": [{"adjustment": half()}],
        }),
    );
    let version = version.ok(StatusCode::CREATED);
    let shown = version["adjustments"].as_array().unwrap();
    assert_eq!(shown.len(), 2);
    assert_eq!(shown[0]["replaces_adjustment_id"], second);
    assert_eq!(shown[0]["maximum_amount"], "20.00");
    assert_eq!(shown[1]["percentage_discount"], json!(0.5));
    assert_eq!(host.get(&format!("{path}/2")).ok(StatusCode::OK), version);
    let gone = json!({"version": 3, "remove_adjustments": [{"adjustment_id": first}]});
    host.post(path, gone).error(404, "404-resource-not-found");
    let closed = json!({"version": 3, "remove_adjustments": [{"adjustment_id": second, "x": 1}]});
    host.post(path, closed).error(400, "400-request-validation-errors");
}

#[test]
fn invoicing_14_4_a_price_shows_what_the_plan_adjusts_of_it_alone() {
    let host = Host::new();
    let plan = plan(&host, &[half()]);
    let price = &plan["prices"][1]["id"];
    let of_one = |more: Value| {
        let mut new = json!({"is_invoice_level": false, "applies_to_price_ids": [price]});
        for (name, value) in more.as_object().unwrap() {
            new[name] = value.clone();
        }
        json!({"adjustment": new})
    };
    let version = host.post(
        "/v1/plans/external_plan_id/pro/versions",
        json!({
            "version": 2,
            "add_adjustments": [
                of_one(json!({"adjustment_type": "amount_discount", "amount_discount": "3"})),
                of_one(json!({"adjustment_type": "maximum", "maximum_amount": "9"})),
            ],
        }),
    );
    let version = version.ok(StatusCode::CREATED);
    assert_eq!(version["prices"][0]["discount"], Value::Null, "it is over the invoice");
    let shown = &version["prices"][1];
    assert_eq!(shown["discount"], json!({"discount_type": "amount", "amount_discount": "3"}));
    assert_eq!((&shown["maximum_amount"], &shown["minimum"]), (&json!("9"), &Value::Null));
}

#[test]
fn invoicing_14_1_what_is_wrong_is_refused() {
    let host = Host::new();
    let plan = plan(&host, &[]);
    let price = &plan["prices"][0]["id"];
    let post = |adjustment: Value| {
        let new = json!({"version": 2, "add_adjustments": [{"adjustment": adjustment}]});
        host.post("/v1/plans/external_plan_id/pro/versions", new)
    };
    let with = |name: &str, value: Value| {
        let mut new = half();
        new[name] = value;
        new
    };
    let check = |new: Value, expect: &str| {
        let body = post(new).error(400, "400-request-validation-errors");
        let errors: Vec<_> = body["validation_errors"].as_array().unwrap().clone();
        assert_eq!(errors.len(), 1, "{body}");
        let found = errors[0].as_str().unwrap().split(':').next().unwrap();
        assert_eq!(found, format!("/add_adjustments/0/adjustment{expect}"), "{body}");
    };
    check(with("percentage_discount", json!(1.5)), "/percentage_discount");
    check(with("percentage_discount", Value::Null), "/percentage_discount");
    check(with("adjustment_type", json!("free")), "/adjustment_type");
    check(with("adjustment_type", json!("minimum")), "/minimum_amount");
    check(with("applies_to_all", json!(false)), "/applies_to_all");
    check(with("applies_to_all", Value::Null), "");
    check(with("applies_to_price_ids", json!([price])), "");
    check(with("price_type", json!("cheap")), "/price_type");
    let least =
        json!({"adjustment_type": "minimum", "minimum_amount": "1", "applies_to_all": true});
    check(least, "/item_id");
    let much =
        json!({"adjustment_type": "maximum", "maximum_amount": "-1", "applies_to_all": true});
    check(much, "/maximum_amount");
    let mut twice = with("applies_to_all", Value::Null);
    twice["applies_to_price_ids"] = json!([price, price]);
    check(twice, "/applies_to_price_ids");
    let mut unknown = with("applies_to_all", Value::Null);
    unknown["applies_to_item_ids"] = json!(["nothing"]);
    post(unknown).error(404, "404-resource-not-found");
    post(with("is_invoice_level", json!(false))).error(400, "400-constraint-violation");
}

#[test]
fn invoicing_14_4_a_subscription_shows_its_intervals_and_is_invoiced_by_them() {
    let host = Host::new();
    let of_item = item(&host);
    let least = json!({"adjustment_type": "minimum", "minimum_amount": "100", "item_id": of_item,
        "applies_to_all": true});
    let plan = plan(&host, &[half(), least]);
    let mut configuration = accrue::account::Configuration::default();
    configuration.features.invoices = true;
    pollster::block_on(host.account().configure(configuration).into_future()).unwrap();
    customer(&host, "ada");
    let of_plan = &plan["adjustments"];
    let most =
        json!({"adjustment_type": "maximum", "maximum_amount": "80", "applies_to_all": true});
    let five = json!({"adjustment_type": "amount_discount", "amount_discount": "5.00",
        "is_invoice_level": false, "applies_to_price_ids": [plan["prices"][1]["id"]]});
    let created = host.post("/v1/subscriptions", json!({
        "external_customer_id": "ada", "external_plan_id": "pro",
        "start_date": "2026-03-10T12:00:00Z",
        "add_adjustments": [
            {"adjustment": five, "start_date": "2026-03-20T00:00:00Z", "end_date": null, "x": 1},
        ],
        "remove_adjustments": [{"adjustment_id": of_plan[1]["id"]}],
        "replace_adjustments": [{"replaces_adjustment_id": of_plan[0]["id"], "adjustment": most}],
    }));
    let created = created.ok(StatusCode::CREATED);
    let intervals = created["adjustment_intervals"].as_array().unwrap();
    let kinds: Vec<_> = intervals.iter().map(|of| &of["adjustment"]["adjustment_type"]).collect();
    assert_eq!(kinds, ["maximum", "amount_discount"]);
    assert_eq!(intervals[0]["adjustment"]["replaces_adjustment_id"], of_plan[0]["id"]);
    assert_eq!(intervals[0]["start_date"], START);
    assert_eq!(intervals[1]["start_date"], "2026-03-20T00:00:00.000000+00:00");
    let of_second = json!([created["price_intervals"][1]["id"]]);
    assert_eq!(intervals[1]["applies_to_price_interval_ids"], of_second);
    let discount = &created["discount_intervals"];
    assert_eq!(discount.as_array().unwrap().len(), 1);
    assert_eq!(discount[0]["amount_discount"], "5.00");
    assert_eq!(created["minimum_intervals"], json!([]));
    assert_eq!(
        created["maximum_intervals"],
        json!([{
            "maximum_amount": "80.00", "start_date": START, "end_date": null, "filters": [],
            "applies_to_price_interval_ids": ids(&created["price_intervals"]),
        }])
    );

    set(&host, "2026-04-02T00:00:00Z");
    let invoice = listed(&host, "?status[]=issued").remove(0);
    let line = &invoice["line_items"][1];
    assert_eq!(
        line["adjustments"],
        json!([
            {
                "id": intervals[1]["adjustment"]["id"], "adjustment_type": "amount_discount",
                "amount": "-5.00", "amount_discount": "5.00", "is_invoice_level": false,
                "filters": intervals[1]["adjustment"]["filters"],
                "applies_to_price_ids": [plan["prices"][1]["id"]], "reason": null,
                "replaces_adjustment_id": null,
            },
            {
                "id": intervals[0]["adjustment"]["id"], "adjustment_type": "maximum",
                "amount": "0.00", "maximum_amount": "80.00", "is_invoice_level": true, "filters": [],
                "applies_to_price_ids": line["adjustments"][1]["applies_to_price_ids"],
                "reason": null, "replaces_adjustment_id": of_plan[0]["id"],
            },
        ])
    );
    assert_eq!(invoice["maximum_amount"], "80.00");
    assert_eq!(invoice["discounts"], json!([]), "it is of one line");
}

#[test]
fn invoicing_14_3_dates_of_an_adjustment_are_within_the_subscription() {
    let shop = Shop::new();
    let post = |from: &str, to: &str| {
        shop.host.post("/v1/subscriptions", json!({
            "external_customer_id": "ada", "external_plan_id": "pro", "start_date": "2026-03-10",
            "add_adjustments": [{"adjustment": half(), "start_date": from, "end_date": to}],
        }))
    };
    // Days of the customer's zone.
    post("2026-03-10", "2026-04-10").ok(StatusCode::CREATED);
    post("2026-03-09", "2026-04-10").error(400, "400-constraint-violation");
    post("2026-03-11", "2026-03-11").error(400, "400-constraint-violation");
    post("yesterday", "2026-03-11").error(400, "400-request-validation-errors");
}

#[test]
fn invoicing_14_5_a_change_shows_the_invoices_and_notes_that_it_makes() {
    let (shop, subscription) = crate::invoices::shop();
    let send = |path: &str, body: Value, header: &str| {
        let header = [("include-changed-resources", header)];
        shop.host.send(request("POST", path, body.into(), &header))
    };
    let seats = |day: u32, quantity: u32, header: &str| {
        set(&shop.host, &format!("2026-03-{day}T00:00:00Z"));
        let body = json!({"price_id": shop.plan["prices"][1]["id"], "quantity": quantity});
        let path = path(&subscription, "/update_fixed_fee_quantity");
        send(&path, body, header).ok(StatusCode::OK)["changed_resources"].clone()
    };
    assert_eq!(seats(11, 3, "false"), Value::Null);
    let changed = seats(12, 5, "true");
    let made = changed["created_invoices"].as_array().unwrap();
    let id = made[0]["id"].as_str().unwrap();
    let mut invoice = shop.host.get(&format!("/v1/invoices/{id}")).ok(StatusCode::OK);
    invoice["is_payable_now"] = json!(true);
    assert_eq!(made[0], invoice);
    for empty in ["voided_invoices", "created_credit_notes", "voided_credit_notes"] {
        assert_eq!(changed[empty], json!([]), "{empty}");
    }
    let taken_back = seats(13, 1, "True");
    let notes = taken_back["created_credit_notes"].as_array().unwrap().len();
    assert_eq!(notes, 3, "four seats, of as many invoices as billed them");

    let new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
    let created = |header: &str| {
        let created = send("/v1/subscriptions", new.clone(), header).ok(StatusCode::CREATED);
        let made = created["changed_resources"]["created_invoices"].as_array().unwrap().clone();
        made.iter().map(|of| of["is_payable_now"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(created("true"), [true, false], "one is issued, one is the next draft");
    assert_eq!(created("payable_invoices"), [true]);

    set(&shop.host, "2026-03-20T00:00:00Z");
    let cancel = |rest: &str, body: Value| {
        let answer = send(&path(&subscription, rest), body, "true").ok(StatusCode::OK);
        answer["changed_resources"].clone()
    };
    let date = "2026-03-25T00:00:00Z";
    let body = json!({"cancel_option": "requested_date", "cancellation_date": date});
    let canceled = cancel("/cancel", body);
    let unscheduled = cancel("/unschedule_cancellation", json!({}));
    let notes = canceled["created_credit_notes"].as_array().unwrap();
    let voided = unscheduled["voided_credit_notes"].as_array().unwrap();
    assert_eq!(notes.len(), voided.len());
    for (note, voided) in notes.iter().zip(voided) {
        assert_eq!((&note["id"], &note["voided_at"]), (&voided["id"], &Value::Null));
    }
    let [other, third] =
        [(), ()].map(|()| shop.host.post("/v1/subscriptions", new.clone()).ok(StatusCode::CREATED));
    set(&shop.host, "2026-03-21T00:00:00Z");
    let body = json!({"cancel_option": "requested_date", "cancellation_date": other["start_date"]});
    let payable = send(&path(&third, "/cancel"), body.clone(), "payable_invoices");
    let payable = payable.ok(StatusCode::OK)["changed_resources"].clone();
    assert_eq!(payable["voided_invoices"], json!([]), "what is not asked for is empty");
    let rewound = send(&path(&other, "/cancel"), body, "true").ok(StatusCode::OK);
    let changed = &rewound["changed_resources"];
    let voided = changed["voided_invoices"].as_array().unwrap();
    assert_eq!(voided.len(), 1);
    let id = voided[0]["id"].as_str().unwrap();
    assert_eq!(voided[0], shop.host.get(&format!("/v1/invoices/{id}")).ok(StatusCode::OK));
    assert_eq!(voided[0]["status"], "void");
    for empty in ["created_invoices", "created_credit_notes", "voided_credit_notes"] {
        assert_eq!(changed[empty], json!([]), "{empty}");
    }
}

#[test]
fn invoicing_6_2_whoever_allows_no_credit_and_no_void_is_refused() {
    let (shop, subscription) = crate::invoices::shop();
    set(&shop.host, "2026-03-20T00:00:00Z");
    let cancel = |date: &str, allow: Value| {
        let body = json!({
            "cancel_option": "requested_date", "cancellation_date": date,
            "allow_invoice_credit_or_void": allow,
        });
        shop.host.post(&path(&subscription, "/cancel"), body)
    };
    let refused = cancel("2026-03-17", json!(false));
    let detail = refused.error(400, "400-constraint-violation")["detail"].to_string();
    assert!(detail.contains("would be void or credited"), "{detail}");
    let quantity = json!({
        "price_id": shop.plan["prices"][1]["id"], "quantity": 1, "allow_invoice_credit_or_void": false,
    });
    let quantity = shop.host.post(&path(&subscription, "/update_fixed_fee_quantity"), quantity);
    quantity.error(400, "400-constraint-violation");
    assert_eq!(crate::invoices::listed(&shop.host, "").len(), 1);
    assert_eq!(crate::invoices::listed(&shop.host, "")[0]["credit_notes"], json!([]));
    cancel("2026-03-17", Value::Null).ok(StatusCode::OK);
    assert_eq!(
        crate::invoices::listed(&shop.host, "")[0]["credit_notes"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn invoicing_15_a_threshold_is_read_and_bills() {
    let (shop, _) = crate::invoices::shop();
    let new = |threshold: &str| {
        let new = json!({
            "external_customer_id": "ada", "external_plan_id": "pro",
            "invoicing_threshold": threshold,
        });
        shop.host.post("/v1/subscriptions", new)
    };
    for wrong in ["0", "-1", "0.001"] {
        new(wrong).error(400, "400-request-validation-errors");
    }
    let of = new("1.50").ok(StatusCode::CREATED);
    assert_eq!(of["invoicing_threshold"], "1.50");
    shop.use_tokens("a", 1000, "m");
    let partial = listed(&shop.host, "?is_recurring=true");
    let partial: Vec<_> = partial.iter().filter(|of| of["invoice_source"] == "partial").collect();
    assert_eq!(partial.len(), 1);
    assert_eq!(partial[0]["line_items"][0]["partially_invoiced_amount"], "0.00");
    let draft = crate::invoices::upcoming(&shop.host, &of);
    assert_eq!(draft["line_items"][0]["partially_invoiced_amount"], partial[0]["total"]);
    assert_eq!(draft["line_items"][0]["amount"], "0.00");
}
