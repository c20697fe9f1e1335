use std::{borrow::Cow, cmp::Ordering};

use crate::{Decimal, Timestamp, event::PropertyValue};

/// A value that is not null.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Boolean(bool),
    Number(Cow<'a, Decimal>),
    Text(Cow<'a, str>),
    Instant(Timestamp),
}

impl Value<'_> {
    /// Compares two values; those of different types have no order, and are not unequal either.
    pub(super) fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Boolean(left), Value::Boolean(right)) => Some(left.cmp(right)),
            (Value::Number(left), Value::Number(right)) => Some(left.cmp(right)),
            (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
            (Value::Instant(left), Value::Instant(right)) => Some(left.cmp(right)),
            (Value::Boolean(_) | Value::Number(_) | Value::Text(_) | Value::Instant(_), _) => None,
        }
    }
}

impl From<Value<'_>> for PropertyValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Boolean(value) => Self::Boolean(value),
            Value::Number(value) => Self::Number(value.into_owned()),
            Value::Text(value) => Self::Text(value.into_owned().into()),
            Value::Instant(value) => Self::Text(value.to_string().into()),
        }
    }
}
