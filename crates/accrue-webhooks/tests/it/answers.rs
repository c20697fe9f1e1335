//! What comes back, and when nothing does.

use std::{future, io, net::IpAddr};

use accrue::Timestamp;
use accrue_webhooks::{Failure, Resolve, Response, RetryAfter};
use async_trait::async_trait;
use http::StatusCode;

use crate::support::{Does, Listener, SOON, Script, answers, everywhere, ok, send};

async fn answer(does: Does) -> (Listener, Result<Response, Failure>) {
    let transport = match does {
        Does::Hangs(_) => everywhere().answered_within(SOON * 5),
        _ => everywhere(),
    };
    let listener = Listener::plain(does).await;
    let found = send(&transport, &listener.url("http", "127.0.0.1")).await;
    (listener, found)
}

#[tokio::test]
async fn webhooks_requests_arrive_as_they_are() {
    let (listener, found) = answer(ok()).await;
    let expect = Response { body: "ok".into(), ..Response::new(StatusCode::OK) };
    assert_eq!(found.unwrap(), expect);
    let requests = listener.requests();
    let expect = format!(
        "POST /hook?a=b HTTP/1.1\r\nwebhook-id: 1\r\nhost: {}\r\ncontent-length: 2\r\n\r\n{{}}",
        listener.address
    );
    assert_eq!(requests, [expect]);
}

#[tokio::test]
async fn webhooks_any_status_is_an_answer() {
    for (status, code) in [("204 No", 204), ("404 No", 404), ("410 Gone", 410), ("500 Oh", 500)] {
        let body = if code == 204 { "" } else { "content-length: 0\r\n" };
        let (_, found) = answer(answers(&format!("HTTP/1.1 {status}\r\n{body}\r\n"))).await;
        assert_eq!(found.unwrap().status, code);
    }
}

#[tokio::test]
async fn webhooks_redirections_are_not_followed() {
    let elsewhere = Listener::plain(ok()).await;
    for (status, location) in [
        (301, elsewhere.url("http", "127.0.0.1")),
        (302, "http://169.254.169.254/latest/meta-data".to_owned()),
        (307, "/other".to_owned()),
        (308, elsewhere.url("http", "localhost")),
    ] {
        let head = format!("HTTP/1.1 {status} There\r\nlocation: {location}\r\n");
        let (listener, found) = answer(answers(&format!("{head}content-length: 0\r\n\r\n"))).await;
        assert_eq!(found.unwrap().status, status);
        assert_eq!(listener.requests().len(), 1);
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn webhooks_retry_after_is_kept() {
    let check = async |value: &str, expect: Option<RetryAfter>| {
        let head = format!("HTTP/1.1 503 Busy\r\nretry-after: {value}\r\n");
        let (_, found) = answer(answers(&format!("{head}content-length: 0\r\n\r\n"))).await;
        assert_eq!(found.unwrap().retry_after, expect, "{value}");
    };
    check("120", Some(RetryAfter::Seconds(120))).await;
    let at = Timestamp::parse("2026-03-10T12:00:00Z").unwrap();
    check("Tue, 10 Mar 2026 12:00:00 GMT", Some(RetryAfter::At(at))).await;
    check("soon", None).await;
    check("", None).await;
}

#[tokio::test]
async fn webhooks_silence_times_out() {
    for does in [
        Does::Hangs(Vec::new()),
        Does::Hangs(b"HTTP/1.1 200".to_vec()),
        Does::Hangs(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()),
        Does::Hangs(b"HTTP/1.1 100 Continue\r\n\r\n".repeat(10)),
    ] {
        let (_, found) = answer(does).await;
        assert!(matches!(found, Err(Failure::TimedOut)), "{found:?}");
    }
}

struct Silent;

#[async_trait]
impl Resolve for Silent {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        future::pending().await
    }
}

#[tokio::test]
async fn webhooks_a_name_that_takes_long_times_out() {
    let transport = everywhere().resolving(Silent).connecting_within(SOON);
    let found = send(&transport, "https://hooks.example.com/").await;
    assert!(matches!(found, Err(Failure::TimedOut)), "{found:?}");
    let transport = transport.connecting_within(SOON * 1_000).answered_within(SOON);
    let found = send(&transport, "https://hooks.example.com/").await;
    assert!(matches!(found, Err(Failure::TimedOut)), "{found:?}");
}

#[tokio::test]
async fn webhooks_a_handshake_that_takes_long_times_out() {
    let listener = Listener::plain(Does::Hangs(Vec::new())).await;
    let transport = everywhere().connecting_within(SOON);
    let found = send(&transport, &listener.url("https", "127.0.0.1")).await;
    assert!(matches!(found, Err(Failure::TimedOut)), "{found:?}");
}

#[tokio::test]
async fn webhooks_names_without_addresses_are_not_resolved() {
    for script in [Script::of(&[]), Script::of(&[&[]])] {
        let found = send(&everywhere().resolving(script), "https://hooks.example.com/").await;
        assert!(matches!(found, Err(Failure::NotResolved(_))), "{found:?}");
    }
}

#[tokio::test]
async fn webhooks_nobody_there_is_no_connection() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = send(&everywhere(), &format!("http://{address}/")).await.unwrap_err();
    assert!(matches!(failure, Failure::Connect(_)), "{failure:?}");
    assert!(failure.reason().contains("refused"), "{}", failure.reason());
    assert!(!failure.reason().contains("127."), "{}", failure.reason());
}

