//! Requests whose time is over, and what the host hears of those that fail.

use std::{
    future::{pending, ready},
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use accrue::store::MemoryStore;
use accrue_conformance::{Calls, Fault, FaultyStore};
use bytes::Bytes;
use http::StatusCode;
use http_body::Frame;
use serde_json::json;

use crate::{
    stores::HookedStore,
    support::{Answer, Body, Host, request},
};

/// A body that never comes.
struct Endless;

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        Poll::Pending
    }
}

const LATE: &str = "the request took too long";

#[test]
fn s4_5_10_a_body_that_does_not_come_in_time_is_a_transient_500() {
    let host = Host::new();
    for headers in [&[("idempotency-key", "k")][..], &[]] {
        let sent = request("POST", "/v1/items", Body::from(()), headers).map(|_| Endless);
        let answer = Answer::of(pollster::block_on(host.api.handle_until(sent, ready(()))));
        assert_eq!(answer.error(500, "500-internal-server-error")["detail"], LATE);
        assert_eq!(answer.header("transient-error"), Some("true"));
        assert_eq!(answer.header("idempotency-key"), headers.first().map(|_| "k"));
    }
    host.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"})).ok(StatusCode::CREATED);
}

/// Sends a request to a store that is late, and lets its time be over then.
fn late(headers: &[(&str, &str)], method: &str, path: &str) -> (Host, Answer) {
    let store = HookedStore::new();
    let host = Host::over(store.clone());
    // Its calls are not answered at once, and the time is over then.
    let sent = request(method, path, json!({"name": "Tokens"}).into(), headers);
    let answer = host.api.handle_until(sent, ready(()));
    (Host::over(store.inner.clone()), Answer::of(pollster::block_on(answer)))
}

#[test]
fn s4_5_10_what_may_have_happened_is_only_safe_to_send_again_under_a_key() {
    let check = |headers: &[(&str, &str)], method: &str, path: &str, expect: Option<&str>| {
        let (host, answer) = late(headers, method, path);
        answer.error(500, "500-internal-server-error");
        assert_eq!(answer.header("transient-error"), expect, "{method} {path} {headers:?}");
        host
    };
    check(&[], "POST", "/v1/items", None);
    check(&[], "GET", "/v1/items", Some("true"));
    let host = check(&[("idempotency-key", "k")], "POST", "/v1/items", Some("true"));
    assert_eq!(host.items(), 0);
    host.keyed("POST", "/v1/items", "k", json!({"name": "Tokens"})).ok(StatusCode::CREATED);
}

#[test]
fn a_request_that_is_answered_in_time_is_answered_as_ever() {
    let host = Host::new();
    let sent = request("POST", "/v1/items", json!({"name": "Tokens"}).into(), &[]);
    Answer::of(pollster::block_on(host.api.handle_until(sent, pending()))).ok(StatusCode::CREATED);
    // What is there at once needs no time.
    let sent = request("GET", "/v1/ping", Body::from(()), &[]);
    let mut answer = pin!(host.api.handle_until(sent, ready(())));
    let mut context = Context::from_waker(Waker::noop());
    assert!(answer.as_mut().poll(&mut context).is_ready());
}

/// What a host hears, as one line each.
type Heard = Arc<Mutex<Vec<String>>>;

fn hearing(store: impl accrue::store::Store) -> (Host, Heard) {
    let heard = Heard::default();
    let hears = Arc::clone(&heard);
    let host = Host::over_with(store, |builder| {
        builder.on_error(move |failure| {
            let mut causes = vec![failure.cause.to_string()];
            let mut source = failure.cause.source();
            while let Some(cause) = source {
                causes.push(cause.to_string());
                source = cause.source();
            }
            let account = failure.account.map(ToString::to_string);
            let line = format!("{:?} {account:?} {}", failure.route, causes.join(": "));
            hears.lock().unwrap().push(line);
        })
    });
    (host, heard)
}

#[test]
fn the_host_hears_why_a_request_was_answered_500() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    store.fail_nth(Calls::Commits, 0, Fault::Refused);
    let (host, heard) = hearing(store);
    let answer = host.post("/v1/items", json!({"name": "Tokens"}));
    answer.failed(Some("true"));
    let lines = std::mem::take(&mut *heard.lock().unwrap());
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    let expect = "Some(\"/items\") Some(\"acme\") the store is unavailable: ";
    assert!(line.starts_with(expect), "{line}");
    // Nothing else is heard of.
    host.post("/v1/items", json!({})).error(400, "400-request-validation-errors");
    host.get("/v1/items/none").error(404, "404-resource-not-found");
    assert!(heard.lock().unwrap().is_empty());
}

#[test]
fn the_host_hears_of_a_panic_and_of_time_that_is_over() {
    let store = HookedStore::new();
    let (host, heard) = hearing(store.clone());
    store.hook(|_| panic!("a defect"));
    host.get("/v1/items").failed(None);
    let sent = request("POST", "/v1/items", Body::from(()), &[]).map(|_| Endless);
    pollster::block_on(host.api.handle_until(sent, ready(())));
    let lines = heard.lock().unwrap();
    assert!(lines[0].ends_with("a panic: a defect"), "{lines:?}");
    assert!(lines[1].ends_with("the time of the request was over"), "{lines:?}");
}
