//! The command line of the example: it runs the main job and shows what came of it.

use std::{
    error::Error as _,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;
use embedded::{Error, Options};
use indicatif::{ProgressBar, ProgressStyle};

fn main() -> ExitCode {
    match show(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// The usage of the year is that of this seed.
const SEED: u64 = 2026;

fn show(options: &Options) -> Result<(), Error> {
    if options.year {
        let year = embedded::year(SEED)?;
        let _ = write!(io::stdout().lock(), "{year}");
        return Ok(());
    }
    let bar = progress_bar();
    let outcome = embedded::run(options, &bar)?;
    bar.finish_and_clear();
    let written = options.report.iter().try_for_each(|path| outcome.report.write(path));
    // Nobody may be reading to the end.
    let _ = write!(io::stdout().lock(), "{outcome}");
    written.and_then(|()| outcome.verdict())
}

/// A bar on standard error, hidden where that is no terminal.
fn progress_bar() -> ProgressBar {
    let template = "{msg:<12} {bar:50} {human_pos:>10} of {human_len}, {elapsed}";
    let bar = ProgressBar::no_length();
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn complain(error: &Error) {
    let mut message = format!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        message += &format!(": {cause}");
        source = cause.source();
    }
    let _ = writeln!(io::stderr().lock(), "{message}");
}
