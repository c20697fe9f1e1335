//! Every row of specification §7, provoked by a request.

use accrue_http::{Bounds, Category, Exceeded, RateLimit};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    scene::Scene,
    stores::HookedStore,
    support::{Answer, Body, Host, event, request},
};

const DOCS: &str = "https://docs.withorb.com/reference/error-responses";

/// Expects an error to the byte: no member but those of its kind.
#[track_caller]
fn check(answer: &Answer, http: u16, body: u16, anchor: &str, title: &str) -> Value {
    let found = answer.json();
    assert_eq!(answer.status, http, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(found["type"], format!("{DOCS}#{anchor}"));
    assert_eq!(found["status"], body);
    assert_eq!(found["title"], title);
    assert!(!found["detail"].as_str().unwrap().is_empty());
    let mut members: Vec<_> = found.as_object().unwrap().keys().map(String::as_str).collect();
    members.retain(|member| *member != "validation_failed");
    let mut expect = vec!["detail", "status", "title", "type"];
    if anchor == "400-request-validation-errors" {
        expect.push("validation_errors");
    }
    members.sort_unstable();
    assert_eq!(members, expect);
    found
}

#[test]
fn s7_400_constraint_violation() {
    let host = Host::new();
    let archive = format!("/v1/items/{}/archive", host.item("Tokens"));
    host.post(&archive, ()).ok(StatusCode::OK);
    let answer = host.post(&archive, ());
    let body = check(&answer, 400, 400, "400-constraint-violation", "A constraint was violated.");
    assert_eq!(body["detail"], "the item is archived already");
}

#[test]
fn s7_400_duplicate_resource_creation() {
    let host = Host::new();
    Scene::set(&host);
    let customer = json!({"name": "A", "email": "a@example.com", "external_customer_id": "one"});
    let title = "A resource with this identifier exists already.";
    let answer = host.keyed("POST", "/v1/customers", "k", customer.clone());
    check(&answer, 400, 400, "400-duplicate-resource-creation", title);
    // It is an answer that is kept.
    host.keyed("POST", "/v1/customers", "k", customer).replays(&answer);
}

#[track_caller]
fn invalid(answer: &Answer) -> Vec<String> {
    let kind = "400-request-validation-errors";
    let body = check(answer, 400, 400, kind, "The request is not valid.");
    serde_json::from_value(body["validation_errors"].clone()).unwrap()
}

#[test]
fn s7_400_request_validation_errors_lists_all_that_is_wrong_in_a_body() {
    let host = Host::new();
    let put = format!("/v1/items/{}", host.item("Tokens"));
    let answer = host.put(
        &put,
        json!({
            "name": 7,
            "nme": "Tokens",
            "metadata": {"a": 1, "b": null, "c/~": []},
            "external_connections": [
                {"external_connection_name": "stripe", "external_entity_id": "x"},
                {"external_connection_name": "nowhere"},
                "none",
                {"external_connection_name": null, "external_entity_id": ""},
            ],
        }),
    );
    assert_eq!(
        invalid(&answer),
        [
            "/nme: is unknown",
            "/name: found a number, expected a string",
            "/metadata/a: found a number, expected a string",
            "/metadata/c~1~0: found an array, expected a string",
            "/external_connections/1/external_connection_name: expected one of stripe, quickbooks, \
             bill.com, netsuite, taxjar, avalara, anrok, numeral, stripe_tax",
            "/external_connections/1/external_entity_id: is missing",
            "/external_connections/2: found a string, expected an object",
            "/external_connections/3/external_connection_name: found null, expected a string",
            "/external_connections/3/external_entity_id: name has 0 characters, expected 1 to 500",
        ]
    );
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert_eq!(detail, "9 things are wrong, the first: /nme: is unknown");
    assert_eq!(host.get(&put).ok(StatusCode::OK)["name"], "Tokens");
}

#[test]
fn s7_400_request_validation_errors_of_bodies_that_are_none() {
    let host = Host::new();
    for (body, expect) in [
        ("", ": is empty, expected an object"),
        ("null", ": found null, expected an object"),
        ("[]", ": found an array, expected an object"),
        ("{\"name\":", ": is no JSON: line 1, column 9"),
        ("{\"name\":\"a\"}x", ": is no JSON: line 1, column 13"),
        ("{\"name\":\"a\",\"name\":\"a\"}", ": has a member twice"),
        ("{}", "/name: is missing"),
        ("{\"name\":NaN}", ": is no JSON: line 1, column 9"),
    ] {
        let found = invalid(&host.post("/v1/items", body));
        assert_eq!(found, [expect], "{body}");
    }
    let answer = host.post("/v1/items", b"{\"name\":\"\xff\"}".to_vec());
    assert_eq!(invalid(&answer), [": is no JSON: line 1, column 10"]);
}

#[test]
fn s7_400_request_validation_errors_lists_all_that_is_wrong_in_a_query() {
    let host = Host::new();
    let answer = host.get("/v1/items?limit=0&cursor=x&cursor=y");
    assert_eq!(
        invalid(&answer),
        ["/limit: expected a whole number from 1", "/cursor: is there twice",]
    );
    for query in ["limit=-1", "limit=1.5", "limit=ten", "limit=+", "limit=%2B1"] {
        let answer = host.get(&format!("/v1/items?{query}"));
        assert_eq!(invalid(&answer), ["/limit: expected a whole number from 1"], "{query}");
    }
    let answer = host.get("/v1/items?limit=1&limit=2&cursor=a&cursor=b");
    assert_eq!(invalid(&answer), ["/limit: is there twice", "/cursor: is there twice"]);
    let answer = host.get("/v1/items?limit=%ff");
    assert_eq!(invalid(&answer), [": the query is not UTF-8 in percent encoding"]);
    let answer = host.get("/v1/events/volume?timeframe_end=yesterday&limit=0");
    let found = invalid(&answer);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[0], "/timeframe_start: is missing");
    assert!(found[1].starts_with("/timeframe_end: "), "{found:?}");
    assert_eq!(found[2], "/limit: expected a whole number from 1");
    // Of the query and of the body, in one answer.
    let answer = host.post("/v1/items?dry=1", json!({"name": ""}));
    let expect = ["/name: name has 0 characters, expected 1 to 500"];
    assert_eq!(invalid(&answer), expect);
}

