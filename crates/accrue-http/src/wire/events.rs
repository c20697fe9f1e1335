use std::str::FromStr;

use accrue::{
    BackfillId, CustomerId, Decimal, EventKey, EventName, ExternalId, IdOr, JsonNumber,
    PropertyName, limits,
    usage::{
        self, Amendment, EventVolume, FoundEvent, Incoming, PreviewEvent, Properties, PropertyValue,
    },
};
use serde::{Serialize, Serializer};

use super::{
    customers::names_one_customer_at_most,
    pages::{Limit, PaginationMetadata},
};
use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{Describe, Fields, Moment, Read, Reader, Schema, Several, request, response},
};

request! {
    /// The destination of ingested events.
    pub(crate) struct IngestQuery {
        /// Backfill of the events, which count once it is reflected.
        backfill_id: Option<BackfillId>,
    }

    /// A batch of usage events.
    pub(crate) struct IngestBody {
        /// Events, at most 1,000.
        events: EventsIn,
    }

    /// A usage event.
    pub(crate) struct IngestEvent => is_of_one_customer {
        /// Its idempotency key, which is its id: the same key with the same content counts once.
        idempotency_key: EventKey,
        /// Name of the event: what happened.
        event_name: EventName,
        /// Instant at which it happened.
        timestamp: Moment,
        /// Properties that metrics measure: strings, numbers and booleans.
        properties: PropertiesIn,
        /// Id of the customer.
        customer_id: Option<String>,
        /// External id of the customer, who need not exist yet.
        external_customer_id: Option<ExternalId>,
    }

    /// A usage event that is rated and not ingested: it has no id.
    pub(crate) struct PreviewEventIn => names_one_customer_at_most {
        /// Name of the event: what happened.
        event_name: EventName,
        /// Instant at which it happened: any, also one that no event could be ingested with.
        timestamp: Moment,
        /// Properties that metrics measure: strings, numbers and booleans.
        properties: PropertiesIn,
        /// Id of the customer: that of the request where none is given. An event of another one does not
        /// count.
        customer_id: Option<CustomerId>,
        /// External id of the customer.
        external_customer_id: Option<ExternalId>,
    }

    /// The new content of an event. Its id stays.
    pub(crate) struct AmendEvent => is_of_one_customer {
        /// Name of the event: what happened.
        event_name: EventName,
        /// Instant at which it happened: as the event says.
        timestamp: Moment,
        /// Properties that metrics measure: strings, numbers and booleans.
        properties: PropertiesIn,
        /// Id of the customer of the event.
        customer_id: Option<CustomerId>,
        /// External id of the customer of the event.
        external_customer_id: Option<ExternalId>,
    }

    /// The ids and the timeframe of events to search.
    pub(crate) struct SearchBody {
        /// Ids of the events: their idempotency keys.
        event_ids: EventIds,
        /// Start of the timeframe, included; a week ago where it is not given.
        timeframe_start: Option<Moment>,
        /// End of the timeframe, excluded; now where it is not given.
        timeframe_end: Option<Moment>,
    }

    /// The timeframe and page of a list of hours.
    pub(crate) struct VolumeQuery {
        /// Start of the timeframe: the hour that it lies in counts as a whole.
        timeframe_start: Moment,
        /// End of the timeframe: the hour that it lies in counts as a whole; now where it is not
        /// given.
        timeframe_end: Option<Moment>,
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
    }
}

response! {
    /// The answer to a batch: every event of it was taken, or was there already.
    pub(crate) struct Ingested {
        /// Refused events: always empty, since a batch with one is refused as a whole.
        validation_failed: Vec<ValidationFailed>,
    }

    /// An event that was refused.
    pub(crate) struct ValidationFailed {
        /// Its idempotency key.
        idempotency_key: String,
        /// Reasons of the refusal.
        validation_errors: Vec<String>,
    }

    /// The answer to an amendment of an event.
    pub(crate) struct Amended {
        /// Id of the event.
        amended: EventKey,
    }

    /// The answer to the deprecation of an event.
    pub(crate) struct Deprecated {
        /// Id of the event.
        deprecated: EventKey,
    }

    /// A usage event that was found.
    pub(crate) struct Event {
        /// Its id: its idempotency key.
        id: EventKey,
        /// Id of its customer; null while no customer has its external id.
        customer_id: Option<String>,
        /// External id of its customer.
        external_customer_id: Option<ExternalId>,
        /// Name of the event: what happened.
        event_name: EventName,
        /// Properties that metrics measure.
        properties: PropertiesOut,
        /// Instant at which it happened.
        timestamp: Moment,
        /// True if it does not count: it was deprecated, or a backfill has replaced it.
        deprecated: bool,
    }

    /// The events that were found.
    pub(crate) struct FoundEvents {
        /// Events, each as it is now.
        data: Vec<Event>,
        /// Pagination: there is one page.
        pagination_metadata: PaginationMetadata,
    }

    /// The number of events in an hour.
    pub(crate) struct Volume {
        /// Start of the hour.
        timeframe_start: Moment,
        /// End of the hour.
        timeframe_end: Moment,
        /// Number of events.
        count: u64,
    }
}

