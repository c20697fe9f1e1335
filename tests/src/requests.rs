//! Requests made of any bytes, for a fuzzer and for the tests that replay what it found.

use std::collections::BTreeSet;

use accrue::{
    AccountId, Billing, Error, ManualClock, SeededEntropy, Timestamp, store::MemoryStore,
};
use accrue_http::{Api, Authenticate};
use arbitrary::{Arbitrary, Result, Unstructured};
use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;

const METHODS: &[&str] = &["POST", "GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];

/// A request that a seed says.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub method: &'a str,
    pub path: &'a str,
    /// What each parameter of the path is; the last id that was answered where it is none, as long as
    /// there is one.
    pub parameter: Option<&'a str>,
    /// What follows the path.
    pub query: &'a str,
    pub body: &'a str,
}

/// The API over a store in memory, and the paths that it serves.
#[derive(Debug)]
pub struct Target {
    api: Api,
    paths: Vec<String>,
    inputs: u64,
}

impl Default for Target {
    fn default() -> Self {
        let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").expect("an instant"));
        let billing = Billing::new(MemoryStore::new(), clock, SeededEntropy::new(1));
        let api = Api::builder(billing, TokenIsAccount).build();
        let document = Request::get("/openapi.json").body(Full::<Bytes>::default());
        let document = pollster::block_on(api.handle(document.expect("a request")));
        let document: serde_json::Value =
            serde_json::from_slice(document.body()).expect("the document of the API");
        let paths = document["paths"].as_object().expect("paths").keys();
        let paths = paths.map(|path| format!("/v1{path}")).collect();
        Self { api, paths, inputs: 0 }
    }
}

/// Everybody has an account: that of the token's name.
struct TokenIsAccount;

#[async_trait]
impl Authenticate for TokenIsAccount {
    async fn authenticate(&self, token: &str) -> std::result::Result<Option<AccountId>, Error> {
        Ok(AccountId::parse(token).ok())
    }
}

impl Target {
    /// Sends the requests that the bytes say, and judges each answer: it is one of the API.
    ///
    /// # Panics
    ///
    /// If an answer is not as the API promises.
    pub fn run(&mut self, bytes: &[u8]) {
        self.statuses(bytes);
    }

    /// The same, and says with which status each is answered.
    pub fn statuses(&mut self, bytes: &[u8]) -> Vec<u16> {
        // What one input leaves is not seen by the next; what all of them leave is dropped in time.
        self.inputs = self.inputs.wrapping_add(1);
        if self.inputs.is_multiple_of(10_000) {
            *self = Self { inputs: self.inputs, ..Self::default() };
        }
        let mut input = Unstructured::new(bytes);
        let (mut ids, mut statuses) = (Vec::new(), Vec::new());
        for _ in 0..8 {
            let Ok(Some(request)) = self.request(&mut input, &ids) else { break };
            // Two keys that differ are none: the answer names neither.
            let keys = request.headers().get_all("idempotency-key").iter();
            let is_keyed =
                keys.collect::<BTreeSet<_>>().len() == 1 && request.method() == http::Method::POST;
            let is_head = request.method() == http::Method::HEAD;
            let response = pollster::block_on(self.api.handle(request));
            judge(&response, is_keyed, is_head);
            statuses.push(response.status().as_u16());
            ids.extend(id_in(response.body()));
        }
        statuses
    }

    /// The bytes that say some requests, for a fuzzer to begin with.
    ///
    /// # Panics
    ///
    /// If there is no such path.
    #[must_use]
    pub fn seed(&self, requests: &[Asked<'_>]) -> Vec<u8> {
        const NO: u8 = 1;
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        // Texts have their lengths at the end, the first one last.
        let mut text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend(text.as_bytes());
            lengths.push(u16::try_from(text.len()).expect("a short text").to_be_bytes());
        };
        for Asked { method, path, parameter, query, body } in requests {
            let method = METHODS.iter().position(|known| known == method).expect("a method");
            let index = self.paths.iter().position(|known| known == path).expect("a path");
            bytes.extend([method, index].map(|index| u8::try_from(index).expect("an index")));
            for _ in path.matches('{') {
                bytes.push(u8::from(parameter.is_none()));
                parameter.iter().for_each(|parameter| text(&mut bytes, parameter));
            }
            bytes.push(if query.is_empty() { NO } else { 0 });
            if !query.is_empty() {
                text(&mut bytes, query);
            }
            // No key, no encoding.
            bytes.extend([NO; 2]);
            bytes.extend(u16::try_from(body.len()).expect("a short body").to_le_bytes());
            bytes.extend(body.as_bytes());
        }
        // Lengths have two bytes as long as so much is left.
        bytes.extend([0; 300]);
        bytes.extend(lengths.into_iter().rev().flatten());
        bytes
    }

    fn request(
        &self,
        input: &mut Unstructured<'_>,
        ids: &[String],
    ) -> Result<Option<Request<Full<Bytes>>>> {
        if input.is_empty() {
            return Ok(None);
        }
        let method = *input.choose(METHODS)?;
        let mut path = input.choose(&self.paths)?.clone();
        while let (Some(begin), Some(end)) = (path.find('{'), path.find('}')) {
            let parameter = match (ids.last(), bool::arbitrary(input)?) {
                (Some(id), true) => id.clone(),
                _ => <&str>::arbitrary(input)?.replace(['{', '}'], ""),
            };
            path.replace_range(begin..=end, &parameter);
        }
        if input.ratio(1_u8, 8_u8)? {
            path.push_str(<&str>::arbitrary(input)?);
        }
        let mut builder = Request::builder().method(method).uri(path);
        if input.ratio(1_u8, 3_u8)? {
            builder = builder.header("idempotency-key", <&[u8]>::arbitrary(input)?);
        }
        let token = format!("input-{}", self.inputs);
        let mut bearer = format!("Bearer {token}").into_bytes();
        builder = match input.int_in_range(0_u8..=15)? {
            0 => builder.header("content-encoding", <&[u8]>::arbitrary(input)?),
            2 => builder.header("content-length", <&[u8]>::arbitrary(input)?),
            3 => builder.header("create-pending-subscription-change", "true"),
            4 => builder.header("idempotency-key", <&[u8]>::arbitrary(input)?),
            5 => {
                bearer = [<&[u8]>::arbitrary(input)?, b" ", token.as_bytes()].concat();
                builder
            }
            _ => builder,
        };
        builder = builder.header("authorization", bearer);
        let length = usize::from(u16::arbitrary(input)?).min(input.len());
        let body = Bytes::copy_from_slice(input.bytes(length)?);
        // What is no request of http is none for the adapter either.
        Ok(builder.body(Full::new(body)).ok())
    }
}

fn judge(response: &Response<Bytes>, is_keyed: bool, is_head: bool) {
    let (status, headers) = (response.status().as_u16(), response.headers());
    assert_ne!(status, 500, "{response:?}");
    if status == 204 || is_head {
        assert!(response.body().is_empty(), "{response:?}");
        return;
    }
    assert_eq!(headers["content-type"], "application/json", "{response:?}");
    let body: serde_json::Value =
        serde_json::from_slice(response.body()).expect("an answer is JSON");
    if status >= 400 {
        assert!(body["type"].as_str().is_some_and(|kind| kind.contains('#')), "{body}");
        assert!(body["title"].is_string() && body["detail"].is_string(), "{body}");
    }
    assert!(!is_keyed || headers.contains_key("idempotency-key"), "{response:?}");
}

fn id_in(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    Some(body.get("id")?.as_str()?.to_owned())
}
