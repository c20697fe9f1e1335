//! Fields that the engine has no use for: read as what they are, stored as they came, and given back.

use std::marker::PhantomData;

use accrue::{Carried, CarriedUpdate, Decimal, Error};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    json::Json,
    shape::{Absent, Describe, Maybe, Read, Reader, Schema},
};

/// A field that was read as a `T`, and is stored as it came.
#[derive(Clone, Debug)]
pub(crate) struct Kept<T> {
    pub(crate) value: T,
    text: String,
}

impl<T: Read> Read for Kept<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let value = T::read(json, at, reader)?;
        Some(Self { value, text: json.to_string() })
    }

    fn absent() -> Absent<Self> {
        match T::absent() {
            Absent::Refused => Absent::Refused,
            Absent::Is(value) => Absent::Is(Self { value, text: "null".to_owned() }),
        }
    }
}

impl<T: Describe> Describe for Kept<T> {
    fn schema() -> Schema {
        T::schema()
    }
}

impl<T> Kept<T> {
    /// Returns its JSON text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Makes the fields of a new resource that are only stored.
pub(crate) fn carried(fields: &[(&str, Option<&str>)]) -> Result<Carried, Error> {
    Carried::new(fields.iter().filter_map(|(name, text)| Some((*name, (*text)?))))
}

/// Returns the change of a field that is only stored, with its name; null removes the field.
pub(crate) fn change<'a, T>(
    name: &'static str,
    field: &'a Maybe<Kept<T>>,
) -> Option<(&'static str, &'a str)> {
    match field {
        Maybe::Absent => None,
        Maybe::Null => Some((name, "null")),
        Maybe::Value(kept) => Some((name, kept.text())),
    }
}

/// Makes the update of the fields that are only stored.
pub(crate) fn changes<'a>(
    fields: impl IntoIterator<Item = Option<(&'static str, &'a str)>>,
) -> Result<CarriedUpdate, Error> {
    CarriedUpdate::new(fields.into_iter().flatten())
}

/// Reads a flag that was stored, where it is there.
pub(crate) fn flag(carried: &Carried, name: &str) -> Option<bool> {
    carried.get(name).map(|text| text == "true")
}

/// Reads a text that was stored, where it is there.
pub(crate) fn text(carried: &Carried, name: &str) -> Option<String> {
    carried.get(name).and_then(|text| serde_json::from_str(text).ok())
}

/// Reads a whole number that was stored, where it is there: 3e1 is one too.
pub(crate) fn whole(carried: &Carried, name: &str) -> Option<u32> {
    let number = carried.get(name).and_then(|text| Decimal::parse(text).ok());
    number.and_then(|number| number.to_string().parse().ok())
}

/// A field that is given back as it was stored; null where it is not there.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Stored<T>(Option<Box<RawValue>>, PhantomData<T>);

impl<T> Stored<T> {
    pub(crate) fn of(carried: &Carried, name: &str) -> Self {
        let text = carried.get(name).map(str::to_owned);
        // What is stored is JSON: the engine has looked.
        Self(text.and_then(|text| RawValue::from_string(text).ok()), PhantomData)
    }
}

impl<T: Serialize> Stored<T> {
    /// Takes another value where nothing was stored.
    pub(crate) fn or(self, other: Option<T>) -> Self {
        let other = || serde_json::value::to_raw_value(&other?).ok();
        Self(self.0.or_else(other), PhantomData)
    }
}

impl<T: Describe> Describe for Stored<T> {
    fn schema() -> Schema {
        Schema::Nullable(Box::new(T::schema()))
    }
}
