//! Every bound of a request: one below, at and one above, configured and by default.

use std::{
    convert::Infallible,
    io::Write,
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll},
};

use accrue_http::Bounds;
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderValue, StatusCode};
use http_body::Frame;
use serde_json::json;

use crate::{
    payloads::gzip,
    support::{Answer, Body, Host, TOKEN, event, request},
};

fn bounded(bounds: Bounds) -> Host {
    Host::with(|builder| builder.bounds(bounds))
}

/// A default and a configured bound, each with a host that has it.
fn hosts(
    default: usize,
    configured: usize,
    set: impl Fn(&mut Bounds, usize),
) -> [(usize, Host); 2] {
    let mut bounds = Bounds::default();
    set(&mut bounds, configured);
    assert_ne!(default, configured);
    [(default, Host::new()), (configured, bounded(bounds))]
}

#[track_caller]
fn violation(answer: &Answer) -> String {
    let body = answer.error(400, "400-request-validation-errors");
    body["validation_errors"][0].as_str().unwrap().to_owned()
}

#[test]
fn url_bytes() {
    for (most, host) in hosts(8 * 1024, 60, |it, most| it.url_bytes = most) {
        for length in most - 1..=most + 1 {
            let start = "/v1/items?cursor=";
            let url = format!("{start}{}", "c".repeat(length - start.len()));
            let answer = host.get(&url);
            if length <= most {
                assert_eq!(violation(&answer), "/cursor: not a cursor of this list");
            } else {
                let body = answer.error(413, "413-request-too-large");
                let detail = format!("{length} bytes of URL, expected at most {most}");
                assert_eq!(body["detail"], detail);
            }
            // The path alone, too.
            let path = format!("/v1/items/{}", "c".repeat(length - "/v1/items/".len()));
            assert_eq!(host.get(&path).status, if length <= most { 404 } else { 413 });
        }
    }
}

#[test]
fn header_bytes() {
    for (most, host) in hosts(32 * 1024, 300, |it, most| it.header_bytes = most) {
        let usual: usize = request("GET", "/v1/ping", Body::from(()), &[])
            .headers()
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len())
            .sum();
        for length in most - 1..=most + 1 {
            let padding = "p".repeat(length - usual - "x-padding".len());
            let sent = request("GET", "/v1/ping", Body::from(()), &[("x-padding", &padding)]);
            let answer = host.send(sent);
            if length <= most {
                answer.ok(StatusCode::OK);
            } else {
                let body = answer.error(413, "413-request-too-large");
                let detail = format!("{length} bytes of headers, expected at most {most}");
                assert_eq!(body["detail"], detail);
            }
            // In several lines of one name.
            let mut sent = request("GET", "/v1/ping", Body::from(()), &[]);
            let rest = length - usual - 2 * "x-p".len();
            for part in [rest / 2, rest - rest / 2] {
                let part = HeaderValue::from_str(&"p".repeat(part)).unwrap();
                sent.headers_mut().append("x-p", part);
            }
            assert_eq!(host.send(sent).status, if length <= most { 200 } else { 413 });
        }
    }
}

/// A body that must not be touched.
struct Untouched;

impl http_body::Body for Untouched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        panic!("the body is read")
    }
}

/// A body without an end, in pieces of 64 bytes.
struct Endless<'a>(&'a AtomicUsize);

impl http_body::Body for Endless<'_> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.fetch_add(64, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 64])))))
    }
}

/// A body in pieces, of which some are empty and one is of trailers, and that may break off.
struct Pieces(Vec<Result<Frame<Bytes>, &'static str>>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        Poll::Ready((!self.0.is_empty()).then(|| self.0.remove(0)))
    }
}

fn padded(length: usize) -> String {
    let name = r#"{"name":"Tokens"}"#;
    format!("{name}{}", " ".repeat(length - name.len()))
}

#[test]
fn body_bytes() {
    for (most, host) in hosts(20 * 1024 * 1024, 100, |it, most| it.body_bytes = most) {
        for length in most - 1..=most + 1 {
            let plain = host.post("/v1/items", &*padded(length));
            let mut packed = request(
                "POST",
                "/v1/items",
                gzip(padded(length).as_bytes()).into(),
                &[("content-encoding", "gzip")],
            );
            packed.headers_mut().remove("content-length");
            for answer in [plain, host.send(packed)] {
                if length <= most {
                    answer.ok(StatusCode::CREATED);
                } else {
                    let body = answer.error(413, "413-request-too-large");
                    assert_eq!(body["detail"], format!("the body has more than {most} bytes"));
                }
            }
        }
    }
}

