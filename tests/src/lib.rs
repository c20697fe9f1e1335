//! What the whole-system tests share: a naive model of metering and alerts, scripts that run on the
//! engine and on the model side by side, and stores that watch or hinder the engine.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by a panic"
)]

pub mod bill;
pub mod corrected;
pub mod credit;
pub mod expressions;
pub mod host;
pub mod model;
pub mod operation;
pub mod receiver;
pub mod requests;
pub mod script;
pub mod served;
pub mod sim;
pub mod stores;
pub mod texts;
pub mod world;

use proptest::test_runner::Config;

/// How many cases a property is tried with: so many, or as `PROPTEST_CASES` says.
#[must_use]
pub fn cases(usual: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = usual;
    }
    config.max_shrink_iters = 2_000;
    config
}
