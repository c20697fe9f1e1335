//! Prints how fast the engine is beside what it stands on and what would stand in its place, in one
//! program and on the same bytes: the raw backend, a raw append log, and PostgreSQL.
//!
//! `docs/performance.md` says what each of them does.

#![allow(
    clippy::as_conversions,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "it computes and prints figures that people read"
)]

mod aims;
mod arguments;
mod measure;
mod operation;
mod race;
mod report;
mod sides;
mod source;

use accrue_benches::Outcome;
use clap::Parser as _;

use self::{arguments::Arguments, measure::measure, report::Report};

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let mut report = Report::default();
    for &operation in &arguments.operations() {
        for &callers in &arguments.callers() {
            measure(&arguments, operation, callers, &mut report)?;
        }
        println!("{}", report.table(operation));
    }
    if !arguments.quick {
        println!("{}", aims::judged(&report));
    }
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?)
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    Ok(())
}
