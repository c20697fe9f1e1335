//! Runs of the example, the traces that they take and the stores that they are on.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Parser as _;
use embedded::{Options, Report, Trace, run};
use indicatif::ProgressBar;

/// Runs the example, and returns its report without the one thing that differs from run to run.
pub(crate) fn report<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Report {
    let arguments = ["embedded"].into_iter().chain(arguments);
    let options = Options::try_parse_from(arguments).expect("arguments that it takes");
    let outcome = run(&options, &ProgressBar::hidden()).expect("a run without an error");
    outcome.verdict().expect("nothing changes");
    Report { took: Duration::ZERO, ..outcome.report }
}

pub(crate) fn on(store: &str) -> [String; 2] {
    ["--store".to_owned(), store.to_owned()]
}

/// Finds the real trace, which the project does not ship.
#[expect(clippy::disallowed_methods, reason = "the trace lies outside of the project")]
#[expect(clippy::print_stdout, reason = "a test that passes without it says so")]
pub(crate) fn real_trace() -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/llm_conversation_trace.csv");
    let path = std::env::var("ACCRUE_TRACE").map_or(beside, PathBuf::from);
    if path.is_file() {
        return Some(path.to_str().expect("a path in UTF-8").to_owned());
    }
    println!("passed over: no trace at {}, set ACCRUE_TRACE", path.display());
    None
}

pub(crate) fn csv(trace: &Trace) -> String {
    let mut text = "TIMESTAMP,ContextTokens,GeneratedTokens\n".to_owned();
    for row in trace.rows() {
        writeln!(text, "{},{},{}", row.at, row.input_tokens, row.output_tokens)
            .expect("a string takes it");
    }
    text
}

/// A store of each kind that lasts, in a folder.
pub(crate) fn durable(folder: &Path) -> [String; 2] {
    ["fjall", "sled"].map(|engine| format!("{engine}:{}", folder.join(engine).display()))
}
