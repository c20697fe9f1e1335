//! The stored form of a row of events. What its events share is said once: their names with those of
//! their properties (shapes), and the aliases that they named their customer by.
//!
//! ```json
//! {
//!   "first": 7,
//!   "shapes": [["call", "region", "tokens"]],
//!   "aliases": ["ada"],
//!   "events": [[0, 1, 1500000, "request-1", 0, ["eu", 374]]],
//!   "marks": [[0, {"deprecated": true}]]
//! }
//! ```
//!
//! An event is its shape, its alias (counted from 1, 0 where it named none), its microseconds in the
//! minute, its key, its number behind the first, and the values of its properties. Marks say of an event that
//! it was deprecated or amended.

use std::{borrow::Cow, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{BlockEvent, EventBlock};
use crate::{
    EventKey, EventName, ExternalId, PropertyName,
    usage::{Content, PropertyValue, StoredEvent},
};

/// How many shapes and aliases are looked through for that of an event: of more, one may be said twice.
const LOOKED_THROUGH: usize = 8;

#[derive(Serialize)]
struct Written<'e> {
    first: u64,
    shapes: Vec<Shape<'e>>,
    aliases: Vec<&'e ExternalId>,
    events: Vec<(usize, usize, u64, &'e EventKey, u64, Values<'e>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<(usize, Marks<'e>)>,
}

#[derive(Deserialize)]
struct Stored {
    first: u64,
    shapes: Vec<Vec<Arc<str>>>,
    aliases: Vec<ExternalId>,
    events: Vec<(usize, usize, u64, EventKey, u64, Vec<PropertyValue>)>,
    #[serde(default)]
    marks: Vec<(usize, Marks<'static>)>,
}

/// What has become of an event.
#[derive(Serialize, Deserialize)]
struct Marks<'e> {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    original: Option<Cow<'e, Content>>,
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

/// The values of the properties of an event.
struct Values<'e>(&'e StoredEvent<'e>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.properties.values())
    }
}

impl Serialize for EventBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = self.events.iter().map(|of| of.event.accepted).min().unwrap_or_default();
        let events = Vec::with_capacity(self.events.len());
        let (shapes, aliases, marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut block = Written { first, shapes, aliases, events, marks };
        for (at, BlockEvent { key, micros, event }) in self.events.iter().enumerate() {
            let shape = place(&mut block.shapes, Shape(event));
            let alias = event.external_customer_id.as_deref();
            let alias = alias.map_or(0, |alias| place(&mut block.aliases, alias).saturating_add(1));
            let number = event.accepted.saturating_sub(first);
            block.events.push((shape, alias, *micros, &**key, number, Values(event)));
            if event.deprecated || event.original.is_some() {
                let original = event.original.as_deref().map(Cow::Borrowed);
                block.marks.push((at, Marks { deprecated: event.deprecated, original }));
            }
        }
        block.serialize(serializer)
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

impl<'de> Deserialize<'de> for EventBlock<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { first, shapes, aliases, events, marks } = Stored::deserialize(deserializer)?;
        let shapes: Vec<_> = shapes.into_iter().map(names).collect::<Result<_, D::Error>>()?;
        let missing = || de::Error::custom("an event has a shape or an alias that is not there");
        let events = events.into_iter().map(|(shape, alias, micros, key, number, values)| {
            let (name, properties) = shapes.get(shape).ok_or_else(missing)?;
            let alias = alias.checked_sub(1).map(|at| aliases.get(at).ok_or_else(missing));
            if properties.len() != values.len() {
                return Err(de::Error::custom("an event has other values than its shape"));
            }
            let event = StoredEvent {
                event_name: Cow::Owned(name.clone()),
                properties: Cow::Owned(properties.iter().cloned().zip(values).collect()),
                external_customer_id: alias.transpose()?.cloned().map(Cow::Owned),
                accepted: first.saturating_add(number),
                deprecated: false,
                original: None,
            };
            Ok(BlockEvent { key: Cow::Owned(key), micros, event })
        });
        let mut events = events.collect::<Result<Vec<_>, D::Error>>()?;
        for (at, Marks { deprecated, original }) in marks {
            let marked = events.get_mut(at);
            let marked = marked.ok_or_else(|| de::Error::custom("no event has these marks"))?;
            marked.event.deprecated = deprecated;
            marked.event.original = original.map(|original| Box::new(original.into_owned()));
        }
        Ok(Self { events })
    }
}

/// Reads a shape: the name of an event, and those of its properties.
fn names<E: de::Error>(shape: Vec<Arc<str>>) -> Result<(EventName, Vec<PropertyName>), E> {
    let mut names = shape.into_iter();
    let event = names.next().ok_or_else(|| E::custom("a shape has no name"))?;
    let properties = names.map(|name| PropertyName::parse(name).map_err(E::custom));
    Ok((EventName::parse(event).map_err(E::custom)?, properties.collect::<Result<_, E>>()?))
}
