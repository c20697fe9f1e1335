//! A server is killed at random moments, under load and while it opens a store with many events, and
//! started again on the same store. Every request that was acknowledged has its effect once.

#![allow(clippy::print_stdout, reason = "a program prints figures that people read")]

mod caller;
mod figures;
mod life;

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

    /// How many servers there are, of which one is killed at a time; more than one in a database alone
    #[arg(long, default_value_t = 1, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    servers: usize,

    /// How many events the store has from the beginning
    #[arg(long, default_value_t = 100_000)]
    stored: usize,

    /// How long it is under load at most before it is killed, in milliseconds
    #[arg(long, default_value_t = 200)]
    load: u64,

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
    launch.log_to(folder.path().to_owned());
    let life = Life::begin(launch, options).await?;
    let figures = match life.run(options.kills).await {
        Ok(figures) => figures,
        Err(error) => return Err(format!("{error}\nin {}", folder.keep().display()).into()),
    };
    let (store, servers, seed) = (options.server.store.name(), options.servers, options.seed);
    println!("{store}, servers {servers}, seed {seed}\n{figures}");
    if figures.lost + figures.doubled == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("what the servers logged is in {}", folder.keep().display());
    Ok(ExitCode::FAILURE)
}
