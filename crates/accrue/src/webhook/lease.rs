//! What a worker has of an endpoint while it sends its messages.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Answer, Endpoint, EndpointUrl, PayloadStyle, Place, queue::Holder};
use crate::{AccountId, MessageId, Timestamp, WebhookEndpointId};

/// An endpoint that one worker has for itself, for [a while](crate::limits::LEASE): it sends the messages
/// that wait, and nobody else does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointLease {
    pub(crate) account: AccountId,
    pub(crate) endpoint: WebhookEndpointId,
    pub(crate) holder: Holder,
    pub(crate) until: Timestamp,
}

impl EndpointLease {
    /// Returns the account of the endpoint.
    #[must_use]
    pub const fn account(&self) -> &AccountId {
        &self.account
    }

    /// Returns the id of the endpoint.
    #[must_use]
    pub const fn endpoint_id(&self) -> WebhookEndpointId {
        self.endpoint
    }

    /// Returns the instant from which on another worker may take the endpoint.
    #[must_use]
    pub const fn until(&self) -> Timestamp {
        self.until
    }
}

/// Messages that are to be sent to an endpoint now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Waiting {
    /// The endpoint, where something is to be sent to it.
    pub endpoint: Option<Endpoint>,
    /// The messages, those that are due for the longest time first.
    pub deliveries: Vec<WaitingDelivery>,
    /// True where the endpoint fails, and one message at a time is sent to it.
    pub is_probed: bool,
}

/// A message that waits to be sent to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingDelivery {
    pub(crate) due_at: Timestamp,
    pub(crate) due: DueDelivery,
}

impl WaitingDelivery {
    /// Returns the id of the message.
    #[must_use]
    pub const fn message_id(&self) -> MessageId {
        self.due.message
    }

    /// Returns the number of the message in its queue, which is that of a customer for most.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.due.place.number
    }

    /// Tells whether two messages are of one queue: their first attempts are made one after the other.
    #[must_use]
    pub fn is_of_queue(&self, other: &Self) -> bool {
        self.due.place.queue == other.due.place.queue
    }
}

/// A message as it is sent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outgoing {
    /// Which one it is.
    pub delivery: WaitingDelivery,
    /// Body of the request: the same for each attempt.
    pub body: Arc<str>,
}

/// An attempt that was made, to be [reported](crate::Billing::report_deliveries).
#[derive(Clone, Debug)]
pub struct AttemptReport {
    /// Which message it was of.
    pub delivery: WaitingDelivery,
    /// Address that it was sent to.
    pub url: EndpointUrl,
    /// Instant at which it began.
    pub at: Timestamp,
    /// What came back.
    pub answer: Answer,
    /// How long the endpoint asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// A message that waits to be sent to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DueDelivery {
    pub(crate) message: MessageId,
    #[serde(flatten)]
    pub(crate) place: Place,
    /// Instant at which it was to be sent first: an endpoint that was enabled later is not sent it.
    pub(crate) since: Timestamp,
    /// Style of its body: the same for each attempt.
    pub(crate) style: PayloadStyle,
}
