mod names;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use accrue::{
    CustomerId, Decimal, EventKey, EventName, ExternalId, IdOr, Pace, PropertyName, Timestamp,
    usage::{Event, Incoming, Properties, PropertyValue},
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use self::names::Names;
use crate::{Bounds, canonical::Canonical};

/// A batch of usage events, read from a body in one pass.
///
/// Only a body in its usual form is read so, with nothing wrong in it. Every other one is read as a
/// [tree](crate::json::Json), which tells what is wrong: both mean the same wherever this reads anything.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Incoming>,
    /// What the body is recognized by, as that of a tree.
    pub(crate) canonical: String,
}

/// An event is read so where it has no more bytes: others have their turn behind each.
const EVENT_BYTES: usize = 64 * 1024;
/// Arrays and objects of a batch within each other.
const DEPTH: usize = 4;
/// Values of an event beside its properties: itself, and its members.
const EVENT_VALUES: usize = 6;
/// The longest name of a member.
const NAME_BYTES: usize = "external_customer_id".len();

impl Batch {
    /// Reads a body; none where it is not in its usual form.
    pub(crate) async fn read(body: &[u8], bounds: &Bounds, pace: &Pace) -> Option<Self> {
        if bounds.depth < DEPTH
            || bounds.string_bytes < NAME_BYTES
            || bounds.array_items < EVENT_VALUES
        {
            return None;
        }
        let most = bounds.batch_events.min(bounds.array_items);
        let mut rest = after(after(body, b"{")?, b"\"events\"")?;
        rest = after(after(rest, b":")?, b"[")?;
        // The body and its array are values too.
        let (mut events, mut values) = (Vec::new(), 2_usize);
        let mut names = Names::default();
        let mut canonical = Canonical::with_capacity(body.len());
        canonical.open('{');
        canonical.name("events");
        canonical.open('[');
        while let [b'{', ..] = rest {
            let part = rest.get(..EVENT_BYTES).unwrap_or(rest);
            let mut parts = serde_json::Deserializer::from_slice(part).into_iter::<EventIn<'_>>();
            let event = parts.next()?.ok()?;
            let bytes = parts.byte_offset();
            values = values.saturating_add(event.values());
            if events.len() >= most || values > bounds.values || !event.fits(bounds) {
                return None;
            }
            events.push(Incoming::Event(event.read(&mut canonical, &mut names)?));
            canonical.end_item();
            pace.spend_bytes(bytes).await;
            rest = blank(rest.get(bytes..)?);
            match rest {
                [b',', ..] => rest = after(rest, b",").filter(|rest| rest.starts_with(b"{"))?,
                _ => break,
            }
        }
        let rest = after(after(rest, b"]")?, b"}")?;
        canonical.close(']');
        canonical.end_item();
        canonical.close('}');
        rest.is_empty().then(|| Self { events, canonical: canonical.into_text() })
    }
}

/// Returns what follows a mark, and what is blank around it.
fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    blank(text).strip_prefix(mark).map(blank)
}

fn blank(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let blank = text.iter().take_while(|byte| is_blank(byte)).count();
    text.get(blank..).unwrap_or_default()
}

/// An event as it comes in, nothing of it judged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventIn<'a> {
    #[serde(borrow)]
    idempotency_key: Text<'a>,
    #[serde(borrow)]
    event_name: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    properties: PropertiesIn<'a>,
    #[serde(borrow, default, deserialize_with = "given")]
    customer_id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "given")]
    external_customer_id: Option<Text<'a>>,
}

/// A string: a piece of the body, where nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Properties by their names, no name twice.
struct PropertiesIn<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// Reads a member that is there: null is not read, which a tree tells from one that is not there.
fn given<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<Text<'a>>, D::Error> {
    Text::deserialize(from).map(Some)
}

impl<'de: 'a, 'a> Deserialize<'de> for PropertiesIn<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Text(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(members)
            }
        }

        let mut members = from.deserialize_map(Members)?;
        members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let twice = members.windows(2).any(|two| matches!(two, [(a, _), (b, _)] if a == b));
        if twice { Err(serde::de::Error::custom("a name twice")) } else { Ok(Self(members)) }
    }
}

impl EventIn<'_> {
    fn values(&self) -> usize {
        self.properties.0.len().saturating_add(EVENT_VALUES)
    }

    /// Tells whether it keeps the bounds of a body. What is longer where it is escaped is not read.
    fn fits(&self, bounds: &Bounds) -> bool {
        let texts = [&self.idempotency_key, &self.event_name, &self.timestamp];
        let customer = self.customer_id.iter().chain(&self.external_customer_id);
        let texts = texts.into_iter().chain(customer).map(|Text(text)| text.len());
        let PropertiesIn(properties) = &self.properties;
        let properties_fit = properties.len() <= bounds.array_items;
        let lengths = properties.iter().flat_map(|(name, value)| [name.len(), value.get().len()]);
        properties_fit && texts.chain(lengths).all(|length| length <= bounds.string_bytes)
    }

    /// Reads it, and writes what it is recognized by: its members in the order of their names.
    fn read(self, canonical: &mut Canonical, names: &mut Names) -> Option<Event> {
        let (Text(key), Text(name)) = (self.idempotency_key, self.event_name);
        let Text(timestamp) = self.timestamp;
        canonical.open('{');
        let customer = match (self.customer_id, self.external_customer_id) {
            (Some(Text(id)), None) => {
                canonical.member("customer_id", &id);
                canonical.member("event_name", &name);
                IdOr::Id(id.parse::<CustomerId>().ok()?)
            }
            (None, Some(Text(external))) => {
                canonical.member("event_name", &name);
                canonical.member("external_customer_id", &external);
                IdOr::External(names.customers.get(external, ExternalId::parse)?)
            }
            _ => return None,
        };
        canonical.member("idempotency_key", &key);
        canonical.name("properties");
        canonical.open('{');
        let mut properties = Vec::with_capacity(self.properties.0.len());
        for (name, value) in self.properties.0 {
            canonical.name(&name);
            let value = read_value(value.get(), canonical)?;
            canonical.end_item();
            properties.push((names.properties.get(name, PropertyName::parse)?, value));
        }
        canonical.close('}');
        canonical.end_item();
        canonical.member("timestamp", &timestamp);
        canonical.close('}');
        Some(Event {
            idempotency_key: EventKey::parse(key).ok()?,
            event_name: names.events.get(name, EventName::parse)?,
            timestamp: Timestamp::parse(&timestamp).ok()?,
            properties: properties.into_iter().collect::<Properties>(),
            customer,
        })
    }
}

/// Reads the value of a property, as it is spelled.
fn read_value(spelled: &str, canonical: &mut Canonical) -> Option<PropertyValue> {
    match spelled.as_bytes() {
        [b'"', text @ .., b'"'] => {
            let text = match text.contains(&b'\\') {
                true => Cow::Owned(serde_json::from_str(spelled).ok()?),
                false => Cow::Borrowed(std::str::from_utf8(text).ok()?),
            };
            canonical.text(&text);
            Some(PropertyValue::from(&*text))
        }
        b"true" => {
            canonical.boolean(true);
            Some(PropertyValue::Boolean(true))
        }
        b"false" => {
            canonical.boolean(false);
            Some(PropertyValue::Boolean(false))
        }
        b"null" => {
            canonical.null();
            Some(PropertyValue::Null)
        }
        [b'-' | b'0'..=b'9', ..] => {
            canonical.number(spelled);
            Decimal::parse(spelled).ok().map(PropertyValue::Number)
        }
        _ => None,
    }
}
