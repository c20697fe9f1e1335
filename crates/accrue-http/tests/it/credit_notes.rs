//! Credit notes over HTTP (invoicing 10).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{listed, path, shop},
    support::Host,
};

const PATH: &str = "/v1/credit_notes";

fn credit(line: &Value, amount: &str) -> Value {
    json!({
        "line_items": [{"invoice_line_item_id": line["id"], "amount": amount}],
        "reason": "duplicate",
    })
}

fn listed_notes(host: &Host, query: &str) -> Vec<Value> {
    let page = host.get(&format!("{PATH}{query}")).ok(StatusCode::OK);
    page["data"].as_array().unwrap().clone()
}

#[test]
fn invoicing_10_1_a_note_is_answered_whole() {
    let (shop, _) = shop();
    let invoice = listed(&shop.host, "").remove(0);
    let line = &invoice["line_items"][0];
    let mut new = credit(line, "2.50");
    new["memo"] = json!("goodwill");
    new["line_items"][0]["start_date"] = json!("2026-03-12");
    new["line_items"][0]["end_date"] = json!("2026-03-13");
    let made = shop.host.post(PATH, new).ok(StatusCode::CREATED);
    let expected = json!({
        "id": made["id"],
        "credit_note_number": made["credit_note_number"],
        "created_at": "2026-03-10T12:00:00.000000+00:00",
        "voided_at": null,
        "invoice_id": invoice["id"],
        "customer": invoice["customer"],
        "type": "adjustment",
        "reason": "Duplicate",
        "memo": "goodwill",
        "subtotal": "2.50",
        "total": "2.50",
        "minimum_amount_refunded": null,
        "maximum_amount_adjustment": null,
        "discounts": [],
        "line_items": [{
            "id": made["line_items"][0]["id"],
            "name": line["name"],
            "item_id": line["price"]["item"]["id"],
            "subtotal": "2.50",
            "amount": "2.50",
            "quantity": null,
            "tax_amounts": [],
            "discounts": [],
            "start_time_inclusive": "2026-03-11T23:00:00.000000+00:00",
            "end_time_exclusive": "2026-03-13T23:00:00.000000+00:00",
        }],
        "credit_note_pdf": null,
    });
    assert_eq!(made, expected);
    let id = made["id"].as_str().unwrap();
    assert_eq!(shop.host.get(&format!("{PATH}/{id}")).ok(StatusCode::OK), made);
    assert_eq!(listed_notes(&shop.host, ""), std::slice::from_ref(&made));
    let credited = shop.host.get(&path(&invoice, "")).ok(StatusCode::OK);
    let summary = json!({
        "id": made["id"], "credit_note_number": made["credit_note_number"], "type": "adjustment",
        "total": "2.50", "reason": "Duplicate", "memo": "goodwill", "voided_at": null,
    });
    assert_eq!(credited["credit_notes"], json!([summary]));
}

#[test]
fn invoicing_10_3_what_was_paid_goes_to_the_balance() {
    let (shop, _) = shop();
    let invoice = listed(&shop.host, "").remove(0);
    let payment = json!({"payment_received_date": "2026-03-10"});
    shop.host.post(&path(&invoice, "/mark_paid"), payment).ok(StatusCode::OK);
    let made = shop.host.post(PATH, credit(&invoice["line_items"][0], "2")).ok(StatusCode::CREATED);
    assert_eq!(made["type"], "refund");
    let refunded = shop.host.get(&path(&invoice, "")).ok(StatusCode::OK);
    let transaction = &refunded["customer_balance_transactions"][0];
    assert_eq!(transaction["action"], "credit_note_applied");
    assert_eq!(transaction["credit_note"], json!({"id": made["id"]}));
    assert_eq!(transaction["ending_balance"], "2.00");
}

