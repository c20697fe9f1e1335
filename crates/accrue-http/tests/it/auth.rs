//! Who is let in (§5).

use std::{collections::BTreeMap, time::Duration};

use accrue::{
    AccountId, Billing, Error, ManualClock, Name, SeededEntropy, Timestamp, store::MemoryStore,
};
use accrue_conformance::{Calls, Fault, FaultyStore};
use accrue_http::{Api, ApiKeys, Authenticate};
use async_trait::async_trait;
use http::{HeaderValue, Request, StatusCode};
use pollster::block_on;
use serde_json::json;
use std::sync::Arc;

use crate::support::{Answer, Body, Host, TOKEN, request};

/// Sends a request with these lines of Authorization.
fn knock(host: &Host, path: &str, lines: &[&[u8]]) -> Answer {
    let mut request = request("GET", path, Body::from(()), &[]);
    request.headers_mut().remove("authorization");
    for line in lines {
        request.headers_mut().append("authorization", HeaderValue::from_bytes(line).unwrap());
    }
    host.send(request)
}

#[test]
fn s5_missing_malformed_and_unknown_credentials_are_the_same_401() {
    let host = Host::new();
    let first = knock(&host, "/v1/ping", &[]);
    let body = first.error(401, "401-authentication-error");
    assert_eq!(body["status"], 401);
    let good = format!("Bearer {TOKEN}");
    let lines: [&[&[u8]]; 16] = [
        &[b""],
        &[b"Bearer"],
        &[b"Bearer "],
        &[b"Bearer unknown"],
        &[b"Bearer test-ke"],
        &[b"Bearer test-key2"],
        &[b"Bearer TEST-KEY"],
        &[b"Bearer test key"],
        &[b"Bearer \xff"],
        &[b"Bearertest-key"],
        &[b"Bearer\ttest-key"],
        &[b"test-key"],
        &[b"Basic test-key"],
        &[b"Basic dGVzdC1rZXk6"],
        &[good.as_bytes(), good.as_bytes()],
        &[b"Bearer unknown", good.as_bytes()],
    ];
    for lines in lines {
        assert_eq!(knock(&host, "/v1/ping", lines), first, "{lines:?}");
    }
    // Whether there is such a path is told to nobody from outside.
    assert_eq!(knock(&host, "/v1/nothing", &[]), first);
    assert_eq!(knock(&host, "/elsewhere", &[b"Bearer unknown"]), first);
}

#[test]
fn s5_the_scheme_is_bearer_in_any_case() {
    let host = Host::new();
    for line in ["Bearer test-key", "bearer test-key", "BEARER test-key", "Bearer  test-key "] {
        knock(&host, "/v1/ping", &[line.as_bytes()]).ok(StatusCode::OK);
    }
}

/// Tokens of a host's own.
struct Tokens(BTreeMap<&'static str, &'static str>);

#[async_trait]
impl Authenticate for Tokens {
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error> {
        Ok(self.0.get(token).map(|account| AccountId::parse(*account).unwrap()))
    }
}

fn call(api: &Api, token: &str, method: &str, path: &str, body: impl Into<Body>) -> Answer {
    let mut request = request(method, path, body.into(), &[("idempotency-key", "k")]);
    let line = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    request.headers_mut().insert("authorization", line);
    answer(api, request)
}

fn answer(api: &Api, request: Request<http_body_util::Full<bytes::Bytes>>) -> Answer {
    Answer::of(block_on(api.handle(request)))
}

fn billing() -> (Billing, ManualClock) {
    let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
    (Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1)), clock)
}

#[test]
fn what_is_others_is_as_what_is_nobodys() {
    let tokens = [("a", "one"), ("b", "other"), ("c", "one")];
    let api = Api::builder(billing().0, Tokens(tokens.into_iter().collect())).build();
    let new = || json!({"name": "Tokens"});
    let created = call(&api, "a", "POST", "/v1/items", new());
    let id = created.ok(StatusCode::CREATED)["id"].as_str().unwrap().to_owned();
    let last = if id.ends_with('0') { '1' } else { '0' };
    let nobodys = format!("{}{last}", &id[..id.len() - 1]);
    for (method, rest) in [("GET", ""), ("PUT", ""), ("POST", "/archive")] {
        let send = |token: &str, id: &str| {
            let body = if method == "PUT" { json!({"name": "Mine"}).into() } else { ().into() };
            let mut request = request(method, &format!("/v1/items/{id}{rest}"), body, &[]);
            let line = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
            request.headers_mut().insert("authorization", line);
            answer(&api, request)
        };
        let (others, missing) = (send("b", &id), send("b", &nobodys));
        others.error(404, "404-resource-not-found");
        let text = String::from_utf8(others.bytes.to_vec()).unwrap();
        assert_eq!(text.replace(&id, &nobodys).as_bytes(), missing.bytes, "{method}");
        assert_eq!(others.headers, missing.headers);
    }
    let seen = call(&api, "b", "GET", "/v1/items", ()).ok(StatusCode::OK);
    assert_eq!(seen["data"], json!([]));
    // A key is of the account, whichever of its tokens it came with.
    call(&api, "c", "POST", "/v1/items", new()).replays(&created);
    call(&api, "b", "POST", "/v1/items", new()).is_fresh().ok(StatusCode::CREATED);
}

