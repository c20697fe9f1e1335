//! What came out, as people read it.

use std::{cmp::Reverse, time::Duration};

use accrue_load_tests::{Latencies, milliseconds};
use comfy_table::{CellAlignment, Table, presets::NOTHING};

use crate::record::Record;

/// How many operations are named as the slowest.
const SLOWEST: usize = 3;

/// A line for each operation, and one for all.
pub(crate) fn operations(record: &Record, time: Duration) -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table.set_header(["ms", "requests", "a second", "50%", "90%", "99%", "99.9%", "max"]);
    let mut all = Latencies::default();
    for (label, latencies) in record.latencies() {
        table.add_row(line(label, latencies, time));
        all.extend(latencies.clone());
    }
    table.add_row(line("all", &all, time));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn line(label: &str, latencies: &Latencies, time: Duration) -> Vec<String> {
    let count = latencies.len();
    let rate = u128::try_from(count).unwrap_or(u128::MAX) * 1_000 / time.as_millis().max(1);
    let times = milliseconds(latencies.percentiles([500, 900, 990, 999, 1_000]));
    [label.to_owned(), count.to_string(), rate.to_string()].into_iter().chain(times).collect()
}

/// Names the operations with the largest 99th percentiles.
pub(crate) fn slowest(record: &Record) -> String {
    let operations = record.latencies().iter();
    let mut operations: Vec<_> =
        operations.map(|(label, latencies)| (latencies.percentiles([990])[0], *label)).collect();
    operations.sort_by_key(|(time, _)| Reverse(*time));
    let slowest = operations.into_iter().take(SLOWEST).map(|(_, label)| label);
    format!("slowest: {}", slowest.collect::<Vec<_>>().join(", "))
}
