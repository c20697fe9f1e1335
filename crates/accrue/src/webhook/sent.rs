//! Messages that endpoints are sent, as they are listed (subscriptions 10.2).

use super::{Body, Delivery, EventType};
use crate::{CustomerId, InstantRange, MessageId, Timestamp};

/// A message that endpoints are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentMessage {
    /// Its id.
    pub id: MessageId,
    /// Customer that it is about, where it is one.
    pub customer_id: Option<CustomerId>,
    /// Its type.
    pub message_type: String,
    /// Instant at which it came up.
    pub created_at: Timestamp,
    /// True where every endpoint that it was meant for has answered 2xx.
    pub is_delivered: bool,
    /// Its body in expanded style, where that was asked for.
    pub payload: Option<String>,
    /// What an alert has told, where it is a message of one that was fetched by itself: what is sent says neither the
    /// value before, nor what caused it.
    pub told: Option<Body>,
    /// Where it stands with each endpoint that it was meant for.
    pub deliveries: Vec<Delivery>,
}

/// Which messages are listed: all unless chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentMessageFilter {
    /// Those that are delivered, or those that are not.
    pub is_delivered: Option<bool>,
    /// Those of a type.
    pub message_type: Option<EventType>,
    /// Those that came up within a range.
    pub created: InstantRange,
    /// True where payloads are left out.
    pub without_payload: bool,
}