/// Whose keys cannot be looked up now.
struct Down;

#[async_trait]
impl Authenticate for Down {
    async fn authenticate(&self, _: &str) -> Result<Option<AccountId>, Error> {
        let store = Arc::new(FaultyStore::new(MemoryStore::new()));
        store.fail_nth(Calls::Scans, 0, Fault::Refused);
        let account = Host::over(store).account();
        let page = accrue::PageRequest::default();
        account.list_items(&accrue::ListFilter::default(), &page).await.map(|_| None)
    }
}

#[test]
fn a_credential_that_cannot_be_looked_up_is_500_and_not_401() {
    let api = Api::builder(billing().0, Down).build();
    call(&api, "a", "GET", "/v1/ping", ()).failed(Some("true"));
    call(&api, "a", "POST", "/v1/items", json!({"name": "Tokens"})).failed(Some("true"));
}

#[test]
fn the_keys_of_the_store_let_in_until_they_are_revoked() {
    let (billing, _) = billing();
    let api = Api::builder(billing.clone(), ApiKeys::new(&billing)).build();
    let account = |name: &str| billing.account(AccountId::parse(name).unwrap());
    let issue =
        |name: &str| block_on(account(name).issue_api_key(Name::parse("ci").unwrap())).unwrap();
    let (one, other) = (issue("one"), issue("other"));
    let ping = |token: &str| call(&api, token, "GET", "/v1/ping", ());
    let created = call(&api, &one.token.reveal(), "POST", "/v1/items", json!({"name": "Tokens"}));
    created.ok(StatusCode::CREATED);
    let seen = call(&api, &other.token.reveal(), "GET", "/v1/items", ()).ok(StatusCode::OK);
    assert_eq!(seen["data"], json!([]));

    let unknown = ping("accrue_0");
    unknown.error(401, "401-authentication-error");
    block_on(account("one").revoke_api_key(one.key.id)).unwrap();
    // One that is revoked is not told from one that never was.
    assert_eq!(ping(&one.token.reveal()), unknown);
    let mut forged = other.token.reveal();
    let last = if forged.pop() == Some('0') { '1' } else { '0' };
    forged.push(last);
    assert_eq!(ping(&forged), unknown);
    ping(&other.token.reveal()).ok(StatusCode::OK);
}

#[test]
fn a_rotated_key_lets_in_by_both_secrets_until_the_overlap_ends() {
    let (billing, clock) = billing();
    let api = Api::builder(billing.clone(), ApiKeys::new(&billing)).build();
    let account = billing.account(AccountId::parse("acme").unwrap());
    let ping = |token: &str| call(&api, token, "GET", "/v1/ping", ()).status;
    let old = block_on(account.issue_api_key(Name::parse("ci").unwrap())).unwrap();
    let overlap = Duration::from_secs(3_600);
    let new = block_on(account.rotate_api_key(old.key.id, overlap)).unwrap();
    let (old, new) = (old.token.reveal(), new.token.reveal());
    assert_eq!((ping(&old), ping(&new)), (200, 200));
    clock.advance(overlap - Duration::from_micros(1));
    assert_eq!((ping(&old), ping(&new)), (200, 200));
    clock.advance(Duration::from_micros(1));
    assert_eq!((ping(&old), ping(&new)), (401, 200));
}

#[test]
fn keys_of_a_store_that_fails_let_nobody_in() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
    let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(1));
    let api = Api::builder(billing.clone(), ApiKeys::new(&billing)).build();
    let account = billing.account(AccountId::parse("acme").unwrap());
    let key = block_on(account.issue_api_key(Name::parse("ci").unwrap())).unwrap();
    let token = key.token.reveal();
    for (fault, transient) in [(Fault::Refused, Some("true")), (Fault::Corrupt, None)] {
        store.fail_nth(Calls::Gets, store.calls(Calls::Gets), fault);
        let failed = call(&api, &token, "GET", "/v1/ping", ());
        failed.failed(transient);
        assert!(!String::from_utf8_lossy(&failed.bytes).contains(&token));
    }
    call(&api, &token, "GET", "/v1/ping", ()).ok(StatusCode::OK);
    assert!(!format!("{:?} {api:?}", ApiKeys::new(&billing)).contains(&token));
}
