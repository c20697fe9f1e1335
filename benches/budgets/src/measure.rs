//! From operations to the rows of a table.

use std::{
    num::NonZero,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use accrue::store::MemoryStore;
use accrue_benches::Outcome;

use crate::{
    allocations,
    calls::CountedStore,
    instructions,
    operations::Operation,
    table::{Build, COLUMNS, Figure, Row},
};

/// What is measured of each operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What is the same in every build.
    Counts,
    /// The same, and what depends on the compiler.
    Everything,
}

/// Measures operations. Their profiles are left in a folder, one file for each.
pub(crate) fn measure(
    operations: &[Operation],
    extent: Extent,
    profiles: &Path,
) -> Outcome<Vec<Row>> {
    // One after the other, and before there is a second thread: the allocator counts those of all.
    let others = operations.iter().map(|operation| counts(operation, extent));
    let others = others.collect::<Outcome<Vec<_>>>()?;
    let instructions = match extent {
        Extent::Everything => all_instructions(operations, profiles)?,
        Extent::Counts => vec![None; operations.len()],
    };
    let rows = operations.iter().zip(others).zip(instructions);
    Ok(rows
        .map(|((operation, mut figures), instructions)| {
            if let Some(first) = figures.first_mut() {
                *first = instructions;
            }
            Row { name: operation.name.to_owned(), events: operation.events, figures }
        })
        .collect())
}

/// What can be counted without callgrind, by the mean of the calls.
fn counts(operation: &Operation, extent: Extent) -> Outcome<[Option<Figure>; COLUMNS.len()]> {
    let (mut number, mut bytes) = (0, 0);
    if extent == Extent::Everything {
        for call in operation.prepare(MemoryStore::new())?.calls {
            let (answer, found) = allocations::count(call);
            answer?;
            number += found.number;
            bytes += found.bytes;
        }
    }
    let store = Arc::new(CountedStore::new(MemoryStore::new()));
    let prepared = operation.prepare(Arc::clone(&store))?;
    let calls = u64::try_from(prepared.calls.len())?;
    let (mut rows_written, mut bytes_written, mut rows_read, mut sequential) = (0, 0, 0, 0);
    store.take();
    for call in prepared.calls {
        call()?;
        let found = store.take();
        rows_written += found.rows_written;
        bytes_written += found.bytes_written;
        rows_read += found.rows_read;
        sequential += found.sequential;
    }
    let mean = |sum| Some(Figure::mean(sum, calls));
    let allocated = |sum| mean(sum).filter(|_| extent == Extent::Everything);
    Ok([
        None,
        allocated(number),
        allocated(bytes).map(Figure::whole),
        mean(rows_written),
        mean(bytes_written).map(Figure::whole),
        mean(rows_read),
        mean(sequential),
    ])
}

/// Instructions of a call of each operation that is not too long for it, counted by as many processes at once as the
/// machine runs.
fn all_instructions(operations: &[Operation], profiles: &Path) -> Outcome<Vec<Option<Figure>>> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let is_counted = |operation: &Operation| !operation.is_long || Build::ours() == Build::Release;
    let counted = operations.iter().enumerate().filter(|(_, operation)| is_counted(operation));
    let next = Mutex::new(counted);
    let work = || -> Outcome<Vec<(usize, Figure)>> {
        let mut found = Vec::new();
        loop {
            let operation = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((place, operation)) = operation else { return Ok(found) };
            let profile = profiles.join(format!("{}.callgrind", file_name(operation.name)));
            let (calls, sum) = instructions::count(operation, &profile)?;
            found.push((place, Figure::mean(sum, calls).whole()));
        }
    };
    let mut found: Vec<(usize, Figure)> = thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let found = running.into_iter().map(|worker| match worker.join() {
            Ok(found) => found,
            Err(_) => Err("a thread panicked".into()),
        });
        found.collect::<Outcome<Vec<_>>>().map(|found| found.concat())
    })?;
    found.sort_unstable_by_key(|(place, _)| *place);
    let mut found = found.into_iter().peekable();
    let figure = |place| found.next_if(|(of, _)| *of == place).map(|(_, figure)| figure);
    Ok((0..operations.len()).map(figure).collect())
}

fn file_name(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
