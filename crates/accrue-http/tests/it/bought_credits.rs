//! Credits that are bought, and top-ups, over HTTP (invoicing 13).

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, Host};

const EXTERNAL: &str = "/v1/customers/external_customer_id/ada/credits";
const VALIDATION: &str = "400-request-validation-errors";

/// A customer in Berlin that is invoiced in euros.
fn host() -> (Host, String) {
    let host = Host::new();
    let new = json!({
        "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada",
        "timezone": "Europe/Berlin", "currency": "EUR",
    });
    let ada = host.post("/v1/customers", new).ok(StatusCode::CREATED);
    let credits = format!("/v1/customers/{}/credits", ada["id"].as_str().unwrap());
    (host, credits)
}

fn bought(settings: Value) -> Value {
    json!({
        "entry_type": "increment", "amount": 333.333, "per_unit_cost_basis": "0.015",
        "invoice_settings": settings,
    })
}

fn top_up(more: Value) -> Value {
    let mut new = json!({
        "currency": "credits", "threshold": "5", "amount": "50.5", "per_unit_cost_basis": "1.00",
        "invoice_settings": {"auto_collection": false, "net_terms": 30, "other": 1},
    });
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    new
}

fn delete(host: &Host, path: &str) -> Answer {
    host.call("DELETE", path, ())
}

#[test]
fn invoicing_13_1_an_entry_answers_its_invoice() {
    let (host, credits) = host();
    // Keys that nobody knows are tolerated here.
    let settings = json!({
        "auto_collection": false, "custom_due_date": "2026-04-01", "memo": "thanks", "other": 1,
        "invoice_date": "2026-03-10", "require_successful_payment": true,
    });
    let entry = host.post(&format!("{credits}/ledger_entry"), bought(settings));
    let entry = entry.ok(StatusCode::CREATED);
    assert_eq!((&entry["entry_status"], &entry["ending_balance"]), (&json!("pending"), &json!(0)));
    let [invoice] = entry["created_invoices"].as_array().unwrap().as_slice() else {
        panic!("{entry}")
    };
    let id = invoice["id"].as_str().unwrap();
    assert_eq!(*invoice, host.get(&format!("/v1/invoices/{id}")).ok(StatusCode::OK));
    assert_eq!((&invoice["total"], &invoice["status"]), (&json!("5.00"), &json!("issued")));
    assert_eq!(invoice["due_date"], "2026-03-31T22:00:00.000000+00:00");
    assert_eq!(invoice["line_items"][0]["price"]["item"]["name"], "Credits");

    let block = entry["credit_block"]["id"].as_str().unwrap();
    let found = host.get(&format!("/v1/credit_blocks/{block}/invoices")).ok(StatusCode::OK);
    let shown = host.get(&format!("/v1/credit_blocks/{block}")).ok(StatusCode::OK);
    let minified = json!({
        "id": id, "invoice_number": invoice["invoice_number"], "status": "issued",
        "customer": invoice["customer"], "subscription": null,
    });
    assert_eq!(found, json!({"block": shown, "invoices": [minified]}));
    assert_eq!((&shown["status"], &shown["balance"]), (&json!("pending_payment"), &json!(333.333)));
    assert_eq!(host.walk(&credits), [shown]);
    let listed = host.walk(&format!("{credits}/ledger"));
    assert_eq!((&listed[0]["id"], &listed[0]["created_invoices"]), (&entry["id"], &Value::Null));

    let payment = json!({"payment_received_date": "2026-03-10"});
    host.post(&format!("/v1/invoices/{id}/mark_paid"), payment).ok(StatusCode::OK);
    let shown = host.get(&format!("/v1/credit_blocks/{block}")).ok(StatusCode::OK);
    assert_eq!(shown["status"], "active");
    delete(&host, &format!("/v1/credit_blocks/{block}")).ok(StatusCode::NO_CONTENT);
    let gone = host.get(&format!("/v1/credit_blocks/{block}/invoices"));
    gone.error(404, "404-resource-not-found");
}

#[test]
fn invoicing_13_1_settings_and_price_belong_together() {
    let (host, credits) = host();
    let path = format!("{credits}/ledger_entry");
    let terms = json!({"auto_collection": false, "net_terms": 1});
    let bad = [
        json!({"entry_type": "increment", "amount": 1, "per_unit_cost_basis": "0.1"}),
        json!({"entry_type": "increment", "amount": 1, "invoice_settings": terms}),
        bought(json!({"auto_collection": false})),
        bought(json!({"net_terms": 1})),
        bought(json!({"auto_collection": false, "net_terms": 1, "custom_due_date": "2026-04-01"})),
    ];
    for new in bad {
        host.post(&path, new).error(400, VALIDATION);
    }
    let free = json!({
        "entry_type": "increment", "amount": 1, "per_unit_cost_basis": "0", "invoice_settings": terms,
    });
    let free = host.post(&format!("{EXTERNAL}/ledger_entry"), free).ok(StatusCode::CREATED);
    assert_eq!(free["created_invoices"], Value::Null);
}

#[test]
fn invoicing_13_4_top_ups_are_made_listed_and_deleted() {
    let (host, credits) = host();
    let path = format!("{credits}/top_ups");
    let more = json!({
        "expires_after": 1, "expires_after_unit": "month", "active_from": "2026-03-01",
    });
    let made = host.post(&path, top_up(more)).ok(StatusCode::CREATED);
    let expected = json!({
        "id": made["id"], "currency": "credits", "threshold": "5.00", "amount": "50.50",
        "per_unit_cost_basis": "1.00",
        "invoice_settings": {
            "auto_collection": false, "net_terms": 30, "memo": null,
            "require_successful_payment": false,
        },
        "expires_after": 1, "expires_after_unit": "month",
    });
    assert_eq!(made, expected);
    let blocks = host.walk(&credits);
    assert_eq!(blocks[0]["credit_block_source"], "top_up");
    assert_eq!(blocks[0]["expiry_date"], "2026-04-09T22:00:00.000000+00:00");
    let second = host.post(&format!("{EXTERNAL}/top_ups"), top_up(json!({})));
    let second = second.ok(StatusCode::CREATED);
    assert_eq!(host.walk(&path), std::slice::from_ref(&second));
    assert_eq!(host.walk(&format!("{EXTERNAL}/top_ups")), std::slice::from_ref(&second));
    let second = second["id"].as_str().unwrap();
    delete(&host, &format!("{path}/{second}")).ok(StatusCode::NO_CONTENT);
    delete(&host, &format!("{path}/{second}")).error(404, "404-resource-not-found");
    delete(&host, &format!("{EXTERNAL}/top_ups/{second}")).error(404, "404-resource-not-found");
    assert_eq!(host.walk(&path), Vec::<Value>::new());
}

#[test]
fn invoicing_13_4_what_a_top_up_is_not_made_of() {
    let (host, credits) = host();
    let path = format!("{credits}/top_ups");
    let bad = [
        json!({"threshold": "-1"}),
        json!({"amount": "0"}),
        json!({"amount": 5}),
        json!({"other": 1}),
        json!({"expires_after": 1}),
        json!({"expires_after_unit": "day"}),
        json!({"active_from": "2026-02-01"}),
        json!({"invoice_settings": {"auto_collection": true}}),
    ];
    for more in bad {
        host.post(&path, top_up(more)).error(400, VALIDATION);
    }
    let dollars = host.post(&path, top_up(json!({"currency": "USD"})));
    dollars.error(400, "400-constraint-violation");
}
