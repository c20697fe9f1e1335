//! Coupons over HTTP (invoicing 11).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices,
    subscriptions::{MONTH_END, START, Shop, path},
    support::{Answer, Host},
};

const MAY: &str = "2026-05-10T11:00:00.000000+00:00";

fn quarter(code: &str) -> Value {
    let discount = json!({"discount_type": "percentage", "percentage_discount": 0.25});
    json!({"redemption_code": code, "discount": discount, "duration_in_months": 2})
}

fn create(host: &Host, new: Value) -> Value {
    host.post("/v1/coupons", new).ok(StatusCode::CREATED)
}

fn of(coupon: &Value, rest: &str) -> String {
    format!("/v1/coupons/{}{rest}", coupon["id"].as_str().unwrap())
}

fn redeem(shop: &Shop, subscription: &Value, body: Value) -> Answer {
    shop.host.post(&path(subscription, "/redeem_coupon"), body)
}

fn pointers(answer: &Answer) -> Vec<String> {
    let body = answer.error(400, "400-request-validation-errors");
    let errors = body["validation_errors"].as_array().unwrap().iter();
    let pointer = |text: &Value| text.as_str().unwrap().split(':').next().unwrap().to_owned();
    errors.map(pointer).collect()
}

#[test]
fn invoicing_11_1_a_coupon_is_answered_whole() {
    let host = Host::new();
    let created = create(&host, quarter("SPRING"));
    let mut expected = json!({
        "id": created["id"],
        "redemption_code": "SPRING",
        "discount": {
            "discount_type": "percentage",
            "percentage_discount": 0.25,
            "applies_to_price_ids": [],
            "filters": [],
            "reason": null,
        },
        "times_redeemed": 0,
        "duration_in_months": 2,
        "max_redemptions": null,
        "archived_at": null,
    });
    assert_eq!(created, expected);
    assert_eq!(host.get(&of(&created, "")).ok(StatusCode::OK), expected);
    let archived = host.post(&of(&created, "/archive"), ()).ok(StatusCode::OK);
    expected["archived_at"] = json!(START);
    assert_eq!(archived, expected);

    let discount = json!({"discount_type": "amount", "amount_discount": "5", "reason": "a"});
    let more = json!({"redemption_code": "FIVE", "discount": discount, "max_redemptions": 3});
    let created = create(&host, more);
    let expected = json!({
        "id": created["id"],
        "redemption_code": "FIVE",
        "discount": {
            "discount_type": "amount",
            "amount_discount": "5.00",
            "applies_to_price_ids": [],
            "filters": [],
            "reason": null,
        },
        "times_redeemed": 0,
        "duration_in_months": null,
        "max_redemptions": 3,
        "archived_at": null,
    });
    assert_eq!(created, expected);
}

#[test]
fn invoicing_11_1_what_is_wrong_with_a_coupon_is_refused() {
    let host = Host::new();
    let check = |new: Value, expect: &[&str]| {
        assert_eq!(pointers(&host.post("/v1/coupons", new)), expect);
    };
    let with = |name: &str, value: Value| {
        let mut new = quarter("SPRING");
        new[name] = value;
        new
    };
    check(json!({}), &["/redemption_code", "/discount"]);
    check(with("name", json!("spring")), &["/name"]);
    check(with("redemption_code", json!("")), &["/redemption_code"]);
    check(with("redemption_code", json!("x".repeat(257))), &["/redemption_code"]);
    check(with("duration_in_months", json!(0)), &["/duration_in_months"]);
    check(with("duration_in_months", json!(121)), &["/duration_in_months"]);
    check(with("max_redemptions", json!(0)), &["/max_redemptions"]);
    check(with("max_redemptions", json!(1_000_000_001)), &["/max_redemptions"]);
    let discount = |kind: &str, more: Value| {
        let mut discount = more;
        discount["discount_type"] = json!(kind);
        with("discount", discount)
    };
    let percentage =
        |fraction: Value| discount("percentage", json!({"percentage_discount": fraction}));
    let amount = |amount: Value| discount("amount", json!({"amount_discount": amount}));
    check(discount("usage", json!({"usage_discount": 1})), &["/discount/discount_type"]);
    check(discount("percentage", json!({})), &["/discount/percentage_discount"]);
    check(percentage(json!(1.01)), &["/discount/percentage_discount"]);
    check(percentage(json!(-0.01)), &["/discount/percentage_discount"]);
    check(percentage(json!("0.5")), &["/discount/percentage_discount"]);
    check(amount(json!(5)), &["/discount/amount_discount"]);
    check(amount(json!("0")), &["/discount/amount_discount"]);
    check(amount(json!("-1.00")), &["/discount/amount_discount"]);
    create(&host, quarter("SPRING"));
    host.post("/v1/coupons", quarter("SPRING")).error(400, "400-duplicate-resource-creation");
}

