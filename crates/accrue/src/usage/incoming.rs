use std::{borrow::Cow, collections::BTreeSet, fmt};

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use super::{Event, Properties, PropertyValue};
use crate::{CustomerId, Decimal, EventKey, EventName, ExternalId, IdOr, PropertyName, Timestamp};

/// Event that comes in: well formed, or with the reasons why it is not.
///
/// Both go into a batch, so that the answer lists the errors of each event at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Incoming {
    /// Well-formed event.
    Event(Event),
    /// Text that is no event.
    Malformed {
        /// Key of the event, where it has one.
        idempotency_key: Option<String>,
        /// Reasons why it is no event, each with the field that it is about.
        reasons: Vec<String>,
    },
}

impl From<Event> for Incoming {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

impl Incoming {
    /// Reads an event from JSON (wire 3.4): `event_name`, `timestamp`, `properties`,
    /// `idempotency_key` and one of `customer_id` and `external_customer_id`.
    ///
    /// Numbers keep their digits.
    ///
    /// ```
    /// use accrue::usage::Incoming;
    ///
    /// let nested = r#"{"event_name": "call", "timestamp": "2026-03-01T08:00:00Z",
    ///     "properties": {"a": {}}, "idempotency_key": "k", "external_customer_id": "acme"}"#;
    /// let Incoming::Malformed { reasons, .. } = Incoming::from_json(nested) else { panic!() };
    /// assert_eq!(reasons, ["properties.a: found an object, expected a string, number or boolean"]);
    /// ```
    #[must_use]
    pub fn from_json(text: &str) -> Self {
        match serde_json::from_str::<Members<'_>>(text) {
            Ok(members) => Wire::sort(members).parse(),
            Err(error) => {
                Self::Malformed { idempotency_key: None, reasons: vec![error.to_string()] }
            }
        }
    }
}

/// The members of a JSON object in their order, those that come twice too.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> de::Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// Members that an event has on the wire, as they came.
#[derive(Default)]
struct Wire<'a> {
    event_name: Option<&'a RawValue>,
    timestamp: Option<&'a RawValue>,
    properties: Option<&'a RawValue>,
    idempotency_key: Option<&'a RawValue>,
    customer_id: Option<&'a RawValue>,
    external_customer_id: Option<&'a RawValue>,
    reasons: Vec<String>,
}

impl<'a> Wire<'a> {
    fn sort(Members(members): Members<'a>) -> Self {
        let mut wire = Self::default();
        for (name, value) in members {
            let place = match name.as_ref() {
                "event_name" => &mut wire.event_name,
                "timestamp" => &mut wire.timestamp,
                "properties" => &mut wire.properties,
                "idempotency_key" => &mut wire.idempotency_key,
                "customer_id" => &mut wire.customer_id,
                "external_customer_id" => &mut wire.external_customer_id,
                _ => {
                    wire.reasons.push(format!("{}: not a field of an event", shown(&name)));
                    continue;
                }
            };
            if place.replace(value).is_some() {
                wire.reasons.push(format!("{name}: found twice"));
            }
        }
        wire
    }

    fn parse(mut self) -> Incoming {
        let reasons = &mut self.reasons;
        let key_text = required(reasons, "idempotency_key", self.idempotency_key);
        let key =
            key_text.clone().and_then(|key| keep(reasons, "idempotency_key", EventKey::parse(key)));
        let name = required(reasons, "event_name", self.event_name)
            .and_then(|name| keep(reasons, "event_name", EventName::parse(name)));
        let timestamp = required(reasons, "timestamp", self.timestamp)
            .and_then(|text| keep(reasons, "timestamp", Timestamp::parse(&text)));
        let id = optional(reasons, "customer_id", self.customer_id);
        let external = optional(reasons, "external_customer_id", self.external_customer_id);
        let customer = match (id, external) {
            (Some(id), None) => {
                keep(reasons, "customer_id", id.parse::<CustomerId>().map(IdOr::Id))
            }
            (None, Some(external)) => {
                let external = ExternalId::parse(external).map(IdOr::External);
                keep(reasons, "external_customer_id", external)
            }
            _ => {
                reasons.push("expected one of customer_id and external_customer_id".to_owned());
                None
            }
        };
        let properties = properties(reasons, self.properties);
        match (key, name, timestamp, customer) {
            (Some(idempotency_key), Some(event_name), Some(timestamp), Some(customer))
                if reasons.is_empty() =>
            {
                Event { idempotency_key, event_name, timestamp, properties, customer }.into()
            }
            _ => Incoming::Malformed {
                idempotency_key: key_text.map(|key| shown(&key).to_owned()),
                reasons: self.reasons,
            },
        }
    }
}

