//! The servers of axum and of actix-web give the same answers: status, body, and every header that is
//! not the connection's.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    io::{self, Write as _},
    sync::{Arc, mpsc},
    time::Duration,
};

use accrue::store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError};
use accrue_servers_tests::{Answer, Client, Framework, Server};
use async_trait::async_trait;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// Runs a script against each server, over a store of its own, and returns what both answered.
#[track_caller]
fn same_over<S: Store>(
    store: impl Fn() -> S,
    script: impl Fn(&mut Client) -> io::Result<()>,
) -> Vec<Answer> {
    let [axum, actix] = Framework::ALL.map(|framework| {
        let server = Server::start(framework, store()).unwrap();
        let mut client = Client::new(server.address());
        script(&mut client).unwrap_or_else(|error| panic!("{framework:?}: {error}"));
        server.end().unwrap();
        client.into_answers()
    });
    assert_eq!(axum, actix);
    axum
}

#[track_caller]
fn same(script: impl Fn(&mut Client) -> io::Result<()>) -> Vec<Answer> {
    same_over(MemoryStore::new, script)
}

fn body(json: &Value) -> Vec<u8> {
    json.to_string().into_bytes()
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"))
}

#[track_caller]
fn statuses(answers: &[Answer], expected: &[u16]) {
    let found: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(found, expected, "{answers:#?}");
}

#[test]
fn a_ping_is_answered() {
    let answers = same(|client| client.send("GET", "/v1/ping", &[], b"").map(drop));
    statuses(&answers, &[200]);
    assert_eq!(answers[0].header("content-type"), Some("application/json"));
}

