//! The console through its one door, one fact a test.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod alerts;
mod audit;
mod backfills;
mod billing;
mod doors;
mod entrance;
mod fuzz;
mod keys;
mod licenses;
mod pages;
mod people;
mod stock;
mod support;
mod webhooks;