/// Reads a text that must be there.
fn required(reasons: &mut Vec<String>, field: &str, value: Option<&RawValue>) -> Option<String> {
    let Some(value) = value else {
        reasons.push(format!("{field}: missing"));
        return None;
    };
    keep(reasons, field, text(value.get()))
}

/// Reads a text that may be missing or null.
fn optional(reasons: &mut Vec<String>, field: &str, value: Option<&RawValue>) -> Option<String> {
    let value = value.filter(|value| value.get() != "null")?;
    keep(reasons, field, text(value.get()))
}

fn properties(reasons: &mut Vec<String>, value: Option<&RawValue>) -> Properties {
    let Some(value) = value else {
        reasons.push("properties: missing".to_owned());
        return Properties::default();
    };
    let members = serde_json::from_str::<Members<'_>>(value.get());
    let Some(Members(members)) = keep(reasons, "properties", members) else {
        return Properties::default();
    };
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (name, value) in members {
        let field = format!("properties.{}", shown(&name));
        let value = keep(reasons, &field, scalar(value.get()));
        let name = keep(reasons, "properties", PropertyName::parse(name.as_ref()));
        let Some((name, value)) = name.zip(value) else { continue };
        if !seen.insert(name.clone()) {
            reasons.push(format!("{field}: found twice"));
        }
        found.push((name, value));
    }
    found.into_iter().collect()
}

/// Returns as much of a caller's text as a message shows.
fn shown(text: &str) -> &str {
    const MOST: usize = 1_024;
    let end = (0..=text.len().min(MOST)).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Keeps a parsed value, or notes why there is none.
fn keep<T, E: ToString>(reasons: &mut Vec<String>, field: &str, parsed: Result<T, E>) -> Option<T> {
    parsed.map_err(|error| reasons.push(format!("{field}: {}", error.to_string()))).ok()
}

/// Reads a JSON string.
fn text(text: &str) -> Result<String, String> {
    match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text).map_err(|error| error.to_string()),
        _ => Err(format!("found {}, expected a string", kind(text))),
    }
}

/// Reads a JSON scalar from its text, the only way on which no digit of a number is lost.
fn scalar(value: &str) -> Result<PropertyValue, String> {
    match value.as_bytes().first() {
        Some(b'"') => text(value).map(|text| PropertyValue::Text(text.into())),
        Some(b't') => Ok(PropertyValue::Boolean(true)),
        Some(b'f') => Ok(PropertyValue::Boolean(false)),
        Some(b'n') => Ok(PropertyValue::Null),
        Some(b'{' | b'[') => {
            Err(format!("found {}, expected a string, number or boolean", kind(value)))
        }
        _ => Decimal::parse(value).map(PropertyValue::Number).map_err(|error| error.to_string()),
    }
}