/// Events that are judged one by one, once it is known that they are an array: the errors of one
/// are told with its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventsIn;

impl Read for EventsIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::Array(_) => Some(Self),
            other => reader.unexpected(other, at, "an array"),
        }
    }
}

impl IngestBody {
    /// Returns the events of a body that was read as one.
    pub(crate) fn events_of(body: Option<&Json>) -> &[Json] {
        let Some(Json::Object(members)) = body else { return &[] };
        match members.iter().find(|(name, _)| name == "events") {
            Some((_, Json::Array(events))) => events,
            _ => &[],
        }
    }

    /// Reads one of the events, and returns it with the work of reading it.
    pub(crate) fn read_event(json: &Json) -> (Incoming, usize) {
        /// The work of a field.
        const FIELD: usize = 10;
        let fields = |json: &Json| if let Json::Object(members) = json { members.len() } else { 1 };
        let nested = match json {
            Json::Object(members) => members.iter().map(|(_, value)| fields(value)).sum(),
            _ => 0_usize,
        };
        (incoming(json), fields(json).saturating_add(nested).saturating_mul(FIELD))
    }
}

impl Describe for EventsIn {
    fn schema() -> Schema {
        Schema::Array { items: Box::new(IngestEvent::schema()), most: Some(limits::BATCH_EVENTS) }
    }
}

fn incoming(json: &Json) -> Incoming {
    let mut reader = Reader::new();
    let event = IngestEvent::read(json, "", &mut reader);
    let event = event.and_then(|event| {
        let IngestEvent { idempotency_key, event_name, timestamp, properties, .. } = event;
        let customer = match (event.customer_id, event.external_customer_id) {
            (Some(id), None) => match CustomerId::from_str(&id) {
                Ok(id) => Some(IdOr::Id(id)),
                Err(_) => reader.wrong("/customer_id", "no such customer"),
            },
            (None, Some(external)) => Some(IdOr::External(external)),
            // Told already.
            _ => None,
        };
        Some(usage::Event {
            idempotency_key,
            event_name,
            timestamp: timestamp.0,
            properties: properties.0,
            customer: customer?,
        })
    });
    let reasons = reader.reasons();
    match event {
        // A member that is unknown is wrong beside an event that can be read.
        Some(event) if reasons.is_empty() => Incoming::Event(event),
        _ => Incoming::Malformed { idempotency_key: key_of(json), reasons },
    }
}

const ONE_CUSTOMER: &str = "expected one of customer_id and external_customer_id";

/// An event says whose it is, once; and so does what rates events.
pub(crate) fn is_of_one_customer(fields: &Fields<'_>, reader: &mut Reader) {
    if fields.has("customer_id") == fields.has("external_customer_id") {
        let _: Option<()> = reader.wrong("", ONE_CUSTOMER);
    }
}

/// Returns the key of an event that is refused, so that its sender can find it.
fn key_of(json: &Json) -> Option<String> {
    let Json::Object(members) = json else { return None };
    match members.iter().find(|(name, _)| name == "idempotency_key") {
        Some((_, Json::String(key))) => Some(key.chars().take(limits::EVENT_KEY_BYTES).collect()),
        _ => None,
    }
}

/// The id of an event in a path: the key that it came with. A text that is none names no event.
#[derive(Clone, Debug)]
pub(crate) struct EventId(pub(crate) EventKey);

impl Read for EventId {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let text = String::read(json, at, reader)?;
        EventKey::parse(text).ok().map(Self).or_else(|| reader.unknown("event"))
    }
}

impl Describe for EventId {
    fn schema() -> Schema {
        EventKey::schema()
    }
}

/// The properties of an event that comes in.
#[derive(Clone, Debug)]
pub(crate) struct PropertiesIn(Properties);

