//! Operations of the host's own: they are answered in the form of the API.

use std::{future::ready, sync::Mutex};

use accrue::Account;
use accrue_http::OwnError;
use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::json;

use crate::support::{Answer, Body, Host, request};

/// Answers whose request it is, and what was sent.
async fn told(account: Account, body: Bytes) -> Result<String, OwnError> {
    Ok(json!({"account": account.id().as_str(), "bytes": body.len()}).to_string())
}

async fn refused(_: Account, _: Bytes) -> Result<String, OwnError> {
    Err(OwnError::invalid("/now", "is missing"))
}

async fn failed(_: Account, _: Bytes) -> Result<String, OwnError> {
    Err(OwnError::failed("the disk is full"))
}

fn send<F: Future<Output = Result<String, OwnError>>>(
    host: &Host,
    method: &str,
    body: impl Into<Body>,
    run: impl FnOnce(Account, Bytes) -> F,
) -> Answer {
    let sent = request(method, "/v1/own", body.into(), &[]);
    Answer::of(pollster::block_on(host.api.handle_own(sent, std::future::pending(), run)))
}

#[test]
fn a_key_is_asked_for() {
    let host = Host::new();
    let answer = send(&host, "PUT", json!({"now": 1}), told);
    let expected = json!({"account": "acme", "bytes": 9});
    assert_eq!(answer.ok(StatusCode::OK), expected);
    let unknown = Request::get("/v1/own").body(String::new()).unwrap();
    let answer = host.api.handle_own(unknown, std::future::pending(), told);
    Answer::of(pollster::block_on(answer)).error(401, "401-authentication-error");
}

#[test]
fn s7_a_fault_is_a_400_with_its_place() {
    let answer = send(&Host::new(), "PUT", (), refused);
    let error = answer.error(400, "400-request-validation-errors");
    assert_eq!(error["validation_errors"], json!(["/now: is missing"]));
}

#[test]
fn s7_a_failure_is_a_500_that_the_host_hears_of() {
    let heard = std::sync::Arc::new(Mutex::new(Vec::new()));
    let hears = std::sync::Arc::clone(&heard);
    let host = Host::with(|builder| {
        builder.on_error(move |failure| hears.lock().unwrap().push(failure.cause.to_string()))
    });
    let error = send(&host, "PUT", (), failed).error(500, "500-internal-server-error");
    assert_eq!(error["detail"], "the request failed");
    assert_eq!(*heard.lock().unwrap(), ["the disk is full"]);
}

#[test]
fn a_body_has_the_bound_of_the_others() {
    let host = Host::with(|builder| {
        builder.bounds(accrue_http::Bounds { body_bytes: 8, ..Default::default() })
    });
    send(&host, "PUT", json!({"now": 1}), told).error(413, "413-request-too-large");
}

#[test]
fn what_is_late_is_answered() {
    let sent = request("PUT", "/v1/own", Body::from(()), &[]);
    let never = |_, _| std::future::pending();
    let answer = pollster::block_on(Host::new().api.handle_own(sent, ready(()), never));
    let answer = Answer::of(answer);
    answer.error(500, "500-internal-server-error");
    assert_eq!(answer.header("transient-error"), None);
}

#[test]
fn a_panic_is_answered() {
    async fn panics(_: Account, _: Bytes) -> Result<String, OwnError> {
        panic!("this operation panics")
    }
    send(&Host::new(), "PUT", (), panics).error(500, "500-internal-server-error");
}
