//! Specification §4.5 over HTTP, clause by clause.

use std::{thread, time::Duration};

use accrue_conformance::{Calls, Fault, FaultyStore};
use http::StatusCode;
use serde_json::json;

use crate::{
    stores::HookedStore,
    support::{Host, keyed_request},
};
use accrue::store::MemoryStore;
use std::sync::Arc;

const HOURS_48: Duration = Duration::from_secs(48 * 60 * 60);

#[test]
fn s4_5_1_a_key_may_be_sent_on_any_post_or_patch_and_need_not() {
    let host = Host::new();
    let new = || json!({"name": "Tokens"});
    host.post("/v1/items", new()).ok(StatusCode::CREATED);
    host.post("/v1/items", new()).ok(StatusCode::CREATED);
    assert_eq!(host.items(), 2);
    for _ in 0..2 {
        let keyed = host.keyed("POST", "/v1/items", "k", new());
        assert_eq!(keyed.header("idempotency-key"), Some("k"));
    }
    assert_eq!(host.items(), 3);
    // The API has no PATCH: the key of one comes back all the same.
    let patched = host.keyed("PATCH", "/v1/items", "p", new());
    patched.error(404, "404-url-not-found");
    assert_eq!(patched.header("idempotency-key"), Some("p"));
    host.keyed("POST", "/v1/items", "p", new()).is_fresh().ok(StatusCode::CREATED);
}

#[test]
fn s4_5_2_a_key_is_any_text_of_at_most_64_characters() {
    let host = Host::new();
    let keys = [
        "0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001".to_owned(),
        "invoice 17/2026: \"tokens\" & more?".to_owned(),
        "größe-🦀".to_owned(),
        "k".repeat(64),
        "🦀".repeat(64),
    ];
    for (n, key) in keys.iter().enumerate() {
        let send = || {
            let body = json!({"name": "Tokens"});
            host.send(keyed_request("POST", "/v1/items", body, key.as_bytes()))
        };
        let first = send();
        first.is_fresh().ok(StatusCode::CREATED);
        send().replays(&first);
        assert_eq!(first.headers["idempotency-key"].as_bytes(), key.as_bytes());
        assert_eq!(host.items(), n + 1);
    }
    // A key is itself, to the case and to the space.
    for key in ["case", "Case", "ca se"] {
        let answer = host.keyed("POST", "/v1/items", key, json!({"name": "Tokens"}));
        answer.is_fresh().ok(StatusCode::CREATED);
    }
}

#[test]
fn s4_5_3_the_key_of_a_get_a_put_or_a_delete_is_ignored() {
    let host = Host::new();
    let item = format!("/v1/items/{}", host.item("Tokens"));
    let too_long = "k".repeat(65);
    for key in ["k", "", "\t", too_long.as_str()] {
        for name in ["One", "Two"] {
            let put = host.keyed("PUT", &item, key, json!({"name": name}));
            assert_eq!(put.is_fresh().ok(StatusCode::OK)["name"], name);
            assert_eq!(put.header("idempotency-key"), None);
            let got = host.keyed("GET", &item, key, ());
            assert_eq!(got.is_fresh().ok(StatusCode::OK)["name"], name);
            assert_eq!(got.header("idempotency-key"), None);
        }
        let customer = json!({"name": "Ada", "email": "a@example.com"});
        let customer = host.post("/v1/customers", customer).ok(StatusCode::CREATED);
        let customer = format!("/v1/customers/{}", customer["id"].as_str().unwrap());
        let deleted = host.keyed("DELETE", &customer, key, ());
        deleted.is_fresh().ok(StatusCode::NO_CONTENT);
        assert!(
            deleted.bytes.is_empty() && deleted.header("content-type").is_none(),
            "{deleted:?}"
        );
        host.keyed("DELETE", &customer, key, ()).error(404, "404-resource-not-found");
        for method in ["DELETE", "OPTIONS"] {
            let answer = host.keyed(method, &item, key, ());
            answer.error(404, "404-url-not-found");
            assert_eq!(answer.header("idempotency-key"), None);
        }
    }
    // None of them took it.
    host.keyed("POST", "/v1/items", "k", json!({"name": "X"})).is_fresh().ok(StatusCode::CREATED);
}

#[test]
fn s4_5_4_a_key_is_good_for_48_hours_from_completion() {
    let host = Host::new();
    let send = || host.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"}));
    let first = send();
    host.clock.advance(HOURS_48);
    send().replays(&first);
    host.clock.advance(Duration::from_micros(1));
    let second = send();
    second.is_fresh().ok(StatusCode::CREATED);
    assert_ne!(second.bytes, first.bytes);
    assert_eq!(host.items(), 2);
    // The 48 hours of the second begin with its own completion; another payload is good then too.
    host.clock.advance(HOURS_48);
    send().replays(&second);
    host.clock.advance(Duration::from_micros(1));
    let other = host.keyed("POST", "/v1/items", "k", json!({"name": "Other"}));
    other.is_fresh().ok(StatusCode::CREATED);
    send().is_reused();
    assert_eq!(host.items(), 3);
}

