//! A database fails over again and again, under several servers that stay up. Every request that was acknowledged has its
//! effect once.

#![allow(clippy::print_stdout, reason = "a program prints figures that people read")]

mod caller;
mod figures;
mod judge;
mod messages;
mod pair;
mod progress;
mod setting;
mod trial;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use accrue::{Entropy as _, SystemEntropy};
use accrue_load_tests::{Framework, Outcome, ServerOptions, Store, serve_if_asked};
use accrue_postgres_server::is_installed;
use clap::Parser;

use self::{pair::Pair, trial::Trial};

/// Kills the PostgreSQL server that others write to, promotes its standby, and looks for what was acknowledged.
///
/// Where PostgreSQL is not installed it says so, and does nothing.
#[derive(Clone, Debug, Parser)]
#[command(version)]
struct Options {
    /// How often the database fails over
    #[arg(long, default_value_t = 3)]
    rounds: usize,

    /// What chance begins with: drawn where nothing is said
    #[arg(long)]
    seed: Option<u64>,

    /// Whether commits are answered before the standby has them, and the standby is behind: then it ends well where
    /// something that was acknowledged is found to be lost
    #[arg(long)]
    asynchronous: bool,

    /// How many servers there are
    #[arg(long, default_value_t = 4)]
    servers: usize,

    /// How many callers ask
    #[arg(long, default_value_t = 16)]
    callers: usize,

    /// The server of which example
    #[arg(long, value_enum, default_value = "axum")]
    framework: Framework,

    /// The program that is the server; this one is where none is named
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
}

fn main() -> Outcome<ExitCode> {
    if let Some(code) = serve_if_asked() {
        return Ok(code);
    }
    let options = Options::parse();
    if !is_installed() {
        return Ok(ExitCode::SUCCESS);
    }
    let mut drawn = [0; 4];
    SystemEntropy.fill(&mut drawn);
    let seed = options.seed.unwrap_or_else(|| u32::from_be_bytes(drawn).into());
    println!("seed {seed}");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(&options, seed))
}

async fn run(options: &Options, seed: u64) -> Outcome<ExitCode> {
    let folder = tempfile::tempdir()?;
    let ended = attempt(options, seed, folder.path()).await;
    if let Ok(true) = ended {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("what the servers logged is in {}", folder.keep().display());
    ended?;
    Ok(ExitCode::FAILURE)
}

/// Tells whether it came out as it is to.
async fn attempt(options: &Options, seed: u64, folder: &Path) -> Outcome<bool> {
    let pair = Pair::start(!options.asynchronous);
    let store = Store::Postgres(pair.connection());
    let server =
        ServerOptions { framework: options.framework, store, server: options.server.clone() };
    let mut launch = server.launch(&folder.join("store"))?;
    launch.log_to(folder.to_owned());
    // Messages go to this process.
    launch.with("--webhook-allow-private");
    let mut trial = Trial::begin(&mut launch, pair, options, seed).await?;
    let ended = match options.asynchronous {
        false => trial.run(options.rounds).await,
        true => trial.run_behind(options.rounds).await,
    };
    let figures = trial.figures();
    println!("{figures}");
    trial.keep_logs(folder)?;
    ended?;
    Ok(if options.asynchronous { figures.has_lost() } else { figures.is_whole() })
}
