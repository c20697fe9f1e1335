use std::time::Duration;

use tokio::time::Instant;

use crate::OneLine;

/// The line of the log for a request: method, path, status and how long it took.
///
/// Nothing else of a request goes there: its query, headers and body may hold secrets.
#[derive(Debug)]
#[must_use = "end it"]
pub struct Line {
    method: String,
    path: String,
    begun: Instant,
}

impl Line {
    /// Begins the line of a request, with its path without the query.
    pub fn begin(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), begun: Instant::now() }
    }

    /// Writes the line.
    pub fn end(self, status: u16) {
        let Self { method, path, begun } = self;
        let took: Duration = begun.elapsed();
        let (method, path) = (OneLine(method), OneLine(path));
        tracing::info!(%method, %path, status, ?took, "request");
    }
}

/// Sends what is logged to standard error.
pub(crate) fn begin() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
}
