//! Payment methods of customers over HTTP (invoicing 16.2).

use std::{
    error::Error,
    sync::{Arc, Mutex},
};

use accrue::{
    ExternalId,
    customer::{GatewayAccount, ListedPaymentMethod, PaymentMethodType},
    store::MemoryStore,
};
use accrue_conformance::{Calls, Fault, FaultyStore};
use accrue_http::PaymentMethodSource;
use async_trait::async_trait;
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, Host};

const EXTERNAL: &str = "/v1/customers/external_customer_id/ada/sync_payment_methods_from_gateway";

/// A gateway that lists what it is told to, or is down, and remembers whom it was asked for.
#[derive(Clone, Default)]
struct Wallet(Arc<State>);

#[derive(Default)]
struct State {
    listed: Mutex<Option<Vec<ListedPaymentMethod>>>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl PaymentMethodSource for Wallet {
    async fn list(
        &self,
        of: &GatewayAccount,
    ) -> Result<Vec<ListedPaymentMethod>, Box<dyn Error + Send + Sync>> {
        self.0.asked.lock().unwrap().push(of.provider_id.to_string());
        self.0.listed.lock().unwrap().clone().ok_or_else(|| "the gateway is down".into())
    }
}

impl Wallet {
    /// Lists cards, the first one for the default.
    fn has(&self, ids: &[&str]) {
        let card = |(place, id): (usize, &&str)| ListedPaymentMethod {
            external_id: ExternalId::parse(*id).unwrap(),
            method_type: PaymentMethodType::Card,
            is_default: place == 0,
        };
        *self.0.listed.lock().unwrap() = Some(ids.iter().enumerate().map(card).collect());
    }

    fn is_down(&self) {
        *self.0.listed.lock().unwrap() = None;
    }

    fn asked(&self) -> Vec<String> {
        self.0.asked.lock().unwrap().clone()
    }
}

/// A customer whose gateway lists two cards.
struct Purse {
    host: Host,
    wallet: Wallet,
    store: Arc<FaultyStore<MemoryStore>>,
    id: String,
}

impl Purse {
    fn new() -> Self {
        let (wallet, store) = (Wallet::default(), Arc::new(FaultyStore::new(MemoryStore::new())));
        wallet.has(&["pm_1", "pm_2"]);
        let set_up = |builder: accrue_http::ApiBuilder| builder.payment_methods(wallet.clone());
        let host = Host::over_with(Arc::clone(&store), set_up);
        let ada = json!({
            "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada",
            "payment_provider": "stripe_charge", "payment_provider_id": "cus_1",
        });
        let ada = host.post("/v1/customers", ada).ok(StatusCode::CREATED);
        Self { host, wallet, store, id: ada["id"].as_str().unwrap().to_owned() }
    }

    fn path(&self) -> String {
        format!("/v1/customers/{}/sync_payment_methods_from_gateway", self.id)
    }

    fn sync(&self) -> Answer {
        self.host.call("POST", &self.path(), "")
    }

    fn keyed(&self, key: &str) -> Answer {
        self.host.keyed("POST", &self.path(), key, json!({}))
    }

    fn update(&self, body: Value) -> Answer {
        self.host.put(&format!("/v1/customers/{}", self.id), body)
    }

