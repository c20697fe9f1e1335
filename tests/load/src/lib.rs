//! The servers of the examples as processes of their own, and clients of them over loopback.
//!
//! Four programs are made of it: `kills`, `failover`, `crowd` and `sustain`. Each ends by itself, and takes its
//! servers with it.

mod catalogue;
mod client;
mod latencies;
mod moment;
mod options;
mod server;
mod store;
mod verdict;
mod work;

pub use self::{
    catalogue::{Catalogue, event, fill, id, ingest, metric, new_customer, new_subscription, plan},
    client::{Answer, Client, Request},
    latencies::{Latencies, milliseconds},
    moment::{before_now, pause},
    options::{Framework, ServerOptions, serve_if_asked},
    server::{Launch, Server, Starting},
    store::Store,
    verdict::{Expected, Verdict, rows},
    work::{Ask, Asked, CREDITS, Effect, Sent, Worker},
};

/// The result of whatever a program does: an error ends it, with its text.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
