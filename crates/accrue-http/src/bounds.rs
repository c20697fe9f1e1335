use accrue::limits;
use http::request::Parts;

use crate::problem::Problem;

/// All bounds of a request, with their units.
///
/// The engine has bounds of its own on top ([`accrue::limits`]), which no setting here can widen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The longest path and query, in bytes.
    pub url_bytes: usize,
    /// The longest headers together, in bytes of names and values.
    pub header_bytes: usize,
    /// The longest body in bytes, after decompression too.
    pub body_bytes: usize,
    /// The most bytes of all bodies in flight together, as they came and unpacked: of one account half
    /// as many. A body of up to 64 KiB is not counted, and one that is alone is always taken; beyond, a
    /// request is answered 429. What the engine makes of a body takes up to five times as much memory.
    pub bodies_bytes: usize,
    /// The greatest depth of arrays and objects of a body within each other.
    pub depth: usize,
    /// The longest string, name or number of a body, in bytes.
    pub string_bytes: usize,
    /// The most items of an array, and the most members of an object.
    pub array_items: usize,
    /// The most values in a body together: each takes memory, however small it is.
    pub values: usize,
    /// The most rows of a page; at most 100 (§8).
    pub page_rows: usize,
    /// The most entries of a page of a ledger; at most 1,000 (wire 6.2).
    pub ledger_page_rows: usize,
    /// The most events of a batch; at most 1,000.
    pub batch_events: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            url_bytes: 8 * 1024,
            header_bytes: 32 * 1024,
            // A thousand events, each as large as an event may be, and something around them.
            body_bytes: 20 * 1024 * 1024,
            bodies_bytes: 48 * 1024 * 1024,
            depth: 16,
            string_bytes: 64 * 1024,
            array_items: 10_000,
            // A thousand events with all the properties that they may have are far below.
            values: 250_000,
            page_rows: limits::PAGE_ROWS,
            ledger_page_rows: limits::LEDGER_PAGE_ROWS,
            batch_events: limits::BATCH_EVENTS,
        }
    }
}

impl Bounds {
    /// Judges the parts of a request that come before its body.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), Problem> {
        let query = head.uri.query().map_or(0, |query| query.len().saturating_add(1));
        let url = head.uri.path().len().saturating_add(query);
        let lines = head.headers.iter();
        let headers = lines
            .map(|(name, value)| name.as_str().len().saturating_add(value.len()))
            .fold(0, usize::saturating_add);
        for (what, found, most) in
            [("URL", url, self.url_bytes), ("headers", headers, self.header_bytes)]
        {
            if found > most {
                let detail = format!("{found} bytes of {what}, expected at most {most}");
                return Err(Problem::request_too_large(detail));
            }
        }
        Ok(())
    }
}
