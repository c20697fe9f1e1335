//! Prints what it costs to close a backfill and to revert it, in an account with some history and in
//! one with ten times as much: `backfill [memory|sled] [--events N] [--backfill N] [--rounds N]`.

use std::{sync::Arc, time::Duration};

use accrue::{Timeframe, store::Store};
use accrue_benches::{Backend, Outcome, Shape, Watch, Workload, now};
use clap::Parser as _;

/// How many times as long the longer history is.
const TIMES: u64 = 10;
/// How many days of history lie on each side of the day that is backfilled. All of them are in one
/// billing period.
const DAYS: u32 = 8;

#[expect(clippy::print_stdout, reason = "this prints a table")]
fn main() -> Outcome<()> {
    let Arguments { backend, events, backfill, rounds } = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let history = |events: u64| -> Outcome<History> {
        History::new(backend.open(&folder.path().join(events.to_string()))?, events, backfill)
    };
    let mut short = history(events)?;
    let mut long = history(events.checked_mul(TIMES).ok_or("too many events")?)?;
    println!("{}, backfills of {backfill} events, in ms", backend);
    println!("{:>10} {:>10} {:>10}", "history", "reflected", "reverted");
    for _ in 0..rounds {
        for history in [&mut short, &mut long] {
            let Round { reflected, reverted } = history.round(backfill)?;
            let [reflected, reverted] = [reflected, reverted].map(|took| took.as_millis());
            println!("{:>10} {reflected:>10} {reverted:>10}", history.events);
        }
    }
    let ratio = |took: fn(&Round) -> Duration| {
        let [short, long] = [&short, &long].map(|of| of.median(took).as_micros());
        let hundredths = long * 100 / short.max(1);
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    };
    let [reflected, reverted] = [ratio(|of| of.reflected), ratio(|of| of.reverted)];
    println!("{:>10} {reflected:>10} {reverted:>10}", "ratio");
    Ok(())
}

/// An account whose first customer has as many events on one day as a backfill of it will have, and
/// with others evenly before and after that day.
struct History {
    workload: Workload,
    events: u64,
    day: Timeframe,
    rounds: Vec<Round>,
}

/// How long one backfill took, from its closing and from its reverting until nothing was left to do.
struct Round {
    reflected: Duration,
    reverted: Duration,
}

impl History {
    fn new(store: Arc<dyn Store>, events: u64, backfill: u64) -> Outcome<Self> {
        let mut workload = Workload::new(store, Shape::new(Watch::UsageAndCredits))?;
        workload.ingest_days(DAYS, events / 2)?;
        let day = workload.ingest_day_of_first(backfill)?;
        workload.ingest_days(DAYS, events - events / 2)?;
        Ok(Self { workload, events, day, rounds: Vec::new() })
    }

    fn round(&mut self, events: u64) -> Outcome<&Round> {
        let id = self.workload.backfill_day_of_first(self.day, events)?;
        let start = now();
        self.workload.reflect(id)?;
        let reflected = start.elapsed();
        let start = now();
        self.workload.revert(id)?;
        self.rounds.push(Round { reflected, reverted: start.elapsed() });
        self.rounds.last().ok_or_else(|| "no round".into())
    }

    fn median(&self, took: fn(&Round) -> Duration) -> Duration {
        let mut all: Vec<_> = self.rounds.iter().map(took).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}

/// Prints what it costs to close a backfill and to revert it, in an account with some history and in
/// one with ten times as much, both at once.
#[derive(clap::Parser)]
#[command(name = "backfill", verbatim_doc_comment)]
struct Arguments {
    /// Where the accounts are kept
    #[arg(value_enum, default_value_t = Backend::Memory)]
    backend: Backend,
    /// How many events the shorter history has
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = positive())]
    events: u64,
    /// How many events a backfill brings
    #[arg(long, value_name = "N", default_value = "100000", value_parser = positive())]
    backfill: u64,
    /// How many backfills of each account are timed
    #[arg(long, value_name = "N", default_value = "3", value_parser = positive())]
    rounds: u64,
}

fn positive() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}
