use std::fmt::Write as _;

use crate::account::Stage;

/// Above the lines of ingests and sizes.
pub(crate) const HEAD: &str = "                ns per event of a batch        bytes per event
    stored       all     store       own      JSON    memory      disk";

/// What an ingest costs, and how much is kept.
pub(crate) fn line(stage: &Stage) -> String {
    let Stage { stored, ingest, json, memory, disk, .. } = stage;
    let store = ingest.all - ingest.own;
    let cells = [Some(ingest.all), Some(store), Some(ingest.own), Some(*json), *memory, *disk];
    cells.iter().fold(format!("{stored:>10}"), |line, cell| match cell {
        Some(cell) => format!("{line}{cell:>10.0}"),
        None => format!("{line}{:>10}", "–"),
    })
}

/// What the other operations cost: a line for each, and two columns for each stage.
pub(crate) fn operations(stages: &[Stage]) -> String {
    let mut text = format!("{:<16}", "µs per call");
    for stage in stages {
        // Writing to a string cannot fail.
        let _ = write!(text, "{:>13}      own", format!("at {}", stage.stored));
    }
    let Some(first) = stages.first() else { return text };
    for (at, operation) in first.operations.iter().enumerate() {
        let _ = write!(text, "\n{:<16}", operation.name);
        for probed in stages.iter().filter_map(|stage| stage.operations.get(at)) {
            let _ = write!(text, "{:>13.1}{:>9.1}", probed.call.all / 1e3, probed.call.own / 1e3);
        }
    }
    text
}
