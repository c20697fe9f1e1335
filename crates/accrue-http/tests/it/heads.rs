//! What every answer has, and a `HEAD`.

use http::StatusCode;
use serde_json::json;

use crate::support::Host;

#[test]
fn every_answer_is_what_its_type_says_and_is_not_kept_on_the_way() {
    let host = Host::new();
    let created = host.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"}));
    let replayed = host.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"}));
    for answer in [
        created,
        replayed,
        host.get("/v1/ping"),
        host.get("/v1/nothing"),
        host.post("/v1/items", "{"),
        host.get("/openapi.json"),
        host.get("/docs"),
        host.get("/docs/pricing"),
        host.call("HEAD", "/v1/ping", ()),
    ] {
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer:?}");
    }
}

#[test]
fn a_head_is_answered_as_a_get_without_the_body() {
    let host = Host::new();
    host.post("/v1/items", json!({"name": "Tokens"})).ok(StatusCode::CREATED);
    for path in ["/v1/items", "/v1/items?limit=0", "/v1/items/none", "/v1/nothing", "/docs"] {
        let (get, head) = (host.get(path), host.call("HEAD", path, ()));
        assert_eq!(head.status, get.status);
        assert!(head.bytes.is_empty(), "{head:?}");
        assert_eq!(head.header("content-length"), Some(&*get.bytes.len().to_string()));
        assert_eq!(head.header("content-type"), get.header("content-type"));
    }
    // It has no key, as a GET has none (§4.5.3).
    let head = host.keyed("HEAD", "/v1/items", "k", ());
    assert_eq!((head.status, head.header("idempotency-key")), (200, None));
}
