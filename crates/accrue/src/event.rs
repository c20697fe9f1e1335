//! Usage events and their properties.

mod preview;
mod property;

use serde::{Deserialize, Serialize};

pub use self::{
    preview::PreviewEvent,
    property::{Properties, PropertyValue},
};
use crate::{CustomerId, EventKey, EventName, IdOr, Timestamp, limits, text::json_bytes};

/// A usage event: usage of a customer at an instant.
///
/// ```
/// use accrue::{EventKey, EventName, ExternalId, PropertyName, Timestamp, usage::Event};
///
/// let event = Event {
///     idempotency_key: EventKey::parse("request-1")?,
///     event_name: EventName::parse("completion")?,
///     timestamp: Timestamp::parse("2026-03-01T08:00:00Z")?,
///     properties: [(PropertyName::parse("output_tokens")?, 44_u64.into())].into_iter().collect(),
///     customer: ExternalId::parse("acme")?.into(),
/// };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its id: an event that comes again under its key is counted once.
    ///
    /// Outside of backfills, and within each, it is unique in the account (wire 3.4). Between them it
    /// may come again where the two can never count together (wire 3.3), which
    /// [`ingest_backfill`](crate::Account::ingest_backfill) tells.
    pub idempotency_key: EventKey,
    /// Name of what happened.
    pub event_name: EventName,
    /// Instant at which it happened.
    pub timestamp: Timestamp,
    /// Properties that metrics measure.
    pub properties: Properties,
    /// Customer whose usage it is. An external id need not exist yet.
    pub customer: IdOr<CustomerId>,
}

/// Place of an event among those of its customer: in order of time, then of key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct EventPlace {
    pub(crate) at: Timestamp,
    pub(crate) key: EventKey,
}

impl Event {
    /// Tells whether another event says the same of its customer.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        (&self.event_name, self.timestamp, &self.properties)
            == (&other.event_name, other.timestamp, &other.properties)
    }

    /// Lists the bounds that the event exceeds, of so many [bytes](Self::bytes).
    pub(crate) fn problems(&self, bytes: usize) -> Vec<String> {
        let mut problems = Vec::new();
        if self.properties.len() > limits::EVENT_PROPERTIES {
            problems.push(format!(
                "properties: has {} of them, expected at most {}",
                self.properties.len(),
                limits::EVENT_PROPERTIES
            ));
        }
        for (name, value) in self.properties.iter() {
            match value {
                PropertyValue::Text(text) if text.len() > limits::PROPERTY_VALUE_BYTES => {
                    problems.push(format!(
                        "properties.{name}: has {} bytes, expected at most {}",
                        text.len(),
                        limits::PROPERTY_VALUE_BYTES
                    ));
                }
                PropertyValue::Number(number) if !number.could_come_in() => problems.push(format!(
                    "properties.{name}: number has more than {} digits",
                    limits::DECIMAL_DIGITS
                )),
                _ => {}
            }
        }
        if bytes > limits::EVENT_BYTES {
            problems.push(format!(
                "event has {bytes} bytes of text as JSON, expected at most {}",
                limits::EVENT_BYTES
            ));
        }
        problems
    }

    /// Returns about how many bytes it has, without a look at its texts: the cost of working on it.
    pub(crate) fn rough_bytes(&self) -> usize {
        /// Those of a number, or of what is between texts.
        const SMALL: usize = 64;
        let bytes = |value: &PropertyValue| match value {
            PropertyValue::Text(text) => text.len().saturating_add(SMALL),
            _ => SMALL,
        };
        self.properties.values().map(bytes).fold(SMALL, usize::saturating_add)
    }

    /// Returns the bytes of all its texts as JSON writes them; a number counts as the longest that
    /// comes in.
    pub(crate) fn bytes(&self) -> usize {
        let properties = self
            .properties
            .iter()
            .map(|(name, value)| json_bytes(name).saturating_add(value.bytes()));
        properties
            .fold(json_bytes(&self.idempotency_key), usize::saturating_add)
            .saturating_add(json_bytes(&self.event_name))
    }
}
