//! Invoices and balances over HTTP (invoicing 3, 9, 12).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    backfills::tick,
    subscriptions::{Shop, customer},
    support::Host,
};

pub(crate) const PATH: &str = "/v1/invoices";
const START: &str = "2026-03-10T12:00:00.000000+00:00";
/// The first of April in Berlin.
pub(crate) const APRIL: &str = "2026-03-31T22:00:00.000000+00:00";

/// A shop that invoices `ada` from noon of the 10th of March on, by the first of the month.
pub(crate) fn shop() -> (Shop, Value) {
    shop_on(Host::new())
}

pub(crate) fn shop_on(host: Host) -> (Shop, Value) {
    let shop = Shop::on(host);
    let mut configuration = accrue::account::Configuration::default();
    configuration.features.invoices = true;
    pollster::block_on(shop.host.account().configure(configuration).into_future()).unwrap();
    let address =
        json!({"billing_address": {"line1": "1 Elm Road", "city": "Leeds", "country": "GB"}});
    let ada = shop.customer["id"].as_str().unwrap();
    shop.host.put(&format!("/v1/customers/{ada}"), address).ok(StatusCode::OK);
    let subscription = shop.subscribe(json!({"billing_cycle_anchor_configuration": {"day": 1}}));
    (shop, subscription)
}

pub(crate) fn set(host: &Host, now: &str) {
    host.clock.set(accrue::Timestamp::parse(now).unwrap());
    tick(host);
}

pub(crate) fn listed(host: &Host, query: &str) -> Vec<Value> {
    let page = host.get(&format!("{PATH}{query}")).ok(StatusCode::OK);
    page["data"].as_array().unwrap().clone()
}

pub(crate) fn path(invoice: &Value, rest: &str) -> String {
    format!("{PATH}/{}{rest}", invoice["id"].as_str().unwrap())
}

pub(crate) fn upcoming(host: &Host, subscription: &Value) -> Value {
    let id = subscription["id"].as_str().unwrap();
    host.get(&format!("{PATH}/upcoming?subscription_id={id}")).ok(StatusCode::OK)
}

#[test]
fn invoicing_3_1_an_invoice_is_answered_whole() {
    let (shop, subscription) = shop();
    let invoice = listed(&shop.host, "").remove(0);
    let line = &invoice["line_items"][0];
    let price = &subscription["price_intervals"][1]["price"];
    let state = json!({
        "id": invoice["id"],
        "invoice_number": invoice["invoice_number"],
        "status": "issued",
        "invoice_source": "subscription",
        "currency": "EUR",
        "created_at": START,
        "invoice_date": START,
        "due_date": "2026-03-23T23:00:00.000000+00:00",
        "eligible_to_issue_at": null,
        "scheduled_issue_at": null,
        "will_auto_issue": false,
        "issued_at": START,
        "issue_failed_at": null,
        "sync_failed_at": null,
        "paid_at": null,
        "payment_received_at": null,
        "payment_started_at": null,
        "payment_failed_at": null,
        "voided_at": null,
    });
    let item = json!({
            "id": line["id"],
            "name": "Seats",
            "price": price,
            "quantity": 2,
            "start_date": START,
            "end_date": APRIL,
            "subtotal": "14.19",
            "adjustments": [],
            "adjusted_subtotal": "14.19",
            "credits_applied": "0.00",
            "partially_invoiced_amount": "0.00",
            "amount": "14.19",
            "tax_amounts": [],
            "sub_line_items": [],
            "grouping": null,
            "usage_customer_ids": null,
            "filter": null,
    });
    let figures = json!({
        "subtotal": "14.19",
        "total": "14.19",
        "amount_due": "14.19",
        "customer": {"id": shop.customer["id"], "external_customer_id": "ada"},
        "subscription": {"id": subscription["id"]},
        "line_items": [item],
        "hidden_line_item_count": 0,
        "discount": null,
        "discounts": [],
        "minimum": null,
        "minimum_amount": null,
        "maximum": null,
        "maximum_amount": null,
        "customer_balance_transactions": [],
        "credit_notes": [],
        "payment_attempts": [],
        "auto_collection": {
            "enabled": false, "num_attempts": 0, "next_attempt_at": null,
            "previously_attempted_at": null,
        },
        "memo": null,
        "metadata": {},
        "shipping_address": null,
        "billing_address": {
            "line1": "1 Elm Road", "line2": null, "city": "Leeds", "state": null,
            "postal_code": null, "country": "GB",
        },
        "customer_tax_id": null,
        "invoice_pdf": null,
        "hosted_invoice_url": null,
    });
    let mut expected = state;
    let members = figures.as_object().unwrap().clone();
    expected.as_object_mut().unwrap().extend(members);
    assert_eq!(invoice, expected);
    assert_eq!(shop.host.get(&path(&invoice, "")).ok(StatusCode::OK), expected);
    let number = invoice["invoice_number"].as_str().unwrap();
    assert!(number.ends_with("-00001") && number.len() == 12, "{number}");

    let mut summary = expected;
    let only_whole = ["line_items", "subtotal", "discount", "discounts", "minimum"];
    let only_whole = only_whole.iter().chain(&["minimum_amount", "maximum", "maximum_amount"]);
    for key in only_whole.chain(&["hidden_line_item_count"]) {
        summary.as_object_mut().unwrap().remove(*key);
    }
    assert_eq!(listed(&shop.host, "/summary"), [summary]);
}

