//! A host without a server: requests go straight to the adapter.

use accrue::{AccountId, Billing, ManualClock, SeededEntropy, Timestamp, store::MemoryStore};
use accrue_http::{Api, ApiBuilder, FixedKey};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use serde_json::Value;

pub(crate) const TOKEN: &str = "test-key";

/// The API over a store in memory, at noon of the 10th of March 2026.
pub(crate) struct Host {
    pub(crate) api: Api,
    pub(crate) billing: Billing,
    pub(crate) clock: ManualClock,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn with(set_up: impl FnOnce(ApiBuilder) -> ApiBuilder) -> Self {
        let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
        let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
        let key = FixedKey::new(TOKEN, AccountId::parse("acme").unwrap());
        let api = set_up(Api::builder(billing.clone(), key)).build();
        Self { api, billing, clock }
    }

    pub(crate) fn account(&self) -> accrue::Account {
        self.billing.account(AccountId::parse("acme").unwrap())
    }

    /// Sends a request as it is.
    pub(crate) fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        Answer::of(pollster::block_on(self.api.handle(request)))
    }

    /// Sends a request with the key of the API, and a body where there is one.
    pub(crate) fn call(&self, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        self.send(request(method, path, body.into(), &[]))
    }

    /// The same under an idempotency key.
    pub(crate) fn keyed(
        &self,
        method: &str,
        path: &str,
        key: &str,
        body: impl Into<Body>,
    ) -> Answer {
        self.send(request(method, path, body.into(), &[("idempotency-key", key)]))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path, ())
    }

    pub(crate) fn post(&self, path: &str, body: impl Into<Body>) -> Answer {
        self.call("POST", path, body)
    }

    /// Walks a list to its end, and returns its rows.
    #[track_caller]
    pub(crate) fn walk(&self, path: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut next = path.to_owned();
        loop {
            let page = self.get(&next).ok(StatusCode::OK);
            rows.extend(page["data"].as_array().unwrap().iter().cloned());
            let metadata = &page["pagination_metadata"];
            assert_eq!(metadata["has_more"], !metadata["next_cursor"].is_null());
            let Some(cursor) = metadata["next_cursor"].as_str() else { return rows };
            assert!(rows.len() < 1_000, "a list without an end");
            let sign = if path.contains('?') { '&' } else { '?' };
            next = format!("{path}{sign}cursor={cursor}");
        }
    }

    pub(crate) fn put(&self, path: &str, body: impl Into<Body>) -> Answer {
        self.call("PUT", path, body)
    }
}

/// A request that is let in, with more headers.
pub(crate) fn request(
    method: &str,
    path: &str,
    body: Body,
    headers: &[(&str, &str)],
) -> Request<Full<Bytes>> {
    let mut builder = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("content-type", "application/json");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(Full::new(body.0)).unwrap()
}

/// What a test sends: JSON, a text, or nothing.
pub(crate) struct Body(pub(crate) Bytes);

impl From<()> for Body {
    fn from((): ()) -> Self {
        Self(Bytes::new())
    }
}

impl From<Value> for Body {
    fn from(json: Value) -> Self {
        Self(json.to_string().into())
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

/// What was answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Answer {
    fn of(response: Response<Bytes>) -> Self {
        let (head, bytes) = response.into_parts();
        Self { status: head.status.as_u16(), headers: head.headers, bytes }
    }

    /// Returns the body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// Returns the body of a success of this status.
    #[track_caller]
    pub(crate) fn ok(&self, status: StatusCode) -> Value {
        assert_eq!(self.status, status.as_u16(), "{self:?}");
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Expects an error of this status and kind (§7), and returns its body.
    #[track_caller]
    pub(crate) fn error(&self, status: u16, anchor: &str) -> Value {
        let body = self.json();
        assert_eq!(self.status, status, "{self:?}");
        let kind = body["type"].as_str().unwrap();
        assert!(kind.ends_with(&format!("#{anchor}")), "{body}");
        body
    }
}