#[tokio::test]
async fn webhooks_the_next_address_is_tried() {
    let listener = Listener::plain(ok()).await;
    // Nobody listens there: the listener has 127.0.0.1 alone.
    let script = Script::of(&[&["127.0.0.2", "::1", "127.0.0.1"]]);
    let transport = everywhere().resolving(script);
    let found = send(&transport, &listener.url("http", "hooks.example.com")).await;
    assert_eq!(found.unwrap().status, 200);
}

#[tokio::test]
async fn webhooks_what_is_not_http_is_broken() {
    for does in [
        Does::Ends(Vec::new()),
        Does::Ends(b"HTTP/1.1 200".to_vec()),
        Does::Ends(b"HTTP/2 200 OK\r\n\r\n".to_vec()),
        Does::Ends(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()),
        Does::Ends(b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n".to_vec()),
        Does::Ends(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n".to_vec()),
    ] {
        let (_, found) = answer(does).await;
        assert!(matches!(found, Err(Failure::Broken(_))), "{found:?}");
    }
}

#[tokio::test]
async fn webhooks_heads_without_end_are_broken() {
    let line = "a: b\r\n".repeat(90);
    let (_, found) =
        answer(answers(&format!("HTTP/1.1 200 OK\r\n{line}content-length: 0\r\n\r\n"))).await;
    assert_eq!(found.unwrap().status, 200);
    for lines in ["a: b\r\n".repeat(200), format!("a: {}\r\n", "b".repeat(32 * 1024))] {
        let (_, found) = answer(answers(&format!("HTTP/1.1 200 OK\r\n{lines}\r\n"))).await;
        assert!(matches!(found, Err(Failure::Broken(_))), "{found:?}");
    }
}

#[tokio::test]
async fn webhooks_a_status_stands_without_its_body() {
    for (does, body) in [
        (Does::Hangs(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()), "half"),
        (Does::Ends(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()), "half"),
        (Does::Hangs(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec()), ""),
        (Does::Ends(b"HTTP/1.1 200 OK\r\n\r\nto the end".to_vec()), "to the end"),
        (Does::Ends(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx".to_vec()), ""),
    ] {
        let (_, found) = answer(does).await;
        let found = found.unwrap();
        assert_eq!((found.status.as_u16(), &*found.body), (200, body));
    }
}

#[tokio::test]
async fn webhooks_bodies_are_kept_to_a_kib() {
    let check = async |body: &[u8], expect: &str| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        let (_, found) = answer(Does::Answers([head.as_bytes(), body].concat())).await;
        assert_eq!(found.unwrap().body, expect);
    };
    check(&b"a".repeat(1_024), &"a".repeat(1_024)).await;
    check(&b"a".repeat(1_025), &"a".repeat(1_024)).await;
    check("é".repeat(600).as_bytes(), &"é".repeat(512)).await;
    check(format!("a{}", "é".repeat(600)).as_bytes(), &format!("a{}", "é".repeat(511))).await;
    check(b"a\xffb", "a\u{fffd}b").await;
    check(&b"\xff".repeat(2_000), &"\u{fffd}".repeat(341)).await;
}

#[tokio::test]
async fn webhooks_large_bodies_are_not_read() {
    const SIZE: usize = 5_000_000;
    let mut chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4c4b40\r\n".to_vec();
    let mut sized = format!("HTTP/1.1 200 OK\r\ncontent-length: {SIZE}\r\n\r\n").into_bytes();
    for head in [&mut chunked, &mut sized] {
        head.extend(b"a".repeat(SIZE));
        let listener = Listener::plain(Does::Answers(head.clone())).await;
        let transport = everywhere();
        let url = listener.url("http", "127.0.0.1");
        for connections in 1..=2 {
            let found = send(&transport, &url).await.unwrap();
            assert_eq!((found.status.as_u16(), found.body.len()), (200, 1_024));
            assert_eq!(listener.connections(), connections, "a connection with more is closed");
        }
    }
}

#[tokio::test]
async fn webhooks_connections_are_used_again() {
    let listener = Listener::plain(ok()).await;
    let transport = everywhere();
    for _ in 0..5 {
        send(&transport, &listener.url("http", "127.0.0.1")).await.unwrap();
    }
    assert_eq!((listener.connections(), listener.requests().len()), (1, 5));
}

#[tokio::test]
async fn webhooks_closed_connections_are_not_used_again() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec();
    let listener = Listener::plain(Does::Ends(answer)).await;
    let transport = everywhere();
    for _ in 0..3 {
        send(&transport, &listener.url("http", "127.0.0.1")).await.unwrap();
    }
    assert_eq!((listener.connections(), listener.requests().len()), (3, 3));
}
