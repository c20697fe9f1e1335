//! Where the events of a key are.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de,
    de::{SeqAccess, Visitor},
    ser::SerializeSeq,
};
use smallvec::SmallVec;

use super::{Event, Minute};
use crate::{BackfillId, CustomerId, Timestamp};

/// Entry of an event under its key, kept for as long as the account lives: those that brought it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventKeyEntry {
    /// Slots of those that brought it, in the order in which they did: each once.
    pub(crate) slots: SmallVec<[EventSlot; 1]>,
}

/// Place of an event that a backfill has brought, or none: where it counts, and the row that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventSlot {
    pub(crate) backfill_id: Option<BackfillId>,
    pub(crate) customer_id: CustomerId,
    pub(crate) timestamp: Timestamp,
    /// True where it was deprecated.
    pub(crate) deprecated: bool,
    /// Number of the row that it is in, among those of its minute; none before it is written.
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
    ) -> Self {
        let timestamp = event.timestamp;
        Self { backfill_id, customer_id, timestamp, deprecated: false, block: None }
    }

    /// Tells whether both are for one customer at one instant.
    pub(crate) fn is_where(&self, other: &Self) -> bool {
        (self.customer_id, self.timestamp) == (other.customer_id, other.timestamp)
    }
}

/// There is one for every event, so it is short: an array of the customer, the minute, the microseconds
/// in it and the row; then the backfill, and whether it is deprecated, where that is not the usual.
impl Serialize for EventSlot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let minute = Minute::of(self.timestamp).start().micros();
        let mut parts = serializer.serialize_seq(None)?;
        parts.serialize_element(&self.customer_id)?;
        parts.serialize_element(&(minute / MINUTE))?;
        parts.serialize_element(&self.timestamp.micros().saturating_sub(minute))?;
        parts.serialize_element(&self.block)?;
        if self.backfill_id.is_some() || self.deprecated {
            parts.serialize_element(&self.backfill_id)?;
            parts.serialize_element(&self.deprecated)?;
        }
        parts.end()
    }
}

/// Microseconds of a minute.
const MINUTE: i64 = 60 * 1_000_000;

impl<'de> Deserialize<'de> for EventSlot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;

        impl<'de> Visitor<'de> for Parts {
            type Value = EventSlot;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the place of an event, with its customer, minute, microseconds and row",
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<EventSlot, A::Error> {
                let missing = |at| de::Error::invalid_length(at, &self);
                let customer_id = parts.next_element()?.ok_or_else(|| missing(0))?;
                let minute: i64 = parts.next_element()?.ok_or_else(|| missing(1))?;
                let micros: i64 = parts.next_element()?.ok_or_else(|| missing(2))?;
                let block = parts.next_element()?.ok_or_else(|| missing(3))?;
                let backfill_id = parts.next_element()?.flatten();
                let deprecated = parts.next_element()?.unwrap_or_default();
                let micros = minute.checked_mul(MINUTE).and_then(|of| of.checked_add(micros));
                let timestamp = micros.and_then(|micros| Timestamp::from_micros(micros).ok());
                let timestamp =
                    timestamp.ok_or_else(|| de::Error::custom("an instant beyond all others"))?;
                Ok(EventSlot { backfill_id, customer_id, timestamp, deprecated, block })
            }
        }

        deserializer.deserialize_seq(Parts)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slot() -> EventSlot {
        EventSlot {
            backfill_id: None,
            customer_id: CustomerId::from_bytes([1; 16]),
            timestamp: Timestamp::parse("2026-03-01T12:34:56.789Z").unwrap(),
            deprecated: false,
            block: Some(12),
        }
    }

    #[test]
    fn a_place_is_short() {
        let text = serde_json::to_string(&EventKeyEntry { slots: [slot()].into() }).unwrap();
        let id = CustomerId::from_bytes([1; 16]);
        assert_eq!(text, format!(r#"{{"slots":[["{id}",29539474,56789000,12]]}}"#));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let id = CustomerId::from_bytes([1; 16]);
        for text in [
            "[]".to_owned(),
            format!(r#"["{id}",1,2]"#),
            format!(r#"["{id}",9223372036854775807,0,1]"#),
            format!(r#"["{id}",153722867280,59999999,1]"#),
            format!(r#"["{id}",1,2,3,null,false,4]"#),
        ] {
            serde_json::from_str::<EventSlot>(&text).unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn a_place_comes_back(
            backfill in prop::option::of(any::<[u8; 16]>()), customer: [u8; 16],
            micros in Timestamp::MIN.micros()..=Timestamp::MAX.micros(),
            deprecated: bool, block: Option<u32>,
        ) {
            let slot = EventSlot {
                backfill_id: backfill.map(BackfillId::from_bytes),
                customer_id: CustomerId::from_bytes(customer),
                timestamp: Timestamp::from_micros(micros).unwrap(),
                deprecated,
                block: block.map(u64::from),
            };
            let text = serde_json::to_string(&slot).unwrap();
            prop_assert_eq!(serde_json::from_str::<EventSlot>(&text).unwrap(), slot);
        }
    }
}
