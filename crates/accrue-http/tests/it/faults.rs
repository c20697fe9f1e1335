//! A store that fails, code that panics and clients that go away (§4.5.10).

use std::{
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use accrue::store::{MemoryStore, StoreError};
use accrue_conformance::{Calls, Fault, FaultyStore};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::{Body as _, Frame};
use serde_json::json;

use crate::{
    stores::{Call, HookedStore},
    support::{Answer, Host, keyed_request},
};

fn keyed(host: &Host, name: &str) -> Answer {
    host.keyed("POST", "/v1/items", "k", json!({"name": name}))
}

/// A request that reads before it writes.
fn customer(host: &Host) -> Answer {
    host.keyed("POST", "/v1/customers", "k", json!({"name": "Ada", "email": "a@example.com"}))
}

/// Lets the next call of a kind fail.
fn faulty(calls: Calls, fault: Fault) -> Host {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    store.fail_nth(calls, 0, fault);
    Host::over(store)
}

#[test]
fn a_store_that_is_unavailable_is_a_transient_500() {
    let host = faulty(Calls::Commits, Fault::Refused);
    keyed(&host, "Tokens").failed(Some("true"));
    assert_eq!(host.items(), 0);
    keyed(&host, "Tokens").is_fresh().ok(StatusCode::CREATED);
    assert_eq!(host.items(), 1);
    for calls in [Calls::Gets, Calls::Commits] {
        let host = faulty(calls, Fault::Refused);
        customer(&host).failed(Some("true"));
        customer(&host).is_fresh().ok(StatusCode::CREATED);
    }
    // Nothing was done for certain, so that a retry without a key doubles nothing either.
    let host = faulty(Calls::Commits, Fault::Refused);
    host.post("/v1/items", json!({"name": "Tokens"})).failed(Some("true"));
    assert_eq!(host.items(), 0);
    let host = faulty(Calls::Scans, Fault::Refused);
    host.get("/v1/items").failed(Some("true"));
}

#[test]
fn an_unknown_outcome_is_the_first_answer_where_the_record_is_there() {
    let host = faulty(Calls::Commits, Fault::Lost);
    let first = keyed(&host, "Tokens");
    first.is_fresh().ok(StatusCode::CREATED);
    keyed(&host, "Tokens").replays(&first);
    assert_eq!(host.items(), 1);
}

#[test]
fn an_unknown_outcome_is_a_transient_500_where_the_record_is_not_there() {
    let host = faulty(Calls::Commits, Fault::Dropped);
    keyed(&host, "Tokens").failed(Some("true"));
    assert_eq!(host.items(), 0);
    keyed(&host, "Tokens").is_fresh().ok(StatusCode::CREATED);
    assert_eq!(host.items(), 1);
}

#[test]
fn an_unknown_outcome_that_cannot_be_looked_up_is_a_transient_500() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let host = Host::over(Arc::clone(&store));
    store.fail_nth(Calls::Commits, 0, Fault::Lost);
    // Nobody asks for the key before the commit: the engine looks then, and the door once more.
    store.fail_nth(Calls::Gets, 0, Fault::Refused);
    store.fail_nth(Calls::Gets, 1, Fault::Refused);
    keyed(&host, "Tokens").failed(Some("true"));
    assert_eq!(host.items(), 1);
    let again = keyed(&host, "Tokens");
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    again.ok(StatusCode::CREATED);
    assert_eq!(host.items(), 1);
}

/// The commit has an unknown outcome, and another process had the key before it.
fn unknown_after_another(name: &'static str) -> (Host, Host) {
    let store = HookedStore::new();
    let (here, there) = (Host::over(store.clone()), Host::another(store.inner.clone()));
    store.before_commit(move |_| {
        keyed(&there, name).is_fresh().ok(StatusCode::CREATED);
        Some(StoreError::indeterminate("the answer is lost"))
    });
    (here, Host::another(store.inner.clone()))
}

#[test]
fn an_unknown_outcome_is_others_answer_where_the_record_is_others() {
    let (here, there) = unknown_after_another("Tokens");
    let answer = keyed(&here, "Tokens");
    answer.replays(&keyed(&there, "Tokens").unmarked());
    assert_eq!(here.items(), 1);
    let (here, _) = unknown_after_another("Other");
    keyed(&here, "Tokens").is_reused();
    assert_eq!(here.items(), 1);
}

#[test]
fn an_unknown_outcome_without_a_key_is_not_called_transient() {
    for fault in [Fault::Lost, Fault::Dropped] {
        let host = faulty(Calls::Commits, fault);
        host.post("/v1/items", json!({"name": "Tokens"})).failed(None);
        assert_eq!(host.items(), usize::from(fault == Fault::Lost));
    }
}

