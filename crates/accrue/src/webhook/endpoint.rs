//! Endpoints: where an account's messages are sent (subscriptions 10.1).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    EndpointUrl, EventTypes, PayloadStyle, Secret, Secrets, WebhookKey, secret::SecretVersion,
};
use crate::{AccountId, Error, Patch, Timestamp, WebhookEndpointId};

/// Endpoint of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Endpoint {
    /// Its id.
    pub id: WebhookEndpointId,
    /// Address that requests are sent to.
    pub url: EndpointUrl,
    /// Whether messages are sent to it.
    pub status: EndpointStatus,
    /// Messages that it is sent.
    pub event_types: EventTypes,
    /// How much of a resource they have.
    pub payload_style: PayloadStyle,
    /// In which order they are sent.
    pub order: DeliveryOrder,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    pub(crate) secret: SecretVersion,
}

/// Whether messages are sent to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndpointStatus {
    /// They are: those that came up since an instant.
    Enabled {
        /// When it was enabled last.
        since: Timestamp,
    },
    /// They are not, nor will be those of this time.
    Disabled {
        /// When it was disabled.
        at: Timestamp,
        /// Why it was.
        reason: DisableReason,
    },
}

/// Why an endpoint is disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DisableReason {
    /// Somebody asked for it.
    Requested,
    /// It answered 410: it is gone.
    Gone,
    /// Nothing was delivered to it for [five days](crate::limits::FAILING_DAYS).
    Failing,
}

/// In which order the messages of a customer are sent to an endpoint. There is none between customers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeliveryOrder {
    /// First attempts in the order of the messages; one that fails holds up no other.
    #[default]
    FirstAttempts,
    /// One after the other: a message waits until the one before it is delivered, or given up.
    Strict,
}

/// Endpoint to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NewEndpoint {
    /// Address that requests are sent to.
    pub url: EndpointUrl,
    /// Messages that it is sent: all unless chosen.
    pub event_types: EventTypes,
    /// How much of a resource they have: all unless chosen.
    pub payload_style: PayloadStyle,
    /// In which order they are sent: first attempts unless chosen.
    pub order: DeliveryOrder,
}

impl NewEndpoint {
    /// An endpoint that is sent all messages.
    #[must_use]
    pub fn new(url: EndpointUrl) -> Self {
        Self {
            url,
            event_types: EventTypes::default(),
            payload_style: PayloadStyle::default(),
            order: DeliveryOrder::default(),
        }
    }

    pub(crate) fn decide(self, id: WebhookEndpointId, now: Timestamp) -> Result<Endpoint, Error> {
        let Self { url, event_types, payload_style, order } = self;
        judge_types(&event_types)?;
        Ok(Endpoint {
            id,
            url,
            status: EndpointStatus::Enabled { since: now },
            event_types,
            payload_style,
            order,
            created_at: now,
            secret: SecretVersion::default(),
        })
    }
}

/// Change to an endpoint: what is absent stays as it is. It is for messages from then on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EndpointUpdate {
    /// Address that requests are sent to, those of messages that wait too.
    pub url: Option<EndpointUrl>,
    /// Messages that it is sent; all where it is cleared.
    pub event_types: Patch<EventTypes>,
    /// How much of a resource they have.
    pub payload_style: Option<PayloadStyle>,
    /// In which order they are sent.
    pub order: Option<DeliveryOrder>,
}

impl Endpoint {
    /// Tells whether messages are sent to it.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        matches!(self.status, EndpointStatus::Enabled { .. })
    }

    /// Returns the secret that its requests are signed with, to be shown once.
    #[must_use]
    pub fn secret(&self, key: &WebhookKey, account: &AccountId) -> Secret {
        self.secret.current(key, (account, self.id))
    }

    /// Returns the secrets that requests of an instant are signed with.
    #[must_use]
    pub fn secrets(&self, key: &WebhookKey, account: &AccountId, at: Timestamp) -> Secrets {
        self.secret.secrets(key, (account, self.id), at)
    }

    /// Returns until when requests are signed with the secret before the current one too; nothing where it was never
    /// rotated, or without an overlap.
    #[must_use]
    pub const fn overlap_until(&self) -> Option<Timestamp> {
        self.secret.overlap_until
    }

    /// Tells whether it is sent a message of a type that came up at an instant.
    pub(crate) fn wants(&self, message_type: &str, told_at: Timestamp) -> bool {
        self.still_wants(told_at) && self.event_types.contain(message_type)
    }

    /// Returns the first instant from one on at which it is enabled, by the clock of whoever enabled it.
    pub(crate) fn enabled_from(&self, at: Timestamp) -> Timestamp {
        match self.status {
            EndpointStatus::Enabled { since } => at.max(since),
            EndpointStatus::Disabled { .. } => at,
        }
    }

    /// Tells whether a message that came up at an instant is still to be sent to it.
    pub(crate) fn still_wants(&self, of: Timestamp) -> bool {
        matches!(self.status, EndpointStatus::Enabled { since } if since <= of)
    }

    pub(crate) fn update(self, update: EndpointUpdate) -> Result<Self, Error> {
        let EndpointUpdate { url, event_types, payload_style, order } = update;
        let event_types = match event_types {
            Patch::Keep => self.event_types,
            Patch::Clear => EventTypes::All,
            Patch::Set(types) => types,
        };
        judge_types(&event_types)?;
        Ok(Self {
            url: url.unwrap_or(self.url),
            event_types,
            payload_style: payload_style.unwrap_or(self.payload_style),
            order: order.unwrap_or(self.order),
            ..self
        })
    }

    pub(crate) fn enable(self, now: Timestamp) -> Self {
        match self.status {
            EndpointStatus::Enabled { .. } => self,
            EndpointStatus::Disabled { .. } => {
                Self { status: EndpointStatus::Enabled { since: now }, ..self }
            }
        }
    }

    pub(crate) fn disable(self, now: Timestamp, reason: DisableReason) -> Self {
        match self.status {
            EndpointStatus::Enabled { .. } => {
                Self { status: EndpointStatus::Disabled { at: now, reason }, ..self }
            }
            EndpointStatus::Disabled { .. } => self,
        }
    }

    pub(crate) fn rotate_secret(self, overlap: Duration, now: Timestamp) -> Result<Self, Error> {
        Ok(Self { secret: self.secret.rotate(overlap, now)?, ..self })
    }
}

/// No types are none to be sent: nobody means that.
fn judge_types(types: &EventTypes) -> Result<(), Error> {
    match types {
        EventTypes::Only(types) if types.is_empty() => Err(Error::invalid(
            "enabled_event_types",
            "expected one type at least, or null for all",
        )),
        _ => Ok(()),
    }
}
