//! The table of budgets: a page that is read back and compared.

mod build;
mod compare;
mod figure;
mod text;

pub(crate) use self::{build::Build, compare::compare, figure::Figure};

/// What operations may cost, or what they were found to cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) build: Build,
    /// What it was measured with: instructions and allocations depend on it.
    pub(crate) with: String,
    pub(crate) rows: Vec<Row>,
}

/// What a call of one operation costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// How many events the call is about.
    pub(crate) events: u64,
    /// A figure for each of the columns; none where it was not measured.
    pub(crate) figures: [Option<Figure>; COLUMNS.len()],
}

/// Something that is held to a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    title: &'static str,
    slack: Slack,
    /// Whether the table has it for each event too.
    is_per_event: bool,
}

/// How far off a figure may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slack {
    None,
    /// [`PER_CENT`] of the budget.
    Some,
}

/// How many per cent more or less than its budget a figure may be.
const PER_CENT: u64 = 3;

/// What is held, in order.
pub(crate) const COLUMNS: [Column; 7] = [
    Column::new("instructions", Slack::Some, true),
    Column::new("allocations", Slack::Some, true),
    Column::new("bytes allocated", Slack::Some, true),
    Column::new("rows written", Slack::None, false),
    Column::new("bytes written", Slack::Some, true),
    Column::new("rows read", Slack::None, false),
    Column::new("store calls", Slack::None, false),
];

impl Column {
    const fn new(title: &'static str, slack: Slack, is_per_event: bool) -> Self {
        Self { title, slack, is_per_event }
    }
}

impl Row {
    /// The same without what depends on the compiler.
    pub(crate) fn counts(self) -> Self {
        let [_, _, _, counts @ ..] = self.figures;
        let [rows_written, bytes_written, rows_read, calls] = counts;
        let figures = [None, None, None, rows_written, bytes_written, rows_read, calls];
        Self { figures, ..self }
    }
}