#[test]
fn a_store_that_is_corrupt_is_500_without_a_hint() {
    for calls in [Calls::Gets, Calls::Commits] {
        let host = faulty(calls, Fault::Corrupt);
        customer(&host).failed(None);
    }
    let host = faulty(Calls::Commits, Fault::Corrupt);
    host.post("/v1/items", json!({"name": "Tokens"})).failed(None);
    let host = faulty(Calls::Gets, Fault::Corrupt);
    host.get("/v1/items/0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001").failed(None);
}

#[test]
fn a_search_whose_key_cannot_be_taken_is_not_answered() {
    let search =
        |host: &Host| host.keyed("POST", "/v1/events/search", "k", json!({"event_ids": ["a"]}));
    // The first tells whether what was read holds, the second takes the key.
    let faulty = |fault| {
        let store = Arc::new(FaultyStore::new(MemoryStore::new()));
        store.fail_nth(Calls::Commits, 1, fault);
        Host::over(store)
    };
    for fault in [Fault::Refused, Fault::Dropped] {
        let host = faulty(fault);
        search(&host).failed(Some("true"));
        search(&host).ok(StatusCode::OK);
    }
    let host = faulty(Fault::Lost);
    search(&host).ok(StatusCode::OK);
    keyed(&host, "Tokens").is_reused();
}

#[test]
fn a_panic_is_a_transient_500_and_the_key_is_free() {
    type Panics = fn(&Call<'_>) -> bool;
    let places: [Panics; 2] =
        [|call| matches!(call, Call::Get), |call| matches!(call, Call::Commit(_))];
    for is_there in places {
        let store = HookedStore::new();
        let host = Host::over(store.clone());
        store.hook(move |call| {
            assert!(!is_there(call), "on purpose");
            None
        });
        let answer = customer(&host);
        answer.failed(Some("true"));
        assert_eq!(answer.header("idempotency-key"), Some("k"));
        customer(&host).failed(Some("true"));
        store.unhook();
        customer(&host).is_fresh().ok(StatusCode::CREATED);
    }
    // Without a key nobody knows what it has come to.
    let store = HookedStore::new();
    let host = Host::over(store.clone());
    store.hook(|call| {
        assert!(!matches!(call, Call::Commit(_)), "on purpose");
        None
    });
    host.post("/v1/items", json!({"name": "Tokens"})).failed(None);
}

/// A body that comes byte by byte, and is late each time.
struct Slow(Vec<u8>, bool);

impl http_body::Body for Slow {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.1 = !self.1;
        if self.1 {
            return Poll::Pending;
        }
        if self.0.is_empty() {
            return Poll::Ready(None);
        }
        let byte = self.0.remove(0);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![byte])))))
    }
}

fn slow(method: &str, path: &str, body: &str) -> Request<Slow> {
    let request = keyed_request(method, path, (), b"k");
    assert!(request.body().is_end_stream());
    request.map(|_| Slow(body.as_bytes().to_vec(), false))
}

/// Polls a request so many times, and drops it then. Tells whether it was answered.
fn poll(host: &Host, request: Request<Slow>, polls: usize) -> bool {
    let mut future = pin!(host.api.handle(request));
    let mut context = Context::from_waker(Waker::noop());
    (0..polls).any(|_| future.as_mut().poll(&mut context).is_ready())
}

#[test]
fn a_client_can_go_away_at_every_await() {
    let body = r#"{"name":"Tokens"}"#;
    let mut was_kept = Vec::new();
    for polls in 0.. {
        let store = HookedStore::new();
        let host = Host::over(store);
        let is_done = poll(&host, slow("POST", "/v1/items", body), polls);
        let before = host.items();
        let again = keyed(&host, "Tokens");
        again.ok(StatusCode::CREATED);
        assert_eq!(host.items(), 1, "after {polls} polls");
        let is_kept = again.header("idempotent-replayed").is_some();
        assert_eq!(before, usize::from(is_kept), "after {polls} polls");
        was_kept.push(is_kept);
        if is_done {
            break;
        }
    }
    // Away from the reading of the body until after the commit.
    assert!(was_kept.len() > body.len() + 4, "{was_kept:?}");
    assert!(was_kept.is_sorted(), "{was_kept:?}");
    assert!(was_kept.iter().filter(|it| **it).count() >= 2, "{was_kept:?}");
}

#[test]
fn a_client_of_a_search_can_go_away_at_every_await() {
    let body = r#"{"event_ids":["a"]}"#;
    for polls in 0.. {
        let store = HookedStore::new();
        let host = Host::over(store);
        let is_done = poll(&host, slow("POST", "/v1/events/search", body), polls);
        let again = host.keyed("POST", "/v1/events/search", "k", body);
        again.is_fresh().ok(StatusCode::OK);
        if is_done {
            break;
        }
    }
}
