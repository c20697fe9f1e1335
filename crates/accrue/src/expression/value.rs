use std::cmp::Ordering;

use crate::{Decimal, Timestamp};

/// A value that is not null.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Boolean(bool),
    Number(&'a Decimal),
    Text(&'a str),
    Instant(Timestamp),
}

impl Value<'_> {
    /// Compares two values; those of different types have no order, and are not unequal either.
    pub(super) fn compare(self, other: Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Boolean(left), Value::Boolean(right)) => Some(left.cmp(&right)),
            (Value::Number(left), Value::Number(right)) => Some(left.cmp(right)),
            (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
            (Value::Instant(left), Value::Instant(right)) => Some(left.cmp(&right)),
            (Value::Boolean(_) | Value::Number(_) | Value::Text(_) | Value::Instant(_), _) => None,
        }
    }
}
