//! A server is killed at random moments, under load and while it opens a store with many events, and
//! started again in the same folder. Every request that was acknowledged has its effect once.

#![allow(clippy::print_stdout, reason = "a program prints figures that people read")]

mod figures;
mod life;
mod verdict;
mod work;

use std::process::ExitCode;

use accrue_load_tests::{Outcome, ServerOptions, serve_if_asked};
use clap::Parser;

use self::life::Life;

/// Kills a server at random moments and looks for what it had acknowledged.
///
/// On the store in memory nothing is found again, and it says so.
#[derive(Clone, Debug, Parser)]
#[command(version)]
struct Options {
    #[command(flatten)]
    server: ServerOptions,

    /// How often it is killed: in turn under load and while it opens its store
    #[arg(long, default_value_t = 20)]
    kills: usize,

    /// How many events the store has from the beginning
    #[arg(long, default_value_t = 100_000)]
    stored: usize,

    /// How many connections ask
    #[arg(long, default_value_t = 8)]
    connections: usize,

    /// What chance begins with
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Outcome<ExitCode> {
    if let Some(code) = serve_if_asked() {
        return Ok(code);
    }
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&options))
}

async fn run(options: &Options) -> Outcome<ExitCode> {
    let folder = tempfile::tempdir()?;
    let mut launch = options.server.launch(&folder.path().join("store"))?;
    launch.log_to(folder.path().join("log"));
    let life = Life::begin(launch, options).await?;
    let figures = match life.run(options.kills).await {
        Ok(figures) => figures,
        Err(error) => return Err(format!("{error}\nin {}", folder.keep().display()).into()),
    };
    println!("{}, seed {}\n{figures}", options.server.store.name(), options.seed);
    Ok(match figures.lost + figures.doubled {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
