//! A host without a server: requests go straight to the adapter.

use accrue::{
    AccountId, Billing, ManualClock, SeededEntropy, Timestamp,
    store::{MemoryStore, Store},
};
use accrue_http::{Api, ApiBuilder, FixedKey};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::described;

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
        Self::with_engine(|builder, _| set_up(builder))
    }

    /// One that is set up with what needs the engine.
    pub(crate) fn with_engine(set_up: impl FnOnce(ApiBuilder, &Billing) -> ApiBuilder) -> Self {
        Self::make(MemoryStore::new(), 1, set_up)
    }

    /// The same over a store of the test's own.
    pub(crate) fn over(store: impl Store) -> Self {
        Self::make(store, 1, |builder, _| builder)
    }

    /// The same, set up in its own way.
    pub(crate) fn over_with(
        store: impl Store,
        set_up: impl FnOnce(ApiBuilder) -> ApiBuilder,
    ) -> Self {
        Self::make(store, 1, |builder, _| set_up(builder))
    }

    /// One more process on a store, which draws other ids.
    pub(crate) fn another(store: impl Store) -> Self {
        Self::make(store, 2, |builder, _| builder)
    }

    fn make(
        store: impl Store,
        seed: u64,
        set_up: impl FnOnce(ApiBuilder, &Billing) -> ApiBuilder,
    ) -> Self {
        let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
        let billing = Billing::new(store, clock.clone(), SeededEntropy::new(seed));
        let key = FixedKey::new(TOKEN, AccountId::parse("acme").unwrap());
        let api = set_up(Api::builder(billing.clone(), key), &billing).build();
        Self { api, billing, clock }
    }

    pub(crate) fn account(&self) -> accrue::Account {
        self.billing.account(AccountId::parse("acme").unwrap())
    }

    /// Sends a request as it is. Its answer is as the document has it.
    pub(crate) fn send<B: http_body::Body<Data = Bytes>>(&self, request: Request<B>) -> Answer {
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let answer = Answer::of(pollster::block_on(self.api.handle(request)));
        if let Some(path) = path.strip_prefix("/v1") {
            described::check(&method, path, answer.status, &answer.bytes);
        }
        answer
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
    pub(crate) fn of(response: Response<Bytes>) -> Self {
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

/// A request under an idempotency key of any bytes.
pub(crate) fn keyed_request(
    method: &str,
    path: &str,
    body: impl Into<Body>,
    key: &[u8],
) -> Request<Full<Bytes>> {
    let mut request = request(method, path, body.into(), &[]);
    request.headers_mut().insert("idempotency-key", HeaderValue::from_bytes(key).unwrap());
    request
}

/// A usage event of a customer who need not exist, with a property that is not in the key.
pub(crate) fn event(key: &str) -> Value {
    json!({
        "idempotency_key": key,
        "event_name": "completion",
        "timestamp": "2026-03-10T11:00:00Z",
        "external_customer_id": "ada",
        "properties": {"tokens": 7},
    })
}

impl Host {
    /// Counts the items: what requests have had for an effect.
    pub(crate) fn items(&self) -> usize {
        let listed = self.get("/v1/items?limit=100").ok(StatusCode::OK);
        listed["data"].as_array().unwrap().len()
    }

    /// Creates an item, and returns its id.
    pub(crate) fn item(&self, name: &str) -> String {
        let created = self.post("/v1/items", json!({"name": name})).ok(StatusCode::CREATED);
        created["id"].as_str().unwrap().to_owned()
    }
}

impl Answer {
    /// Expects that it is made now, not replayed.
    #[track_caller]
    pub(crate) fn is_fresh(&self) -> &Self {
        assert_eq!(self.header("idempotent-replayed"), None, "{self:?}");
        self
    }

    /// Expects that it is the answer of before, with the same bytes.
    #[track_caller]
    pub(crate) fn replays(&self, first: &Self) -> &Self {
        assert_eq!(self.header("idempotent-replayed"), Some("true"), "{self:?}");
        assert_eq!((self.status, &self.bytes), (first.status, &first.bytes));
        let mut headers = self.headers.clone();
        headers.remove("idempotent-replayed");
        assert_eq!(headers, first.headers);
        self
    }

    /// The same as it was at first, where it is a replay.
    pub(crate) fn unmarked(mut self) -> Self {
        self.headers.remove("idempotent-replayed");
        self
    }

    /// Expects a 409 that the same request may follow (§4.5.9).
    #[track_caller]
    pub(crate) fn is_in_flight(&self) {
        self.error(409, "409-resource-conflict");
        assert_eq!(self.header("retry-after"), Some("1"), "{self:?}");
        assert_eq!(self.header("x-should-retry"), None, "{self:?}");
        self.is_fresh();
    }

    /// Expects a 409 that no retry can mend.
    #[track_caller]
    pub(crate) fn is_reused(&self) {
        self.error(409, "409-resource-conflict");
        assert_eq!(self.header("x-should-retry"), Some("false"), "{self:?}");
        assert_eq!(self.header("retry-after"), None, "{self:?}");
        self.is_fresh();
    }

    /// Expects a 500 that says whether it passes (§4.5.10).
    #[track_caller]
    pub(crate) fn failed(&self, transient: Option<&str>) {
        let body = self.error(500, "500-internal-server-error");
        assert_eq!(body["detail"], "the request failed");
        assert_eq!(self.header("transient-error"), transient, "{self:?}");
        self.is_fresh();
    }
}
