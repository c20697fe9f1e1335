use std::borrow::Cow;

use super::{Field, value::Value};
use crate::{
    Decimal, EventName, PropertyName, Timestamp,
    event::{Event, Properties, PropertyValue},
};

/// Fields of an event, as an expression sees them.
///
/// ```
/// use accrue::{EventName, Timestamp, expression::Fields, usage::Properties};
///
/// let name = EventName::parse("completion")?;
/// let properties = Properties::default();
/// let fields = Fields::new(&name, Timestamp::parse("2026-03-01T00:00:00Z")?, &properties);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    event_name: &'a EventName,
    timestamp: Timestamp,
    properties: &'a Properties,
}

impl<'a> Fields<'a> {
    /// Creates a view of an event from its parts.
    #[must_use]
    pub const fn new(
        event_name: &'a EventName,
        timestamp: Timestamp,
        properties: &'a Properties,
    ) -> Self {
        Self { event_name, timestamp, properties }
    }

    pub(crate) const fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// Returns the value of a field, none where it is missing or null.
    pub(crate) fn value(&self, field: &Field) -> Option<Value<'a>> {
        match field {
            Field::EventName => Some(Value::Text(self.event_name.as_str().into())),
            Field::Timestamp => Some(Value::Instant(self.timestamp)),
            Field::TimestampMillis => {
                let millis = self.timestamp.micros().div_euclid(1_000);
                Some(Value::Number(Cow::Owned(Decimal::from(millis))))
            }
            Field::Property(name) => self.property(name),
        }
    }

    /// Returns the text of the value of a property, none where it is missing or null.
    pub(crate) fn text(&self, name: &PropertyName) -> Option<String> {
        Some(match self.property(name)? {
            Value::Boolean(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::Text(value) => value.into_owned(),
            Value::Instant(value) => value.to_string(),
        })
    }

    /// Returns the value of a property, none where it is missing or null.
    pub(crate) fn property(&self, name: &PropertyName) -> Option<Value<'a>> {
        match self.properties.get(name)? {
            PropertyValue::Null => None,
            PropertyValue::Boolean(value) => Some(Value::Boolean(*value)),
            PropertyValue::Number(value) => Some(Value::Number(Cow::Borrowed(value))),
            PropertyValue::Text(value) => Some(Value::Text(Cow::Borrowed(value))),
        }
    }
}

impl<'a> From<&'a Event> for Fields<'a> {
    fn from(event: &'a Event) -> Self {
        Self::new(&event.event_name, event.timestamp, &event.properties)
    }
}
