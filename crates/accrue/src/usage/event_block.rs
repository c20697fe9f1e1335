mod form;

use std::borrow::Cow;

use super::{Event, EventPlace, Minute, StoredEvent};
use crate::{EventKey, IdOr, Timestamp, text::json_bytes};

/// Events of one minute that were accepted for a customer in one commit: they share a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventBlock<'a> {
    /// Events in the order in which they were accepted.
    pub(crate) events: Vec<BlockEvent<'a>>,
}

/// An event in a row with others.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{
        Decimal, EventName, ExternalId, PropertyName,
        usage::{Content, Properties, PropertyValue},
    };

    fn value() -> impl Strategy<Value = PropertyValue> {
        let number = |text: &str| PropertyValue::from(Decimal::parse(text).unwrap());
        prop_oneof![
            Just(PropertyValue::Null),
            any::<bool>().prop_map(PropertyValue::from),
            ".{0,4}".prop_map(|text| PropertyValue::from(text.as_str())),
            any::<i64>().prop_map(|number| Decimal::from(number).into()),
            Just(number("1.50")),
            Just(number("-0.0001")),
            Just(number("9007199254740992")),
            Just(number("-9007199254740991")),
            Just(number("1e27")),
        ]
    }

    fn properties() -> impl Strategy<Value = Properties> {
        let name = |n: u8| PropertyName::parse(format!("p{n}")).unwrap();
        vec(((0_u8..4).prop_map(name), value()), 0..5).prop_map(Properties::from_iter)
    }

    fn content() -> impl Strategy<Value = Content> {
        let name = |n: u8| EventName::parse(format!("call {n}")).unwrap();
        ((0_u8..12).prop_map(name), properties())
            .prop_map(|(event_name, properties)| Content { event_name, properties })
    }

    fn event() -> impl Strategy<Value = BlockEvent<'static>> {
        let alias = |n: u8| Cow::Owned(ExternalId::parse(format!("ada \"{n}\"")).unwrap());
        let alias = proptest::option::of((0_u8..10).prop_map(alias));
        let original = proptest::option::of(content().prop_map(Box::new));
        let key = ".{1,5}".prop_filter_map("a key", |key| EventKey::parse(key).ok());
        (key, 0_u64..60_000_000, content(), alias, 1_u64..100, any::<bool>(), original).prop_map(
            |(key, micros, content, external_customer_id, accepted, deprecated, original)| {
                let Content { event_name, properties } = content;
                let event = StoredEvent {
                    event_name: Cow::Owned(event_name),
                    properties: Cow::Owned(properties),
                    external_customer_id,
                    accepted,
                    deprecated,
                    original,
                };
                BlockEvent { key: Cow::Owned(key), micros, event }
            },
        )
    }

    proptest! {
        #[test]
        fn a_row_says_what_its_events_say(events in vec(event(), 0..40)) {
            let block = EventBlock { events };
            let text = serde_json::to_string(&block).unwrap();
            let read: EventBlock<'static> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read, block);
        }
    }

    #[test]
    fn what_events_share_is_said_once() {
        let at = Timestamp::parse("2026-03-01T12:34:01.5Z").unwrap();
        let event = |key: &str, n: &str, customer: IdOr<crate::CustomerId>| Event {
            idempotency_key: EventKey::parse(key).unwrap(),
            event_name: EventName::parse("call").unwrap(),
            timestamp: at,
            properties: Properties::from_iter([
                (PropertyName::parse("n").unwrap(), Decimal::parse(n).unwrap().into()),
                (PropertyName::parse("region").unwrap(), "eu".into()),
            ]),
            customer,
        };
        let ada: IdOr<_> = ExternalId::parse("ada").unwrap().into();
        let by_id = crate::CustomerId::from_bytes([1; 16]).into();
        let all = [event("a", "374", ada.clone()), event("b", "1.50", ada), event("c", "0", by_id)];
        let events = all.iter().zip(7..).map(|(event, number)| {
            BlockEvent::new(&event.idempotency_key, at, StoredEvent::new(event, number))
        });
        let mut block = EventBlock { events: events.collect() };
        block.events[2].event.deprecated = true;
        assert_eq!(
            serde_json::to_string(&block).unwrap(),
            r#"{"first":7,"shapes":[["call","n","region"]],"aliases":["ada"],"events":[[0,1,1500000,"a",0,[374,"eu"]],[0,1,1500000,"b",1,[["1.5"],"eu"]],[0,0,1500000,"c",2,[0,"eu"]]],"marks":[[2,{"deprecated":true}]]}"#
        );
    }

    #[test]
    fn what_no_row_says_is_refused() {
        let row = |row: &str| {
            format!(r#"{{"first":1,"shapes":[["call","n"]],"aliases":[],"events":[{row}]}}"#)
        };
        let read = |text: &str| serde_json::from_str::<EventBlock<'static>>(text).is_ok();
        assert!(read(&row(r#"[0,0,1,"key",0,[5]]"#)));
        for wrong in [
            r#"[1,0,1,"key",0,[5]]"#,
            r#"[0,1,1,"key",0,[5]]"#,
            r#"[0,0,1,"key",0,[]]"#,
            r#"[0,0,1,"key",0,[5,6]]"#,
            r#"[0,0,1,"key",0,[1.5]]"#,
            r#"[0,0,1,"key",0]"#,
            r#"[0,0,1,"",0,[5]]"#,
        ] {
            assert!(!read(&row(wrong)), "{wrong}");
        }
        let marked = r#"{"first":1,"shapes":[],"aliases":[],"events":[],"marks":[[0,{}]]}"#;
        assert!(!read(marked), "{marked}");
        assert!(!read(r#"{"first":1,"shapes":[[]],"aliases":[],"events":[]}"#));
    }

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
            assert_eq!(one.place(Minute::of(at)).unwrap().at, at);
            let bytes = |events: Vec<BlockEvent<'_>>| {
                serde_json::to_string(&EventBlock { events }).unwrap().len() + ",,,".len()
            };
            let found = bytes(vec![one.clone()]) - bytes(Vec::new());
            let most = BlockEvent::most_bytes(&event, event.bytes());
            assert!(found <= most, "{found} bytes, expected at most {most}: {one:?}");
        }
    }
}