#[test]
fn a_resource_is_created_changed_and_listed() {
    let answers = same(|client| {
        for name in ["one", "two", "three"] {
            client.send("POST", "/v1/items", &[], &body(&json!({"name": name})))?;
        }
        let first = client.send("GET", "/v1/items?limit=2", &[], b"")?;
        let cursor = parsed(&first)["pagination_metadata"]["next_cursor"].clone();
        let next = format!("/v1/items?limit=2&cursor={}", cursor.as_str().unwrap());
        let last = client.send("GET", &next, &[], b"")?;
        let path = format!("/v1/items/{}", parsed(&last)["data"][0]["id"].as_str().unwrap());
        client.send("PUT", &path, &[], &body(&json!({"name": "ünö"})))?;
        client.send("GET", &path, &[], b"").map(drop)
    });
    statuses(&answers, &[201, 201, 201, 200, 200, 200, 200]);
    let names = |answer: &Answer| -> Vec<_> {
        let list = parsed(answer)["data"].as_array().unwrap().clone();
        list.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    let walked = [names(&answers[3]), names(&answers[4])].concat();
    assert_eq!(walked.len(), 3, "{walked:?}");
    assert_eq!(parsed(&answers[6])["name"], "ünö");
}

#[test]
fn s4_5_6_a_key_is_answered_again() {
    let key = [("idempotency-key", "k 1")];
    let answers = same(|client| {
        client.send("POST", "/v1/items", &key, &body(&json!({"name": "one"})))?;
        client.send("POST", "/v1/items", &key, b" {\"name\" : \"\\u006fne\"}")?;
        client.send("POST", "/v1/items", &key, &body(&json!({"name": "two"})))?;
        client.send("GET", "/v1/items", &[], b"").map(drop)
    });
    statuses(&answers, &[201, 201, 409, 200]);
    assert_eq!(answers[0].body, answers[1].body);
    assert_eq!(answers[1].header("idempotent-replayed"), Some("true"));
    assert_eq!(answers[2].header("x-should-retry"), Some("false"));
    assert_eq!(parsed(&answers[3])["data"].as_array().unwrap().len(), 1);
    for answer in &answers[..3] {
        assert_eq!(answer.header("idempotency-key"), Some("k 1"));
    }
}

#[test]
fn s5_whoever_is_not_known_is_answered_401() {
    let answers = same(|client| {
        let sent = |client: &mut Client, key: &[(&str, &str)]| {
            client.send_with("GET", "/v1/ping", key, b"").map(drop)
        };
        sent(client, &[])?;
        sent(client, &[("authorization", "Bearer wrong")])?;
        sent(client, &[("authorization", "test-key")])?;
        sent(client, &[("authorization", "Basic dGVzdC1rZXk=")])?;
        sent(client, &[("authorization", "Bearer test-key"), ("authorization", "Bearer wrong")])
    });
    statuses(&answers, &[401; 5]);
    assert!(answers.iter().all(|answer| answer == &answers[0]), "{answers:#?}");
}

#[test]
fn what_is_not_served_is_answered_404() {
    let answers = same(|client| {
        for (method, target) in [
            ("GET", "/v1/nothing"),
            ("GET", "/elsewhere"),
            ("GET", "/"),
            ("GET", "/v1//items"),
            ("GET", "/v1/items/"),
            ("PATCH", "/v1/items"),
            ("DELETE", "/v1/items"),
            ("PURGE", "/v1/items"),
            ("OPTIONS", "/v1/items"),
            ("HEAD", "/v1/nothing"),
            ("POST", "/v1/items/x"),
        ] {
            client.send(method, target, &[], b"")?;
        }
        Ok(())
    });
    statuses(&answers, &[404; 11]);
    assert_eq!(answers[9].body, "", "HEAD has no body");
}

#[test]
fn a_head_is_a_get_without_its_body() {
    let answers = same(|client| {
        for method in ["GET", "HEAD"] {
            client.send(method, "/v1/ping", &[], b"")?;
            client.send(method, "/v1/items", &[], b"")?;
            client.send(method, "/openapi.json", &[], b"")?;
        }
        Ok(())
    });
    statuses(&answers, &[200; 6]);
    for (got, head) in answers.iter().zip(&answers[3..]) {
        assert_eq!(head.headers, got.headers);
        assert_eq!(head.body, "");
    }
}

#[test]
fn s4_5_10_a_body_that_does_not_come_in_time_is_a_500_with_its_key() {
    let answers = Framework::ALL.map(|framework| {
        let host = Server::host(MemoryStore::new()).unwrap();
        let host = host.bound_requests(Duration::from_millis(200));
        let server = Server::serve(framework, host).unwrap();
        let mut client = Client::new(server.address());
        let key = format!("Bearer {}", Server::KEY);
        let late = [("authorization", &*key), ("idempotency-key", "k"), ("content-length", "20")];
        let answer = client.send_with("POST", "/v1/items", &late, b"{").unwrap();
        server.end().unwrap();
        answer
    });
    let [axum, actix] = &answers;
    assert_eq!(axum, actix);
    assert_eq!(axum.status, 500);
    assert_eq!(axum.header("idempotency-key"), Some("k"));
    assert_eq!(axum.header("transient-error"), Some("true"));
    assert_eq!(parsed(axum)["detail"], "the request took too long");
}

#[test]
fn a_body_that_is_declared_too_long_is_not_waited_for() {
    let most = Server::BODY_BYTES;
    let answers = same(|client| {
        let key = format!("Bearer {}", Server::KEY);
        for length in [most + 1, 999_999_999_999] {
            let length = length.to_string();
            let headers = [("authorization", &*key), ("content-length", &length)];
            client.send_with("POST", "/v1/items", &headers, b"")?;
            // Who is not let in is told that first.
            client.send_with("POST", "/v1/items", &headers[1..], b"")?;
        }
        Ok(())
    });
    statuses(&answers, &[413, 401, 413, 401]);
}

#[test]
fn a_client_that_sends_on_hears_that_it_is_refused() {
    let much = vec![b' '; 8 * 1024 * 1024];
    let answers = same(|client| {
        client.send("POST", "/v1/items", &[], &much)?;
        client.send("POST", "/v1/nothing", &[], &much)?;
        let length = much.len().to_string();
        client.send_with("POST", "/v1/items", &[("content-length", &length)], &much).map(drop)
    });
    statuses(&answers, &[413, 404, 401]);
}

/// Writes a body as one chunk and its end.
fn chunked(body: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
}

#[test]
fn a_body_in_chunks_is_read_up_to_the_bound() {
    let most = Server::BODY_BYTES;
    let padded = |length: usize| {
        let item = body(&json!({"name": "one"}));
        [item.clone(), vec![b' '; length - item.len()]].concat()
    };
    let key = format!("Bearer {}", Server::KEY);
    let headers = [("authorization", &*key), ("transfer-encoding", "chunked")];
    let answers = same(|client| {
        for length in [20, most - 1, most, most + 1] {
            client.send_with("POST", "/v1/items", &headers, &chunked(&padded(length)))?;
        }
        Ok(())
    });
    statuses(&answers, &[201, 201, 201, 413]);
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_body_may_be_packed_with_gzip() {
    let gzipped = [("content-encoding", "gzip")];
    let item = body(&json!({"name": "packed"}));
    let bomb = gzip(&vec![b' '; 1_000_000]);
    assert!(bomb.len() < Server::BODY_BYTES);
    let answers = same(|client| {
        client.send("POST", "/v1/items", &gzipped, &gzip(&item))?;
        client.send("POST", "/v1/items", &gzipped, &bomb)?;
        client.send("POST", "/v1/items", &gzipped, &item)?;
        client.send("POST", "/v1/items", &[("content-encoding", "br")], &item).map(drop)
    });
    statuses(&answers, &[201, 413, 400, 400]);
    assert_eq!(parsed(&answers[0])["name"], "packed");
}

#[test]
fn a_path_is_taken_as_it_was_sent() {
    let answers = same(|client| {
        for id in ["a%2Fb%20c%3Fd%23e", "a/b", "%2e%2e", "..", "%25", "%ff", "%", "%zz", "a+b"] {
            client.send("GET", &format!("/v1/items/{id}"), &[], b"")?;
        }
        Ok(())
    });
    // What cannot be an id names no item; what is no UTF-8, or has a slash, is no path.
    let kinds: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    assert!(kinds.iter().all(|status| [400, 404].contains(status)), "{answers:#?}");
    assert!(answers[0].body.contains("resource-not-found"), "{:?}", answers[0]);
    assert!(answers[1].body.contains("url-not-found"), "{:?}", answers[1]);
}

#[test]
fn an_id_may_have_every_character_encoded() {
    let customer = json!({
        "name": "one", "email": "one@example.com", "external_customer_id": "a/b c?d#e%25[f]ä",
    });
    let answers = same(|client| {
        client.send("POST", "/v1/customers", &[], &body(&customer))?;
        let id = "a%2Fb%20c%3Fd%23e%2525%5Bf%5D%C3%A4";
        let path = format!("/v1/customers/external_customer_id/{id}");
        client.send("GET", &path, &[], b"")?;
        client.send("PUT", &path, &[], &body(&json!({"name": "two"}))).map(drop)
    });
    statuses(&answers, &[201, 200, 200]);
    assert_eq!(answers[0].body, answers[1].body);
}

#[test]
fn a_query_has_brackets_or_their_encoding() {
    let answers = same(|client| {
        for query in [
            "timeframe_start=2026-03-01T00:00:00Z&limit=1",
            "timeframe_start=2026-03-01T00%3A00%3A00%2B00%3A00",
            "limit=1&limit=2",
            "",
        ] {
            client.send("GET", &format!("/v1/events/volume?{query}"), &[], b"")?;
        }
        for filter in ["created_at[gte]=2026-03-01", "created_at%5Bgte%5D=2026-03-01", "x[=1"] {
            client.send("GET", &format!("/v1/customers?{filter}"), &[], b"")?;
        }
        Ok(())
    });
    statuses(&answers[..2], &[200, 200]);
    assert_eq!(answers[4], answers[5]);
}

#[test]
fn an_empty_body_may_have_a_content_type() {
    let answers = same(|client| {
        let created = client.send("POST", "/v1/items", &[], &body(&json!({"name": "one"})))?;
        let id = parsed(&created)["id"].as_str().unwrap().to_owned();
        client.send("POST", &format!("/v1/items/{id}/archive"), &[], b"")?;
        client.send("POST", "/v1/items", &[], b"")?;
        client.send("POST", "/v1/items", &[], b"{").map(drop)
    });
    statuses(&answers, &[201, 200, 400, 400]);
}

#[test]
fn health_needs_no_key() {
    let answers = same(|client| {
        client.send_with("GET", "/healthz", &[], b"")?;
        client.send_with("GET", "/healthz?x=1", &[], b"").map(drop)
    });
    statuses(&answers, &[200, 200]);
    assert_eq!(answers[0].body, "ok");
}

/// A store that does what a store must not.
#[derive(Debug)]
enum Broken {
    Panicking,
    Unavailable,
}

#[async_trait]
impl Store for Broken {
    async fn get(&self, _: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.fail()
    }

    async fn scan(&self, _: &Scan) -> Result<Vec<Row>, StoreError> {
        self.fail()
    }

    async fn commit(&self, _: Batch) -> Result<Commit, StoreError> {
        self.fail()
    }
}

impl Broken {
    fn fail<T>(&self) -> Result<T, StoreError> {
        match self {
            Self::Panicking => panic!("this store panics"),
            Self::Unavailable => Err(StoreError::unavailable("this store is away")),
        }
    }
}

#[test]
fn a_panic_is_answered_500() {
    let answers = same_over(
        || Broken::Panicking,
        |client| {
            client.send("GET", "/v1/items", &[], b"")?;
            client.send("POST", "/v1/items", &[], &body(&json!({"name": "one"})))?;
            let key = [("idempotency-key", "k")];
            client.send("POST", "/v1/items", &key, &body(&json!({"name": "one"})))?;
            client.send("GET", "/v1/ping", &[], b"").map(drop)
        },
    );
    statuses(&answers, &[500, 500, 500, 200]);
    assert_eq!(answers[1].header("transient-error"), None);
    assert_eq!(answers[2].header("transient-error"), Some("true"));
}

#[test]
fn a_store_that_is_away_is_not_healthy() {
    let answers = same_over(
        || Broken::Unavailable,
        |client| {
            client.send_with("GET", "/healthz", &[], b"")?;
            client.send("GET", "/v1/items", &[], b"").map(drop)
        },
    );
    statuses(&answers, &[503, 500]);
}

/// A store that says when a commit came, and lets it go on when it is told to.
#[derive(Debug)]
struct Gated {
    inner: MemoryStore,
    came: mpsc::SyncSender<()>,
    gate: Arc<Semaphore>,
}

#[async_trait]
impl Store for Gated {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.inner.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.inner.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.came.send(()).unwrap();
        self.gate.acquire().await.unwrap().forget();
        self.inner.commit(batch).await
    }
}

#[test]
fn what_is_in_flight_is_answered_before_the_end() {
    for framework in Framework::ALL {
        let (came, has_come) = mpsc::sync_channel(8);
        let gate = Arc::new(Semaphore::new(0));
        let store = Gated { inner: MemoryStore::new(), came, gate: gate.clone() };
        let server = Server::start(framework, store).unwrap();
        let mut client = Client::new(server.address());
        let asked = std::thread::spawn(move || {
            client.send("POST", "/v1/items", &[], &body(&json!({"name": "late"})))
        });
        has_come.recv().unwrap();
        server.ask_to_stop();
        gate.add_permits(1);
        let answer = asked.join().unwrap().unwrap();
        assert_eq!(answer.status, 201, "{framework:?}: {answer:?}");
        let address = server.address();
        server.end().unwrap();
        let refused = Client::new(address).send("GET", "/v1/ping", &[], b"");
        assert!(refused.is_err(), "{framework:?}: {refused:?}");
    }
}
