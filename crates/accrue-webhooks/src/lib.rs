//! Delivery of the webhook messages of accrue: a worker, a [`Transport`] that sends its requests, and
//! `HyperTransport`, the one to take where nothing speaks for another.
//!
//! ```
//! # #[cfg(feature = "hyper")] {
//! use accrue::webhook::Reach;
//! use accrue_webhooks::{Failure, HyperTransport, Transport};
//! use bytes::Bytes;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let transport = HyperTransport::new(Reach::public());
//! let request = http::Request::post("https://169.254.169.254/latest").body(Bytes::from("{}"))?;
//! let failure = transport.send(request).await.unwrap_err();
//! assert!(matches!(failure, Failure::Refused { .. }));
//! # Ok::<(), http::Error>(())
//! # })?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What an endpoint can make of it
//!
//! Whoever creates an endpoint chooses where the host sends requests, and what it reads. So:
//!
//! - A request reaches [addresses that are allowed](accrue::webhook::Reach), and no others. A name is
//!   resolved once for each connection; if any of its addresses is not allowed, it is refused, and the
//!   connection is made to one of those that were judged.
//! - A redirection is an answer, and is not followed. No proxy comes from the environment.
//! - Time and size are bounded: 15 s for an attempt, 5 of them to connect, and 8 KiB of a body.
//!
//! # What a host can watch
//!
//! - [`Worker::counters`]: [`Counters`] of messages, attempts, endpoints that were disabled and failures of the store.
//! - [`Worker::lag`]: for how long the endpoint whose turn it is has waited for a worker.
//! - With the feature `tracing` a span for each attempt: `delivery`, of the target `accrue` and the level `INFO`.
//!   It is as long as the attempt is, and what the transport tells is within it. It has neither the address, which
//!   may have a secret in it, nor what is sent.
//!
//! | field | |
//! |---|---|
//! | `account` | id of the account |
//! | `endpoint` | id of the endpoint |
//! | `message` | id of the message, which requests have as `webhook-id` |
//! | `status` | status of the answer, where there was one |
//! | `failure` | why there was none, where there was none |
//!
//! An attempt whose worker is dropped meanwhile has neither of the last two, and is not counted.
//!
//! # Features
//!
//! - `hyper`: `HyperTransport` on tokio, hyper and rustls. Without it the crate brings no runtime.
//! - `tracing`: a span for each attempt.

mod counters;
#[cfg(feature = "hyper")]
mod hyper;
mod timer;
mod transport;
mod worker;

#[cfg(feature = "hyper")]
pub use self::hyper::{CertificateError, HyperTransport, Resolve, SystemResolver};
#[cfg(feature = "hyper")]
pub use self::timer::TokioTimer;
pub use self::transport::{Cause, Failure, Refusal, Response, RetryAfter, Transport};
pub use self::{
    counters::Counters,
    timer::Timer,
    worker::{Worker, WorkerOptions},
};