#[test]
fn s7_refused_events_are_listed_with_their_keys_and_reasons() {
    let host = Host::new();
    let mut events = vec![event("good"); 5];
    events[1]["properties"] = json!({"a": {"nested": 1}, "b": [1], "c": null});
    events[1]["idempotency_key"] = json!("nested");
    events[1]["event_name"] = json!("");
    events[2] = json!({"idempotency_key": 7});
    events[3]["idempotency_key"] = json!("late");
    events[3]["timestamp"] = json!("2020-01-01T00:00:00Z");
    events[4] = json!("none");
    let answer = host.post("/v1/ingest", json!({"events": events}));
    let errors = invalid(&answer);
    let failed = answer.json()["validation_failed"].clone();
    let failed = failed.as_array().unwrap();
    let keys: Vec<_> = failed.iter().map(|event| event["idempotency_key"].clone()).collect();
    assert_eq!(keys, [json!("nested"), json!(null), json!("late"), json!(null)]);
    let reasons = |n: usize| failed[n]["validation_errors"].as_array().unwrap().clone();
    let text = |n: usize| json!(reasons(n)).to_string();
    assert_eq!(reasons(0).len(), 3, "{failed:?}");
    for field in ["event_name: ", "properties/a: found an object", "properties/b: found an array"] {
        assert!(text(0).contains(field), "{failed:?}");
    }
    assert_eq!(reasons(1).len(), 5, "{failed:?}");
    assert!(text(1).contains("idempotency_key: found a number, expected a string"));
    assert!(text(1).contains("expected one of customer_id and external_customer_id"));
    assert!(text(2).contains("timestamp"), "{failed:?}");
    assert_eq!(reasons(3), [json!("found a string, expected an object")]);
    let all: usize = (0..4).map(|n| reasons(n).len()).sum();
    assert_eq!(errors.len(), all);
    let places = ["/events/1: ", "/events/2: ", "/events/3: ", "/events/4: "];
    assert!(errors.iter().all(|it| places.iter().any(|place| it.starts_with(place))), "{errors:?}");
    // The whole batch is refused, the good one too.
    let search = host.post("/v1/events/search", json!({"event_ids": ["good", "nested", "late"]}));
    assert_eq!(search.ok(StatusCode::OK)["data"], json!([]));
}