#[test]
fn invoicing_9_3_upcoming_shows_the_draft_with_the_figures_of_now() {
    let (shop, subscription) = shop();
    shop.use_tokens("one", 7, "small");
    let draft = upcoming(&shop.host, &subscription);
    assert_eq!((&draft["target_date"], draft.get("invoice_date")), (&json!(APRIL), None));
    assert_eq!((&draft["status"], &draft["due_date"]), (&json!("draft"), &json!(null)));
    assert_eq!(draft["scheduled_issue_at"], "2026-04-01T22:00:00.000000+00:00");
    assert_eq!(draft["total"], "23.50", "7 tokens, and the seats of April");
    let ada = [shop.customer["id"].clone()];
    assert_eq!(draft["line_items"][0]["usage_customer_ids"], json!(ada));
    let same = shop.host.get(&path(&draft, "")).ok(StatusCode::OK);
    assert_eq!((&same["id"], &same["invoice_date"]), (&draft["id"], &draft["target_date"]));
    shop.host.get(&format!("{PATH}/upcoming")).error(400, "400-request-validation-errors");
    let unknown = "07070707-0707-7707-8707-070707070707";
    shop.host
        .get(&format!("{PATH}/upcoming?subscription_id={unknown}"))
        .error(404, "404-resource-not-found");
    shop.host.get(&format!("{PATH}/{unknown}")).error(404, "404-resource-not-found");
}

#[test]
fn invoicing_8_5_and_8_6_an_invoice_is_marked_as_paid_or_made_void() {
    let (shop, _) = shop();
    set(&shop.host, "2026-04-02T00:00:00Z");
    let host = &shop.host;
    let [second, first] = listed(host, "").try_into().unwrap();
    host.post(&path(&first, "/mark_paid"), json!({})).error(400, "400-request-validation-errors");
    let timed = json!({"payment_received_date": "2026-03-20T00:00:00Z"});
    host.post(&path(&first, "/mark_paid"), timed).error(400, "400-request-validation-errors");
    let payment =
        json!({"payment_received_date": "2026-03-20", "external_id": "p1", "notes": null});
    let paid = host.post(&path(&first, "/mark_paid"), payment.clone()).ok(StatusCode::OK);
    assert_eq!((&paid["status"], &paid["amount_due"]), (&json!("paid"), &json!("14.19")));
    assert_eq!(paid["payment_received_at"], "2026-03-19T23:00:00.000000+00:00");
    host.post(&path(&first, "/mark_paid"), payment).error(400, "400-constraint-violation");
    let void = host.call("POST", &path(&second, "/void"), "").ok(StatusCode::OK);
    assert_eq!(
        (&void["status"], &void["voided_at"]),
        (&json!("void"), &json!("2026-04-02T00:00:00.000000+00:00"))
    );
    host.call("POST", &path(&first, "/void"), "").error(400, "400-constraint-violation");
}

