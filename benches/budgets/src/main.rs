//! Measures what each operation costs, in what does not depend on how busy the machine is, and holds it
//! against a table: `budgets.md` of a release, `tests.md` of the build that is tested.
//!
//! An operation is set up on a store of its own in memory, with ids and times that are the same in
//! every run. Its calls are counted one by one, three times: [`instructions`] under callgrind, in a
//! process for each operation; [`allocations`] by the global allocator; and [`calls`] by a store around
//! the store. `docs/decisions/budgets-with-callgrind.md` says why so.

mod allocations;
mod arguments;
mod calls;
mod instructions;
mod measure;
mod operations;
mod table;

use std::{path::Path, process::ExitCode};

use accrue_benches::Outcome;
use clap::Parser as _;

use self::{
    arguments::Arguments,
    measure::{Extent, measure},
    operations::Operation,
    table::{Build, Row, Table, compare},
};

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "it prints a table that people read")]
fn run(arguments: &Arguments) -> Outcome<()> {
    if let Some(name) = &arguments.run {
        return instructions::run(&operations::find(name)?);
    }
    let build = Build::ours();
    let path = arguments.table.clone().unwrap_or_else(|| build.page());
    if arguments.bless {
        let found = found(arguments)?;
        std::fs::write(&path, found.to_string())
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        println!("{}", found.lines());
        return Ok(());
    }
    let page = read(&path)?;
    let path = path.display();
    let budget = Table::parse(&page)?;
    if budget.to_string() != page {
        let bless = budget.build.bless();
        return Err(format!("{path} was changed by hand, expected what {bless:?} writes").into());
    }
    if budget.build != build && !arguments.counts {
        return Err(format!("{path} is of another build, expected --counts beside it").into());
    }
    let found = found(arguments)?;
    let budget = part(budget, arguments);
    println!("{}", found.beside(&budget));
    if let Some(note) = other_toolchain(arguments, &budget, &found) {
        println!("{note}\n");
    }
    let breaches = compare(&budget, &found);
    if arguments.check && !breaches.is_empty() {
        let note = other_toolchain(arguments, &budget, &found);
        return Err(said(&breaches, note, budget.build).into());
    }
    Ok(())
}

fn found(arguments: &Arguments) -> Outcome<Table> {
    let operations: Vec<Operation> = operations::all()
        .into_iter()
        .filter(|operation| is_asked(arguments, operation.name))
        .collect();
    let temporary = tempfile::tempdir()?;
    let profiles = arguments.profiles.as_deref().unwrap_or_else(|| temporary.path());
    std::fs::create_dir_all(profiles)?;
    let build = Build::ours();
    if arguments.counts {
        let rows = measure(&operations, Extent::Counts, profiles)?;
        return Ok(Table { build, with: env!("TOOLCHAIN").to_owned(), rows });
    }
    let with = format!("{}, {}", env!("TOOLCHAIN"), instructions::valgrind()?);
    Ok(Table { build, with, rows: measure(&operations, Extent::Everything, profiles)? })
}

fn read(path: &Path) -> Outcome<String> {
    let page = std::fs::read_to_string(path);
    Ok(page.map_err(|error| format!("{} cannot be read: {error}", path.display()))?)
}

/// What is measured of a budget.
fn part(budget: Table, arguments: &Arguments) -> Table {
    let rows = budget.rows.into_iter().filter(|row| is_asked(arguments, &row.name));
    let rows = if arguments.counts { rows.map(Row::counts).collect() } else { rows.collect() };
    Table { rows, ..budget }
}

fn is_asked(arguments: &Arguments, name: &str) -> bool {
    arguments.only.as_ref().is_none_or(|only| name.contains(only))
}

/// Says so where the budgets were measured with something else than what was found, and depend on it.
fn other_toolchain(arguments: &Arguments, budget: &Table, found: &Table) -> Option<String> {
    let (then, now) = (&budget.with, &found.with);
    (!arguments.counts && then != now).then(|| {
        format!(
            "The budgets were measured with {then}, and this with {now}: where something is off, that alone \
             may be why."
        )
    })
}

/// Breaches, what may explain them, and what to do.
fn said(breaches: &[String], note: Option<String>, build: Build) -> String {
    let mut lines = vec!["these are not as they are budgeted:".to_owned()];
    lines.extend(breaches.iter().map(|breach| format!("  {breach}")));
    lines.extend(note);
    let bless = build.bless();
    lines.push(format!("What is meant to be so, better or worse, is written down by: {bless}"));
    lines.join("\n")
}