#[test]
fn invoicing_11_1_lists_show_active_coupons_newest_first() {
    let host = Host::new();
    let first = create(&host, quarter("SPRING"));
    host.post(&of(&first, "/archive"), json!({})).ok(StatusCode::OK);
    host.post(&of(&first, "/archive"), ()).error(400, "400-constraint-violation");
    for code in ["SUMMER", "SPRING"] {
        host.clock.advance(std::time::Duration::from_secs(1));
        create(&host, quarter(code));
    }
    let check = |query: &str, expect: &[&str]| {
        let rows = host.walk(&format!("/v1/coupons?limit=1{query}"));
        let codes: Vec<_> =
            rows.iter().map(|row| row["redemption_code"].as_str().unwrap()).collect();
        assert_eq!(codes, expect, "{query}");
    };
    check("", &["SPRING", "SUMMER"]);
    check("&show_archived=false&redemption_code=", &["SPRING", "SUMMER"]);
    check("&show_archived=true", &["SPRING", "SUMMER", "SPRING"]);
    check("&redemption_code=SPRING", &["SPRING"]);
    check("&redemption_code=SPRING&show_archived=true", &["SPRING", "SPRING"]);
    check("&redemption_code=spring", &[]);
    check(&format!("&redemption_code={}", "x".repeat(257)), &[]);
    assert_eq!(pointers(&host.get("/v1/coupons?show_archived=1")), ["/show_archived"]);
    for path in ["/v1/coupons/SPRING", "/v1/coupons/SPRING/subscriptions"] {
        host.get(path).error(404, "404-resource-not-found");
    }
    host.post("/v1/coupons/SPRING/archive", ()).error(404, "404-resource-not-found");
}

#[test]
fn invoicing_11_2_a_subscription_shows_the_coupon_that_it_redeemed() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    let coupon = create(&shop.host, quarter("SPRING"));
    let body = json!({
        "change_option": "immediate", "coupon_redemption_code": "SPRING", "coupon_id": null,
        "change_date": null, "allow_invoice_credit_or_void": false,
    });
    let after = redeem(&shop, &subscription, body).ok(StatusCode::OK);
    let redeemed = json!({"coupon_id": coupon["id"], "start_date": START, "end_date": MAY});
    assert_eq!(after["redeemed_coupon"], redeemed);
    let prices: Vec<_> =
        shop.plan["prices"].as_array().unwrap().iter().map(|of| &of["id"]).collect();
    let intervals = after["price_intervals"].as_array().unwrap().iter();
    let intervals: Vec<_> = intervals.map(|of| &of["id"]).collect();
    let id = &after["adjustment_intervals"][0]["id"];
    let mut of_price_ids = prices.clone();
    of_price_ids.sort_by_key(|id| id.as_str().unwrap().to_owned());
    let filters = json!([{"field": "price_id", "operator": "includes", "values": of_price_ids}]);
    let adjustment = json!({
        "id": id,
        "adjustment_type": "percentage_discount",
        "percentage_discount": 0.25,
        "is_invoice_level": true,
        "filters": filters,
        "applies_to_price_ids": of_price_ids,
        "reason": null,
        "replaces_adjustment_id": null,
        "plan_phase_order": null,
    });
    let expected = json!([{
        "id": id,
        "adjustment": adjustment,
        "start_date": START,
        "end_date": MAY,
        "applies_to_price_interval_ids": intervals,
    }]);
    assert_eq!(after["adjustment_intervals"], expected);
    let expected = json!([{
        "discount_type": "percentage",
        "percentage_discount": 0.25,
        "start_date": START,
        "end_date": MAY,
        "filters": filters,
        "applies_to_price_interval_ids": intervals,
    }]);
    assert_eq!(after["discount_intervals"], expected);
    assert_eq!(after["changed_resources"], Value::Null);
    assert_eq!(shop.host.get(&of(&coupon, "")).ok(StatusCode::OK)["times_redeemed"], 1);
    let fetched = shop.host.get(&path(&subscription, "")).ok(StatusCode::OK);
    assert_eq!(shop.host.walk(&of(&coupon, "/subscriptions?limit=1")), [fetched]);
}