/// Names the kind of a JSON value, by its first character.
fn kind(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(properties: &str, rest: &str) -> Incoming {
        Incoming::from_json(&format!(
            r#"{{"event_name": "call", "timestamp": "2026-03-01T08:00:00", "properties": {properties},
                "idempotency_key": "k" {rest}}}"#
        ))
    }

    #[test]
    fn numbers_keep_their_digits() {
        let digits = "0.1234567890123456789012345678";
        let Incoming::Event(event) = event(
            &format!(r#"{{"n": {digits}, "null": null}}"#),
            r#", "external_customer_id": "x""#,
        ) else {
            panic!("a well-formed event");
        };
        assert_eq!(event.properties.get("n"), Some(&Decimal::parse(digits).unwrap().into()));
        assert_eq!(event.properties.get("null"), Some(&PropertyValue::Null));
    }

    #[test]
    fn scalars_of_every_kind_are_kept() {
        let text = r#"{"yes": true, "no": false, "nothing": null, "text": "1", "number": 1}"#;
        let incoming = event(text, r#", "external_customer_id": "x""#);
        let Incoming::Event(event) = incoming else { panic!("{incoming:?}") };
        let expect = [
            ("yes", PropertyValue::Boolean(true)),
            ("no", PropertyValue::Boolean(false)),
            ("nothing", PropertyValue::Null),
            ("text", PropertyValue::Text("1".into())),
            ("number", Decimal::from(1_u64).into()),
        ];
        for (name, value) in expect {
            assert_eq!(event.properties.get(name), Some(&value), "{name}");
        }
    }

    #[test]
    fn every_reason_is_listed() {
        let check = |incoming: Incoming, expect: &[&str]| {
            let Incoming::Malformed { reasons, .. } = incoming else { panic!("{incoming:?}") };
            assert_eq!(reasons, expect);
        };
        check(
            event(r#"{"a": [], "b": 1e3000000}"#, ""),
            &[
                "expected one of customer_id and external_customer_id",
                "properties.a: found an array, expected a string, number or boolean",
                "properties.b: number is 10^28 or larger in magnitude",
            ],
        );
        check(event("{}", r#", "customer_id": "nobody""#), &["customer_id: not an id"]);
        for (found, kind) in [("false", "a boolean"), ("null", "null"), ("{}", "an object")] {
            let text = format!(
                r#"{{"event_name": {found}, "timestamp": "2026-03-01T08:00:00", "properties": {{}},
                    "idempotency_key": "k", "external_customer_id": "x"}}"#
            );
            let reason = format!("event_name: found {kind}, expected a string");
            check(Incoming::from_json(&text), &[&reason]);
        }
        check(
            event("{}", r#", "external_customer_id": "a", "surprise": 1, "timestamp": "x""#),
            &[
                "surprise: not a field of an event",
                "timestamp: found twice",
                "timestamp: not a date and time in ISO 8601 between the years 1970 and 9998",
            ],
        );
        check(
            event(r#"{"a": 1, "b": true, "a": 2}"#, r#", "customer_id": 5"#),
            &[
                "customer_id: found a number, expected a string",
                "expected one of customer_id and external_customer_id",
                "properties.a: found twice",
            ],
        );
    }

    #[test]
    fn what_is_wrong_with_one_field_hides_no_other() {
        let text = r#"{"event_name": 5, "properties": [], "idempotency_key": "k"}"#;
        let Incoming::Malformed { idempotency_key, reasons } = Incoming::from_json(text) else {
            panic!("a malformed event");
        };
        assert_eq!(idempotency_key.as_deref(), Some("k"));
        assert_eq!(reasons.len(), 4, "{reasons:?}");
        assert_eq!(reasons[0], "event_name: found a number, expected a string");
    }

    #[test]
    fn what_is_no_object_is_no_event() {
        for text in [r#"["e", "2026-03-01T08:00:00Z", {}, "k", null, "x"]"#, "", "1", "{", "null"] {
            let Incoming::Malformed { idempotency_key: None, reasons } = Incoming::from_json(text)
            else {
                panic!("{text} is no event");
            };
            assert_eq!(reasons.len(), 1, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in ".{0,200}", json in r#"[\[\]{}",:0-9a-z\\]{0,80}"#) {
            let near = format!(r#"{{"event_name": {json}, "properties": {{"a": {json}}}}}"#);
            for text in [text, json, near] {
                let incoming = Incoming::from_json(&text);
                let is_malformed = matches!(incoming, Incoming::Malformed { .. });
                prop_assert!(is_malformed, "{}", text);
            }
        }

        #[test]
        fn a_well_formed_event_is_read_back(
            name in "[a-z]{1,20}", text in ".{0,50}", digits in "-?[1-9][0-9]{0,10}\\.[0-9]{0,10}[1-9]",
        ) {
            let text = serde_json::to_string(&text).unwrap();
            let properties = format!(r#"{{"{name}": {text}, "{name}_": {digits}}}"#);
            let incoming = event(&properties, r#", "customer_id": null, "external_customer_id": "x""#);
            let Incoming::Event(event) = incoming else { panic!("{incoming:?}") };
            let number = event.properties.get(&format!("{name}_"));
            prop_assert_eq!(number, Some(&Decimal::parse(&digits).unwrap().into()));
            prop_assert!(matches!(event.properties.get(&name), Some(PropertyValue::Text(_))));
        }
    }
}
