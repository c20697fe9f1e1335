//! The API over HTTP, by its clauses.

mod alerts;
mod credits;
mod customer_costs;
mod customers;
mod idempotency;
mod metrics;
mod plans;
mod prices;
mod subscriptions;
mod support;