#[test]
fn a_body_that_is_declared_too_large_is_not_read() {
    let host = bounded(Bounds { body_bytes: 100, ..Bounds::default() });
    let send = |path: &str, headers: &[(&str, &str)]| {
        let mut sent = request("POST", path, Body::from(()), headers);
        if headers.iter().any(|(name, _)| *name == "x-stranger") {
            sent.headers_mut().remove("authorization");
        }
        host.send(sent.map(|_| Untouched))
    };
    for length in ["101", "18446744073709551615"] {
        let answer = send("/v1/items", &[("content-length", length)]);
        answer.error(413, "413-request-too-large");
    }
    // One that is not too large is read.
    send("/v1/items", &[("content-length", "100")]).failed(None);
    // What is refused before is refused without it too.
    let declared = ("content-length", "100");
    assert_eq!(send("/v1/items", &[declared, ("x-stranger", "")]).status, 401);
    assert_eq!(send("/v1/none", &[declared]).status, 404);
    assert_eq!(send("/v1/items", &[declared, ("idempotency-key", "")]).status, 400);
    assert_eq!(send("/v1/items", &[declared, ("content-encoding", "br")]).status, 400);
    // Nobody reads what a GET brings.
    let got = request("GET", "/v1/ping", Body::from(()), &[]);
    host.send(got.map(|_| Untouched)).ok(StatusCode::OK);
}

#[test]
fn a_body_without_a_length_is_read_to_the_bound_and_no_further() {
    for most in [640, 700] {
        let host = bounded(Bounds { body_bytes: most, ..Bounds::default() });
        let read = AtomicUsize::new(0);
        let sent = request("POST", "/v1/items", Body::from(()), &[]);
        host.send(sent.map(|_| Endless(&read))).error(413, "413-request-too-large");
        assert_eq!(read.into_inner(), 704);
    }
}

