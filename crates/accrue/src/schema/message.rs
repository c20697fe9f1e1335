//! Documents of messages, and of where they are sent.

use serde::{Deserialize, Serialize};

use super::{Guards, Slot};
use crate::{
    AccountId, MessageId, Timestamp, WebhookEndpointId,
    webhook::{Body, DueDelivery, EndpointQueue, Place},
};

/// What the instant decided of a message. The resources in it are rendered when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutboxEntry {
    pub(crate) id: MessageId,
    #[serde(flatten)]
    pub(crate) place: Place,
    pub(crate) created_at: Timestamp,
    /// Instant of the commit, where it came up before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) told_at: Option<Timestamp>,
    pub(crate) body: Body,
}

/// A message that endpoints are sent: its body is in rows of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageEntry {
    pub(crate) id: MessageId,
    #[serde(rename = "type")]
    pub(crate) message_type: String,
    pub(crate) created_at: Timestamp,
    #[serde(flatten)]
    pub(crate) place: Place,
    /// First instant at which it may be removed.
    pub(crate) expires_at: Timestamp,
    /// Endpoints that it was meant for.
    pub(crate) endpoints: Vec<WebhookEndpointId>,
    /// Number of them that have not taken it.
    pub(crate) not_delivered: usize,
    /// Number of parts of the body in expanded style.
    pub(crate) expanded_parts: u16,
    /// Number of parts of the body in standard style: none where no endpoint wants that.
    pub(crate) standard_parts: u16,
    /// Whether what an alert has told is kept beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_of_alert: bool,
}

impl MessageEntry {
    /// Tells whether every endpoint that it was meant for has taken it.
    pub(crate) const fn is_delivered(&self) -> bool {
        self.not_delivered == 0
    }
}

/// A part of the body that is sent of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageBody {
    pub(crate) text: String,
}

/// What an alert has told in a message that is sent: its body has neither the value before nor what caused it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageTold {
    pub(crate) body: Body,
}

/// When a message is to be sent to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DueAt {
    pub(crate) at: Timestamp,
    #[serde(flatten)]
    pub(crate) due: DueDelivery,
}

/// Which endpoint is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndpointTurn {
    pub(crate) at: Timestamp,
    pub(crate) account: AccountId,
    pub(crate) endpoint: WebhookEndpointId,
}

/// Which message is to be removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageExpiry {
    pub(crate) at: Timestamp,
    pub(crate) account: AccountId,
    pub(crate) message: MessageId,
}

impl Guards for EndpointQueue {
    type Of = WebhookEndpointId;

    fn slot(account: &AccountId, of: WebhookEndpointId) -> Slot<Self> {
        super::endpoint_queue(account, of)
    }

    fn owner(of: WebhookEndpointId) -> [u8; 16] {
        *of.as_bytes()
    }
}
