//! The stored form of a row of events. What its events share is said once: their names with those of
//! their properties (shapes), and the aliases that they named their customer by.
//!
//! ```json
//! {
//!   "first": 7,
//!   "shapes": [["call", "region", "tokens"]],
//!   "aliases": ["ada"],
//!   "events": [[0, 1, 1500000, "request-1", 0, "eu", 374]]
//! }
//! ```
//!
//! An event is its shape, its alias (counted from 1, 0 where it named none), its microseconds in the
//! minute, its key, its number behind the first, and the values of its properties; behind them, where it was
//! deprecated or amended, what says so. A number is one where it is an integer below 2^53, else a list of its
//! text.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de,
    ser::{SerializeSeq as _, SerializeStruct as _},
};

use super::{BlockEvent, EventBlock};
use crate::{
    Decimal, EventKey, EventName, ExternalId, PropertyName,
    usage::{Content, PropertyValue, StoredEvent},
};

/// How many shapes and aliases are looked through for that of an event: of more, one may be said twice.
const LOOKED_THROUGH: usize = 8;

impl Serialize for EventBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = self.events.iter().map(|of| of.event.accepted).min().unwrap_or_default();
        let (mut shapes, mut aliases) = (Vec::new(), Vec::<&ExternalId>::new());
        let mut rows = Vec::with_capacity(self.events.len());
        for of in &self.events {
            let shape = place(&mut shapes, Shape(&of.event));
            let alias = of.event.external_customer_id.as_deref();
            let alias = alias.map_or(0, |alias| place(&mut aliases, alias).saturating_add(1));
            rows.push(Row { shape, alias, first, of });
        }
        let mut block = serializer.serialize_struct("EventBlock", 4)?;
        block.serialize_field("first", &first)?;
        block.serialize_field("shapes", &shapes)?;
        block.serialize_field("aliases", &aliases)?;
        block.serialize_field("events", &rows)?;
        block.end()
    }
}

/// Returns the place of something among others, behind which it is added where it is not there.
fn place<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    let last = all.iter().enumerate().rev().take(LOOKED_THROUGH);
    match last.into_iter().find(|(_, other)| **other == one) {
        Some((at, _)) => at,
        None => {
            all.push(one);
            all.len().saturating_sub(1)
        }
    }
}

/// What an event has in common with others: its name, and those of its properties.
struct Shape<'e>(&'e StoredEvent<'e>);

impl PartialEq for Shape<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.event_name == other.0.event_name
            && self.0.properties.keys().eq(other.0.properties.keys())
    }
}

impl Serialize for Shape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(event) = self;
        let names = event.properties.keys().map(|name| &**name);
        serializer.collect_seq(std::iter::once(&**event.event_name).chain(names))
    }
}

struct Row<'e> {
    shape: usize,
    alias: usize,
    first: u64,
    of: &'e BlockEvent<'e>,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BlockEvent { key, micros, event } = self.of;
        let mut row = serializer.serialize_seq(None)?;
        row.serialize_element(&self.shape)?;
        row.serialize_element(&self.alias)?;
        row.serialize_element(micros)?;
        row.serialize_element(&**key)?;
        row.serialize_element(&event.accepted.saturating_sub(self.first))?;
        for value in event.properties.values() {
            row.serialize_element(&Cell(value))?;
        }
        if event.deprecated || event.original.is_some() {
            let (deprecated, original) = (event.deprecated, event.original.as_deref());
            row.serialize_element(&Marks { deprecated, original: original.map(Cow::Borrowed) })?;
        }
        row.end()
    }
}

/// What has become of an event.
#[derive(Serialize, Deserialize)]
struct Marks<'e> {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    original: Option<Cow<'e, Content>>,
}

/// The value of a property.
struct Cell<'e>(&'e PropertyValue);

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            PropertyValue::Null => serializer.serialize_unit(),
            PropertyValue::Boolean(value) => serializer.serialize_bool(*value),
            PropertyValue::Text(text) => serializer.serialize_str(text),
            PropertyValue::Number(number) => match number.as_integer() {
                Some(integer) => serializer.serialize_i64(integer),
                None => serializer.collect_seq([number]),
            },
        }
    }
}

