//! The API over HTTP, by its clauses.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod idempotency;
mod plans;
mod prices;
mod subscriptions;
mod support;
