//! The API over HTTP, by its clauses.

mod idempotency;
mod plans;
mod prices;
mod subscriptions;
mod support;
