//! One-off invoices and lines by hand over HTTP (invoicing 9.1, 9.4, 9.6).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{listed, path, set, shop},
    support::{Answer, Host},
};

const PATH: &str = "/v1/invoices";
const LINES: &str = "/v1/invoice_line_items";

fn delete(host: &Host, path: &str) -> Answer {
    host.call("DELETE", path, ())
}

fn new(item: &str, date: &str) -> Value {
    json!({
        "external_customer_id": "ada", "currency": "EUR", "invoice_date": date,
        "line_items": [{
            "start_date": "2026-03-01", "end_date": "2026-03-10", "quantity": 3, "name": "Days",
            "item_id": item, "model_type": "unit", "unit_config": {"unit_amount": "19.99"},
        }],
    })
}

fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn invoicing_9_1_a_one_off_invoice_is_answered_whole() {
    let (shop, _) = shop();
    let item = shop.host.item("Work");
    let discount = json!({
        "discount_type": "percentage", "percentage_discount": 0.1, "reason": "kind",
        "filters": [{"field": "item_id", "operator": "includes", "values": [item]}],
    });
    let more = json!({
        "memo": "thank you", "net_terms": 10, "metadata": {"a": "1", "b": null},
        "discount": discount,
    });
    let draft = shop.host.post(PATH, with(new(&item, "2026-03-09"), more)).ok(StatusCode::CREATED);
    // The ninth begins in Berlin an hour before it does in Greenwich.
    let date = json!("2026-03-08T23:00:00.000000+00:00");
    let state = json!({
        "status": draft["status"], "source": draft["invoice_source"], "date": draft["invoice_date"],
        "eligible": draft["eligible_to_issue_at"], "scheduled": draft["scheduled_issue_at"],
        "due": draft["due_date"], "subscription": draft["subscription"], "memo": draft["memo"],
        "metadata": draft["metadata"], "subtotal": draft["subtotal"], "total": draft["total"],
        "amount_due": draft["amount_due"],
    });
    let expected = json!({
        "status": "draft", "source": "one_off", "date": date, "eligible": date,
        "scheduled": null, "due": null, "subscription": null, "memo": "thank you",
        "metadata": {"a": "1"}, "subtotal": "59.97", "total": "53.97", "amount_due": "53.97",
    });
    assert_eq!(state, expected);
    let line = &draft["line_items"][0];
    let price = &line["price"];
    let shown = json!({
        "discount_type": "percentage", "percentage_discount": 0.1,
        "applies_to_price_ids": [price["id"]], "filters": discount["filters"], "reason": "kind",
    });
    assert_eq!((&draft["discount"], &draft["discounts"]), (&shown, &json!([shown])));
    assert_eq!(line["subtotal"], "59.97");
    assert_eq!(line["adjustments"][0]["amount"], "-6.00");
    let of_line = &line["adjustments"][0];
    assert_eq!(of_line["is_invoice_level"], true);
    assert_eq!((&of_line["reason"], &of_line["filters"]), (&json!("kind"), &discount["filters"]));
    assert_eq!(line["amount"], "53.97");
    let of = |name: &str| &price[name];
    assert_eq!((of("price_type"), of("cadence")), (&json!("fixed_price"), &json!("one_time")));
    assert_eq!((of("billing_mode"), of("model_type")), (&json!("in_advance"), &json!("unit")));
    assert_eq!(of("unit_config")["unit_amount"], "19.99");
    assert_eq!((of("fixed_price_quantity"), &of("item")["id"]), (&json!(3), &json!(item)));

    let issued =
        shop.host.post(&path(&draft, "/issue"), json!({"synchronous": true})).ok(StatusCode::OK);
    assert_eq!((&issued["status"], &issued["total"]), (&json!("issued"), &json!("53.97")));
    assert_eq!(issued["due_date"], "2026-03-18T23:00:00.000000+00:00");
    let one_off = listed(&shop.host, "?is_recurring=false");
    assert_eq!(one_off, [issued]);
    assert_eq!(listed(&shop.host, "?is_recurring=true").len(), 1);
}

#[test]
fn invoicing_9_1_one_is_issued_in_the_answer_or_on_its_date() {
    let (shop, _) = shop();
    let item = shop.host.item("Work");
    let create = |date: &str| {
        let body = with(new(&item, date), json!({"will_auto_issue": true}));
        shop.host.post(PATH, body).ok(StatusCode::CREATED)
    };
    assert_eq!(create("2026-03-10")["status"], "issued");
    let later = create("2026-03-12");
    assert_eq!((&later["status"], &later["will_auto_issue"]), (&json!("draft"), &json!(true)));
    assert_eq!(later["scheduled_issue_at"], later["invoice_date"]);
    set(&shop.host, "2026-03-12T00:00:00Z");
    let issued = shop.host.get(&path(&later, "")).ok(StatusCode::OK);
    assert_eq!(
        (&issued["status"], &issued["issued_at"]),
        (&json!("issued"), &later["invoice_date"])
    );
}