#[test]
fn invoicing_9_4_and_9_5_a_draft_is_changed_and_issued_by_hand() {
    let (shop, _) = shop();
    let host = &shop.host;
    let by_hand = json!({"auto_issuance": false, "billing_cycle_anchor_configuration": {"day": 1}});
    let by_hand = shop.subscribe(by_hand);
    let id = by_hand["id"].as_str().unwrap();
    let [draft, first] =
        listed(host, &format!("?subscription_id={id}&status[]=draft")).try_into().unwrap();
    assert_eq!(
        (&first["will_auto_issue"], &first["scheduled_issue_at"]),
        (&json!(false), &json!(null))
    );
    let update = json!({"net_terms": 3, "metadata": {"po": "7"}});
    let updated = host.put(&path(&first, ""), update).ok(StatusCode::OK);
    assert_eq!(updated["metadata"], json!({"po": "7"}));
    host.put(&path(&first, ""), json!({"net_terms": 3, "due_date": "2026-05-01"}))
        .error(400, "400-request-validation-errors");
    host.put(&path(&first, ""), json!({"colour": "red"}))
        .error(400, "400-request-validation-errors");
    // It is of fees alone.
    let issued =
        host.post(&path(&first, "/issue"), json!({"synchronous": true})).ok(StatusCode::OK);
    assert_eq!(
        (&issued["status"], &issued["due_date"]),
        (&json!("issued"), &json!("2026-03-12T23:00:00.000000+00:00"))
    );
    host.call("POST", &path(&draft, "/issue"), "").error(400, "400-constraint-violation");
    set(host, "2026-04-02T00:00:00Z");
    let synchronous = json!({"synchronous": true});
    host.post(&path(&draft, "/issue"), synchronous.clone()).error(400, "400-constraint-violation");
    let again = host.post(&path(&first, "/issue"), synchronous);
    let detail = again.error(400, "400-constraint-violation")["detail"].to_string();
    assert!(detail.contains("the invoice is issued, expected draft"), "{detail}");
    let automatic = listed(host, "?status[]=draft").remove(0);
    let automatic = host.post(&path(&automatic, "/issue"), ());
    automatic.error(400, "400-constraint-violation");
    let summary = format!("{PATH}/summary/{}/issue", draft["id"].as_str().unwrap());
    let summary = host.call("POST", &summary, "").ok(StatusCode::OK);
    assert_eq!((&summary["status"], summary.get("line_items")), (&json!("issued"), None));
}

#[test]
fn invoicing_12_2_a_balance_is_moved_by_hand_and_pays_for_what_is_issued() {
    let (shop, _) = shop();
    let host = &shop.host;
    let ada = shop.customer["id"].as_str().unwrap();
    let path = format!("/v1/customers/{ada}/balance_transactions");
    let made = json!({"amount": "12.50", "type": "increment", "description": "goodwill"});
    let made = host.post(&path, made).ok(StatusCode::OK);
    let expected = json!({
        "id": made["id"], "created_at": START, "amount": "12.50", "type": "increment",
        "action": "manual_adjustment", "starting_balance": "0.00", "ending_balance": "12.50",
        "description": "goodwill", "invoice": null, "credit_note": null,
    });
    assert_eq!(made, expected);
    let balance =
        || host.get(&format!("/v1/customers/{ada}")).ok(StatusCode::OK)["balance"].clone();
    assert_eq!(balance(), "12.50");
    set(host, "2026-04-02T00:00:00Z");
    let issued = listed(host, "").remove(0);
    assert_eq!((&issued["total"], &issued["amount_due"]), (&json!("20.00"), &json!("7.50")));
    let applied = &issued["customer_balance_transactions"][0];
    assert_eq!(applied["action"], "applied_to_invoice");
    assert_eq!(applied["invoice"], json!({"id": issued["id"]}));
    assert_eq!(balance(), "0.00");
    let all = host.get(&path).ok(StatusCode::OK);
    assert_eq!(all["data"], json!([applied, expected]), "the newest first");
    let later = host.get(&format!("{path}?operation_time[gt]={}", "2026-03-10T12:00:00Z"));
    assert_eq!(later.ok(StatusCode::OK)["data"], json!([applied]));
    for wrong in [
        json!({"amount": "1.001", "type": "increment"}),
        json!({"amount": "0", "type": "increment"}),
        json!({"amount": "1", "type": "gift"}),
        json!({"amount": "1", "type": "increment", "colour": "red"}),
    ] {
        host.post(&path, wrong).error(400, "400-request-validation-errors");
    }
    let bob = customer(host, "bob");
    let bob = format!("/v1/customers/{}/balance_transactions", bob["id"].as_str().unwrap());
    host.post(&bob, json!({"amount": "1", "type": "increment"}))
        .error(400, "400-constraint-violation");
}

