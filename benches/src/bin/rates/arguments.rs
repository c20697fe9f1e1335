use std::path::PathBuf;

use accrue_benches::Backend;
use clap::ValueEnum as _;

use crate::operation::Operation;

/// Measures how fast the engine is beside the raw backend, a raw append log and PostgreSQL, on the
/// same bytes.
#[derive(Debug, clap::Parser)]
#[command(name = "rates", verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The backends [default: all of them]
    #[arg(value_enum)]
    backends: Vec<Backend>,

    /// What is measured [default: all of it]
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    operations: Vec<Operation>,

    /// How many callers there are, each a thread and a customer of its own
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,8,64",
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    callers: Vec<u64>,

    /// How many rounds each figure is the median of; one more comes before them
    #[arg(long, value_name = "N", default_value = "5",
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// The connection string of a PostgreSQL that is measured too [default: that in ACCRUE_POSTGRES]
    ///
    /// Each measurement drops the schemas whose names begin with accrue_rates and makes them anew.
    #[arg(long, value_name = "STRING")]
    postgres: Option<String>,

    /// Where the stores and the log are kept while they are measured [default: a temporary folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// Write the figures to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// One short round of everything, to see that it works: its figures mean nothing
    #[arg(long)]
    pub(crate) quick: bool,
}

impl Arguments {
    pub(crate) fn backends(&self) -> Vec<Backend> {
        all_if_none(&self.backends, Backend::value_variants())
    }

    pub(crate) fn operations(&self) -> Vec<Operation> {
        all_if_none(&self.operations, Operation::value_variants())
    }

    #[expect(clippy::disallowed_methods, reason = "a program may read its environment")]
    pub(crate) fn postgres(&self) -> Option<String> {
        self.postgres.clone().or_else(|| std::env::var("ACCRUE_POSTGRES").ok())
    }

    pub(crate) fn callers(&self) -> Vec<u64> {
        self.callers.clone()
    }

    /// How many rounds count, and how many come before them.
    pub(crate) const fn rounds(&self) -> (u32, u32) {
        if self.quick { (1, 0) } else { (self.rounds, 1) }
    }
}

fn all_if_none<T: Clone>(named: &[T], all: &[T]) -> Vec<T> {
    if named.is_empty() { all.to_vec() } else { named.to_vec() }
}
