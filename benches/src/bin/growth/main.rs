//! Prints how what the engine costs grows with the events that are stored: its own share and its
//! store's, memory, and bytes on disk.
//!
//! `docs/performance.md` says what each column is.

#![allow(
    clippy::as_conversions,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "it computes and prints figures that people read"
)]

mod account;
mod probe;
mod size;
mod span;
mod table;

use std::path::PathBuf;

use accrue_benches::{Backend, Outcome, Watch};
use clap::Parser as _;
use tempfile::{tempdir, tempdir_in};

use self::account::GrowingAccount;

/// Measures what the engine costs at 10,000 events, at 100,000 and so on.
#[derive(Debug, clap::Parser)]
#[command(name = "growth")]
struct Arguments {
    /// Where the events are kept
    #[arg(value_enum, default_value_t = Backend::Memory)]
    backend: Backend,

    /// How many events there are at last
    #[arg(default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    events: u64,

    /// What the alerts watch; with credits, each event draws some
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Watch::UsageAndCredits)]
    watch: Watch,

    /// Where the store is kept while it is measured [default: a temporary folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// Write the figures to a file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> Outcome<()> {
    let Arguments { backend, events, watch, folder, json } = Arguments::parse();
    let folder = match folder {
        Some(folder) => tempdir_in(&folder)
            .map_err(|error| format!("{} cannot be used: {error}", folder.display()))?,
        None => tempdir()?,
    };
    let mut account = GrowingAccount::new(backend, folder.path(), watch)?;
    let mut stages = Vec::new();
    println!("{backend}");
    println!("{}", table::HEAD);
    for stored in marks(events) {
        let stage = account.grow_to(stored)?;
        println!("{}", table::line(&stage));
        stages.push(stage);
    }
    println!("\n{}", table::operations(&stages));
    if let Some(path) = json {
        let figures = serde_json::json!({ "backend": backend.to_string(), "stages": stages });
        std::fs::write(&path, serde_json::to_string_pretty(&figures)?)
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    Ok(())
}

/// The powers of ten from 10,000 on, and the end.
fn marks(events: u64) -> Vec<u64> {
    let powers = (4..12).map(|power| 10_u64.pow(power)).take_while(|mark| *mark < events);
    powers.chain([events]).collect()
}
