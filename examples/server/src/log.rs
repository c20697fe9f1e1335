use std::time::Duration;

use tokio::time::Instant;

use crate::OneLine;

/// The line of the log for a request: method, route, status and how long it took.
///
/// Nothing else of a request goes there: its path has identifiers of customers, and its query, headers
/// and body may hold secrets.
#[derive(Debug)]
#[must_use = "end it"]
pub struct Line {
    method: String,
    route: &'static str,
    begun: Instant,
}

impl Line {
    /// Begins the line of a request for a [route](crate::Host::route).
    pub fn begin(method: &str, route: &'static str) -> Self {
        Self { method: method.to_owned(), route, begun: Instant::now() }
    }

    /// Writes the line.
    pub fn end(self, status: u16) {
        let Self { method, route, begun } = self;
        let took: Duration = begun.elapsed();
        tracing::info!(method = %OneLine(method), route, status, ?took, "request");
    }
}

/// Sends what is logged to standard error.
pub(crate) fn begin() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
}