#[test]
fn invoicing_6_1_a_price_is_broken_down_by_a_property() {
    let host = Host::new();
    let (shop, _) = shop_on(host);
    let usage = json!({
        "name": "By model", "item_id": shop.plan["prices"][0]["item"]["id"], "cadence": "monthly",
        "model_type": "unit", "unit_config": {"unit_amount": "0.333"},
        "billable_metric_id": shop.metric_id, "invoice_grouping_key": "model",
    });
    let plan = json!({
        "name": "By model", "currency": "EUR", "external_plan_id": "by_model",
        "prices": [{"price": usage}],
    });
    shop.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    let subscription = shop.subscribe(json!({"external_plan_id": "by_model"}));
    shop.use_tokens("a", 10, "large");
    shop.use_tokens("b", 5, "small");
    let part = |value: &str, quantity: u64, amount: &str| {
        json!({
            "type": "'null'",
            "name": value,
            "quantity": quantity,
            "amount": amount,
            "grouping": {"key": "model", "value": value},
        })
    };
    let line = &upcoming(&shop.host, &subscription)["line_items"][0];
    assert_eq!(line["subtotal"], "5.00");
    // 3.33 and 1.665 are 4.995.
    let parts = json!([part("large", 10, "3.33"), part("small", 5, "1.67")]);
    assert_eq!(line["sub_line_items"], parts);
    let mut fee = json!({
        "name": "Fee", "item_id": shop.plan["prices"][0]["item"]["id"], "cadence": "monthly",
        "currency": "EUR", "model_type": "unit", "unit_config": {"unit_amount": "1"},
    });
    fee["invoice_grouping_key"] = json!("model");
    let refused = shop.host.post("/v1/prices", fee).error(400, "400-request-validation-errors");
    assert!(refused.to_string().contains("/invoice_grouping_key"), "{refused}");
}

#[test]
fn invoicing_6_1_a_price_is_invoiced_within_its_billing_period() {
    let (shop, _) = shop();
    let host = &shop.host;
    let price = |cycle: Value| {
        json!({"price": {
            "name": "Tokens", "item_id": host.item("Tokens of ten days"), "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": "2"},
            "billable_metric_id": shop.metric_id, "invoicing_cycle_configuration": cycle,
        }})
    };
    let plan = |cycle| json!({"name": "Often", "currency": "EUR", "prices": [price(cycle)]});
    for wrong in [
        json!({"duration": 0, "duration_unit": "day"}),
        json!({"duration": 10, "duration_unit": "week"}),
        json!({"duration": 10}),
    ] {
        host.post("/v1/plans", plan(wrong)).error(400, "400-request-validation-errors");
    }
    let cycle = json!({"duration": 10, "duration_unit": "day"});
    let plan = host.post("/v1/plans", plan(cycle.clone())).ok(StatusCode::CREATED);
    assert_eq!(plan["prices"][0]["invoicing_cycle_configuration"], cycle);
    let new = json!({
        "customer_id": shop.customer["id"], "plan_id": plan["id"],
        "align_billing_with_subscription_start_date": true,
    });
    let subscription = host.post("/v1/subscriptions", new).ok(StatusCode::CREATED);
    shop.use_tokens("first", 5, "small");
    set(host, "2026-03-21T23:00:01Z");
    let id = subscription["id"].as_str().unwrap();
    let found = listed(host, &format!("?subscription_id={id}&status[]=issued"));
    let [invoice] = found.as_slice() else { panic!("{found:?}") };
    let line = &invoice["line_items"][0];
    assert_eq!(
        (&line["amount"], &line["partially_invoiced_amount"]),
        (&json!("10.00"), &json!("0.00"))
    );
    shop.use_tokens("second", 1, "small");
    let next = upcoming(host, &subscription);
    let line = &next["line_items"][0];
    assert_eq!((&line["quantity"], &line["amount"]), (&json!(6), &json!("2.00")));
    assert_eq!(line["partially_invoiced_amount"], "10.00");
}
