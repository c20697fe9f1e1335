use serde::Serialize;

use super::Properties;
use crate::{CustomerId, EventKey, EventName, ExternalId, Timestamp};

/// Which events to look for (wire 3.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventSearch {
    /// Their keys: 1 to 500.
    pub event_ids: Vec<EventKey>,
    /// From when on; one week ago where none is given.
    pub timeframe_start: Option<Timestamp>,
    /// Until before when; now where none is given.
    pub timeframe_end: Option<Timestamp>,
}

impl EventSearch {
    /// Looks for events of the last week.
    pub fn new(event_ids: impl IntoIterator<Item = EventKey>) -> Self {
        let event_ids = event_ids.into_iter().collect();
        Self { event_ids, timeframe_start: None, timeframe_end: None }
    }
}

/// An event that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundEvent {
    /// Its id: the key that it came with.
    pub id: EventKey,
    /// Its customer; `None` where no customer has its external id yet.
    pub customer_id: Option<CustomerId>,
    /// The alias of its customer.
    pub external_customer_id: Option<ExternalId>,
    /// What happened.
    pub event_name: EventName,
    /// What is measured of it.
    pub properties: Properties,
    /// When it happened.
    pub timestamp: Timestamp,
    /// Whether it does not count: it was deprecated, or a backfill has replaced it.
    pub deprecated: bool,
}
