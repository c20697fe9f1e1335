use std::{collections::BTreeMap, fmt, time::Duration};

use accrue_load_tests::{Asked, Latencies};
use comfy_table::{CellAlignment, Table, presets::NOTHING};

use crate::judge::Found;

/// What came out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// How often the database failed over.
    pub(crate) rounds: usize,
    /// Requests that were answered.
    acknowledged: usize,
    /// Those of them that were sent more than once.
    in_doubt: usize,
    /// Those of these that had been done: the answer that came is a replay.
    done: usize,
    /// Requests that were answered otherwise than with a success.
    refused: usize,
    /// Requests that never were answered.
    unanswered: usize,
    pub(crate) found: Found,
    /// Messages of alerts, and how often one of them was delivered again.
    pub(crate) messages: [usize; 2],
    /// What came instead of answers.
    pub(crate) doubts: BTreeMap<String, usize>,
    /// From the end of a primary to the next answer, where commits wait for a new standby and where they do not.
    pub(crate) outages: [Latencies; 2],
    /// From the end of a primary until its standby takes writes.
    pub(crate) promotions: Latencies,
}

impl Figures {
    pub(crate) fn count(&mut self, asked: &[Asked]) {
        for Asked { answer, doubts, .. } in asked {
            let Some(answer) = answer else {
                self.unanswered += 1;
                continue;
            };
            self.acknowledged += 1;
            self.in_doubt += usize::from(*doubts > 0);
            self.done += usize::from(*doubts > 0 && answer.is_replayed);
            self.refused += usize::from(!answer.is_success());
        }
    }

    /// Tells whether everything is there once.
    pub(crate) const fn is_whole(&self) -> bool {
        self.found.lost + self.found.doubled + self.refused + self.unanswered == 0
    }

    /// Tells whether something that was acknowledged is not there.
    pub(crate) const fn has_lost(&self) -> bool {
        self.found.lost > 0
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [alerts, again] = self.messages;
        let mut table = Table::new();
        table.load_preset(NOTHING);
        for (what, count) in [
            ("failovers", self.rounds),
            ("acknowledged", self.acknowledged),
            ("in doubt", self.in_doubt),
            ("done", self.done),
            ("replays", self.found.replays),
            ("alerts", alerts),
            ("delivered again", again),
            ("refused", self.refused),
            ("unanswered", self.unanswered),
            ("lost", self.found.lost),
            ("doubled", self.found.doubled),
        ] {
            table.add_row([what.to_owned(), count.to_string()]);
        }
        let counts = table.column_mut(1);
        counts.into_iter().for_each(|column| {
            column.set_cell_alignment(CellAlignment::Right);
        });
        writeln!(f, "{table}")?;
        for (what, count) in &self.doubts {
            writeln!(f, "instead of an answer: {what}, {count} times")?;
        }
        let [waiting, answering] = &self.outages;
        for (what, times) in [
            ("until the standby takes writes", &self.promotions),
            ("until the next answer", answering),
            ("until the next answer, where commits wait for a new standby", waiting),
        ] {
            if !times.is_empty() {
                let [median, most] = times.percentiles([500, 1_000]).map(seconds);
                writeln!(f, "{what}: median {median}, at most {most}")?;
            }
        }
        Ok(())
    }
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{}.{:02} s", time.as_secs(), time.subsec_millis() / 10)
}
