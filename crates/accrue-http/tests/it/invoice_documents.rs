//! Documents of invoices over HTTP (invoicing 4.7).

use accrue::{
    AccountId, PaymentGateway,
    invoice::{CreditNote, Invoice, PaymentAttempt, PaymentOutcome, StartedPayment},
};
use accrue_http::Documents;
use async_trait::async_trait;
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{self, listed, path, set},
    subscriptions::Shop,
    support::Host,
};

/// Addresses that show what they depend on.
struct Addresses;

impl Documents for Addresses {
    fn invoice_pdf(&self, account: &AccountId, invoice: &Invoice) -> Option<String> {
        Some(format!("{account}/{}/{}", invoice.id, invoice.document_at()?))
    }

    fn hosted_invoice(&self, account: &AccountId, invoice: &Invoice) -> Option<String> {
        Some(format!("{account}/{}", invoice.id))
    }

    fn receipt_pdf(&self, _: &AccountId, _: &Invoice, payment: &PaymentAttempt) -> Option<String> {
        Some(format!("{}/{}", payment.id, payment.document_at()?))
    }

    fn credit_note_pdf(&self, _: &AccountId, note: &CreditNote) -> Option<String> {
        Some(format!("{}", note.id))
    }
}

/// A gateway that does as the token says.
struct Gateway;

#[async_trait]
impl PaymentGateway for Gateway {
    async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome> {
        Some(match payment.instrument.token() {
            Some("declined") => PaymentOutcome::Declined { transaction_id: None },
            _ => {
                PaymentOutcome::Succeeded { received_at: payment.started_at, transaction_id: None }
            }
        })
    }
}

/// A host whose documents are not made yet.
struct Nowhere;

impl Documents for Nowhere {
    fn invoice_pdf(&self, _: &AccountId, _: &Invoice) -> Option<String> {
        None
    }

    fn hosted_invoice(&self, _: &AccountId, _: &Invoice) -> Option<String> {
        None
    }

    fn receipt_pdf(&self, _: &AccountId, _: &Invoice, _: &PaymentAttempt) -> Option<String> {
        None
    }

    fn credit_note_pdf(&self, _: &AccountId, _: &CreditNote) -> Option<String> {
        None
    }
}

#[test]
fn invoicing_4_7_a_document_that_is_not_there_is_not_renewed() {
    let host = Host::with(|builder| builder.payment_gateway(Gateway).documents(Nowhere));
    let (shop, _) = invoices::shop_on(host);
    let invoice = listed(&shop.host, "").remove(0);
    pay(&shop, &invoice, "token");
    for what in ["invoice", "receipt"] {
        let refused = renew(&shop, &invoice, what);
        refused.error(400, "400-constraint-violation");
    }
}

/// A shop with documents, and an invoice of 14.19 that was issued at noon of the 10th of March.
fn shop() -> (Shop, Value) {
    let host = Host::with(|builder| builder.payment_gateway(Gateway).documents(Addresses));
    let (shop, _) = invoices::shop_on(host);
    let invoice = listed(&shop.host, "").remove(0);
    (shop, invoice)
}

fn pay(shop: &Shop, invoice: &Value, token: &str) -> Value {
    let body = json!({"shared_payment_token_id": token});
    shop.host.post(&path(invoice, "/pay"), body).ok(StatusCode::OK)
}

fn renew(shop: &Shop, invoice: &Value, what: &str) -> crate::support::Answer {
    shop.host.call("POST", &path(invoice, &format!("/regenerate_{what}_pdf")), "")
}