#[test]
fn invoicing_11_2_an_amount_is_shown_in_the_currency_of_the_invoice() {
    let host = Host::new();
    crate::subscriptions::customer(&host, "ada");
    let plan = json!({"name": "Pro", "currency": "JPY", "external_plan_id": "pro", "prices": []});
    host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    let discount = json!({"discount_type": "amount", "amount_discount": "500.0"});
    create(&host, json!({"redemption_code": "YEN", "discount": discount}));
    let new = json!({
        "external_customer_id": "ada", "external_plan_id": "pro", "coupon_redemption_code": "YEN",
        "start_date": "2026-03-10",
    });
    let created = host.post("/v1/subscriptions", new).ok(StatusCode::CREATED);
    let adjustment = &created["adjustment_intervals"][0]["adjustment"];
    assert_eq!(adjustment["adjustment_type"], "amount_discount");
    assert_eq!(adjustment["amount_discount"], "500");
    assert_eq!(adjustment.get("percentage_discount"), None);
    let interval = &created["discount_intervals"][0];
    assert_eq!(
        (&interval["discount_type"], &interval["amount_discount"]),
        (&json!("amount"), &json!("500"))
    );
    let start = "2026-03-09T23:00:00.000000+00:00";
    assert_eq!(created["redeemed_coupon"]["start_date"], start);
    assert_eq!(created["redeemed_coupon"]["end_date"], Value::Null);
}

#[test]
fn invoicing_11_2_the_dates_of_a_redemption_are_in_the_customers_zone() {
    let shop = Shop::new();
    let check = |more: Value, expect: &str| {
        let subscription = shop.subscribe(json!({}));
        let mut body = more;
        body["coupon_redemption_code"] = json!("SPRING");
        let after = redeem(&shop, &subscription, body).ok(StatusCode::OK);
        assert_eq!(after["redeemed_coupon"]["start_date"], expect);
    };
    create(&shop.host, quarter("SPRING"));
    check(json!({"change_option": "end_of_subscription_term"}), MONTH_END);
    let requested = |date: &str| json!({"change_option": "requested_date", "change_date": date});
    check(requested("2026-04-01"), MONTH_END);
    check(requested("2026-04-01T00:00:00"), MONTH_END);
    check(requested("2026-04-01T00:00:00Z"), "2026-04-01T00:00:00.000000+00:00");
}

