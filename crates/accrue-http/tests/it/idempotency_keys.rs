//! What an idempotency key may be, and that every answer carries it (§4.5.2, §4.5.5).

use std::{num::NonZeroU32, time::Duration};

use accrue::AccountId;
use accrue_http::{Bounds, Category, Exceeded, RateLimit};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::support::{Answer, Body, Host, event, keyed_request, request};

fn create(host: &Host, key: &[u8]) -> Answer {
    host.send(keyed_request("POST", "/v1/items", json!({"name": "Tokens"}), key))
}

#[test]
fn s4_5_2_a_key_has_1_to_64_characters_of_any_script() {
    let check = |key: String, expect: u16| {
        let host = Host::new();
        let answer = create(&host, key.as_bytes());
        assert_eq!(answer.status, expect, "{key}: {answer:?}");
        assert_eq!(answer.headers["idempotency-key"].as_bytes(), key.as_bytes());
        assert_eq!(host.items(), usize::from(expect == 201));
        if expect == 400 {
            let body = answer.error(400, "400-request-validation-errors");
            let found = body["validation_errors"][0].as_str().unwrap();
            assert!(found.starts_with("/Idempotency-Key: "), "{found}");
        }
    };
    check(String::new(), 400);
    check("k".to_owned(), 201);
    for character in ["k", "é", "語", "🦀"] {
        check(character.repeat(63), 201);
        check(character.repeat(64), 201);
        check(character.repeat(65), 400);
    }
}

#[test]
fn a_key_with_a_control_character_or_no_utf_8_is_400_and_comes_back() {
    for key in ["a\tb".as_bytes(), "\t".as_bytes(), "a\u{85}b".as_bytes(), b"a\xffb", b"\xc3"] {
        let host = Host::new();
        let answer = create(&host, key);
        answer.error(400, "400-request-validation-errors");
        assert_eq!(answer.headers["idempotency-key"].as_bytes(), key);
        assert_eq!(host.items(), 0);
    }
}

#[test]
fn two_lines_that_differ_are_400_and_neither_comes_back() {
    let host = Host::new();
    let send = |lines: &[&str]| {
        let body = Body::from(json!({"name": "Tokens"}));
        let mut request = request("POST", "/v1/items", body, &[]);
        for line in lines {
            request.headers_mut().append("idempotency-key", HeaderValue::from_str(line).unwrap());
        }
        host.send(request)
    };
    for lines in [["a", "b"], ["a", ""], ["a", "A"]] {
        let answer = send(&lines);
        let body = answer.error(400, "400-request-validation-errors");
        assert!(body["detail"].as_str().unwrap().starts_with("/Idempotency-Key: "), "{body}");
        assert!(!answer.headers.contains_key("idempotency-key"));
    }
    send(&["a", "a", "b"]).error(400, "400-request-validation-errors");
    assert_eq!(host.items(), 0);
    // Two that are equal are one.
    let twice = send(&["a", "a"]);
    twice.is_fresh().ok(StatusCode::CREATED);
    assert_eq!(twice.headers.get_all("idempotency-key").iter().count(), 1);
    send(&["a"]).replays(&twice);
}

/// Lets nothing through, or no events.
struct Deny(Category);

impl RateLimit for Deny {
    fn take(&self, _: &AccountId, category: Category, _: NonZeroU32) -> Result<(), Exceeded> {
        let wait = Exceeded::Wait(Duration::from_millis(1_500));
        if category == self.0 { Err(wait) } else { Ok(()) }
    }
}

/// Sends a request that is refused twice, then one that is good under the same key: it is fresh.
#[track_caller]
fn check_refusal(refusing: &Host, good: &Host, path: &str, body: Value, status: u16, kind: &str) {
    for _ in 0..2 {
        let answer = refusing.keyed("POST", path, "k", body.clone());
        answer.error(status, kind);
        assert_eq!(answer.header("idempotency-key"), Some("k"));
        answer.is_fresh();
    }
    assert_eq!(good.items(), 0);
    let after = good.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"}));
    after.is_fresh().ok(StatusCode::CREATED);
}

#[test]
fn s4_5_5_refusals_before_work_carry_the_key_and_are_not_kept() {
    let new = || json!({"name": "Tokens"});
    let check = |path: &str, body: Value, status: u16, kind: &str| {
        let host = Host::new();
        check_refusal(&host, &host, path, body, status, kind);
    };
    check("/v1/nothing", new(), 404, "404-url-not-found");
    check("/elsewhere", new(), 404, "404-url-not-found");
    check("/v1/ping", new(), 404, "404-url-not-found");
    check("/v1/items", json!({"name": 7}), 400, "400-request-validation-errors");
    let portal = "/v1/customers/external_customer_id/ada/portal_sessions";
    check(portal, json!({}), 404, "404-feature-not-available");
    let refused = json!({"events": [event("a"), {"idempotency_key": "b"}]});
    check("/v1/ingest", refused, 400, "400-request-validation-errors");
    let many: Vec<_> = (0..1_001).map(|n| event(&n.to_string())).collect();
    check("/v1/ingest", json!({"events": many}), 413, "413-resource-too-large");
    // A resource that cannot be there is told before work begins.
    check("/v1/items/none/archive", json!({}), 404, "404-resource-not-found");
    let late = json!({"events": [event("a")]});
    check("/v1/ingest?backfill_id=none", late, 404, "404-resource-not-found");
}