#[test]
fn invoicing_4_7_answers_show_where_documents_are() {
    let (shop, invoice) = shop();
    let id = invoice["id"].as_str().unwrap();
    let pdf = format!("acme/{id}/2026-03-10T12:00:00.000000Z");
    assert_eq!(
        (&invoice["invoice_pdf"], &invoice["hosted_invoice_url"]),
        (&json!(pdf), &json!(format!("acme/{id}")))
    );
    let summary = shop.host.get("/v1/invoices/summary").ok(StatusCode::OK);
    assert_eq!(summary["data"][0]["invoice_pdf"], json!(pdf));
    let draft = listed(&shop.host, "?status[]=draft").remove(0);
    let links = [&draft["invoice_pdf"], &draft["hosted_invoice_url"]];
    assert_eq!(links, [&Value::Null; 2], "a draft has no document");
    let line = json!({"invoice_line_item_id": invoice["line_items"][0]["id"], "amount": "1"});
    let note = json!({"line_items": [line], "reason": "duplicate"});
    let note = shop.host.post("/v1/credit_notes", note).ok(StatusCode::CREATED);
    assert_eq!(note["credit_note_pdf"], note["id"]);
}

#[test]
fn invoicing_4_7_a_receipt_is_of_money_that_came() {
    let (shop, invoice) = shop();
    pay(&shop, &invoice, "declined");
    let paid = pay(&shop, &invoice, "token");
    let [declined, succeeded] = paid["payment_attempts"].as_array().unwrap().as_slice() else {
        panic!("{paid}")
    };
    assert_eq!(declined["receipt_pdf"], Value::Null);
    let receipt = format!("{}/2026-03-10T12:00:00.000000Z", succeeded["id"].as_str().unwrap());
    assert_eq!(succeeded["receipt_pdf"], receipt);
}

#[test]
fn invoicing_4_7_a_renewed_document_is_another_one() {
    let (shop, invoice) = shop();
    let paid = pay(&shop, &invoice, "token");
    set(&shop.host, "2026-03-11T00:00:00Z");
    let renewed = renew(&shop, &invoice, "invoice").ok(StatusCode::OK);
    let id = invoice["id"].as_str().unwrap();
    assert_eq!(renewed["invoice_pdf"], format!("acme/{id}/2026-03-11T00:00:00.000000Z"));
    assert_eq!(renewed["payment_attempts"], paid["payment_attempts"], "the receipt is as before");
    set(&shop.host, "2026-03-12T00:00:00Z");
    let receipt = renew(&shop, &invoice, "receipt").ok(StatusCode::OK);
    assert_eq!(receipt["invoice_pdf"], renewed["invoice_pdf"]);
    let payment = &receipt["payment_attempts"][0];
    let at = format!("{}/2026-03-12T00:00:00.000000Z", payment["id"].as_str().unwrap());
    assert_eq!(payment["receipt_pdf"], at);
    assert_eq!(shop.host.get(&path(&invoice, "")).ok(StatusCode::OK), receipt);
}

#[test]
fn invoicing_4_7_only_what_there_is_is_renewed() {
    let (shop, invoice) = shop();
    let draft = listed(&shop.host, "?status[]=draft").remove(0);
    renew(&shop, &draft, "invoice").error(400, "400-constraint-violation");
    renew(&shop, &invoice, "receipt").error(400, "400-constraint-violation");
    let payment = json!({"payment_received_date": "2026-03-10"});
    shop.host.post(&path(&invoice, "/mark_paid"), payment).ok(StatusCode::OK);
    let none = renew(&shop, &invoice, "receipt").error(400, "400-constraint-violation");
    assert!(none["detail"].as_str().unwrap().contains("no receipt"), "{none}");
    let unknown = json!({"id": "07070707-0707-7707-8707-070707070707"});
    for what in ["invoice", "receipt"] {
        renew(&shop, &unknown, what).error(404, "404-resource-not-found");
    }
}

#[test]
fn invoicing_4_7_a_void_invoice_is_renewed_too() {
    let (shop, invoice) = shop();
    shop.host.call("POST", &path(&invoice, "/void"), "").ok(StatusCode::OK);
    renew(&shop, &invoice, "invoice").ok(StatusCode::OK);
}

#[test]
fn invoicing_4_7_without_documents_the_feature_is_not_available() {
    let (shop, _) = invoices::shop();
    let invoice = listed(&shop.host, "").remove(0);
    assert_eq!(invoice["invoice_pdf"], Value::Null);
    for what in ["invoice", "receipt"] {
        let error = renew(&shop, &invoice, what).error(404, "404-feature-not-available");
        assert_eq!(error["status"], 400);
    }
}
