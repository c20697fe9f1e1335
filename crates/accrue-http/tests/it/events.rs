//! Usage events that change after they were counted, over HTTP.

use http::StatusCode;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};

use crate::{
    backfills,
    subscriptions::{self, Shop},
    support::{Answer, Host, event},
};

/// What the clients encode in a parameter of a path, and what a path cannot have.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

fn path(key: &str) -> String {
    format!("/v1/events/{}", utf8_percent_encode(key, ENCODED))
}

/// What an event is to say: seven tokens as before, or another number.
fn amendment(tokens: u64) -> Value {
    let mut amendment = event("any");
    amendment.as_object_mut().unwrap().remove("idempotency_key");
    amendment["properties"]["tokens"] = json!(tokens);
    amendment
}

fn ingest(host: &Host, events: &[Value]) -> Answer {
    host.post("/v1/ingest", json!({"events": events}))
}

fn search(host: &Host, key: &str) -> Value {
    let found = host.post("/v1/events/search", json!({"event_ids": [key]})).ok(StatusCode::OK);
    found["data"].clone()
}

/// A host with Ada, and events of hers.
fn host(keys: &[&str]) -> (Host, Value) {
    let host = Host::new();
    let ada = subscriptions::customer(&host, "ada");
    let events: Vec<_> = keys.iter().map(|key| event(key)).collect();
    ingest(&host, &events).ok(StatusCode::OK);
    (host, ada)
}

/// Expects violations at these places.
#[track_caller]
fn refused(answer: &Answer, expect: &[&str]) {
    let body = answer.error(400, "400-request-validation-errors");
    let errors = body["validation_errors"].as_array().unwrap().iter();
    let found = errors.map(|text| text.as_str().unwrap().split_once(": ").unwrap().0);
    assert_eq!(found.collect::<Vec<_>>(), expect, "{body}");
}

#[test]
fn wire_3_5_an_event_is_amended_and_found_as_it_is_then() {
    let (host, ada) = host(&["a"]);
    let id = ada["id"].as_str().unwrap();
    let mut new = amendment(9);
    new["event_name"] = json!("other");
    new["properties"] = json!({"tokens": 9.50, "model": "large", "cached": true});
    assert_eq!(host.put(&path("a"), new).ok(StatusCode::OK), json!({"amended": "a"}));
    let mut expected = json!([{
        "id": "a",
        "customer_id": id,
        "external_customer_id": "ada",
        "event_name": "other",
        "properties": {"tokens": 9.5, "model": "large", "cached": true},
        "timestamp": "2026-03-10T11:00:00.000000+00:00",
        "deprecated": false,
    }]);
    assert_eq!(search(&host, "a"), expected);
    // The last one wins, and both names of the customer are good, as is another offset.
    let mut again = amendment(3);
    again["external_customer_id"] = Value::Null;
    again["customer_id"] = json!(id);
    again["timestamp"] = json!("2026-03-10T12:00:00+01:00");
    assert_eq!(host.put(&path("a"), again).ok(StatusCode::OK), json!({"amended": "a"}));
    expected[0]["event_name"] = json!("completion");
    expected[0]["properties"] = json!({"tokens": 3});
    assert_eq!(search(&host, "a"), expected);
}

#[test]
fn s7_all_that_is_wrong_with_an_amendment_is_listed() {
    let (host, ada) = host(&["a"]);
    let put = |body: Value| host.put(&path("a"), body);
    refused(&put(json!({})), &["/event_name", "/timestamp", "/properties", ""]);
    refused(
        &put(json!({
            "idempotency_key": "a", "event_name": "", "timestamp": "today",
            "properties": {"nested": {"a": 1}, "list": [1]},
            "customer_id": ada["id"], "external_customer_id": "ada",
        })),
        &[
            "/idempotency_key",
            "/event_name",
            "/timestamp",
            "/properties/list",
            "/properties/nested",
            "",
        ],
    );
    let mut nobodys = amendment(1);
    nobodys["external_customer_id"] = Value::Null;
    refused(&put(nobodys), &[""]);
    let mut nameless = amendment(1);
    nameless["external_customer_id"] = json!("");
    refused(&put(nameless), &["/external_customer_id"]);
    refused(&host.put(&path("a"), ()), &[""]);
    refused(&host.put(&path("a"), json!([])), &[""]);
    assert_eq!(search(&host, "a")[0]["properties"], json!({"tokens": 7}));
}

