/// What the rate limit of an operation is counted under (wire 6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Category {
    /// Usage and costs of subscriptions, and costs of customers.
    Analytics,
    /// Credit balances of customers.
    Ledger,
    /// Everything else that reads.
    Reads,
    /// Everything that writes, but for ingest.
    Writes,
    /// Requests of ingest.
    IngestRequests,
    /// Events of ingest.
    IngestEvents,
}

impl Category {
    /// What a request counts under that asks for nothing that is there.
    pub(crate) fn of_unknown(method: &http::Method) -> Self {
        match *method {
            http::Method::GET | http::Method::HEAD | http::Method::OPTIONS => Self::Reads,
            _ => Self::Writes,
        }
    }
}
