use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ContentHash, Event, Properties};
use crate::{BackfillId, CustomerId, EventName, ExternalId, IdOr, Timestamp};

/// Result of the ingestion of a batch of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ingestion {
    /// Number of events that were new.
    pub ingested: usize,
    /// Number of events that were there already, with the same content: successes that change nothing.
    pub duplicates: usize,
}

/// Entry of an event under its key, kept for as long as the account lives: those that brought it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventKeyEntry {
    /// Slots of those that brought it, in the order in which they did: each once.
    pub(crate) slots: Vec<EventSlot>,
}

/// Event as it was brought: by a backfill, or by none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventSlot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) backfill_id: Option<BackfillId>,
    pub(crate) customer_id: CustomerId,
    pub(crate) timestamp: Timestamp,
    /// Content when it was accepted, before any amendment.
    pub(crate) content: ContentHash,
    /// True where it was deprecated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deprecated: bool,
    /// Number of the row that it is in, among those of its minute; none before it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<u64>,
}

impl EventKeyEntry {
    /// Returns the entry with the event that a backfill has brought, or none, in a row.
    pub(crate) fn in_block(mut self, source: Option<BackfillId>, block: u64) -> Self {
        for slot in self.slots.iter_mut().filter(|of| of.backfill_id == source) {
            slot.block = Some(block);
        }
        self
    }

    /// Returns the event as a backfill brought it, or as it was ingested without one.
    pub(crate) fn slot_of(&self, backfill_id: Option<BackfillId>) -> Option<&EventSlot> {
        self.slots.iter().find(|slot| slot.backfill_id == backfill_id)
    }
}

impl EventSlot {
    pub(crate) fn new(
        backfill_id: Option<BackfillId>,
        event: &Event,
        customer_id: CustomerId,
        content: ContentHash,
    ) -> Self {
        let timestamp = event.timestamp;
        Self { backfill_id, customer_id, timestamp, content, deprecated: false, block: None }
    }
}

/// Event in a row, without its key and its instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredEvent<'a> {
    pub(crate) event_name: Cow<'a, EventName>,
    pub(crate) properties: Cow<'a, Properties>,
    /// Alias that the event named its customer by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) external_customer_id: Option<Cow<'a, ExternalId>>,
    /// Number of the event among those of its customer when it was accepted. An amendment does not
    /// change it.
    pub(crate) accepted: u64,
    /// True where it was deprecated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deprecated: bool,
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
