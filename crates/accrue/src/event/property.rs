use std::{collections::BTreeMap, fmt, sync::Arc};

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// In the order of their names, each once: there are few, and they are read far more often than
    /// written.
    sorted: Vec<(PropertyName, PropertyValue)>,
}

impl Properties {
    /// Returns the value of a property.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PropertyValue> {
        let found = self.sorted.iter().find(|(of, _)| of.as_str() == name);
        found.map(|(_, value)| value)
    }

    /// Tells whether there is a property of that name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns how many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Tells whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Returns all of them, in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&PropertyName, &PropertyValue)> {
        self.sorted.iter().map(|(name, value)| (name, value))
    }

    /// Returns their names, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &PropertyName> {
        self.sorted.iter().map(|(name, _)| name)
    }

    /// Returns their values, in the order of their names.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &PropertyValue> {
        self.sorted.iter().map(|(_, value)| value)
    }
}

/// Of a name that comes more than once, the last value is kept.
impl FromIterator<(PropertyName, PropertyValue)> for Properties {
    fn from_iter<I: IntoIterator<Item = (PropertyName, PropertyValue)>>(properties: I) -> Self {
        let mut sorted: Vec<_> = properties.into_iter().collect();
        if !sorted.is_sorted_by(|(one, _), (next, _)| one < next) {
            sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
            sorted.dedup_by(|later, kept| {
                let is_twice = later.0 == kept.0;
                if is_twice {
                    std::mem::swap(later, kept);
                }
                is_twice
            });
        }
        Self { sorted }
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sorted = BTreeMap::<PropertyName, PropertyValue>::deserialize(deserializer)?;
        Ok(sorted.into_iter().collect())
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn properties_are_what_a_map_of_them_is(
            drawn in prop::collection::vec(("[a-c]{1,2}", any::<u64>()), 0..8),
        ) {
            let drawn = || {
                drawn.iter().map(|(name, n)| (PropertyName::parse(name.as_str()).unwrap(), PropertyValue::from(*n)))
            };
            let (properties, map): (Properties, BTreeMap<_, _>) = (drawn().collect(), drawn().collect());
            prop_assert!(properties.iter().eq(&map));
            prop_assert!(properties.keys().eq(map.keys()) && properties.values().eq(map.values()));
            prop_assert_eq!((properties.len(), properties.is_empty()), (map.len(), map.is_empty()));
            for name in ["a", "b", "cc", "d"] {
                prop_assert_eq!(properties.get(name), map.get(name));
                prop_assert_eq!(properties.contains_key(name), map.contains_key(name));
            }
            let text = serde_json::to_string(&properties).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&map).unwrap());
            prop_assert_eq!(serde_json::from_str::<Properties>(&text).unwrap(), properties);
        }
    }

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
