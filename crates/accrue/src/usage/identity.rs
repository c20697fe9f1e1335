//! Bytes that tell a batch of events from every other one, for its fingerprint.

use super::{Event, Incoming, PropertyValue};
use crate::IdOr;

/// Returns bytes that tell a batch as it came from every other one.
pub(crate) fn identity(batch: &[Incoming]) -> Vec<u8> {
    let mut parts = Parts(Vec::with_capacity(batch.len().saturating_mul(256)));
    for incoming in batch {
        match incoming {
            Incoming::Event(event) => {
                parts.part(b'k', event.idempotency_key.as_bytes());
                match &event.customer {
                    IdOr::Id(id) => parts.part(b'i', id.as_bytes()),
                    IdOr::External(external) => parts.part(b'x', external.as_bytes()),
                }
                parts.content(event);
            }
            Incoming::Malformed { idempotency_key, reasons } => {
                parts.part(b'm', idempotency_key.as_deref().unwrap_or_default().as_bytes());
                parts.part(b'?', &[u8::from(idempotency_key.is_some())]);
                reasons.iter().for_each(|reason| parts.part(b'r', reason.as_bytes()));
            }
        }
    }
    parts.0
}

/// In place of the length of a part that is as long or longer: its length follows in eight bytes.
const LONG: u8 = u8::MAX;

/// Parts of a hashed text, each with a tag and its length before it: none runs into the next.
struct Parts(Vec<u8>);

impl Parts {
    fn part(&mut self, tag: u8, part: &[u8]) {
        self.0.push(tag);
        match u8::try_from(part.len()) {
            Ok(length) if length < LONG => self.0.push(length),
            _ => {
                self.0.push(LONG);
                self.0.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            }
        }
        self.0.extend(part);
    }

    /// Adds the content of an event, but for its key and its customer.
    fn content(&mut self, event: &Event) {
        self.part(b'e', event.event_name.as_bytes());
        self.part(b'@', &event.timestamp.micros().to_be_bytes());
        for (name, value) in event.properties.iter() {
            self.part(b'p', name.as_bytes());
            match value {
                PropertyValue::Null => self.part(b'0', b""),
                PropertyValue::Boolean(value) => self.part(b'b', &[u8::from(*value)]),
                PropertyValue::Number(value) => self.part(b'n', value.to_string().as_bytes()),
                PropertyValue::Text(value) => self.part(b't', value.as_bytes()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{CustomerId, EventKey, EventName, ExternalId, PropertyName, Timestamp};

    /// Few values of each kind, so that batches are often alike, and texts that look like parts.
    fn incoming() -> impl Strategy<Value = Incoming> {
        let text = prop::sample::select(vec!["a", "ak", "k", "e@", "ka"]);
        let customer = prop_oneof![
            (0_u8..2).prop_map(|n| IdOr::Id(CustomerId::from_bytes([n; 16]))),
            text.clone().prop_map(|text| ExternalId::parse(text).unwrap().into()),
        ];
        let value = prop_oneof![
            Just(PropertyValue::Null),
            any::<bool>().prop_map(PropertyValue::Boolean),
            (0_u64..2).prop_map(PropertyValue::from),
            prop::sample::select(vec!["0", "1", ""])
                .prop_map(|text| PropertyValue::Text(text.into())),
        ];
        let name = text.clone().prop_map(|text| PropertyName::parse(text).unwrap());
        let properties = prop::collection::vec((name, value), 0..3);
        let event = (text.clone(), text.clone(), 0_i64..2, properties, customer);
        let event = event.prop_map(|(key, name, at, properties, customer)| Event {
            idempotency_key: EventKey::parse(key).unwrap(),
            event_name: EventName::parse(name).unwrap(),
            timestamp: Timestamp::from_micros(at).unwrap(),
            properties: properties.into_iter().collect(),
            customer,
        });
        let reasons = prop::collection::vec(text.clone().prop_map(str::to_owned), 0..3);
        let key = prop::option::of(prop::sample::select(vec!["", "k"]).prop_map(str::to_owned));
        prop_oneof![
            3 => event.prop_map(Incoming::Event),
            1 => (key, reasons)
                .prop_map(|(idempotency_key, reasons)| Incoming::Malformed { idempotency_key, reasons }),
        ]
    }

    /// Reads the parts back, each with its tag.
    fn parts(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut parts = Vec::new();
        while let [tag, length, rest @ ..] = bytes {
            let (length, rest) = match *length {
                LONG => {
                    let (length, rest) = rest.split_first_chunk::<8>().unwrap();
                    (usize::try_from(u64::from_be_bytes(*length)).unwrap(), rest)
                }
                short => (usize::from(short), rest),
            };
            let (part, behind) = rest.split_at(length);
            parts.push((*tag, part.to_vec()));
            bytes = behind;
        }
        parts
    }

    #[test]
    fn parts_of_any_length_are_told_apart() {
        for bytes in [0, 1, 253, 254, 255, 256, 4_096] {
            let text = "x".repeat(bytes);
            let name = PropertyName::parse("p").unwrap();
            let event = Event {
                idempotency_key: EventKey::parse("k").unwrap(),
                event_name: EventName::parse("e").unwrap(),
                timestamp: Timestamp::from_micros(0).unwrap(),
                properties: [(name, text.as_str().into())].into_iter().collect(),
                customer: ExternalId::parse("c").unwrap().into(),
            };
            let last = parts(&identity(&[event.into()])).pop();
            assert_eq!(last, Some((b't', text.into_bytes())), "{bytes} bytes");
        }
    }

    proptest! {
        #[test]
        fn two_batches_have_the_same_bytes_where_they_are_the_same(
            one in prop::collection::vec(incoming(), 0..3),
            other in prop::collection::vec(incoming(), 0..3),
        ) {
            prop_assert_eq!(identity(&one) == identity(&other), one == other);
        }
    }
}
