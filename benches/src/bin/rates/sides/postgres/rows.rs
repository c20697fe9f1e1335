use std::time::{Duration, SystemTime};

use accrue::{
    Timestamp,
    usage::{Event, PropertyValue},
};
use accrue_benches::{Outcome, properties_json};

use crate::source::Request;

/// A request, as the connection takes it.
pub(crate) enum RequestRows {
    Ingest { key: String, answer: String, events: Vec<EventRow>, columns: EventRows },
    Fetch(String),
    Page,
}

/// An event.
#[derive(Clone)]
pub(crate) struct EventRow {
    pub(crate) key: String,
    pub(crate) customer: String,
    pub(crate) name: String,
    pub(crate) at: SystemTime,
    pub(crate) properties: String,
    pub(crate) output_tokens: i64,
    pub(crate) input_tokens: i64,
}

/// The events of a request, column by column.
#[derive(Default)]
pub(crate) struct EventRows {
    pub(crate) keys: Vec<String>,
    pub(crate) customers: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) at: Vec<SystemTime>,
    pub(crate) properties: Vec<String>,
}

impl RequestRows {
    pub(crate) fn new(request: &Request) -> Outcome<Self> {
        Ok(match request {
            Request::Ingest { key, events } => {
                let events: Vec<_> = events.iter().map(EventRow::new).collect::<Outcome<_>>()?;
                let mut columns = EventRows::default();
                events.iter().cloned().for_each(|event| columns.push(event));
                let answer = format!(r#"{{"ingested":{}}}"#, events.len());
                Self::Ingest { key: key.to_string(), answer, events, columns }
            }
            Request::Fetch(id) => Self::Fetch(id.to_string()),
            Request::Page => Self::Page,
        })
    }
}

impl EventRow {
    fn new(event: &Event) -> Outcome<Self> {
        let number = |name: &str| -> Outcome<i64> {
            match event.properties.get(name) {
                Some(PropertyValue::Number(number)) => Ok(number.to_string().parse()?),
                found => Err(format!("{name}: found {found:?}, expected a number").into()),
            }
        };
        Ok(Self {
            key: event.idempotency_key.to_string(),
            customer: event.customer.to_string(),
            name: event.event_name.to_string(),
            at: system_time(event.timestamp)?,
            properties: properties_json(event)?,
            output_tokens: number("output_tokens")?,
            input_tokens: number("input_tokens")?,
        })
    }
}

impl EventRows {
    fn push(&mut self, event: EventRow) {
        self.keys.push(event.key);
        self.customers.push(event.customer);
        self.names.push(event.name);
        self.at.push(event.at);
        self.properties.push(event.properties);
    }
}

/// The same instant, as the connection takes it.
pub(crate) fn system_time(at: Timestamp) -> Outcome<SystemTime> {
    Ok(SystemTime::UNIX_EPOCH + Duration::from_micros(u64::try_from(at.micros())?))
}
