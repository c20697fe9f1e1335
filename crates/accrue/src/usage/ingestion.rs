use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ContentHash, Event, Properties};
use crate::{BackfillId, CustomerId, EventName, ExternalId, IdOr, Timestamp};

/// What became of a batch of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ingestion {
    /// How many were new.
    pub ingested: usize,
    /// How many were there already, with the same content: successes that change nothing.
    pub duplicates: usize,
}

/// What is kept of an event under its key, for as long as the account lives: by whom it was brought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventKeyEntry {
    /// Those that brought it, in the order in which they did: each once.
    pub(crate) slots: Vec<EventSlot>,
}

/// An event as it was brought: by a backfill, or by none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventSlot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) backfill_id: Option<BackfillId>,
    pub(crate) customer_id: CustomerId,
    pub(crate) timestamp: Timestamp,
    /// What it said when it was accepted, whatever amendments say since.
    pub(crate) content: ContentHash,
    /// Whether it was deprecated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deprecated: bool,
    /// The number of the row that it is in, among those of its minute; none before it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<u64>,
}

impl EventKeyEntry {
    /// The same where the event that a backfill has brought, or none, lies in a row.
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

/// What is kept of an event beside its key and its instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredEvent<'a> {
    pub(crate) event_name: Cow<'a, EventName>,
    pub(crate) properties: Cow<'a, Properties>,
    /// The alias that the event named its customer by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) external_customer_id: Option<Cow<'a, ExternalId>>,
    /// As the customer's so-many-th event it was accepted. An amendment does not change that.
    pub(crate) accepted: u64,
    /// Whether it was deprecated.
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