#[test]
fn s4_5_5_every_answer_carries_the_key_that_was_sent() {
    let host = Host::new();
    for (path, body, status) in [
        ("/v1/items", json!({"name": "Tokens"}), 201),
        ("/v1/items", json!({"name": "Tokens"}), 201),
        ("/v1/items", json!({"name": "Other"}), 409),
        ("/v1/nothing", json!({}), 404),
        ("/v1/events/search", json!({"event_ids": ["a"]}), 409),
    ] {
        let answer = host.keyed("POST", path, "k", body);
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.header("idempotency-key"), Some("k"));
    }
    let keyless = host.post("/v1/items", json!({"name": "Tokens"}));
    assert_eq!(keyless.header("idempotency-key"), None);
}

#[test]
fn s4_5_6_a_replay_is_the_first_answer_byte_for_byte() {
    let host = Host::new();
    let send = || host.keyed("POST", "/v1/items", "order-1", json!({"name": "Tokens"}));
    let (first, second) = (send(), send());
    first.ok(StatusCode::CREATED);
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(first.header("idempotent-replayed"), None);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    let listed = host.get("/v1/items").ok(StatusCode::OK);
    assert_eq!(listed["data"], json!([first.json()]));
    // The answer of then, whatever has become of the item.
    let item = format!("/v1/items/{}", first.json()["id"].as_str().unwrap());
    host.put(&item, json!({"name": "Renamed"})).ok(StatusCode::OK);
    send().replays(&first);
}

#[test]
fn s4_5_7_a_retry_before_the_original_completes_is_409() {
    let store = HookedStore::new();
    let host = Host::over(store.clone());
    let send = || host.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"}));
    thread::scope(|scope| {
        let gate = store.gate();
        let original = scope.spawn(send);
        gate.wait();
        send().is_in_flight();
        gate.open();
        let original = original.join().unwrap();
        original.is_fresh().ok(StatusCode::CREATED);
        send().replays(&original);
    });
    assert_eq!(host.items(), 1);
}

#[test]
fn s4_5_8_a_key_with_another_payload_is_409() {
    let host = Host::new();
    let send = |body| host.keyed("POST", "/v1/items", "k", body);
    let first = send(json!({"name": "Tokens"}));
    send(json!({"name": "Other"})).is_reused();
    // Also where nothing would come of it: a conflict is told before a mistake.
    send(json!({"nme": 7})).is_reused();
    host.keyed("POST", "/v1/items", "k", "no JSON").is_reused();
    host.keyed("POST", "/v1/items", "k", ()).is_reused();
    send(json!({"name": "Tokens"})).replays(&first);
    assert_eq!(host.items(), 1);
}

#[test]
fn s4_5_9_a_409_is_not_kept_and_a_retry_is_safe() {
    let store = HookedStore::new();
    let host = Host::over(store.clone());
    let send = |key: &str, name: &str| host.keyed("POST", "/v1/items", key, json!({"name": name}));
    thread::scope(|scope| {
        let gate = store.gate();
        let original = scope.spawn(|| send("k", "Tokens"));
        gate.wait();
        send("k", "Tokens").is_in_flight();
        send("k", "Other").is_reused();
        gate.open();
        original.join().unwrap().ok(StatusCode::CREATED);
    });
    for _ in 0..2 {
        send("k", "Other").is_reused();
        send("k", "Tokens").ok(StatusCode::CREATED);
    }
    host.clock.advance(HOURS_48 + Duration::from_micros(1));
    send("k", "Other").is_fresh().ok(StatusCode::CREATED);
    assert_eq!(host.items(), 2);
}

#[test]
fn s4_5_10_a_transient_failure_says_so_and_the_key_can_be_used_again() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let host = Host::over(Arc::clone(&store));
    let send = || host.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"}));
    for _ in 0..2 {
        store.fail_nth(Calls::Commits, store.calls(Calls::Commits), Fault::Refused);
        let answer = send();
        answer.failed(Some("true"));
        assert_eq!(answer.header("idempotency-key"), Some("k"));
    }
    assert_eq!(host.items(), 0);
    host.clock.advance(HOURS_48 - Duration::from_secs(1));
    let first = send();
    first.is_fresh().ok(StatusCode::CREATED);
    send().replays(&first);
    assert_eq!(host.items(), 1);
}

#[test]
fn a_resource_that_is_missing_before_the_operation_is_an_answer_that_is_kept() {
    let host = Host::new();
    let change = json!({
        "entry_type": "expiration_change", "target_expiry_date": "2026-04-01", "amount": 1,
    });
    let version = json!({"version": 2});
    for (path, body) in [
        ("/v1/customers/external_customer_id/ghost/credits/ledger_entry", change),
        ("/v1/plans/external_plan_id/ghost/versions", version),
    ] {
        let first = host.keyed("POST", path, path, body.clone());
        first.error(404, "404-resource-not-found");
        let second = host.keyed("POST", path, path, body);
        assert_eq!(second.bytes, first.bytes);
        assert_eq!(second.header("idempotent-replayed"), Some("true"));
        host.keyed("POST", path, path, json!({"other": 1})).error(409, "409-resource-conflict");
    }
}
