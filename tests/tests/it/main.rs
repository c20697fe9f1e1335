//! The whole against naive models, under faults, and at its bounds.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by a panic"
)]

mod alerts;
mod bill_faults;
mod bounds;
mod correction_races;
mod correction_steps;
mod corrections;
mod cost;
mod costs;
mod credit_bounds;
mod credits;
mod damaged;
mod dry_runs;
mod enumerated_faults;
mod expressions;
mod faults;
mod idempotency;
mod metering;
mod migration_faults;
mod requests;
mod simulation;
mod texts;
mod ticks;
