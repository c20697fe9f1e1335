//! Many connections ask a server for all that a host asks for, for minutes: how many requests it
//! answers, how fast, and in how much memory.

#![allow(clippy::print_stdout, reason = "a program prints figures that people read")]

mod caller;
mod operation;
mod pace;
mod record;
mod report;
mod setting;
mod watch;

use std::{process::ExitCode, sync::Arc, time::Duration};

use accrue_crash_tests::Dice;
use accrue_load_tests::{Client, Outcome, ServerOptions, serve_if_asked};
use clap::Parser;
use tokio::{task::JoinSet, time::Instant};

use self::{caller::Caller, pace::Pace, record::Record, setting::Setting, watch::Watch};

/// Loads a server for minutes.
#[derive(Clone, Debug, Parser)]
#[command(version)]
struct Options {
    #[command(flatten)]
    server: ServerOptions,

    /// How many connections ask, each for the next thing once it is answered
    #[arg(long, default_value_t = 64)]
    connections: usize,

    /// How many customers there are, each with a subscription
    #[arg(long, default_value_t = 200_000)]
    customers: usize,

    /// How many events are ingested, evenly over the time
    #[arg(long, default_value_t = 1_000_000)]
    events: u64,

    /// How many customers the events of one request are of at most
    #[arg(long, default_value_t = 4)]
    mixed: usize,

    /// How long the load lasts, once the customers are there
    #[arg(long, default_value_t = 300)]
    seconds: u64,

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
    let server = options.server.launch(&folder.path().join("store"))?.start().await?;
    let begun = Instant::now();
    let (setting, created) =
        Setting::create(server.address(), options.customers, options.connections).await?;
    println!("{}", report::operations(&created, begun.elapsed()));

    let (setting, time) = (Arc::new(setting), Duration::from_secs(options.seconds));
    let pace = Arc::new(Pace::begin(options.events, time));
    let (mut callers, mut dice) = (JoinSet::new(), Dice::new(options.seed));
    for connection in 0..options.connections {
        let (setting, pace, name) = (Arc::clone(&setting), Arc::clone(&pace), connection);
        let dice = Dice::new(dice.next());
        let name = name.to_string();
        let caller = Caller::new(server.address(), setting, pace, name, options.mixed, dice);
        callers.spawn(caller.run());
    }
    let watch = Watch::over(&server, &pace, time).await;
    let mut record = Record::default();
    while let Some(one) = callers.join_next().await {
        record.extend(one?);
    }
    println!("{}\n{}\n{watch}", report::operations(&record, time), report::slowest(&record));
    let counted = setting.count_events(&mut Client::new(server.address())).await?;
    println!("{} events acknowledged, {counted} counted", pace.acknowledged());
    let is_well = record.failures().next().is_none() && pace.acknowledged() == counted;
    for (failure, count) in record.failures() {
        println!("{count} times {failure}");
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
