//! What makes two payloads the same: the fingerprint (§4.5.8), seen through answers.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use http::{HeaderValue, StatusCode};
use serde_json::json;

use crate::support::{Answer, Body, Host, event, keyed_request};

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

const INGEST: &str = r#"{"events":[{"idempotency_key":"a","event_name":"completion","timestamp":"2026-03-10T11:00:00Z","external_customer_id":"ada","properties":{"tokens":1,"é":"ü"}}]}"#;

fn ingest(host: &Host, body: impl Into<Body>) -> Answer {
    host.keyed("POST", "/v1/ingest", "k", body)
}

#[test]
fn the_same_json_spelled_otherwise_is_a_replay() {
    let host = Host::new();
    let first = ingest(&host, INGEST);
    first.is_fresh().ok(StatusCode::OK);
    let parsed: serde_json::Value = serde_json::from_str(INGEST).unwrap();
    let pretty = serde_json::to_string_pretty(&parsed).unwrap();
    assert_ne!(pretty, INGEST);
    for body in [
        pretty.as_str(),
        &INGEST.replace(r#""tokens":1"#, r#""tokens":1.0"#),
        &INGEST.replace(r#""tokens":1"#, r#""tokens":1e0"#),
        &INGEST.replace(r#""tokens":1"#, r#""tokens":10E-1"#),
        &INGEST.replace('é', r"\u00e9").replace("ada", r"\u0061da").replace("10T", r"10\u0054"),
        &INGEST.replace(r#"{"tokens":1,"é":"ü"}"#, r#"{"é":"ü","tokens":1}"#),
        &INGEST.replace(r#"{"events""#, " {\r\n\t\"events\" "),
    ] {
        ingest(&host, body).replays(&first);
    }
    let mut packed = keyed_request("POST", "/v1/ingest", gzip(INGEST.as_bytes()), b"k");
    packed.headers_mut().insert("content-encoding", HeaderValue::from_static("gzip"));
    host.send(packed).replays(&first);
    // What travels with a payload is none of it.
    let mut other = keyed_request("POST", "/v1/ingest", INGEST, b"k");
    other.headers_mut().insert("content-type", HeaderValue::from_static("text/plain"));
    other.headers_mut().insert("user-agent", HeaderValue::from_static("another client"));
    host.send(other).replays(&first);
}

#[test]
fn a_payload_that_says_something_else_is_409() {
    let host = Host::new();
    ingest(&host, INGEST).ok(StatusCode::OK);
    for body in [
        &*INGEST.replace(r#""tokens":1"#, r#""tokens":2"#),
        &INGEST.replace(r#""tokens":1"#, r#""tokens":"1""#),
        &INGEST.replace(r#""tokens":1"#, r#""tokens":1.0000000000000000000000000001"#),
        &INGEST.replace("11:00:00Z", "11:00:00+00:00"),
        &INGEST.replace('ü', "u"),
        r#"{"events":[]}"#,
        "",
        "null",
    ] {
        ingest(&host, body).is_reused();
    }
}

#[test]
fn a_member_that_is_there_twice_is_taken_as_it_is_spelled() {
    let host = Host::new();
    let twice = r#"{"name":"Tokens","name":"Tokens"}"#;
    let send = |body: &str| host.keyed("POST", "/v1/items", "k", body);
    send(twice).error(400, "400-request-validation-errors");
    let first = send(r#"{"name":"Tokens"}"#);
    first.is_fresh().ok(StatusCode::CREATED);
    send(twice).is_reused();
    send(r#" {"name":"Tokens"}"#).replays(&first);
}

#[test]
fn the_path_and_the_query_are_of_the_payload() {
    let host = Host::new();
    let (one, other) = (host.item("One"), host.item("Other"));
    let archive = |item: &str, query: &str| {
        host.keyed("POST", &format!("/v1/items/{item}/archive{query}"), "k", ())
    };
    let first = archive(&one, "");
    first.is_fresh().ok(StatusCode::OK);
    archive(&other, "").is_reused();
    archive(&one, "?force=true").is_reused();
    host.keyed("POST", &format!("/v1/items/{one}"), "k", ()).error(404, "404-url-not-found");
    // No query and an empty one are the same, and so is a path with an escape that need not be.
    archive(&one, "?").replays(&first);
    let escaped = one.replace('-', "%2D");
    assert_ne!(escaped, one);
    archive(&escaped, "").replays(&first);
}

#[test]
fn no_body_is_not_an_empty_object() {
    let host = Host::new();
    let item = host.item("Tokens");
    let archive = |body: Body| host.keyed("POST", &format!("/v1/items/{item}/archive"), "k", body);
    let first = archive(().into());
    first.is_fresh().ok(StatusCode::OK);
    archive(json!({}).into()).is_reused();
    archive("".into()).replays(&first);
    archive(" ".into()).is_reused();
}

#[test]
fn events_in_another_order_are_another_payload() {
    let host = Host::new();
    ingest(&host, json!({"events": [event("a"), event("b")]})).ok(StatusCode::OK);
    ingest(&host, json!({"events": [event("b"), event("a")]})).is_reused();
}
