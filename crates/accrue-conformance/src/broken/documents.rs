use accrue::store::Document;
use serde_json::{Number, Value};

use super::Flaw;

/// The document as the store keeps it.
pub(super) fn stored(flaw: Flaw, document: Document) -> Document {
    match flaw {
        Flaw::EmptiesLargeDocuments if document.as_str().len() > 32 * 1024 => parsed("{}"),
        Flaw::DropsNulls | Flaw::RoundsIntegers | Flaw::LosesLetters | Flaw::GuessesNumbers => {
            let value = serde_json::from_str(document.as_str()).expect("a document is JSON");
            parsed(&changed(flaw, value).to_string())
        }
        _ => document,
    }
}

fn changed(flaw: Flaw, value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = |value: &Value| flaw != Flaw::DropsNulls || !value.is_null();
            let members = members.into_iter().filter(|(_, value)| kept(value));
            members.map(|(name, value)| (name, changed(flaw, value))).collect()
        }
        Value::Array(values) => values.into_iter().map(|value| changed(flaw, value)).collect(),
        Value::Number(number) if flaw == Flaw::RoundsIntegers => rounded(&number),
        Value::String(text) if flaw == Flaw::LosesLetters => {
            Value::String(text.replace(|letter: char| !letter.is_ascii(), "?"))
        }
        Value::String(text) if flaw == Flaw::GuessesNumbers => match text.parse::<u32>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        },
        other => other,
    }
}

/// What is left of an integer in the 24 bits that a small float has for it.
fn rounded(number: &Number) -> Value {
    let Some(mut integer) = number.as_i64() else { return number.clone().into() };
    let mut scale: i64 = 1;
    while integer.unsigned_abs() >= 1 << 24 {
        integer /= 2;
        scale *= 2;
    }
    (integer * scale).into()
}

fn parsed(text: &str) -> Document {
    Document::parse(text).expect("an object within the bounds stays one")
}
