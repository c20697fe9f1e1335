//! Taxes of invoices over HTTP (invoicing 4.5, 9.5, 16.1).

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use accrue::{
    Decimal, Name, TaxProvider,
    invoice::{TaxAmount, TaxOutcome, TaxReason, TaxRequest},
};
use async_trait::async_trait;
use http::StatusCode;
use pollster::block_on;
use serde_json::{Value, json};

use crate::{
    invoices::{self, listed, path, set},
    subscriptions::Shop,
    support::Host,
};

/// What the provider answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mood {
    #[default]
    Taxes,
    Refuses,
    Thinks,
}

/// A fifth of everything, or what its mood says.
#[derive(Clone, Default)]
struct Vat(Arc<State>);

#[derive(Default)]
struct State {
    asked: AtomicUsize,
    mood: Mutex<Mood>,
}

impl Vat {
    fn asked(&self) -> usize {
        self.0.asked.load(Ordering::Relaxed)
    }

    fn set(&self, mood: Mood) {
        *self.0.mood.lock().unwrap() = mood;
    }
}

#[async_trait]
impl TaxProvider for Vat {
    async fn calculate(&self, request: &TaxRequest) -> Option<TaxOutcome> {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
        let mood = *self.0.mood.lock().unwrap();
        let fifth = Decimal::parse("0.2").unwrap();
        match mood {
            Mood::Taxes => {
                let taxes = request.lines.iter().map(|line| {
                    let tax = TaxAmount {
                        description: Name::parse("VAT").unwrap(),
                        percentage: Some(Decimal::from(20)),
                        amount: &line.amount * &fifth,
                        reason: Some(TaxReason::Taxed),
                    };
                    (line.id, vec![tax])
                });
                Some(TaxOutcome::Calculated(taxes.collect()))
            }
            Mood::Refuses => Some(TaxOutcome::Refused { reason: "no address".to_owned() }),
            Mood::Thinks => None,
        }
    }
}

/// A shop that is taxed, with a draft of a one-off invoice of 45.00.
fn taxed() -> (Shop, Vat, Value) {
    let vat = Vat::default();
    let host = Host::with(|builder| builder.tax_provider(vat.clone()));
    let (shop, _) = invoices::shop_on(host);
    let account = shop.host.account();
    let mut configuration = block_on(account.configuration()).unwrap();
    configuration.calculates_taxes = true;
    block_on(account.configure(configuration)).unwrap();
    let draft = draft(&shop, false);
    (shop, vat, draft)
}

fn draft(shop: &Shop, will_auto_issue: bool) -> Value {
    let new = json!({
        "customer_id": shop.customer["id"], "currency": "EUR", "net_terms": 0,
        "invoice_date": "2026-03-10T00:00:00Z", "will_auto_issue": will_auto_issue,
        "line_items": [{
            "name": "Setup", "item_id": shop.host.item("Setup"), "model_type": "unit", "quantity": 1,
            "unit_config": {"unit_amount": "45.00"},
            "start_date": "2026-03-01", "end_date": "2026-03-10",
        }],
    });
    shop.host.post("/v1/invoices", new).ok(StatusCode::CREATED)
}

fn summary(draft: &Value) -> String {
    format!("/v1/invoices/summary/{}/issue", draft["id"].as_str().unwrap())
}

#[test]
fn invoicing_16_1_what_is_issued_by_a_request_is_taxed_within_it() {
    let (shop, vat, draft) = taxed();
    assert_eq!(draft["line_items"][0]["tax_amounts"], json!([]));
    assert_eq!(vat.asked(), 0, "a draft costs no call of the provider (U61)");
    let issued = shop.host.post(&path(&draft, "/issue"), json!({})).ok(StatusCode::OK);
    assert_eq!((&issued["status"], &issued["total"]), (&json!("issued"), &json!("54.00")));
    assert_eq!(issued["line_items"][0]["amount"], "45.00");
    assert_eq!(
        issued["line_items"][0]["tax_amounts"],
        json!([{
            "tax_rate_description": "VAT", "tax_rate_percentage": "20", "amount": "9.00",
            "tax_reason": "taxed",
        }])
    );
    assert_eq!(shop.host.get(&path(&draft, "")).ok(StatusCode::OK), issued);
    shop.host.post(&path(&draft, "/issue"), json!({})).error(400, "400-constraint-violation");
    assert_eq!(vat.asked(), 1);
}