#[test]
fn invoicing_18_what_is_wrong_with_a_one_off_invoice() {
    let (shop, _) = shop();
    let item = shop.host.item("Work");
    let check = |more: Value, status, expect: &str| {
        shop.host
            .post(PATH, with(new(&item, "2026-03-10"), more))
            .error(status, &format!("{status}-{expect}"));
    };
    let invalid = "request-validation-errors";
    check(json!({"net_terms": 3, "due_date": "2026-04-01"}), 400, invalid);
    check(json!({"line_items": []}), 400, invalid);
    check(json!({"customer_id": shop.customer["id"]}), 400, invalid);
    check(json!({"invoice_date": "2028-01-01"}), 400, invalid);
    check(json!({"unknown": 1}), 400, invalid);
    check(json!({"currency": "USD"}), 400, "constraint-violation");
    check(json!({"due_date": "2026-03-09"}), 400, "constraint-violation");
    let usage = json!({"discount_type": "usage", "usage_discount": 1});
    check(json!({"discount": usage}), 400, "constraint-violation");
    let unknown = "01890000-0000-7000-8000-000000000000";
    let ids = json!({
        "discount_type": "amount", "amount_discount": "1", "applies_to_price_ids": [unknown],
    });
    check(json!({"discount": ids}), 404, "resource-not-found");
    check(json!({"external_customer_id": "nobody"}), 404, "resource-not-found");
}

#[test]
fn invoicing_9_6_lines_are_added_and_removed() {
    let (shop, _) = shop();
    let draft = listed(&shop.host, "?status[]=draft").remove(0);
    let line = json!({
        "invoice_id": draft["id"], "start_date": "2026-03-01", "end_date": "2026-03-01",
        "quantity": 3, "amount": "-10.00", "name": "Goodwill",
    });
    let added = shop.host.post(LINES, line.clone()).ok(StatusCode::CREATED);
    let at = "2026-02-28T23:00:00.000000+00:00";
    let expected = json!({
        "id": added["id"], "name": "Goodwill", "price": added["price"], "quantity": 3,
        "start_date": at, "end_date": at, "subtotal": "-10.00", "adjustments": [],
        "adjusted_subtotal": "-10.00", "credits_applied": "0.00",
        "partially_invoiced_amount": "0.00", "amount": "-10.00", "tax_amounts": [],
        "sub_line_items": [], "grouping": null, "usage_customer_ids": null, "filter": null,
    });
    assert_eq!(added, expected);
    assert_eq!(added["price"]["unit_config"]["unit_amount"], "-3.3333333333");
    assert_eq!(added["price"]["item"]["name"], "Goodwill");
    let shown = shop.host.get(&path(&draft, "")).ok(StatusCode::OK);
    assert_eq!(shown["line_items"].as_array().unwrap().last().unwrap(), &expected);

    let neither = with(line.clone(), json!({"name": null}));
    shop.host.post(LINES, neither).error(400, "400-request-validation-errors");
    let id = added["id"].as_str().unwrap();
    let of_draft = path(&draft, &format!("/invoice_line_items/{id}"));
    assert_eq!(delete(&shop.host, &of_draft).status, 204);
    delete(&shop.host, &of_draft).error(404, "404-resource-not-found");
    let fee = draft["line_items"][0]["id"].as_str().unwrap();
    let of_subscription = path(&draft, &format!("/invoice_line_items/{fee}"));
    delete(&shop.host, &of_subscription).error(400, "400-constraint-violation");
    let issued = listed(&shop.host, "").remove(0);
    let late = with(line, json!({"invoice_id": issued["id"]}));
    shop.host.post(LINES, late).error(400, "400-constraint-violation");
}

#[test]
fn invoicing_9_4_a_one_off_draft_is_dated_anew() {
    let (shop, _) = shop();
    let item = shop.host.item("Work");
    let draft = shop.host.post(PATH, new(&item, "2026-03-20")).ok(StatusCode::CREATED);
    let dated = json!({"invoice_date": "2026-03-25"});
    let moved = shop.host.put(&path(&draft, ""), dated.clone()).ok(StatusCode::OK);
    assert_eq!(moved["invoice_date"], "2026-03-24T23:00:00.000000+00:00");
    let same = shop.host.put(&path(&draft, ""), json!({"invoice_date": null})).ok(StatusCode::OK);
    assert_eq!(same, moved);
    let of_subscription = listed(&shop.host, "?status[]=draft&is_recurring=true").remove(0);
    let refused = shop.host.put(&path(&of_subscription, ""), dated);
    refused.error(400, "400-constraint-violation");
}
