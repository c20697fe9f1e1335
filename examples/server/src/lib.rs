//! What the servers of the examples have in common: everything but the web framework.
//!
//! A host that embeds the API does these things in its own way. Read [`run`] first.

mod auth;
mod clock;
mod clock_route;
mod connections;
mod console_route;
mod documents;
mod host;
mod host_key;
mod keys;
mod listen;
mod log;
mod one_line;
mod options;
mod process;
mod providers;
mod run;
mod sandbox;
mod sandbox_invoicing;
mod sandbox_tax;
mod stop;
mod upkeep;
mod webhooks;

/// How long a request may take, from its head to the answer: one that takes longer is answered 500.
pub const REQUEST_TIME: std::time::Duration = std::time::Duration::from_secs(60);

/// How long requests in flight have once the server is asked to stop.
pub const STOP_TIME: std::time::Duration = std::time::Duration::from_secs(30);

pub use self::{
    connections::{Attended, ConnectionBounds, Connections, Place, Serving},
    documents::LinkOptions,
    host::{Host, OpenError},
    host_key::{KeyError, KeyOptions},
    keys::{KeysCommand, KeysError, Of},
    listen::listen,
    log::Line,
    one_line::{Chain, OneLine},
    options::{
        ApiKey, ApiKeyError, ApiKeyOptions, BasePath, Command, FixedKeys, GracePeriod, Options,
        RateLimitPlan, ServeOptions, StoreAt, StoreOpenError, TaxRate,
    },
    run::{Error, run},
    stop::{Stop, Stopped, stop},
    upkeep::Upkeep,
    webhooks::WebhookOptions,
};
