use std::{fmt, time::Duration};

use accrue_load_tests::{Server, pause};
use comfy_table::{CellAlignment, Table, presets::NOTHING};
use tokio::time::Instant;

use crate::pace::Pace;

/// How often the server is looked at in the whole time.
const TIMES: u32 = 20;

/// How a server was doing, time after time.
#[derive(Debug, Default)]
pub(crate) struct Watch(Vec<Look>);

#[derive(Debug)]
struct Look {
    /// After how long.
    elapsed: Duration,
    /// Requests that were answered since the look before.
    answers: u64,
    /// For how long that is.
    since: Duration,
    /// Resident memory, in MiB.
    memory: Option<u64>,
}

impl Watch {
    /// Looks at the server until the time is over.
    pub(crate) async fn over(server: &Server, pace: &Pace, time: Duration) -> Self {
        let (begun, mut before, mut answers) = (Instant::now(), Duration::ZERO, 0);
        let mut looks = Vec::new();
        for nth in 1..=TIMES {
            pause((time / TIMES * nth).saturating_sub(begun.elapsed())).await;
            let (elapsed, so_far) = (begun.elapsed(), pace.answers());
            looks.push(Look {
                elapsed,
                answers: so_far.saturating_sub(answers),
                since: elapsed.saturating_sub(before),
                memory: server.memory().map(|(now, _)| now),
            });
            (before, answers) = (elapsed, so_far);
        }
        Self(looks)
    }
}

impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_preset(NOTHING).set_header(["after s", "requests a second", "resident MiB"]);
        for Look { elapsed, answers, since, memory } in &self.0 {
            let rate = u128::from(*answers) * 1_000 / since.as_millis().max(1);
            let memory = memory.map_or_else(|| "–".to_owned(), |memory| memory.to_string());
            table.add_row([elapsed.as_secs().to_string(), rate.to_string(), memory]);
        }
        for column in table.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.fmt(f)
    }
}
