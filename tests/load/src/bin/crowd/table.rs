//! What came out, as people read it.

use std::collections::BTreeMap;

use accrue_load_tests::{Latencies, milliseconds};
use comfy_table::{CellAlignment, Table, presets::NOTHING};

use crate::{
    expensive::{Answers, Expensive},
    healthy::Healthy,
    kinds::Kind,
};

/// A healthy client beside a crowd.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) crowd: Vec<Kind>,
    pub(crate) healthy: Healthy,
    pub(crate) expensive: Expensive,
    /// How large its requests are.
    pub(crate) notes: Vec<String>,
    /// Resident memory of the server in the end, and the most that it was, in MiB.
    pub(crate) memory: Option<(u64, u64)>,
}

impl Row {
    fn name(&self) -> String {
        match self.crowd.as_slice() {
            [] => "alone".to_owned(),
            [kind] => kind.name(),
            _ => "all at once".to_owned(),
        }
    }

    /// Tells whether the healthy client had its answers, and nothing ended in a server error.
    pub(crate) fn is_well(&self) -> bool {
        let statuses = self.expensive.values().flat_map(|answers| answers.statuses.keys());
        let answered = statuses.filter(|status| status.starts_with(['2', '4']));
        let sent = self.expensive.values().flat_map(|answers| answers.statuses.keys()).count();
        self.healthy.failed.is_empty() && answered.count() == sent
    }

    /// Returns it in a line, as soon as it is known.
    pub(crate) fn line(&self) -> String {
        let [ping, ingest] = [&self.healthy.pings, &self.healthy.ingests]
            .map(|latencies| milliseconds(latencies.percentiles([990])).join(" "));
        let (name, notes) = (self.name(), self.notes.join("; "));
        format!("{name}: 99 of 100 pings within {ping} ms, ingests {ingest} ms; {notes}")
    }
}

/// How large requests are.
pub(crate) fn notes(rows: &[Row]) -> String {
    let rows = rows.iter().filter(|row| row.crowd.len() == 1 && !row.notes.is_empty());
    let lines = rows.map(|row| format!("{}: {}", row.name(), row.notes.join("; ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// A line for each crowd.
pub(crate) fn healthy(rows: &[Row]) -> String {
    let header = ["ms", "ping 50%", "90%", "99%", "max"].into_iter();
    let header = header.chain(["ingest 50%", "90%", "99%", "max", "failed", "server, most MiB"]);
    let mut table = table(header.map(str::to_owned).collect());
    for row in rows {
        let mut line = vec![row.name()];
        for latencies in [&row.healthy.pings, &row.healthy.ingests] {
            line.extend(percentiles(latencies));
        }
        line.push(counts(&row.healthy.failed));
        line.push(row.memory.map_or_else(|| "–".to_owned(), |(_, most)| most.to_string()));
        table.add_row(line);
    }
    table.to_string()
}

/// A line for each request of each crowd.
pub(crate) fn expensive(rows: &[Row], seconds: u64) -> String {
    let header = ["ms", "request", "50%", "90%", "99%", "max", "a minute", "answers"];
    let mut table = table(header.map(str::to_owned).to_vec());
    for row in rows {
        for (label, Answers { latencies, statuses }) in &row.expensive {
            let mut line = vec![row.name(), (*label).to_owned()];
            line.extend(percentiles(latencies));
            let count = u64::try_from(latencies.len()).unwrap_or(u64::MAX);
            line.push((count * 60 / seconds.max(1)).to_string());
            line.push(counts(statuses));
            table.add_row(line);
        }
    }
    table.to_string()
}

fn table(header: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn percentiles(latencies: &Latencies) -> [String; 4] {
    milliseconds(latencies.percentiles([500, 900, 990, 1_000]))
}

fn counts(counts: &BTreeMap<String, u64>) -> String {
    let counts: Vec<_> = counts.iter().map(|(of, count)| format!("{of}: {count}")).collect();
    if counts.is_empty() { "–".to_owned() } else { counts.join(", ") }
}