#[test]
fn s4_5_5_the_doors_own_refusals_carry_the_key_and_are_not_kept() {
    let new = || json!({"name": "Tokens"});
    let refused = |category, path: &str, body: Value| {
        let host = Host::with(|builder| builder.rate_limit(Deny(category)));
        for _ in 0..2 {
            let answer = host.keyed("POST", path, "k", body.clone());
            answer.error(429, "429-too-many-requests");
            assert_eq!(answer.header("retry-after"), Some("2"));
            assert_eq!(answer.header("idempotency-key"), Some("k"));
        }
        host
    };
    refused(Category::Writes, "/v1/items", new());
    let events = json!({"events": [event("a")]});
    refused(Category::IngestRequests, "/v1/ingest", events.clone());
    let host = refused(Category::IngestEvents, "/v1/ingest", events);
    host.keyed("POST", "/v1/items", "k", new()).is_fresh().ok(StatusCode::CREATED);

    let small = Bounds { body_bytes: 17, url_bytes: 20, header_bytes: 120, ..Bounds::default() };
    let host = Host::with(|builder| builder.bounds(small));
    let long = "n".repeat(17);
    for (path, body) in [("/v1/items", json!({"name": long})), ("/v1/items?abcdefghijkl", new())] {
        let answer = host.keyed("POST", path, "k", body);
        answer.error(413, "413-request-too-large");
        assert_eq!(answer.header("idempotency-key"), Some("k"));
    }
    let padding = [("idempotency-key", "k"), ("x-padding", &*"p".repeat(120))];
    let answer = host.send(request("POST", "/v1/items", new().into(), &padding));
    answer.error(413, "413-request-too-large");
    assert_eq!(answer.header("idempotency-key"), Some("k"));
    host.keyed("POST", "/v1/items", "k", json!({"name": "T"})).is_fresh().ok(StatusCode::CREATED);

    let host = Host::new();
    let mut stranger = keyed_request("POST", "/v1/items", new(), b"k");
    stranger.headers_mut().remove("authorization");
    let answer = host.send(stranger);
    answer.error(401, "401-authentication-error");
    assert_eq!(answer.header("idempotency-key"), Some("k"));
    host.keyed("POST", "/v1/items", "k", new()).is_fresh().ok(StatusCode::CREATED);
}

/// One request with everything wrong with it, that is put right step by step.
#[test]
fn the_door_judges_in_its_order() {
    let bounds = Bounds { body_bytes: 64, ..Bounds::default() };
    let limited = |builder: accrue_http::ApiBuilder| {
        builder.bounds(bounds.clone()).rate_limit(Deny(Category::Writes))
    };
    let (limited, host) = (Host::with(limited), Host::with(|it| it.bounds(bounds.clone())));
    host.keyed("POST", "/v1/items", "used", json!({"name": "Tokens"})).ok(StatusCode::CREATED);
    let long = "x".repeat(65);
    let send = |host: &Host, token: &str, path: &str, declared: &str, key: &str, body: &str| {
        let mut request = keyed_request("POST", path, body, key.as_bytes());
        let headers = request.headers_mut();
        headers.insert("authorization", HeaderValue::from_str(token).unwrap());
        headers.insert("content-length", HeaderValue::from_str(declared).unwrap());
        host.send(request)
    };
    let mine = format!("Bearer {}", crate::support::TOKEN);
    let (none, items) = ("/v1/none", "/v1/items");
    send(&limited, "no", none, "65", &long, &long).error(401, "401-authentication-error");
    send(&limited, &mine, none, "65", &long, &long).error(429, "429-too-many-requests");
    send(&host, &mine, none, "65", &long, &long).error(404, "404-url-not-found");
    send(&host, &mine, items, "65", &long, &long).error(413, "413-request-too-large");
    let key = send(&host, &mine, items, "64", &long, &long);
    key.error(400, "400-request-validation-errors");
    assert_eq!(key.header("idempotency-key"), Some(long.as_str()));
    send(&host, &mine, items, "64", "used", &long).error(413, "413-request-too-large");
    send(&host, &mine, items, "64", "used", "[").is_reused();
    send(&host, &mine, items, "64", "new", "[").error(400, "400-request-validation-errors");
    assert_eq!(host.items(), 1);
}
