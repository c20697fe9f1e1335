use serde::Serialize;

use super::Properties;
use crate::{CustomerId, EventKey, EventName, ExternalId, Timestamp};

/// Search for events by their keys (wire 3.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventSearch {
    /// Keys of the events: 1 to 500.
    pub event_ids: Vec<EventKey>,
    /// Start of the timeframe; one week ago where none is given.
    pub timeframe_start: Option<Timestamp>,
    /// End of the timeframe, not part of it; now where none is given.
    pub timeframe_end: Option<Timestamp>,
}

impl EventSearch {
    /// Searches for events of the last week.
    pub fn new(event_ids: impl IntoIterator<Item = EventKey>) -> Self {
        let event_ids = event_ids.into_iter().collect();
        Self { event_ids, timeframe_start: None, timeframe_end: None }
    }
}

/// Event that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundEvent {
    /// Id of the event: the key that it came with.
    pub id: EventKey,
    /// Customer of the event; `None` where no customer has its external id yet.
    pub customer_id: Option<CustomerId>,
    /// Alias of its customer.
    pub external_customer_id: Option<ExternalId>,
    /// Name of the event.
    pub event_name: EventName,
    /// Properties that are measured.
    pub properties: Properties,
    /// Instant at which it happened.
    pub timestamp: Timestamp,
    /// True where it does not count: it was deprecated, or a backfill has replaced it.
    pub deprecated: bool,
}
