//! Runs the simulation for as long as is asked for.
//!
//! ```sh
//! cargo run --release -p accrue-tests --bin simulate -- --seed 1 --steps 1000000
//! ```

#![allow(clippy::disallowed_methods, reason = "it tells how fast it was")]

use std::{
    io::{self, Write as _},
    process::ExitCode,
    time::{Duration, Instant},
};

use accrue_tests::sim::{self, EPISODE, Failure, Options, Report};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

/// Simulates clients, processes, time and faults on one store, and compares everything with a naive
/// model after every step.
#[derive(Debug, Parser)]
struct Arguments {
    /// What everything is drawn from: the same seed gives the same trace.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many steps in all.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// How many steps an episode has: the next one begins on a store of its own.
    #[arg(long, default_value_t = EPISODE as u64, value_parser = clap::value_parser!(u64).range(1..))]
    episode: u64,
    /// How often a list of steps that fails is run again to shorten it.
    #[arg(long, default_value_t = 2_000)]
    runs: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let Arguments { seed, runs, .. } = arguments;
    let (steps, episode) = (size(arguments.steps), size(arguments.episode));
    let options = Options { seed, steps, episode };
    let bar = ProgressBar::new(arguments.steps);
    let style =
        ProgressStyle::with_template("{bar:40} {pos} of {len} steps, {per_sec}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    // A panic is found wrong like anything else, and is told with its steps.
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    let outcome = sim::run(options, |report| bar.set_position(count(report.steps)));
    let took = began.elapsed();
    bar.finish_and_clear();
    let told = match &outcome {
        Ok(report) => tell(report, seed, took),
        Err(failure) => tell_failure(failure, runs),
    };
    match (told, outcome) {
        (Ok(()), Ok(_)) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn tell(report: &Report, seed: u64, took: Duration) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let seconds = took.as_secs().max(1);
    let Report { steps, episodes, calls, .. } = report;
    writeln!(out, "seed {seed}: no violation in {steps} steps of {episodes} episodes")?;
    writeln!(out, "trace {:016x}", report.trace.0)?;
    writeln!(out, "{} steps a second, {calls} calls of the store", count(*steps) / seconds)?;
    writeln!(out, "\nasked for, and accepted as often:")?;
    for (name, count) in &report.asked {
        let accepted = report.accepted.get(name).copied().unwrap_or_default();
        writeln!(out, "{count:>10} {accepted:>10}  {name}")?;
    }
    writeln!(out, "\nfaults of the store:")?;
    for (fault, count) in &report.faults {
        writeln!(out, "{count:>10}  {fault:?}")?;
    }
    writeln!(out, "\nanswers:")?;
    for (status, count) in &report.answers {
        writeln!(out, "{count:>10}  {status}")?;
    }
    writeln!(out, "\nbeside that:")?;
    for (name, count) in &report.others {
        writeln!(out, "{count:>10}  {name}")?;
    }
    Ok(())
}

fn tell_failure(failure: &Failure, runs: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let Failure { seed, step, violation, planned, steps } = failure;
    writeln!(out, "VIOLATION in the episode of seed {seed}, at step {step}:\n{violation}\n")?;
    writeln!(out, "again: --seed {seed} --steps {planned} --episode {planned}")?;
    writeln!(out, "shortening {} steps ...", steps.len())?;
    let (left, violation) = sim::shortened(steps, runs);
    writeln!(out, "{} steps are left:", left.len())?;
    for step in left {
        writeln!(out, "  {step:?}")?;
    }
    writeln!(out, "with them: {violation}")
}

fn count(steps: usize) -> u64 {
    u64::try_from(steps).unwrap_or(u64::MAX)
}