#[test]
fn s7_401_authentication_error() {
    let host = Host::new();
    let mut stranger = request("GET", "/v1/ping", Body::from(()), &[]);
    stranger.headers_mut().remove("authorization");
    let title = "The request is not authenticated.";
    check(&host.send(stranger), 401, 401, "401-authentication-error", title);
}

#[test]
fn s7_404_feature_not_available_has_another_status_in_its_body() {
    let host = Host::new();
    let path = "/v1/customers/external_customer_id/ada/portal_sessions";
    let answer = host.post(path, json!({}));
    let title = "The feature is not available.";
    check(&answer, 404, 400, "404-feature-not-available", title);
}

#[test]
fn s7_404_resource_not_found() {
    let host = Host::new();
    let title = "A specified resource was not found.";
    for id in ["0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001", "none", "%F0%9F%A6%80", "a%2Fb"] {
        for (method, rest) in [("GET", ""), ("PUT", ""), ("POST", "/archive")] {
            let body: Body = if method == "PUT" { json!({"name": "X"}).into() } else { ().into() };
            let answer = host.call(method, &format!("/v1/items/{id}{rest}"), body);
            check(&answer, 404, 404, "404-resource-not-found", title);
        }
    }
}

#[test]
fn s7_404_url_not_found_also_with_another_method() {
    let host = Host::new();
    let title = "The path was not found.";
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/v1"),
        ("GET", "/v1/"),
        ("GET", "/items"),
        ("GET", "/v2/items"),
        ("GET", "/v1/items/"),
        ("GET", "/v1//items"),
        ("GET", "/v1/Items"),
        ("GET", "/v1/items/a/b"),
        ("POST", "/v1/items/a"),
        ("DELETE", "/v1/items/a"),
        ("PATCH", "/v1/items/a"),
        ("HEAD", "/v1/ingest"),
        ("OPTIONS", "/v1/items"),
        ("TRACE", "/v1/ping"),
        ("CONNECT", "/v1/ping"),
        ("BREW", "/v1/ping"),
        ("GET", "/v1/ingest"),
        ("GET", "/v1/items/%ff"),
    ] {
        let answer = host.call(method, path, ());
        if method == "HEAD" {
            assert_eq!((answer.status, answer.bytes.len()), (404, 0));
        } else {
            check(&answer, 404, 404, "404-url-not-found", title);
        }
    }
}

#[test]
fn s7_409_resource_conflict() {
    let host = Host::new();
    host.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"})).ok(StatusCode::CREATED);
    let answer = host.keyed("POST", "/v1/items", "k", json!({"name": "Other"}));
    check(&answer, 409, 409, "409-resource-conflict", "The resource is in use.");
}

#[test]
fn s7_413_request_too_large() {
    let host = Host::with(|it| it.bounds(Bounds { body_bytes: 8, ..Bounds::default() }));
    let answer = host.post("/v1/items", json!({"name": "Tokens"}));
    check(&answer, 413, 413, "413-request-too-large", "The request is too large.");
}

