//! The API over HTTP, by its clauses.

mod idempotency;
mod support;
