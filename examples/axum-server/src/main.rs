//! Serves the billing API with axum: `axum-server --help` says how.

use std::process::ExitCode;

use clap::Parser as _;
use example_server::Options;

#[tokio::main]
async fn main() -> ExitCode {
    example_server::run(Options::parse(), example_axum_server::serve).await
}
