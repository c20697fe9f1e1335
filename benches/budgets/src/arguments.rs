use std::path::PathBuf;

/// Measures what each operation costs: instructions, allocations, rows, bytes and store calls. Prints
/// it beside the budgets.
#[derive(Debug, clap::Parser)]
#[command(name = "accrue-budgets")]
pub(crate) struct Arguments {
    /// Fail where anything is more than 3 % off its budget, in either direction; rows and store calls
    /// are exact
    #[arg(long)]
    pub(crate) check: bool,

    /// Write what was found to the table: from now on it is the budget
    #[arg(long, conflicts_with_all = ["check", "counts", "only"])]
    pub(crate) bless: bool,

    /// Only rows, bytes and store calls, which need no valgrind and are the same in every build
    #[arg(long)]
    pub(crate) counts: bool,

    /// Only the operations whose names have this in them
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,

    /// Keep the profiles there, for `callgrind_annotate`
    #[arg(long, value_name = "FOLDER")]
    pub(crate) profiles: Option<PathBuf>,

    /// Where the budgets are; by default those of this build
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// Make the calls of one operation, and measure nothing: what runs under valgrind
    #[arg(long, value_name = "NAME", hide = true)]
    pub(crate) run: Option<String>,
}