impl<'de> Deserialize<'de> for EventBlock<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { first, shapes, aliases, events } = Stored::deserialize(deserializer)?;
        let missing = || de::Error::custom("an event has a shape or an alias that is not there");
        let events = events.into_iter().map(|row| {
            let shape: &Names = shapes.get(row.shape).ok_or_else(missing)?;
            let alias = row.alias.checked_sub(1).map(|at| aliases.get(at).ok_or_else(missing));
            if shape.properties.len() != row.values.len() {
                return Err(de::Error::custom("an event has other values than its shape"));
            }
            let Marks { deprecated, original } =
                row.marks.unwrap_or(Marks { deprecated: false, original: None });
            let names = shape.properties.iter().cloned();
            let event = StoredEvent {
                event_name: Cow::Owned(shape.event.clone()),
                properties: Cow::Owned(names.zip(row.values).collect()),
                external_customer_id: alias.transpose()?.cloned().map(Cow::Owned),
                accepted: first.saturating_add(row.number),
                deprecated,
                original: original.map(|original| Box::new(original.into_owned())),
            };
            Ok(BlockEvent { key: Cow::Owned(row.key), micros: row.micros, event })
        });
        Ok(Self { events: events.collect::<Result<_, D::Error>>()? })
    }
}

#[derive(Deserialize)]
struct Stored {
    first: u64,
    shapes: Vec<Names>,
    aliases: Vec<ExternalId>,
    events: Vec<StoredRow>,
}

/// A shape that was read.
struct Names {
    event: EventName,
    properties: Vec<PropertyName>,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> de::Visitor<'de> for Read {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an event and those of its properties")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Names, A::Error> {
                let event = required(&mut seq, &self)?;
                let mut properties = Vec::new();
                while let Some(name) = seq.next_element()? {
                    properties.push(name);
                }
                Ok(Names { event, properties })
            }
        }

        deserializer.deserialize_seq(Read)
    }
}

/// An event that was read.
struct StoredRow {
    shape: usize,
    alias: usize,
    micros: u64,
    key: EventKey,
    number: u64,
    values: Vec<PropertyValue>,
    marks: Option<Marks<'static>>,
}

impl<'de> Deserialize<'de> for StoredRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> de::Visitor<'de> for Read {
            type Value = StoredRow;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event as a list")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<StoredRow, A::Error> {
                let mut row = StoredRow {
                    shape: required(&mut seq, &self)?,
                    alias: required(&mut seq, &self)?,
                    micros: required(&mut seq, &self)?,
                    key: required(&mut seq, &self)?,
                    number: required(&mut seq, &self)?,
                    values: Vec::new(),
                    marks: None,
                };
                while let Some(cell) = seq.next_element()? {
                    match cell {
                        StoredCell::Value(value) => row.values.push(value),
                        StoredCell::Marks(marks) => row.marks = Some(marks),
                    }
                }
                Ok(row)
            }
        }

        deserializer.deserialize_seq(Read)
    }
}

fn required<'de, T: Deserialize<'de>, A: de::SeqAccess<'de>>(
    seq: &mut A,
    expected: &dyn de::Expected,
) -> Result<T, A::Error> {
    seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, expected))
}

/// A part of an event that was read.
enum StoredCell {
    Value(PropertyValue),
    Marks(Marks<'static>),
}

impl<'de> Deserialize<'de> for StoredCell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> de::Visitor<'de> for Read {
            type Value = StoredCell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the value of a property, or what has become of the event")
            }

            fn visit_unit<E: de::Error>(self) -> Result<StoredCell, E> {
                Ok(StoredCell::Value(PropertyValue::Null))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<StoredCell, E> {
                Ok(StoredCell::Value(value.into()))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<StoredCell, E> {
                Ok(StoredCell::Value(Decimal::from(value).into()))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<StoredCell, E> {
                Ok(StoredCell::Value(value.into()))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<StoredCell, E> {
                Ok(StoredCell::Value(value.into()))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<StoredCell, A::Error> {
                let number: Decimal = required(&mut seq, &self)?;
                Ok(StoredCell::Value(number.into()))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<StoredCell, A::Error> {
                let marks = Marks::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(StoredCell::Marks(marks))
            }
        }

        deserializer.deserialize_any(Read)
    }
}