#[test]
fn invoicing_4_5_a_refusal_is_answered_and_another_call_tries_again() {
    let (shop, vat, draft) = taxed();
    vat.set(Mood::Refuses);
    let issue = path(&draft, "/issue");
    let refused = shop.host.keyed("POST", &issue, "one", json!({}));
    let error = refused.error(400, "400-constraint-violation");
    assert!(
        error.to_string().contains("the tax of the invoice was refused: no address"),
        "{error}"
    );
    let failed = shop.host.get(&path(&draft, "")).ok(StatusCode::OK);
    assert_eq!(failed["status"], "draft");
    assert_eq!(failed["issue_failed_at"], "2026-03-10T12:00:00.000000+00:00");
    vat.set(Mood::Taxes);
    shop.host.keyed("POST", &issue, "one", json!({})).error(400, "400-constraint-violation");
    assert_eq!(vat.asked(), 1, "the same request has its answer");
    let issued = shop.host.keyed("POST", &issue, "two", json!({})).ok(StatusCode::OK);
    assert_eq!(issued["total"], "54.00");
    assert_eq!(issued["issue_failed_at"], failed["issue_failed_at"], "it is kept");
    assert_eq!(shop.host.keyed("POST", &issue, "two", json!({})).ok(StatusCode::OK), issued);
    assert_eq!(vat.asked(), 2);
}

#[test]
fn invoicing_16_1_what_is_not_known_yet_waits() {
    let (shop, vat, draft) = taxed();
    vat.set(Mood::Thinks);
    let issue = summary(&draft);
    let waits = shop.host.post(&path(&draft, "/issue"), json!({})).ok(StatusCode::OK);
    assert_eq!((&waits["status"], &waits["total"]), (&json!("draft"), &json!("45.00")));
    vat.set(Mood::Taxes);
    assert_eq!(block_on(shop.host.account().calculate_taxes(&vat)).unwrap(), 1);
    let found = shop.host.get(&path(&draft, "")).ok(StatusCode::OK);
    assert_eq!((&found["status"], &found["total"]), (&json!("issued"), &json!("54.00")));
    shop.host.post(&issue, json!({})).error(400, "400-constraint-violation");
}

#[test]
fn invoicing_16_1_what_is_issued_by_itself_waits_for_the_host() {
    let (shop, vat, _) = taxed();
    let waits = draft(&shop, true);
    assert_eq!((&waits["status"], &waits["will_auto_issue"]), (&json!("draft"), &json!(true)));
    assert_eq!(vat.asked(), 0);
    assert_eq!(block_on(shop.host.account().calculate_taxes(&vat)).unwrap(), 1);
    let found = shop.host.get(&path(&waits, "")).ok(StatusCode::OK);
    assert_eq!((&found["status"], &found["amount_due"]), (&json!("issued"), &json!("54.00")));
}

#[test]
fn invoicing_16_1_without_a_provider_it_waits_too() {
    let (shop, _) = invoices::shop_on(Host::new());
    let account = shop.host.account();
    let mut configuration = block_on(account.configuration()).unwrap();
    configuration.calculates_taxes = true;
    block_on(account.configure(configuration)).unwrap();
    let draft = draft(&shop, false);
    let waits = shop.host.post(&path(&draft, "/issue"), json!({})).ok(StatusCode::OK);
    assert_eq!(waits["status"], "draft");
    assert_eq!(block_on(account.calculate_taxes(&Vat::default())).unwrap(), 1);
}

#[test]
fn invoicing_10_4_a_credit_note_has_its_share_of_the_tax() {
    let (shop, _, draft) = taxed();
    let issued = shop.host.post(&summary(&draft), json!({})).ok(StatusCode::OK);
    assert_eq!(issued["total"], "54.00");
    let invoice = shop.host.get(&path(&draft, "")).ok(StatusCode::OK);
    let line = json!({
        "invoice_line_item_id": invoice["line_items"][0]["id"], "amount": "15.00",
    });
    let note = json!({"line_items": [line], "reason": "duplicate"});
    let note = shop.host.post("/v1/credit_notes", note).ok(StatusCode::CREATED);
    assert_eq!((&note["subtotal"], &note["total"]), (&json!("15.00"), &json!("18.00")));
    assert_eq!(note["line_items"][0]["tax_amounts"][0]["amount"], "3.00");
    let left = shop.host.get(&path(&draft, "")).ok(StatusCode::OK);
    assert_eq!(left["amount_due"], "36.00");
    assert_eq!(listed(&shop.host, "").len(), 2);
    set(&shop.host, "2026-03-11T00:00:00Z");
}
