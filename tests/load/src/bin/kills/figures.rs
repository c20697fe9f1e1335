use std::fmt;

use comfy_table::{CellAlignment, Table, presets::NOTHING};

/// What came out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    /// How often the server was killed.
    pub(crate) kills: usize,
    /// How often before it had opened its store.
    pub(crate) opening: usize,
    /// Requests that were answered before it was killed.
    pub(crate) acknowledged: usize,
    /// Requests that were under way then.
    pub(crate) in_doubt: usize,
    /// Those of them that had been done: sent again, they are replays.
    pub(crate) done: usize,
    /// Answers that came again, byte for byte.
    pub(crate) replays: usize,
    /// Effects of acknowledged requests that are not there.
    pub(crate) lost: usize,
    /// Effects that are there more than once.
    pub(crate) doubled: usize,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_preset(NOTHING);
        for (what, count) in [
            ("kills", self.kills),
            ("kills while opening", self.opening),
            ("acknowledged", self.acknowledged),
            ("in doubt", self.in_doubt),
            ("done", self.done),
            ("replays", self.replays),
            ("lost", self.lost),
            ("doubled", self.doubled),
        ] {
            table.add_row([what.to_owned(), count.to_string()]);
        }
        let counts = table.column_mut(1);
        counts.into_iter().for_each(|column| {
            column.set_cell_alignment(CellAlignment::Right);
        });
        table.fmt(f)
    }
}
