use super::{Event, Properties};
use crate::{CustomerId, EventKey, EventName, IdOr, Timestamp};

/// Event that is rated and not ingested (subscriptions 9.2). It has no key: each of them counts.
///
/// ```
/// use accrue::{EventName, PropertyName, Timestamp, usage::PreviewEvent};
///
/// let event = PreviewEvent {
///     event_name: EventName::parse("completion")?,
///     timestamp: Timestamp::parse("2026-03-01T08:00:00Z")?,
///     properties: [(PropertyName::parse("output_tokens")?, 44_u64.into())].into_iter().collect(),
///     customer: None,
/// };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewEvent {
    /// Name of what happened.
    pub event_name: EventName,
    /// Instant at which it happened, however long ago or far ahead.
    pub timestamp: Timestamp,
    /// Properties that metrics measure.
    pub properties: Properties,
    /// Customer whose usage it is: the one whose usage is rated where none is given. An event of another
    /// one does not count.
    pub customer: Option<IdOr<CustomerId>>,
}

impl PreviewEvent {
    /// Makes an event of it: one of a customer where it names none, under a key that follows those of
    /// the places before it.
    pub(crate) fn into_event(self, place: usize, customer: &IdOr<CustomerId>) -> Event {
        Event {
            idempotency_key: EventKey::parse(format!("{place:06}"))
                .expect("a few digits are a key"),
            event_name: self.event_name,
            timestamp: self.timestamp,
            properties: self.properties,
            customer: self.customer.unwrap_or_else(|| customer.clone()),
        }
    }
}