    fn default_method(&self) -> Value {
        let ada = self.host.get(&format!("/v1/customers/{}", self.id)).ok(StatusCode::OK);
        ada["default_payment_method"].clone()
    }
}

#[test]
fn invoicing_16_2_a_customer_shows_its_default() {
    let purse = Purse::new();
    assert_eq!(purse.default_method(), Value::Null);
    let answer = purse.sync();
    answer.ok(StatusCode::NO_CONTENT);
    assert_eq!((answer.bytes.len(), purse.wallet.asked()), (0, vec!["cus_1".to_owned()]));
    let mut shown = purse.default_method();
    let id = shown["id"].take();
    assert!(id.is_string());
    let expected = json!({
        "id": null, "payment_method_type": "card", "provider_type": "stripe",
        "external_payment_method_id": "pm_1", "customer_id": purse.id, "default": true,
        "created_at": "2026-03-10T12:00:00.000000+00:00",
    });
    assert_eq!(shown, expected);
    // By the other name, and another default.
    purse.wallet.has(&["pm_2"]);
    purse.host.post(EXTERNAL, json!({})).ok(StatusCode::NO_CONTENT);
    assert_eq!(purse.default_method()["external_payment_method_id"], "pm_2");
}

#[test]
fn wire_4_3_the_default_is_chosen_and_cleared() {
    let purse = Purse::new();
    purse.sync().ok(StatusCode::NO_CONTENT);
    let first = purse.default_method()["id"].clone();
    purse.wallet.has(&["pm_2", "pm_1"]);
    purse.sync().ok(StatusCode::NO_CONTENT);
    assert_ne!(purse.default_method()["id"], first);
    let chosen = purse.update(json!({"default_payment_method_id": first})).ok(StatusCode::OK);
    assert_eq!(chosen["default_payment_method"]["id"], first);
    let other = purse.update(json!({"name": "Ada L."})).ok(StatusCode::OK);
    assert_eq!(other["default_payment_method"], chosen["default_payment_method"]);
    for unknown in ["07070707-0707-7707-8707-070707070707", "x"] {
        let refused = purse.update(json!({"default_payment_method_id": unknown}));
        refused.error(404, "404-resource-not-found");
    }
    let wrong = purse.update(json!({"default_payment_method_id": 7}));
    wrong.error(400, "400-request-validation-errors");
    let cleared = purse.update(json!({"default_payment_method_id": null})).ok(StatusCode::OK);
    assert_eq!(cleared["default_payment_method"], Value::Null);
}

#[test]
fn invoicing_16_2_without_a_source_the_feature_is_not_available() {
    let host = Host::new();
    let ada = json!({
        "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada",
        "payment_provider": "stripe_charge", "payment_provider_id": "cus_1",
    });
    host.post("/v1/customers", ada).ok(StatusCode::CREATED);
    let error = host.post(EXTERNAL, json!({})).error(404, "404-feature-not-available");
    assert_eq!(error["status"], 400);
}

#[test]
fn invoicing_16_2_a_customer_without_a_gateway_is_refused() {
    let purse = Purse::new();
    for provider in [json!(null), json!("stripe_invoice"), json!("quickbooks")] {
        purse.update(json!({"payment_provider": provider})).ok(StatusCode::OK);
        purse.sync().error(400, "400-constraint-violation");
    }
    let unknown = "/v1/customers/external_customer_id/eve/sync_payment_methods_from_gateway";
    purse.host.post(unknown, json!({})).error(404, "404-resource-not-found");
    purse
        .host
        .post(&purse.path(), json!({"all": true}))
        .error(400, "400-request-validation-errors");
    assert_eq!(purse.wallet.asked(), Vec::<String>::new(), "nobody is asked");
}

#[test]
fn s4_5_6_a_sync_is_answered_as_the_first_time() {
    let purse = Purse::new();
    let first = purse.keyed("k");
    first.is_fresh().ok(StatusCode::NO_CONTENT);
    purse.wallet.has(&["pm_9"]);
    purse.keyed("k").replays(&first);
    assert_eq!(purse.wallet.asked().len(), 1, "a retry asks nobody");
    assert_eq!(purse.default_method()["external_payment_method_id"], "pm_1");
    purse.keyed("other").is_fresh().ok(StatusCode::NO_CONTENT);
    assert_eq!(purse.default_method()["external_payment_method_id"], "pm_9");
    purse.host.keyed("POST", EXTERNAL, "k", json!({})).is_reused();
}

#[test]
fn invoicing_18_a_sync_that_is_refused_is_a_stored_answer() {
    let purse = Purse::new();
    purse.update(json!({"payment_provider_id": null})).ok(StatusCode::OK);
    let first = purse.keyed("k");
    first.is_fresh().error(400, "400-constraint-violation");
    purse.update(json!({"payment_provider_id": "cus_1"})).ok(StatusCode::OK);
    purse.keyed("k").replays(&first);
    assert_eq!(purse.default_method(), Value::Null);
}

#[test]
fn s4_5_10_a_gateway_that_is_down_is_asked_again() {
    let purse = Purse::new();
    purse.wallet.is_down();
    purse.keyed("k").failed(None);
    assert_eq!(purse.default_method(), Value::Null);
    purse.wallet.has(&["pm_1"]);
    purse.keyed("k").is_fresh().ok(StatusCode::NO_CONTENT);
    assert_eq!(purse.wallet.asked().len(), 2);
}

#[test]
fn s4_5_10_a_sync_whose_outcome_is_lost_has_happened_once() {
    for fault in [Fault::Lost, Fault::Dropped, Fault::Refused] {
        let purse = Purse::new();
        purse.store.fail_nth(Calls::Commits, purse.store.calls(Calls::Commits), fault);
        if fault != Fault::Lost {
            purse.keyed("k").failed(Some("true"));
        }
        let first = purse.keyed("k");
        first.is_fresh().ok(StatusCode::NO_CONTENT);
        purse.keyed("k").replays(&first);
        let waiting = pollster::block_on(purse.host.account().list_messages(&Default::default()));
        let types: Vec<_> = waiting.unwrap().data.iter().map(|of| of.message_type()).collect();
        let created = "payment_method.created";
        assert_eq!(types, ["customer.created", created, created], "{fault:?}");
        assert_eq!(purse.default_method()["external_payment_method_id"], "pm_1");
    }
}

#[test]
fn what_a_gateway_lists_wrongly_is_no_fault_of_the_client() {
    let purse = Purse::new();
    purse.wallet.has(&["pm_1", "pm_1"]);
    purse.sync().failed(None);
    purse.keyed("k").failed(None);
    purse.wallet.has(&["pm_1"]);
    purse.keyed("k").is_fresh().ok(StatusCode::NO_CONTENT);
}
