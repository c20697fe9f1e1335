use accrue::usage::{Event, PropertyValue};
use serde_json::{Map, Value, json};

use crate::Outcome;

/// What a client of the API sends for an event of the workload.
///
/// # Errors
///
/// If a number is no integer: the workload has none.
pub fn event_json(event: &Event) -> Outcome<String> {
    let json = json!({
        "idempotency_key": event.idempotency_key.as_str(),
        "event_name": event.event_name.as_str(),
        "timestamp": event.timestamp.to_string(),
        "properties": properties(event)?,
        "external_customer_id": event.customer.to_string(),
    });
    Ok(json.to_string())
}

/// The properties of an event of the workload, as in what a client of the API sends.
///
/// # Errors
///
/// If a number is no integer: the workload has none.
pub fn properties_json(event: &Event) -> Outcome<String> {
    Ok(Value::Object(properties(event)?).to_string())
}

fn properties(event: &Event) -> Outcome<Map<String, Value>> {
    let mut properties = Map::new();
    for (name, value) in event.properties.iter() {
        let value = match value {
            PropertyValue::Number(number) => Value::from(number.to_string().parse::<i64>()?),
            PropertyValue::Boolean(boolean) => Value::from(*boolean),
            PropertyValue::Text(text) => Value::from(&**text),
            _ => Value::Null,
        };
        properties.insert(name.to_string(), value);
    }
    Ok(properties)
}