#[test]
fn invoicing_11_2_what_is_wrong_with_a_redemption_is_refused() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    let coupon = create(&shop.host, quarter("SPRING"));
    let id = &coupon["id"];
    let check = |body: Value, expect: &[&str]| {
        assert_eq!(pointers(&redeem(&shop, &subscription, body)), expect);
    };
    check(json!({"coupon_id": id}), &["/change_option"]);
    check(json!({"coupon_id": id, "change_option": "upcoming_invoice"}), &["/change_option"]);
    check(json!({"change_option": "immediate"}), &["/coupon_id"]);
    let both =
        json!({"change_option": "immediate", "coupon_id": id, "coupon_redemption_code": "SPRING"});
    check(both, &["/coupon_redemption_code"]);
    check(json!({"change_option": "requested_date", "coupon_id": id}), &["/change_date"]);
    for option in ["immediate", "end_of_subscription_term"] {
        let dated = json!({"change_option": option, "coupon_id": id, "change_date": "2026-04-01"});
        check(dated, &["/change_date"]);
    }
    let dated = json!({"change_option": "requested_date", "coupon_id": id, "change_date": "soon"});
    check(dated, &["/change_date"]);
    check(json!({"change_option": "immediate", "coupon_id": id, "code": "SPRING"}), &["/code"]);

    let refused = |body: Value, status, kind: &str| {
        redeem(&shop, &subscription, body).error(status, kind);
    };
    let immediate = |name: &str, value: Value| json!({"change_option": "immediate", name: value});
    refused(immediate("coupon_id", json!("SPRING")), 404, "404-resource-not-found");
    refused(immediate("coupon_redemption_code", json!("AUTUMN")), 404, "404-resource-not-found");
    let early =
        json!({"change_option": "requested_date", "coupon_id": id, "change_date": "2026-03-01"});
    refused(early, 400, "400-constraint-violation");
    redeem(&shop, &subscription, immediate("coupon_id", id.clone())).ok(StatusCode::OK);
    refused(immediate("coupon_id", id.clone()), 400, "400-constraint-violation");
    let nobody = json!({"id": "nobody"});
    let of_nobody = redeem(&shop, &nobody, immediate("coupon_id", id.clone()));
    of_nobody.error(404, "404-resource-not-found");
}

#[test]
fn invoicing_11_2_a_code_that_cannot_be_redeemed_creates_no_subscription() {
    let shop = Shop::new();
    create(&shop.host, quarter("SPRING"));
    let new = |code: Value| {
        let new = json!({
            "external_customer_id": "ada", "external_plan_id": "pro", "coupon_redemption_code": code,
        });
        shop.host.post("/v1/subscriptions", new)
    };
    new(json!("AUTUMN")).error(404, "404-resource-not-found");
    assert_eq!(pointers(&new(json!(""))), ["/coupon_redemption_code"]);
    assert_eq!(shop.host.walk("/v1/subscriptions"), Vec::<Value>::new());
    let created = new(Value::Null).ok(StatusCode::CREATED);
    assert_eq!(created["redeemed_coupon"], Value::Null);
    let created = new(json!("SPRING")).ok(StatusCode::CREATED);
    assert_ne!(created["redeemed_coupon"], Value::Null);
}

#[test]
fn invoicing_3_3_what_is_over_an_invoice_is_shown_on_it() {
    let (shop, subscription) = invoices::shop();
    create(&shop.host, quarter("SPRING"));
    let body = json!({"change_option": "immediate", "coupon_redemption_code": "SPRING"});
    let after = redeem(&shop, &subscription, body).error(400, "400-constraint-violation");
    assert!(after["detail"].as_str().unwrap().contains("invoiced already"), "{after}");
    let body = json!({
        "change_option": "requested_date", "change_date": "2026-03-10T12:00:01Z",
        "coupon_redemption_code": "SPRING",
    });
    let after = redeem(&shop, &subscription, body).ok(StatusCode::OK);
    let draft = invoices::upcoming(&shop.host, &subscription);
    let discount = json!({
        "discount_type": "percentage",
        "percentage_discount": 0.25,
        "applies_to_price_ids":
            after["adjustment_intervals"][0]["adjustment"]["applies_to_price_ids"],
        "filters": [],
        "reason": null,
    });
    assert_eq!(draft["discounts"], json!([discount]));
    assert_eq!(draft["discount"], discount);
    assert_eq!(draft["line_items"][0]["adjustments"][0]["is_invoice_level"], true);
    for none in ["minimum", "minimum_amount", "maximum", "maximum_amount"] {
        assert_eq!(draft[none], Value::Null, "{none}");
    }
}