#[test]
fn wire_3_5_time_and_customer_of_an_event_stay() {
    let (host, _) = host(&["a"]);
    subscriptions::customer(&host, "bob");
    for (field, value, status) in [
        ("timestamp", "2026-03-10T11:00:00.000001Z", 400),
        ("timestamp", "9998-12-31T23:59:59Z", 400),
        ("timestamp", "1970-01-01T00:00:00Z", 400),
        ("external_customer_id", "bob", 400),
        ("external_customer_id", "nobody", 404),
        ("customer_id", "0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001", 404),
        ("customer_id", "none", 404),
        ("customer_id", "", 404),
    ] {
        let mut new = amendment(1);
        if field == "customer_id" {
            new["external_customer_id"] = Value::Null;
        }
        new[field] = json!(value);
        let answer = host.put(&path("a"), new);
        assert_eq!(answer.status, status, "{field} {value}: {answer:?}");
    }
    assert_eq!(search(&host, "a")[0]["properties"], json!({"tokens": 7}));
}

#[test]
fn wire_3_5_an_event_is_deprecated_and_its_key_is_gone() {
    let (host, ada) = host(&["a", "b"]);
    let answer = host.put(&format!("{}/deprecate", path("a")), ());
    assert_eq!(answer.ok(StatusCode::OK), json!({"deprecated": "a"}));
    let expected = json!([{
        "id": "a",
        "customer_id": ada["id"],
        "external_customer_id": "ada",
        "event_name": "completion",
        "properties": {"tokens": 7},
        "timestamp": "2026-03-10T11:00:00.000000+00:00",
        "deprecated": true,
    }]);
    assert_eq!(search(&host, "a"), expected);
    assert_eq!(search(&host, "b")[0]["deprecated"], false);
    let again = ingest(&host, &[event("a"), event("c")]);
    let again = again.error(400, "400-request-validation-errors");
    assert_eq!(again["validation_failed"][0]["idempotency_key"], "a");
    assert_eq!(search(&host, "c"), json!([]));
    host.put(&path("a"), amendment(1)).error(400, "400-constraint-violation");
}

#[test]
fn wire_3_5_a_deprecation_has_no_body() {
    let (host, _) = host(&["a", "b"]);
    let path = |key: &str| format!("{}/deprecate", path(key));
    refused(&host.put(&path("a"), json!({"reason": "x"})), &["/reason"]);
    refused(&host.put(&path("a"), json!([])), &[""]);
    assert_eq!(search(&host, "a")[0]["deprecated"], false);
    host.put(&path("a"), json!({})).ok(StatusCode::OK);
    host.put(&path("b"), ()).ok(StatusCode::OK);
}

#[test]
fn wire_3_5_figures_follow_what_becomes_of_events() {
    let shop = Shop::new();
    let align = json!({"align_billing_with_subscription_start_date": true});
    let subscription = shop.subscribe(align);
    shop.use_tokens("a", 4, "small");
    shop.use_tokens("b", 6, "small");
    let figures = || {
        let get = |of: &str| {
            let path = subscriptions::path(&subscription, of);
            shop.host.get(&path).ok(StatusCode::OK)
        };
        let costs = get("/costs");
        let total = costs["data"].as_array().unwrap().last().unwrap()["total"].clone();
        (get("/usage")["data"][0]["usage"][0]["quantity"].clone(), total)
    };
    assert_eq!(figures(), (json!(10), json!("25.00")));
    let mut new = amendment(20);
    new["timestamp"] = json!(subscriptions::START);
    shop.host.put(&path("b"), new).ok(StatusCode::OK);
    assert_eq!(figures(), (json!(24), json!("32.00")));
    shop.host.put(&format!("{}/deprecate", path("a")), ()).ok(StatusCode::OK);
    assert_eq!(figures(), (json!(20), json!("30.00")));
}

#[test]
fn wire_3_1_an_event_is_named_by_its_key_whatever_that_has() {
    let keys = [
        "with/slash",
        "a?b#c d",
        "100%",
        "%2F",
        "ünïcødé 🦀",
        "a+b&c=d;e:f@g",
        "..",
        "search",
        "{event_id}",
        "\"'<>\\^`|",
    ];
    let (host, _) = host(&keys);
    for key in keys {
        // Of words that are paths of their own the clients' form is another operation.
        let path = if key == "search" { "/v1/events/%73earch".to_owned() } else { path(key) };
        let answer = host.put(&path, amendment(1));
        assert_eq!(answer.ok(StatusCode::OK), json!({"amended": key}));
        assert_eq!(search(&host, key)[0]["properties"], json!({"tokens": 1}));
        let answer = host.put(&format!("{path}/deprecate"), ());
        assert_eq!(answer.ok(StatusCode::OK), json!({"deprecated": key}));
        assert_eq!(search(&host, key)[0]["deprecated"], true);
    }
}