#[test]
fn s7_413_resource_too_large() {
    let host = Host::new();
    let events: Vec<_> = (0..1_001).map(|n| event(&n.to_string())).collect();
    let answer = host.post("/v1/ingest", json!({"events": events}));
    let title = "A resource is too large.";
    let body = check(&answer, 413, 413, "413-resource-too-large", title);
    assert!(body["detail"].as_str().unwrap().contains("split"), "{body}");
}

#[test]
fn s7_413_too_many_results() {
    let host = Host::new();
    let scene = Scene::set(&host);
    for batch in 0..11 {
        let events: Vec<_> = (0..1_000)
            .map(|n| {
                let mut event = event(&format!("{batch} {n}"));
                event["external_customer_id"] = json!("two");
                event["properties"]["session"] = json!(format!("{batch} {n}"));
                event
            })
            .collect();
        if batch < 10 {
            host.post("/v1/ingest", json!({"events": events})).ok(StatusCode::OK);
        } else {
            host.post("/v1/ingest", json!({"events": events[..1]})).ok(StatusCode::OK);
        }
    }
    let evaluate = |start: &str, key: &str| {
        let body = json!({
            "external_customer_id": "two",
            "timeframe_start": start,
            "timeframe_end": "2026-03-10T12:00:00Z",
            "grouping_keys": ["session"],
        });
        host.keyed("POST", &format!("/v1/prices/{}/evaluate", scene.price), key, body)
    };
    let answer = evaluate("2026-03-10T11:00:00Z", "k");
    let title = "There are too many results.";
    check(&answer, 413, 413, "413-too-many-results", title);
    // What only reads is asked again each time.
    evaluate("2026-03-10T11:00:00Z", "k").error(413, "413-too-many-results");
    evaluate("2026-03-10T11:30:00Z", "other").ok(StatusCode::OK);
}

/// Lets nothing through.
struct Deny;

impl RateLimit for Deny {
    fn take(
        &self,
        _: &accrue::AccountId,
        _: Category,
        _: std::num::NonZeroU32,
    ) -> Result<(), Exceeded> {
        Err(Exceeded::Wait(std::time::Duration::ZERO))
    }
}

#[test]
fn s7_429_too_many_requests() {
    let host = Host::with(|it| it.rate_limit(Deny));
    let answer = host.get("/v1/ping");
    check(&answer, 429, 429, "429-too-many-requests", "There are too many requests.");
    // Never at once.
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[test]
fn s7_500_internal_server_error_shows_nothing_of_the_store() {
    let store = HookedStore::new();
    let host = Host::over(store.clone());
    type Failure = fn(String) -> accrue::store::StoreError;
    let failures: [Failure; 3] = [
        |reason| accrue::store::StoreError::unavailable(reason),
        |reason| accrue::store::StoreError::indeterminate(reason),
        |reason| accrue::store::StoreError::corrupt(reason),
    ];
    for failure in failures {
        store.hook(move |_| Some(failure("SECRET of the store".to_owned())));
        for (method, path, body) in [
            ("GET", "/v1/items", Value::Null),
            ("POST", "/v1/items", json!({"name": "Tokens"})),
            ("POST", "/v1/ingest", json!({"events": [event("a")]})),
        ] {
            let answer = host.call(method, path, body);
            let body = check(&answer, 500, 500, "500-internal-server-error", "The server failed.");
            assert_eq!(body["detail"], "the request failed");
            let all = format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.bytes));
            assert!(!all.contains("SECRET"), "{all}");
        }
    }
    store.hook(|_| panic!("SECRET of a panic"));
    let answer = host.get("/v1/items");
    check(&answer, 500, 500, "500-internal-server-error", "The server failed.");
    assert!(!String::from_utf8_lossy(&answer.bytes).contains("SECRET"));
}

#[test]
fn the_types_of_errors_begin_with_what_the_host_says() {
    let host = Host::with(|it| it.error_docs("https://example.com/errors"));
    let body = host.get("/v1/nothing").json();
    assert_eq!(body["type"], "https://example.com/errors#404-url-not-found");
}
