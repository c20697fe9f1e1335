//! Payments of invoices by a gateway over HTTP (invoicing 8.4).

use std::{
    future::{pending, ready},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use accrue::{
    PaymentGateway,
    invoice::{PaymentOutcome, StartedPayment},
    store::MemoryStore,
};
use accrue_conformance::{Calls, Fault, FaultyStore};
use async_trait::async_trait;
use http::StatusCode;
use pollster::block_on;
use serde_json::{Value, json};

use crate::{
    invoices::{self, listed, path, set},
    subscriptions::Shop,
    support::{Answer, Host, request},
};

const NOW: &str = "2026-03-10T12:00:00.000000+00:00";

/// A gateway that does as the token says, and remembers which attempts it was asked for.
#[derive(Clone, Default)]
struct Gateway(Arc<State>);

#[derive(Default)]
struct State {
    asked: Mutex<Vec<String>>,
    is_down: AtomicBool,
}

#[async_trait]
impl PaymentGateway for Gateway {
    async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome> {
        self.0.asked.lock().unwrap().push(payment.attempt_id.to_string());
        if self.0.is_down.load(Ordering::Relaxed) {
            pending::<()>().await;
        }
        let transaction_id = Some("pi_1".to_owned());
        let received_at = payment.started_at;
        match payment.instrument.token() {
            Some("declined") => Some(PaymentOutcome::Declined { transaction_id }),
            Some("unknown") => None,
            Some("odd") => {
                let transaction_id = Some("x".repeat(501));
                Some(PaymentOutcome::Succeeded { received_at, transaction_id })
            }
            _ => Some(PaymentOutcome::Succeeded { received_at, transaction_id }),
        }
    }
}

impl Gateway {
    fn asked(&self) -> Vec<String> {
        self.0.asked.lock().unwrap().clone()
    }
}

/// A shop with a gateway, and an invoice of 14.19 that is issued.
struct Till {
    shop: Shop,
    gateway: Gateway,
    store: Arc<FaultyStore<MemoryStore>>,
    invoice: Value,
}

impl Till {
    fn new() -> Self {
        let gateway = Gateway::default();
        let store = Arc::new(FaultyStore::new(MemoryStore::new()));
        let host =
            Host::over_with(Arc::clone(&store), |builder| builder.payment_gateway(gateway.clone()));
        let (shop, _) = invoices::shop_on(host);
        let invoice = listed(&shop.host, "").remove(0);
        Self { shop, gateway, store, invoice }
    }

    fn pay(&self, token: &str) -> Answer {
        let body = json!({"shared_payment_token_id": token});
        self.shop.host.post(&path(&self.invoice, "/pay"), body)
    }

    fn keyed(&self, key: &str, token: &str) -> Answer {
        let body = json!({"shared_payment_token_id": token});
        self.shop.host.keyed("POST", &path(&self.invoice, "/pay"), key, body)
    }

    /// Lets the last commit of the next payment fail: that of what the gateway says.
    fn fail_report(&self, fault: Fault) {
        let smooth = Self::new();
        let commits = || smooth.store.calls(Calls::Commits);
        let before = commits();
        smooth.keyed("k", "token").ok(StatusCode::OK);
        let last = commits() - before - 1;
        self.store.fail_nth(Calls::Commits, self.store.calls(Calls::Commits) + last, fault);
    }

    fn fetch(&self) -> Value {
        self.shop.host.get(&path(&self.invoice, "")).ok(StatusCode::OK)
    }
}

#[test]
fn invoicing_8_4_what_the_gateway_charges_at_once_is_paid() {
    let till = Till::new();
    assert_eq!(till.invoice["auto_collection"]["enabled"], false, "it is paid by hand");
    let paid = till.pay("token").ok(StatusCode::OK);
    assert_eq!((&paid["status"], &paid["paid_at"]), (&json!("paid"), &json!(NOW)));
    assert_eq!(paid["payment_started_at"], NOW);
    let [attempt] = paid["payment_attempts"].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!((&attempt["succeeded"], &attempt["amount"]), (&json!(true), &json!("14.19")));
    assert_eq!(attempt["payment_provider_id"], "pi_1");
    assert_eq!(till.gateway.asked(), [attempt["id"].as_str().unwrap()]);
    assert_eq!(till.fetch(), paid);
}

#[test]
fn invoicing_8_4_what_is_declined_is_paid_by_another_attempt() {
    let till = Till::new();
    let declined = till.pay("declined").ok(StatusCode::OK);
    assert_eq!(
        (&declined["status"], &declined["payment_failed_at"]),
        (&json!("issued"), &json!(NOW))
    );
    assert_eq!(declined["payment_attempts"][0]["succeeded"], false);
    assert_eq!(declined["auto_collection"]["next_attempt_at"], Value::Null, "nor is it retried");
    let paid = till.pay("token").ok(StatusCode::OK);
    let succeeded: Vec<_> = paid["payment_attempts"].as_array().unwrap().iter().collect();
    assert_eq!((&paid["status"], succeeded.len()), (&json!("paid"), 2));
}

#[test]
fn invoicing_8_4_without_a_token_the_customer_pays_as_always() {
    let till = Till::new();
    let ada = till.shop.customer["id"].as_str().unwrap();
    let provider = json!({"payment_provider": "stripe_charge", "payment_provider_id": "cus_1"});
    let pay = path(&till.invoice, "/pay");
    let host = &till.shop.host;
    host.call("POST", &pay, "").error(400, "400-constraint-violation");
    host.put(&format!("/v1/customers/{ada}"), provider).ok(StatusCode::OK);
    let paid = host.post(&pay, json!({"shared_payment_token_id": null})).ok(StatusCode::OK);
    assert_eq!(paid["payment_attempts"][0]["payment_provider"], "stripe");
}

#[test]
fn invoicing_8_4_what_the_gateway_does_not_know_yet_is_under_way() {
    let till = Till::new();
    let begun = till.pay("unknown").ok(StatusCode::OK);
    assert_eq!((&begun["status"], &begun["payment_started_at"]), (&json!("issued"), &json!(NOW)));
    assert_eq!(begun["payment_attempts"], json!([]));
    till.pay("token").error(400, "400-constraint-violation");
    let account = till.shop.host.account();
    assert_eq!(block_on(account.collect_payments(&till.gateway)).unwrap(), 0);
    assert_eq!(till.gateway.asked().len(), 2, "the host asks for it again");
    assert_eq!(till.fetch(), begun);
}

#[test]
fn invoicing_8_4_only_what_is_issued_is_paid() {
    let till = Till::new();
    let host = &till.shop.host;
    let draft = listed(host, "?status[]=draft").remove(0);
    let token = json!({"shared_payment_token_id": "token"});
    host.post(&path(&draft, "/pay"), token.clone()).error(400, "400-constraint-violation");
    let unknown = json!({"id": "07070707-0707-7707-8707-070707070707"});
    host.post(&path(&unknown, "/pay"), token).error(404, "404-resource-not-found");
    let pay = path(&till.invoice, "/pay");
    for wrong in [
        json!({"shared_payment_token_id": 7}),
        json!({"shared_payment_token_id": "x".repeat(501)}),
        json!({"token": "token"}),
    ] {
        host.post(&pay, wrong).error(400, "400-request-validation-errors");
    }
    till.pay("token").ok(StatusCode::OK);
    till.pay("token").error(400, "400-constraint-violation");
    assert_eq!(till.gateway.asked().len(), 1);
}

#[test]
fn invoicing_8_4_without_a_gateway_the_feature_is_not_available() {
    let (shop, _) = invoices::shop();
    set(&shop.host, "2026-04-02T00:00:00Z");
    let invoice = listed(&shop.host, "").remove(0);
    let token = json!({"shared_payment_token_id": "token"});
    let error = shop.host.post(&path(&invoice, "/pay"), token);
    assert_eq!(error.error(404, "404-feature-not-available")["status"], 400);
    let same = shop.host.get(&path(&invoice, "")).ok(StatusCode::OK);
    assert_eq!(same["payment_started_at"], Value::Null);
}

#[test]
fn s4_5_6_a_payment_is_answered_as_the_first_time() {
    for token in ["token", "declined", "unknown"] {
        let till = Till::new();
        let first = till.keyed("k", token);
        first.is_fresh().ok(StatusCode::OK);
        let asked = till.gateway.asked();
        till.keyed("k", token).replays(&first);
        till.keyed("k", "another").is_reused();
        assert_eq!((till.gateway.asked(), asked.len()), (asked, 1), "{token}");
    }
}

#[test]
fn invoicing_18_a_payment_that_is_refused_is_a_stored_answer() {
    let till = Till::new();
    let pay = path(&till.invoice, "/pay");
    let host = &till.shop.host;
    let first = host.keyed("POST", &pay, "k", json!({}));
    first.is_fresh().error(400, "400-constraint-violation");
    let ada = till.shop.customer["id"].as_str().unwrap();
    let provider = json!({"payment_provider": "stripe_charge", "payment_provider_id": "cus_1"});
    host.put(&format!("/v1/customers/{ada}"), provider).ok(StatusCode::OK);
    host.keyed("POST", &pay, "k", json!({})).replays(&first);
    assert_eq!(till.gateway.asked(), Vec::<String>::new());
}

#[test]
fn s4_5_10_a_payment_whose_time_was_over_goes_on() {
    let till = Till::new();
    till.gateway.0.is_down.store(true, Ordering::Relaxed);
    let body = json!({"shared_payment_token_id": "token"});
    let pay = path(&till.invoice, "/pay");
    let send = || request("POST", &pay, body.clone().into(), &[("idempotency-key", "k")]);
    let late = Answer::of(block_on(till.shop.host.api.handle_until(send(), ready(()))));
    late.error(500, "500-internal-server-error");
    assert_eq!(late.header("transient-error"), Some("true"));
    assert_eq!((&till.fetch()["status"], till.gateway.asked().len()), (&json!("issued"), 1));
    till.gateway.0.is_down.store(false, Ordering::Relaxed);
    let first = till.keyed("k", "token");
    assert_eq!(first.is_fresh().ok(StatusCode::OK)["status"], "paid");
    let [one, again] = till.gateway.asked().try_into().unwrap();
    assert_eq!(one, again, "it is charged once");
    till.keyed("k", "token").replays(&first);
}

#[test]
fn s4_5_10_a_payment_that_was_collected_meanwhile_is_answered_as_it_is() {
    let till = Till::new();
    till.fail_report(Fault::Refused);
    till.keyed("k", "token").failed(Some("true"));
    let account = till.shop.host.account();
    assert_eq!(block_on(account.collect_payments(&till.gateway)).unwrap(), 1);
    let first = till.keyed("k", "token");
    assert_eq!(first.is_fresh().ok(StatusCode::OK)["status"], "paid");
    assert_eq!(till.gateway.asked().len(), 2, "nobody is asked for what is paid");
    till.keyed("k", "token").replays(&first);
}

#[test]
fn s4_5_10_an_outcome_that_nobody_knows_is_looked_up() {
    let till = Till::new();
    till.fail_report(Fault::Lost);
    let first = till.keyed("k", "token");
    assert_eq!(first.is_fresh().ok(StatusCode::OK)["status"], "paid");
    till.keyed("k", "token").replays(&first);

    let till = Till::new();
    till.fail_report(Fault::Dropped);
    till.keyed("k", "token").failed(Some("true"));
    assert_eq!(till.keyed("k", "token").is_fresh().ok(StatusCode::OK)["status"], "paid");
}

#[test]
fn what_a_gateway_says_wrongly_is_no_fault_of_the_client() {
    let till = Till::new();
    till.pay("odd").failed(None);
    assert_eq!(till.fetch()["payment_started_at"], NOW, "it is under way");
    let till = Till::new();
    till.keyed("k", "odd").failed(None);
    till.keyed("k", "odd").failed(None);
    assert_eq!(till.gateway.asked().len(), 2);
}