#[test]
fn invoicing_10_2_what_is_wrong_says_where() {
    let (shop, _) = shop();
    let invoice = listed(&shop.host, "").remove(0);
    let line = &invoice["line_items"][0];
    let refused = |new: Value, status: StatusCode| shop.host.post(PATH, new).ok(status).to_string();
    let mut half = credit(line, "1");
    half["line_items"][0]["start_date"] = json!("2026-03-12");
    assert!(refused(half, StatusCode::BAD_REQUEST).contains("/line_items/0/end_date"));
    let mut half = credit(line, "1");
    half["end_date"] = json!("2026-03-12");
    assert!(refused(half, StatusCode::BAD_REQUEST).contains("/start_date"));
    let mut unknown = credit(line, "1");
    unknown["amount"] = json!("1");
    assert!(refused(unknown, StatusCode::BAD_REQUEST).contains("amount"));
    let mut reason = credit(line, "1");
    reason["reason"] = json!("Duplicate");
    assert!(refused(reason, StatusCode::BAD_REQUEST).contains("/reason"));
    assert!(refused(credit(line, "1000"), StatusCode::BAD_REQUEST).contains("left to credit"));
    let nothing = json!({"id": "019cd79e-4600-7df7-a4a9-2c8768b0163e"});
    refused(credit(&nothing, "1"), StatusCode::NOT_FOUND);
    refused(credit(&json!({"id": "a"}), "1"), StatusCode::NOT_FOUND);
    assert_eq!(listed_notes(&shop.host, ""), Vec::<Value>::new());
}

#[test]
fn invoicing_10_5_notes_are_listed_by_whose_they_are() {
    let (shop, subscription) = shop();
    let invoice = listed(&shop.host, "").remove(0);
    let made = shop.host.post(PATH, credit(&invoice["line_items"][0], "2")).ok(StatusCode::CREATED);
    let customer = invoice["customer"]["id"].as_str().unwrap();
    let subscription = subscription["id"].as_str().unwrap();
    let found = |query: String| listed_notes(&shop.host, &query).len();
    assert_eq!(found(format!("?customer_id={customer}&subscription_id={subscription}")), 1);
    assert_eq!(found("?customer_id=nobody".to_owned()), 0);
    assert_eq!(found("?external_customer_id=nobody".to_owned()), 0);
    assert_eq!(found("?created_at[gt]=2026-03-10T12:00:00Z".to_owned()), 0);
    let unknown = shop.host.get(&format!("{PATH}/{customer}")).ok(StatusCode::NOT_FOUND);
    assert_eq!(unknown["status"], 404);
    assert_eq!(made["invoice_id"], invoice["id"]);
}

#[test]
fn invoicing_10_1_an_amount_over_the_invoice_is_the_fraction_that_it_was() {
    let (shop, _) = shop();
    let item = shop.host.item("Work");
    let line = |amount: &str| {
        json!({
            "start_date": "2026-03-01", "end_date": "2026-03-10", "quantity": 1, "name": "Days",
            "item_id": item, "model_type": "unit", "unit_config": {"unit_amount": amount},
        })
    };
    let new = json!({
        "external_customer_id": "ada", "currency": "EUR", "invoice_date": "2026-03-09",
        "will_auto_issue": true, "line_items": [line("90.00"), line("10.00")],
        "discount": {"discount_type": "amount", "amount_discount": "10.00"},
    });
    let invoice = shop.host.post("/v1/invoices", new).ok(StatusCode::CREATED);
    assert_eq!((&invoice["status"], &invoice["total"]), (&json!("issued"), &json!("90.00")));
    let credited = |line: usize, amount: &str| {
        let new = credit(&invoice["line_items"][line], amount);
        let note = shop.host.post(PATH, new).ok(StatusCode::CREATED);
        (note["discounts"].clone(), note["subtotal"].clone(), note["total"].clone())
    };
    let (found, subtotal, total) = credited(0, "45.00");
    assert_eq!((subtotal, total), (json!("45.00"), json!("40.50")));
    let applied = &found[0]["amount_applied"];
    assert_eq!((&found[0]["percentage_discount"], applied), (&json!(0.1), &json!("4.50")));
    // So little of it has no share of a cent.
    let (found, ..) = credited(1, "0.04");
    assert_eq!(found[0]["percentage_discount"], 0.1, "{found}");
}
