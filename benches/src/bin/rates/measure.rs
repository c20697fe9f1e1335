use std::error::Error;

use accrue_benches::Outcome;
use tempfile::{TempDir, tempdir, tempdir_in};

use crate::{
    arguments::Arguments,
    operation::Operation,
    race::race,
    report::{Figure, Report},
    sides,
    source::Source,
};

/// Measures an operation with so many callers: all sides on stores of their own, round by round in
/// turn on the same bytes.
pub(crate) fn measure(
    arguments: &Arguments,
    operation: Operation,
    callers: u64,
    report: &mut Report,
) -> Outcome<()> {
    let folder = folder(arguments)?;
    let mut source = Source::new(operation, callers, arguments.quick)?;
    let mut sides = sides::open(arguments, operation, callers, folder.path(), &mut source)?;
    let mut rates = vec![Vec::new(); sides.len()];
    let (counted, before) = arguments.rounds();
    let counts = (source.calls() * operation.counted()) as f64;
    for number in 0..before + counted {
        let round = source.round()?;
        for (side, rates) in sides.iter_mut().zip(&mut rates) {
            let name = side.name();
            let took = side.callers(&round).and_then(race);
            let took = took.map_err(|error| format!("{name}: {}", in_full(&*error)))?;
            if number >= before {
                rates.push(counts / took.as_secs_f64());
            }
        }
    }
    for (side, rates) in sides.iter().zip(rates) {
        report.add(Figure::new(operation, callers, side.name(), rates));
    }
    Ok(())
}

fn folder(arguments: &Arguments) -> Outcome<TempDir> {
    Ok(match &arguments.folder {
        Some(folder) => tempdir_in(folder)
            .map_err(|error| format!("{} cannot be used: {error}", folder.display()))?,
        None => tempdir()?,
    })
}

/// What went wrong, and why: a client of PostgreSQL says only in the second what the server said.
pub(crate) fn in_full(error: &(dyn Error + 'static)) -> String {
    match error.source() {
        Some(why) => format!("{error}: {why}"),
        None => error.to_string(),
    }
}
