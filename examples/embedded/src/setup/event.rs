use accrue::{
    EventKey, EventName, ExternalId, PropertyName, Timestamp,
    usage::{Event, Properties},
};

/// Makes the event of one request to a language model.
pub(crate) fn completion(
    key: &str,
    timestamp: Timestamp,
    customer: ExternalId,
    properties: impl IntoIterator<Item = (&'static str, u64)>,
) -> Event {
    let property = |(name, value): (&str, u64)| {
        (PropertyName::parse(name).expect("a short text"), value.into())
    };
    Event {
        idempotency_key: EventKey::parse(key).expect("a short text"),
        event_name: EventName::parse("completion").expect("a short text"),
        timestamp,
        properties: Properties::from_iter(properties.into_iter().map(property)),
        customer: customer.into(),
    }
}
