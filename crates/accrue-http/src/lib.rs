//! The billing API of accrue over HTTP, in any framework.
//!
//! [`Api::handle`] answers a request of the `http` crate's types; [`Api`] is a `tower` service too. It
//! brings no runtime, no server and no framework: `examples/axum-server` and `examples/actix-server`
//! are whole servers around it.
//!
//! ```
//! use accrue::{AccountId, Billing, store::MemoryStore};
//! use accrue_http::{Api, FixedKey};
//! use http_body_util::Full;
//!
//! # pollster::block_on(async {
//! let billing = Billing::with_system(MemoryStore::new());
//! let key = FixedKey::new("secret", AccountId::parse("acme")?);
//! let api = Api::builder(billing, key).build();
//!
//! let request = http::Request::post("/v1/items")
//!     .header("authorization", "Bearer secret")
//!     .header("idempotency-key", "item-1")
//!     .body(Full::from(r#"{"name": "Tokens"}"#))?;
//! let response = api.handle(request).await;
//! assert_eq!(response.status(), 201);
//! assert_eq!(response.headers()["idempotency-key"], "item-1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # The way of a request
//!
//! `api` is the door, in an order that does not change: the idempotency key is remembered for every
//! answer; the API key is judged (401), then the rate limit (429), the path (404), what is declared
//! too large (413) and the syntax of the idempotency key (400); the body is read within its bound
//! (413); and what is known under the idempotency key is the answer (a replay, or 409), whatever is
//! wrong with the request. `router` finds the operation, `operations` has one file per resource: it
//! reads the request through `shape`, makes one call of the engine, and writes what it came to in the
//! words of `wire`. Effect, messages and the stored answer are one commit. `pay` takes two, with the
//! gateway of the host between them.
//!
//! # The map, in reading order
//!
//! The direction of dependence is the direction of reading: each of these uses those above it.
//!
//! - `failure`, `reply`, `problem`: why a request fails, answers, and errors as specification §7 has them.
//! - `auth`, `rate`, `bounds`: who may ask, and how much.
//! - `documents`, `payment_methods`, `portal`, `webhooks`, `settings`, `links`: what the host sets up for its customers, and for all.
//! - `json`, `query`: what comes in, with numbers as they are spelled.
//! - `canonical`, `batch`: what a payload is recognized by, and events that are read without a tree of JSON.
//! - `shape`: one declaration of a type of the wire is its reader and its schema.
//! - `wire`: the types of the wire, apart from those of the engine.
//! - `request`, `operation`: what an operation sees, and what is known of it before it runs.
//! - `operations`: the table of what is served; it feeds the router, the OpenAPI document at
//!   `/openapi.json`, the page at `/docs` and the list in `docs/operations.md`.
//! - `own`: why an operation of the host's own gives no answer.
//! - `router`, `door`, `openapi`: what finds an operation, what comes before it, what describes all.
//! - `api`, `service`: [`Api`], the order of work.
//!
//! # What it leaves to the host
//!
//! Connections, TLS and logs; the timer that [`Api::handle_until`] takes;
//! [`Billing::tick`](accrue::Billing::tick),
//! [`Account::collect_payments`](accrue::Account::collect_payments), and the delivery of messages.
//! `docs/security.md` lists what has to be done.

mod api;
mod auth;
mod batch;
mod bounds;
mod canonical;
mod documents;
mod door;
mod failure;
mod json;
mod links;
mod openapi;
mod operation;
mod operations;
mod own;
mod payment_methods;
mod portal;
mod problem;
mod query;
mod rate;
mod reply;
mod request;
mod router;
mod service;
mod settings;
mod shape;
mod webhooks;
mod wire;

pub use self::{
    api::{Api, ApiBuilder},
    auth::{ApiKeys, Authenticate, FixedKey},
    bounds::Bounds,
    documents::Documents,
    failure::Failure,
    own::OwnError,
    payment_methods::PaymentMethodSource,
    portal::Portal,
    rate::{Category, Exceeded, Quota, Quotas, RateLimit, RateLimits},
    webhooks::Webhooks,
};

/// Compiles and runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