#[test]
fn a_body_may_come_in_pieces_and_break_off() {
    let host = bounded(Bounds { body_bytes: 17, ..Bounds::default() });
    let data = |text: &'static str| Ok(Frame::data(Bytes::from_static(text.as_bytes())));
    let trailers = || Ok(Frame::trailers(http::HeaderMap::new()));
    let send = |pieces| {
        let sent = request("POST", "/v1/items", Body::from(()), &[]);
        host.send(sent.map(|_| Pieces(pieces)))
    };
    let whole = [r#"{"name":"Tokens"}"#];
    let halves = [r#"{"name":"#, r#""Tokens"}"#];
    let many = ["", "{\"name", "", "\":\"Tok", "ens\"", "}", ""];
    for pieces in [&whole[..], &halves, &many] {
        let pieces: Vec<_> = pieces.iter().map(|piece| data(piece)).chain([trailers()]).collect();
        send(pieces).ok(StatusCode::CREATED);
    }
    send(vec![data(halves[0]), data(halves[1]), data(" ")]).error(413, "413-request-too-large");
    let broken = send(vec![data(halves[0]), Err("s3cr3t")]);
    assert_eq!(violation(&broken), ": the body broke off");
    assert!(!String::from_utf8_lossy(&broken.bytes).contains("s3cr3t"));
    assert_eq!(host.items(), 3);
}

fn packed(host: &Host, body: Vec<u8>, encodings: &[&str]) -> Answer {
    let mut sent = request("POST", "/v1/items", body.into(), &[]);
    for encoding in encodings {
        sent.headers_mut().append("content-encoding", HeaderValue::from_str(encoding).unwrap());
    }
    host.send(sent)
}

#[test]
fn a_bomb_is_unpacked_to_the_bound_and_no_further() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let chunk = vec![b' '; 1 << 20];
    for _ in 0..256 {
        encoder.write_all(&chunk).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 300_000, "{}", bomb.len());
    let host = bounded(Bounds { body_bytes: 300_000, ..Bounds::default() });
    packed(&host, bomb.clone(), &["gzip"]).error(413, "413-request-too-large");
    // Also where what follows is broken.
    packed(&host, bomb[..bomb.len() / 2].to_vec(), &["gzip"]).error(413, "413-request-too-large");
    // Packed twice it is no JSON once unpacked.
    let twice = packed(&host, gzip(&bomb), &["gzip"]);
    assert!(violation(&twice).starts_with(": is no JSON"), "{twice:?}");
    packed(&host, gzip(&bomb), &["gzip", "gzip"]).error(400, "400-request-validation-errors");
}

#[test]
fn what_is_not_gzip_is_400() {
    let host = Host::new();
    let good = gzip(br#"{"name":"Tokens"}"#);
    packed(&host, good.clone(), &["gzip"]).ok(StatusCode::CREATED);
    packed(&host, good.clone(), &["GZIP"]).ok(StatusCode::CREATED);
    packed(&host, br#"{"name":"Tokens"}"#.to_vec(), &["identity"]).ok(StatusCode::CREATED);
    for length in 1..good.len() {
        let cut = packed(&host, good[..length].to_vec(), &["gzip"]);
        assert_eq!(violation(&cut), ": is not what gzip writes", "{length}");
    }
    let mut spoiled = good.clone();
    let checksum = spoiled.len() - 8;
    spoiled[checksum] ^= 1;
    for body in [spoiled, b"{}".to_vec()] {
        let answer = packed(&host, body, &["gzip"]);
        assert_eq!(violation(&answer), ": is not what gzip writes");
    }
    // A million empty members would take seconds to read.
    let members = [gzip(br#"{"name":"#), gzip(br#""Tokens"}"#)].concat();
    for body in [members, [&*good, b"junk"].concat(), gzip(b"").repeat(1_000)] {
        let answer = packed(&host, body, &["gzip"]);
        let expect = ": has something behind what gzip has packed, expected one member";
        assert_eq!(violation(&answer), expect);
    }
    assert_eq!(violation(&packed(&host, Vec::new(), &["gzip"])), ": is empty, expected an object");
    for encodings in [&["br"][..], &["deflate"], &["gzip, gzip"], &["gzip", "identity"], &[""]] {
        let answer = packed(&host, good.clone(), encodings);
        let expect = "/Content-Encoding: is not known, expected gzip or none";
        assert_eq!(violation(&answer), expect, "{encodings:?}");
    }
    assert_eq!(host.items(), 3);
}

#[test]
fn depth() {
    for (most, host) in hosts(16, 5, |it, most| it.depth = most) {
        for depth in most - 1..=most + 1 {
            let body = format!("{{\"name\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
            let found = violation(&host.post("/v1/items", &*body));
            if depth <= most {
                assert_eq!(found, "/name: found an array, expected a string");
            } else {
                let pointer = format!("/name{}", "/0".repeat(most - 1));
                assert_eq!(found, format!("{pointer}: is nested deeper than {most} levels"));
            }
        }
    }
    // However deep: it stops at the bound.
    let found = violation(&Host::new().post("/v1/items", &*"[".repeat(1_000_000)));
    assert!(found.ends_with("is nested deeper than 16 levels"), "{found}");
}

#[test]
fn string_bytes() {
    for (most, host) in hosts(64 * 1024, 600, |it, most| it.string_bytes = most) {
        for length in most - 1..=most + 1 {
            let text = "t".repeat(length);
            let found = [
                violation(&host.post("/v1/items", json!({"name": text}))),
                violation(&host.post("/v1/items", json!({&text: 1}))),
                violation(
                    &host.post("/v1/items", &*format!("{{\"name\":{}}}", "1".repeat(length))),
                ),
            ];
            let refused = format!("has {length} bytes, expected at most {most}");
            for found in found {
                assert_eq!(found.ends_with(&refused), length > most, "{found}");
            }
        }
    }
    // Escapes are counted as what they stand for.
    let host = bounded(Bounds { string_bytes: 9, ..Bounds::default() });
    host.post("/v1/items", r#"{"name":"\u0061\u0061\u0061"}"#).ok(StatusCode::CREATED);
    let found = violation(&host.post("/v1/items", r#"{"name":"ééééé"}"#));
    assert_eq!(found, "/name: has 10 bytes, expected at most 9");
}

#[test]
fn array_items() {
    for (most, host) in hosts(10_000, 600, |it, most| it.array_items = most) {
        for count in most - 1..=most + 1 {
            let array = json!({"event_ids": vec!["a"; count]});
            let found = violation(&host.post("/v1/events/search", array));
            let members: serde_json::Map<_, _> =
                (0..count).map(|n| (n.to_string(), json!("v"))).collect();
            let object = json!({"name": "Tokens", "metadata": members});
            let members = violation(&host.post("/v1/items", object));
            let refused = format!("has more than {most} values, expected at most {most}");
            assert_eq!(found.ends_with(&refused), count > most, "{found}");
            assert_eq!(members.ends_with(&refused), count > most, "{members}");
        }
    }
}

#[test]
fn values() {
    for (most, host) in hosts(250_000, 100, |it, most| it.values = most) {
        for count in most - 1..=most + 1 {
            // The array is a value too. Arrays within it stay below their own bound.
            let (full, rest) = ((count - 1) / 1_001, (count - 1) % 1_001);
            let mut rows: Vec<_> =
                (0..full).map(|_| vec![0; 1_000]).map(|row| json!(row)).collect();
            rows.extend((0..rest).map(|_| json!(0)));
            let found = violation(&host.post("/v1/items", json!(rows)));
            let refused = format!("has more than {most} values");
            assert_eq!(found.ends_with(&refused), count > most, "{found}");
        }
    }
}

#[test]
fn page_rows() {
    for (most, host) in hosts(100, 5, |it, most| it.page_rows = most) {
        for n in 0..most + 2 {
            host.item(&format!("Item {n}"));
        }
        let rows = |query: &str| {
            let found = host.get(&format!("/v1/items{query}")).ok(StatusCode::OK);
            found["data"].as_array().unwrap().len()
        };
        for limit in most - 1..=most + 1 {
            assert_eq!(rows(&format!("?limit={limit}")), limit.min(most));
        }
        assert_eq!(rows("?limit=99999999999999999999"), most);
        assert_eq!(rows(""), most.min(20));
    }
    // None widens what the API allows.
    let wide = bounded(Bounds { page_rows: 1_000, ..Bounds::default() });
    for n in 0..101 {
        wide.item(&format!("Item {n}"));
    }
    let found = wide.get("/v1/items?limit=101").ok(StatusCode::OK);
    assert_eq!(found["data"].as_array().unwrap().len(), 100);
}

#[test]
fn ledger_page_rows() {
    for (most, host) in hosts(1_000, 5, |it, most| it.ledger_page_rows = most) {
        let customer = json!({"name": "Ada", "email": "a@example.com"});
        let customer = host.post("/v1/customers", customer).ok(StatusCode::CREATED);
        let path = format!("/v1/customers/{}/credits", customer["id"].as_str().unwrap());
        let entry = json!({"entry_type": "increment", "amount": 1, "currency": "USD"});
        for _ in 0..7 {
            host.post(&format!("{path}/ledger_entry"), entry.clone()).ok(StatusCode::CREATED);
        }
        let list = format!("{path}/ledger?currency=USD");
        let rows = |query: &str| {
            let found = host.get(&format!("{list}{query}")).ok(StatusCode::OK);
            found["data"].as_array().unwrap().len()
        };
        for limit in most - 1..=most + 1 {
            assert_eq!(rows(&format!("&limit={limit}")), limit.min(most).min(7));
        }
        assert_eq!(rows(""), most.min(7));
    }
}

#[test]
fn batch_events() {
    for (most, host) in hosts(1_000, 5, |it, most| it.batch_events = most) {
        for count in most - 1..=most + 1 {
            let events: Vec<_> = (0..count).map(|n| event(&format!("{count} {n}"))).collect();
            let answer = host.post("/v1/ingest", json!({"events": events}));
            if count <= most {
                answer.ok(StatusCode::OK);
            } else {
                let body = answer.error(413, "413-resource-too-large");
                let detail = body["detail"].as_str().unwrap();
                let expect = format!("{count} events, expected at most {most}");
                assert!(detail.starts_with(&expect), "{detail}");
            }
        }
    }
    let wide = bounded(Bounds { batch_events: 2_000, ..Bounds::default() });
    let events: Vec<_> = (0..1_001).map(|n| event(&n.to_string())).collect();
    assert_ne!(wide.post("/v1/ingest", json!({"events": events})).status, 200);
}

#[test]
fn a_token_of_any_length_is_judged() {
    let host = Host::new();
    let long = format!("Bearer {TOKEN}{}", "x".repeat(1 << 20));
    let mut sent = request("GET", "/v1/ping", Body::from(()), &[]);
    sent.headers_mut().insert("authorization", HeaderValue::from_str(&long).unwrap());
    host.send(sent).error(401, "401-authentication-error");
}
