use std::fmt::Write as _;

use crate::{
    operation::Operation,
    report::Report,
    sides::{Name, PROCESSES, Statements},
};

/// The callers with whom a durable commit is held against the append log.
const MANY: u64 = 64;

/// What the engine aims at, what was found of it with the number of callers that is worst, and
/// whether that is enough.
pub(crate) fn judged(report: &Report) -> String {
    let mut text = String::new();
    for Aim { what, found, least } in aims(report) {
        let Some(found) = found else { continue };
        let met = if found >= least { "met" } else { "missed" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{what:<74} at least {least:>5.2}, found {found:>7.2}: {met}");
    }
    if text.is_empty() {
        text
    } else {
        format!("aims, with the number of callers that is worst\n{text}")
    }
}

struct Aim {
    what: String,
    /// The lowest ratio.
    found: Option<f64>,
    least: f64,
}

fn aims(report: &Report) -> Vec<Aim> {
    let mut aims = Vec::new();
    let callers = report.callers();
    let worst = |ratio: &dyn Fn(u64) -> Option<f64>| {
        callers.iter().filter_map(|callers| ratio(*callers)).min_by(f64::total_cmp)
    };
    for backend in report.backends() {
        let ours = Name::Accrue(backend);
        let to_raw = |operation| {
            worst(&|callers| report.ratio(operation, callers, ours, Name::Raw(backend)))
        };
        if backend.is_durable() {
            aims.push(Aim {
                what: format!("{backend}: keyed ingest, {MANY} callers, of the append log"),
                found: report.ratio(Operation::Commit, MANY, ours, Name::AppendLog),
                least: 0.5,
            });
            for (statements, how) in [(Statements::Many, "by event"), (Statements::One, "at once")]
            {
                let to = Name::Postgres(statements);
                aims.push(Aim {
                    what: format!("{backend}: batches of 500, of postgres, {how}"),
                    found: worst(&|callers| report.ratio(Operation::Batch, callers, ours, to)),
                    least: 10.0,
                });
            }
        }
        for (operation, what, least) in [
            (Operation::Batch, "batches of 500", 0.6),
            (Operation::Fetch, "fetch", 0.8),
            (Operation::Page, "page of 20", 0.8),
        ] {
            let what = format!("{backend}: {what}, of the raw backend");
            aims.push(Aim { what, found: to_raw(operation), least });
        }
    }
    let of_postgres = |operation, callers, processes| {
        let (of, to) = (Name::AccruePostgres(processes), Name::Postgres(Statements::One));
        report.ratio(operation, callers, of, to)
    };
    let all = format!("{MANY} callers");
    for (processes, of, what, least) in [
        (1, Operation::Commit, format!("keyed ingest, {all} and customers"), 0.9),
        (PROCESSES, Operation::Commit, format!("the same in {PROCESSES} processes"), 0.8),
        (1, Operation::OneCustomer, format!("keyed ingest, {all}, one customer"), 0.7),
        (PROCESSES, Operation::OneCustomer, format!("the same in {PROCESSES} processes"), 0.7),
    ] {
        let what = format!("on postgres: {what}, of postgres, at once");
        aims.push(Aim { what, found: of_postgres(of, MANY, processes), least });
    }
    aims.push(Aim {
        what: "on postgres: batches of 500, of postgres, at once".to_owned(),
        found: worst(&|callers| of_postgres(Operation::Batch, callers, 1)),
        least: 0.9,
    });
    aims
}
