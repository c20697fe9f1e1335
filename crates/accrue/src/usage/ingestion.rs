use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Event, Properties};
use crate::{EventName, ExternalId, IdOr};

/// Result of the ingestion of a batch of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ingestion {
    /// Number of events that were new.
    pub ingested: usize,
    /// Number of events that were there already, with the same content: successes that change nothing.
    pub duplicates: usize,
}

/// Event in a row, without its key and its instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredEvent<'a> {
    pub(crate) event_name: Cow<'a, EventName>,
    pub(crate) properties: Cow<'a, Properties>,
    /// Alias that the event named its customer by.
    pub(crate) external_customer_id: Option<Cow<'a, ExternalId>>,
    /// Number of the event among those of its customer when it was accepted. An amendment does not
    /// change it.
    pub(crate) accepted: u64,
    /// True where it was deprecated.
    pub(crate) deprecated: bool,
    /// What it said when it was accepted, where it was amended since.
    pub(crate) original: Option<Box<Content>>,
}

/// Content of an event, beside its key, its customer and its instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    pub(crate) event_name: EventName,
    pub(crate) properties: Properties,
}

impl<'a> StoredEvent<'a> {
    pub(crate) fn new(event: &'a Event, accepted: u64) -> Self {
        let external_customer_id = match &event.customer {
            IdOr::Id(_) => None,
            IdOr::External(external) => Some(Cow::Borrowed(external)),
        };
        Self {
            event_name: Cow::Borrowed(&event.event_name),
            properties: Cow::Borrowed(&event.properties),
            external_customer_id,
            accepted,
            deprecated: false,
            original: None,
        }
    }

    /// Tells whether it said the same as an event when it was accepted.
    pub(crate) fn said(&self, event: &Event) -> bool {
        let (name, properties) = match &self.original {
            Some(content) => (&content.event_name, &content.properties),
            None => (&*self.event_name, &*self.properties),
        };
        (name, properties) == (&event.event_name, &event.properties)
    }

    /// Returns it with another content.
    pub(crate) fn amended<'b>(
        &self,
        event_name: &'b EventName,
        properties: &'b Properties,
    ) -> StoredEvent<'b>
    where
        'a: 'b,
    {
        let original = self.original.clone().unwrap_or_else(|| {
            let event_name = EventName::clone(&self.event_name);
            Box::new(Content { event_name, properties: Properties::clone(&self.properties) })
        });
        StoredEvent {
            event_name: Cow::Borrowed(event_name),
            properties: Cow::Borrowed(properties),
            original: Some(original),
            ..self.clone()
        }
    }

    pub(crate) fn into_owned(self) -> StoredEvent<'static> {
        StoredEvent {
            event_name: Cow::Owned(self.event_name.into_owned()),
            properties: Cow::Owned(self.properties.into_owned()),
            external_customer_id: self.external_customer_id.map(|id| Cow::Owned(id.into_owned())),
            ..self
        }
    }
}