#[test]
fn wire_3_1_an_id_that_no_event_can_have_is_not_found() {
    let (host, _) = host(&["a"]);
    let long = "k".repeat(256);
    ingest(&host, &[event(&long)]).ok(StatusCode::OK);
    host.put(&path(&long), amendment(1)).ok(StatusCode::OK);
    for key in ["b", "A", &"k".repeat(257), "%00", "%0A", "a%C2%80", "%20"] {
        for (rest, body) in [("", amendment(1)), ("/deprecate", json!({}))] {
            let answer = host.put(&format!("/v1/events/{key}{rest}"), body);
            answer.error(404, "404-resource-not-found");
        }
    }
    for (method, path) in [
        ("PUT", "/v1/events/%ff"),
        ("PUT", "/v1/events/a%F0%9F/deprecate"),
        ("PUT", "/v1/events/"),
        ("PUT", "/v1/events//deprecate"),
        ("PUT", "/v1/events/a/b"),
        ("GET", "/v1/events/a"),
        ("DELETE", "/v1/events/a"),
        ("POST", "/v1/events/a/deprecate"),
        // Words that are paths of their own.
        ("PUT", "/v1/events/search"),
        ("PUT", "/v1/events/volume"),
        ("PUT", "/v1/events/backfills"),
        ("PUT", "/v1/events/backfills/close"),
        ("GET", "/v1/events/search"),
        ("POST", "/v1/events/volume"),
        ("DELETE", "/v1/events/backfills/a"),
        ("PUT", "/v1/events/backfills/a/close"),
    ] {
        let body = if method == "GET" { json!(null) } else { amendment(1) };
        host.call(method, path, body).error(404, "404-url-not-found");
    }
}

#[test]
fn s4_5_3_a_key_on_a_put_is_ignored() {
    let (host, _) = host(&["a", "b"]);
    let put = |path: &str, body: Value| {
        let answer = host.keyed("PUT", path, "k", body);
        answer.is_fresh();
        assert_eq!(answer.header("idempotency-key"), None);
        answer
    };
    put(&path("a"), amendment(1)).ok(StatusCode::OK);
    put(&path("a"), amendment(2)).ok(StatusCode::OK);
    assert_eq!(search(&host, "a")[0]["properties"], json!({"tokens": 2}));
    for key in ["a", "b"] {
        put(&format!("{}/deprecate", path(key)), json!({})).ok(StatusCode::OK);
    }
}

#[test]
fn wire_3_5_what_a_backfill_has_replaced_is_found_as_deprecated() {
    let (host, _) = host(&["a", "b"]);
    let backfill = backfills::create(&host, backfills::hour(11));
    // One of the keys again, with other content: it takes the place of the other.
    let mut other = event("a");
    other["properties"]["tokens"] = json!(8);
    let batch = json!({"events": [other, event("new")]});
    host.post(&backfills::ingest_path(&backfill), batch).ok(StatusCode::OK);
    let check = |key: &str, tokens: u64, deprecated: bool| {
        let found = search(&host, key);
        assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found[0]["properties"], json!({"tokens": tokens}), "{found}");
        assert_eq!(found[0]["deprecated"], deprecated, "{found}");
    };
    check("a", 7, false);
    check("b", 7, false);
    assert_eq!(search(&host, "new"), json!([]));
    host.post(&backfills::path(&backfill, "/close"), ()).ok(StatusCode::OK);
    backfills::tick(&host);
    check("a", 8, false);
    check("b", 7, true);
    check("new", 7, false);
    // What is hidden is neither amended nor deprecated.
    host.put(&path("b"), amendment(1)).error(400, "400-constraint-violation");
    host.put(&format!("{}/deprecate", path("b")), ()).error(400, "400-constraint-violation");
    host.post(&backfills::path(&backfill, "/revert"), ()).ok(StatusCode::OK);
    backfills::tick(&host);
    check("a", 7, false);
    check("b", 7, false);
    assert_eq!(search(&host, "new"), json!([]));
}
