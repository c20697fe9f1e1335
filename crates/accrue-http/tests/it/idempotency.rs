//! Specification §4.5 over HTTP, clause by clause.

use http::StatusCode;
use serde_json::json;

use crate::support::Host;

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
}