impl Read for PropertiesIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Json::Object(members) = json else {
            return reader.unexpected(json, at, "an object");
        };
        let mut is_whole = true;
        let mut properties = Vec::with_capacity(members.len());
        for (name, value) in members {
            let mut place = at.to_owned();
            crate::problem::push_name(&mut place, name);
            let name = match PropertyName::parse(name.as_str()) {
                Ok(name) => Some(name),
                Err(error) => reader.wrong(&place, error.to_string()),
            };
            match name.zip(property(value, &place, reader)) {
                Some(property) => properties.push(property),
                None => is_whole = false,
            }
        }
        is_whole.then(|| Self(properties.into_iter().collect()))
    }
}

fn property(json: &Json, at: &str, reader: &mut Reader) -> Option<PropertyValue> {
    match json {
        Json::Null => Some(PropertyValue::Null),
        Json::Boolean(value) => Some(PropertyValue::Boolean(*value)),
        Json::String(text) => Some(PropertyValue::from(text.as_str())),
        Json::Number(text) => match Decimal::parse(text) {
            Ok(number) => Some(PropertyValue::Number(number)),
            Err(error) => reader.wrong(at, error.to_string()),
        },
        nested => reader.unexpected(nested, at, "a string, a number or a boolean"),
    }
}

impl Describe for PropertiesIn {
    fn schema() -> Schema {
        Schema::Map(Box::new(Schema::Nullable(Box::new(scalar()))))
    }
}

/// The properties of an event that was found.
#[derive(Clone, Debug)]
pub(crate) struct PropertiesOut(Properties);

impl Serialize for PropertiesOut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, PropertyOut(value))))
    }
}

struct PropertyOut<'a>(&'a PropertyValue);

impl Serialize for PropertyOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            PropertyValue::Null => serializer.serialize_none(),
            PropertyValue::Boolean(value) => serializer.serialize_bool(*value),
            PropertyValue::Number(number) => JsonNumber(number.clone()).serialize(serializer),
            PropertyValue::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl Describe for PropertiesOut {
    fn schema() -> Schema {
        Schema::Map(Box::new(Schema::Nullable(Box::new(scalar()))))
    }
}

/// The schema of a value of a property that is there.
pub(crate) fn scalar() -> Schema {
    Schema::AnyOf(vec![String::schema(), Schema::Number, Schema::Boolean])
}

/// The ids of events that are looked for. One that no event can have finds none.
#[derive(Clone, Debug)]
pub(crate) struct EventIds(pub(crate) Vec<EventKey>);

/// The texts that they are.
type EventIdTexts = Several<String, { limits::SEARCH_EVENTS }>;

impl Read for EventIds {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Several(ids) = EventIdTexts::read(json, at, reader)?;
        Some(Self(ids.into_iter().filter_map(|id| EventKey::parse(id).ok()).collect()))
    }
}

impl Describe for EventIds {
    fn schema() -> Schema {
        EventIdTexts::schema()
    }
}

impl From<PreviewEventIn> for PreviewEvent {
    fn from(event: PreviewEventIn) -> Self {
        let customer = event.customer_id.map(IdOr::Id);
        Self {
            event_name: event.event_name,
            timestamp: event.timestamp.0,
            properties: event.properties.0,
            customer: customer.or(event.external_customer_id.map(IdOr::External)),
        }
    }
}

impl TryFrom<AmendEvent> for Amendment {
    type Error = Problem;

    fn try_from(amend: AmendEvent) -> Result<Self, Problem> {
        let AmendEvent { event_name, timestamp, properties, .. } = amend;
        let customer = amend.customer_id.map(IdOr::Id);
        let customer = customer.or(amend.external_customer_id.map(IdOr::External));
        // Told already.
        let customer = customer.ok_or_else(|| Violations::one("", ONE_CUSTOMER))?;
        Ok(Self { event_name, timestamp: timestamp.0, properties: properties.0, customer })
    }
}

impl Ingested {
    pub(crate) const ALL: Self = Self { validation_failed: Vec::new() };
}

impl FoundEvents {
    pub(crate) fn of(found: Vec<FoundEvent>) -> Self {
        let data = found.into_iter().map(|event| Event {
            id: event.id,
            customer_id: event.customer_id.map(|id| id.to_string()),
            external_customer_id: event.external_customer_id,
            event_name: event.event_name,
            properties: PropertiesOut(event.properties),
            timestamp: event.timestamp.into(),
            deprecated: event.deprecated,
        });
        Self { data: data.collect(), pagination_metadata: PaginationMetadata::LAST }
    }
}

impl From<EventVolume> for Volume {
    fn from(volume: EventVolume) -> Self {
        Self {
            timeframe_start: volume.timeframe.start().into(),
            timeframe_end: volume.timeframe.end().into(),
            count: volume.count,
        }
    }
}
