use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Event, EventPlace, Minute, StoredEvent};
use crate::{EventKey, IdOr, Timestamp, text::json_bytes};

/// Events of one minute that were accepted for a customer in one commit: they share a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventBlock<'a> {
    /// Events in the order in which they were accepted.
    pub(crate) events: Vec<BlockEvent<'a>>,
}

/// An event in a row with others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockEvent<'a> {
    pub(crate) key: Cow<'a, EventKey>,
    /// Microseconds from the beginning of the minute to the event.
    micros: u64,
    pub(crate) event: StoredEvent<'a>,
}

impl<'a> BlockEvent<'a> {
    pub(crate) fn new(key: &'a EventKey, at: Timestamp, event: StoredEvent<'a>) -> Self {
        let micros = at.micros().saturating_sub(Minute::of(at).start().micros());
        Self { key: Cow::Borrowed(key), micros: u64::try_from(micros).unwrap_or_default(), event }
    }

    /// Returns the most bytes that an event of so many [bytes](Event::bytes) takes in a row.
    pub(crate) fn most_bytes(event: &Event, bytes: usize) -> usize {
        /// Bytes of the names of its members, its numbers, and the separators.
        const FRAME: usize = 160;
        /// Bytes of a property beside its name and the digits of its value.
        const SEPARATORS: usize = 16;
        let alias = match &event.customer {
            IdOr::Id(_) => 0,
            IdOr::External(external) => json_bytes(external),
        };
        let separators = event.properties.len().saturating_mul(SEPARATORS);
        [alias, separators, FRAME].iter().fold(bytes, |sum, more| sum.saturating_add(*more))
    }

    /// Returns its place among the events of its customer; `None` where that is beyond the last minute
    /// of time.
    pub(crate) fn place(&self, minute: Minute) -> Option<EventPlace> {
        let micros = minute.start().micros().checked_add_unsigned(self.micros)?;
        let at = Timestamp::from_micros(micros).ok()?;
        Some(EventPlace { at, key: self.key.clone().into_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventName, ExternalId, PropertyName, usage::PropertyValue};

    #[test]
    fn an_event_takes_no_more_bytes_than_is_reckoned() {
        let at = Timestamp::parse("2026-03-01T12:34:59.999999Z").unwrap();
        for (count, text) in [(0, ""), (1, "x"), (64, "\"\\\n"), (3, "\u{1}é€")] {
            let name = |n| PropertyName::parse(format!("property {n}")).unwrap();
            let values = [
                PropertyValue::from(text),
                PropertyValue::from(u64::MAX),
                PropertyValue::Null,
                PropertyValue::Boolean(false),
            ];
            let event = Event {
                idempotency_key: EventKey::parse("a \"key\"").unwrap(),
                event_name: EventName::parse("call").unwrap(),
                timestamp: at,
                properties: (0..count).map(|n| (name(n), values[n % 4].clone())).collect(),
                customer: ExternalId::parse("ada \"the\" first").unwrap().into(),
            };
            let stored = StoredEvent { deprecated: true, ..StoredEvent::new(&event, u64::MAX) };
            let one = BlockEvent::new(&event.idempotency_key, at, stored);
            let found = serde_json::to_string(&one).unwrap().len() + ",".len();
            let most = BlockEvent::most_bytes(&event, event.bytes());
            assert!(found <= most, "{found} bytes, expected at most {most}: {one:?}");
            assert_eq!(one.place(Minute::of(at)).unwrap().at, at);
        }
    }
}
