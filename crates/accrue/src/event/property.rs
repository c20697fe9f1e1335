use std::{collections::BTreeMap, fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Decimal, PropertyName, limits, text::json_bytes};

/// The value of a property: a scalar. Null comes before booleans, those before numbers and strings.
///
/// In documents it is as in JSON, but for a number that is no integer below 2^53: that is `["1.5"]`, so
/// that its digits survive every store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PropertyValue {
    /// No value: the same as a property that is not there.
    Null,
    /// True or false.
    Boolean(bool),
    /// An exact number.
    Number(Decimal),
    /// A string.
    Text(Arc<str>),
}

impl PropertyValue {
    /// Returns the bytes that JSON takes for it; a number counts as the longest that comes in.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => json_bytes(text),
            Self::Number(_) => limits::DECIMAL_DIGITS,
            Self::Boolean(_) | Self::Null => 5,
        }
    }
}

impl From<bool> for PropertyValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<Decimal> for PropertyValue {
    fn from(value: Decimal) -> Self {
        Self::Number(value)
    }
}

impl From<u64> for PropertyValue {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl From<&str> for PropertyValue {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

/// The properties of an event by name.
///
/// ```
/// use accrue::{PropertyName, usage::Properties};
///
/// let properties =
///     Properties::from_iter([(PropertyName::parse("input_tokens")?, 374_u64.into())]);
/// assert!(properties.contains_key("input_tokens"));
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Properties(BTreeMap<PropertyName, PropertyValue>);

impl Properties {
    /// Returns the value of a property.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PropertyValue> {
        self.0.get(name)
    }

    /// Tells whether there is a property of that name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl Deref for Properties {
    type Target = BTreeMap<PropertyName, PropertyValue>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FromIterator<(PropertyName, PropertyValue)> for Properties {
    fn from_iter<I: IntoIterator<Item = (PropertyName, PropertyValue)>>(properties: I) -> Self {
        Self(properties.into_iter().collect())
    }
}

impl Serialize for PropertyValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Number(value) => match value.as_integer() {
                Some(integer) => serializer.serialize_i64(integer),
                None => serializer.collect_seq([value]),
            },
        }
    }
}

impl<'de> Deserialize<'de> for PropertyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;

        impl<'de> de::Visitor<'de> for Scalar {
            type Value = PropertyValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("null, a boolean, a string, an integer or a list of a number")
            }

            fn visit_unit<E: de::Error>(self) -> Result<PropertyValue, E> {
                Ok(PropertyValue::Null)
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<PropertyValue, E> {
                Ok(PropertyValue::Boolean(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<PropertyValue, E> {
                Ok(PropertyValue::Text(value.into()))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<PropertyValue, E> {
                Ok(PropertyValue::Number(value.into()))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<PropertyValue, E> {
                Ok(PropertyValue::Number(value.into()))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<PropertyValue, A::Error> {
                let number = list.next_element()?;
                number.map(PropertyValue::Number).ok_or_else(|| de::Error::invalid_length(0, &self))
            }
        }

        deserializer.deserialize_any(Scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scalar_survives_a_document() {
        let check = |value: PropertyValue, text: &str| {
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
            assert_eq!(serde_json::from_str::<PropertyValue>(text).unwrap(), value);
        };
        check(PropertyValue::Null, "null");
        check(true.into(), "true");
        check("n".into(), "\"n\"");
        let digits = "1234567890.1234567890123456";
        check(Decimal::parse(digits).unwrap().into(), &format!("[\"{digits}\"]"));
        check(0_u64.into(), "0");
        check(Decimal::from(-9_007_199_254_740_991_i64).into(), "-9007199254740991");
        check(9_007_199_254_740_992_u64.into(), "[\"9007199254740992\"]");
        for (spelled, text) in
            [("3.0", "3"), ("-0.00", "0"), ("1e3", "1000"), ("1.50", "[\"1.5\"]")]
        {
            check(Decimal::parse(spelled).unwrap().into(), text);
        }
        assert!(serde_json::from_str::<PropertyValue>("1.5").is_err());
        assert!(serde_json::from_str::<PropertyValue>("[]").is_err());
    }
}
