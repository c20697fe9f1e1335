//! The transport against listeners of this machine.

#![cfg(feature = "hyper")]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod answers;
mod bad_receivers;
mod counters;
mod host;
mod over_the_wire;
mod reach;
#[cfg(feature = "tracing")]
mod spans;
mod support;
mod tls;
mod work;
mod worker;
