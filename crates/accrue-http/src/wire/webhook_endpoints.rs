//! Webhook endpoints on the wire (subscriptions 10.1).

use accrue::{
    Patch,
    webhook::{
        self, EndpointUpdate, EndpointUrl, EventType, EventTypes, NewEndpoint, PayloadStyle, Reach,
    },
};
use serde::Serialize;

use crate::{
    json::Json,
    problem::Problem,
    shape::{Describe, Maybe, Moment, Read, Reader, Schema, choices, request, response},
};

request! {
    /// An endpoint to create.
    pub(crate) struct CreateWebhookEndpoint {
        /// Address that messages are sent to, of https.
        url: String,
        /// Types of the messages that it is sent: all where none are given.
        enabled_event_types: Option<Vec<MessageType>>,
        /// How much of a resource messages have: all of it where nothing is said.
        payload_style: Option<PayloadStyle>,
    }

    /// Changes to an endpoint.
    pub(crate) struct UpdateWebhookEndpoint {
        /// Address that messages are sent to, of https.
        url: Option<String>,
        /// Types of the messages that it is sent; null for all.
        enabled_event_types: Maybe<Vec<MessageType>>,
        /// How much of a resource messages have.
        payload_style: Option<PayloadStyle>,
    }
}

response! {
    /// An endpoint that messages are sent to.
    pub(crate) struct WebhookEndpoint {
        /// Its id.
        id: String,
        /// Address that messages are sent to.
        url: String,
        /// True if messages are sent to it.
        enabled: bool,
        /// Types of the messages that it is sent; null for all.
        enabled_event_types: Option<Vec<MessageType>>,
        /// How much of a resource messages have.
        payload_style: PayloadStyle,
        /// Instant at which it was created.
        created_at: Moment,
    }

    /// An endpoint that was created, with its secret.
    pub(crate) struct WebhookEndpointWithSecret {
        /// Its id.
        id: String,
        /// Address that messages are sent to.
        url: String,
        /// True if messages are sent to it.
        enabled: bool,
        /// Types of the messages that it is sent; null for all.
        enabled_event_types: Option<Vec<MessageType>>,
        /// How much of a resource messages have.
        payload_style: PayloadStyle,
        /// Instant at which it was created.
        created_at: Moment,
        /// Secret that its requests are signed with. It is shown only here.
        secret: String,
    }
}

choices! {
    PayloadStyle {
        "expanded" => PayloadStyle::Expanded,
        "standard" => PayloadStyle::Standard,
    }
}

/// A type of messages.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct MessageType(pub(crate) EventType);

impl Read for MessageType {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let unknown = "expected a type of messages, such as invoice.issued";
        reader.parse(json, at, "a string", |text| {
            EventType::parse(text).map(Self).map_err(|_| unknown.to_owned())
        })
    }
}

impl Describe for MessageType {
    fn schema() -> Schema {
        Schema::Choice { name: "WebhookEventType", words: EventType::ALL.to_vec() }
    }
}

fn event_types(types: Vec<MessageType>) -> EventTypes {
    EventTypes::Only(types.into_iter().map(|of| of.0).collect())
}

fn shown(types: &EventTypes) -> Option<Vec<MessageType>> {
    match types {
        EventTypes::All => None,
        EventTypes::Only(types) => Some(types.iter().copied().map(MessageType).collect()),
    }
}

impl CreateWebhookEndpoint {
    pub(crate) fn into_new(self, reach: &Reach) -> Result<NewEndpoint, Problem> {
        let mut new = NewEndpoint::new(EndpointUrl::parse(&self.url, reach)?);
        new.event_types = self.enabled_event_types.map_or(EventTypes::All, event_types);
        new.payload_style = self.payload_style.unwrap_or_default();
        Ok(new)
    }
}

impl UpdateWebhookEndpoint {
    pub(crate) fn into_update(self, reach: &Reach) -> Result<EndpointUpdate, Problem> {
        let mut update = EndpointUpdate::default();
        update.url = self.url.map(|url| EndpointUrl::parse(&url, reach)).transpose()?;
        update.event_types = match self.enabled_event_types {
            Maybe::Absent => Patch::Keep,
            Maybe::Null => Patch::Clear,
            Maybe::Value(types) => Patch::Set(event_types(types)),
        };
        update.payload_style = self.payload_style;
        Ok(update)
    }
}

impl WebhookEndpoint {
    pub(crate) fn of(endpoint: &webhook::Endpoint) -> Self {
        Self {
            id: endpoint.id.to_string(),
            url: endpoint.url.to_string(),
            enabled: endpoint.is_enabled(),
            enabled_event_types: shown(&endpoint.event_types),
            payload_style: endpoint.payload_style,
            created_at: endpoint.created_at.into(),
        }
    }
}

impl WebhookEndpointWithSecret {
    pub(crate) fn of(endpoint: &webhook::Endpoint, secret: String) -> Self {
        let WebhookEndpoint { id, url, enabled, enabled_event_types, payload_style, created_at } =
            WebhookEndpoint::of(endpoint);
        Self { id, url, enabled, enabled_event_types, payload_style, created_at, secret }
    }
}
