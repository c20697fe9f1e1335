//! Serves the billing API with actix-web: `actix-server --help` says how.

use std::process::ExitCode;

use clap::Parser as _;
use example_server::Options;

#[tokio::main]
async fn main() -> ExitCode {
    example_server::run(Options::parse(), example_actix_server::serve).await
}
