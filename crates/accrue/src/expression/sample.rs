//! One event that the tests of expressions and metrics look at.

use crate::{
    Decimal, EventKey, EventName, ExternalId, PropertyName, Timestamp,
    event::{Event, PropertyValue},
};

/// A completion on the first of March 2026 at eight, with a property of every kind.
pub(crate) fn event() -> Event {
    let decimal = |text: &str| PropertyValue::from(Decimal::parse(text).unwrap());
    with_properties([
        ("yes", true.into()),
        ("no", false.into()),
        ("nil", PropertyValue::Null),
        ("one", 1_u64.into()),
        ("uno", decimal("1.0")),
        ("ten", 10_u64.into()),
        ("debt", decimal("-2.5")),
        ("apple", "apple".into()),
        ("pear", "pear".into()),
        ("digit", "1".into()),
        ("empty", "".into()),
        ("a.b", 7_u64.into()),
        ("and", 8_u64.into()),
        ("größe", 9_u64.into()),
        ("say \"hi\"", 10_u64.into()),
        ("One", 11_u64.into()),
        ("event_name", "shadow".into()),
        ("timestamp", "2026-03-01T08:00:00Z".into()),
    ])
}

pub(crate) fn with_properties<const N: usize>(properties: [(&str, PropertyValue); N]) -> Event {
    let named = properties.map(|(name, value)| (PropertyName::parse(name).unwrap(), value));
    Event {
        idempotency_key: EventKey::parse("1").unwrap(),
        event_name: EventName::parse("completion").unwrap(),
        timestamp: Timestamp::parse("2026-03-01T08:00:00Z").unwrap(),
        properties: named.into_iter().collect(),
        customer: ExternalId::parse("acme").unwrap().into(),
    }
}
