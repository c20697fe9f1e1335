//! Carried fields: those that the engine accepts and has no use for yet. They are stored and given
//! back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::{Error, limits, text::json_bytes};

/// Fields of a resource that the engine has no use for: the JSON text of each, by name.
///
/// They are texts, so that a number comes back with the digits that it came with. A field that is
/// `null` is one that is not there.
///
/// ```
/// use accrue::Carried;
///
/// let carried = Carried::new([("net_terms", "30"), ("auto_collection", "null")])?;
/// assert_eq!(carried.get("net_terms"), Some("30"));
/// assert_eq!(carried.get("auto_collection"), None);
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<String, String>", try_from = "BTreeMap<String, String>")]
pub struct Carried(BTreeMap<String, String>);

impl Carried {
    /// No fields.
    pub(crate) const NONE: Self = Self(BTreeMap::new());

    /// Creates carried fields, each with its JSON text.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where a text is not JSON, or all of
    /// them together have more than [`limits::CARRIED_BYTES`] bytes as JSON writes them.
    pub fn new<N: Into<String>, T: AsRef<str>>(
        fields: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Self, Error> {
        let mut carried = Self::NONE;
        CarriedUpdate::new(fields)?.apply(&mut carried)?;
        Ok(carried)
    }

    /// Returns the JSON text of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Lists the fields by name, each with its JSON text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Returns those of some names.
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        let of = self.0.iter().filter(|(name, _)| names.contains(&name.as_str()));
        Self(of.map(|(name, text)| (name.clone(), text.clone())).collect())
    }

    /// Returns all but the one of a name.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut fields = self.0.clone();
        fields.remove(name);
        Self(fields)
    }

    /// Tells whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn check(&self) -> Result<(), Error> {
        // Two texts in quotes, a colon and a comma.
        const AROUND: usize = 6;
        let bytes = |(name, text): (&str, &str)| {
            [json_bytes(name), json_bytes(text), AROUND].into_iter().fold(0, usize::saturating_add)
        };
        let bytes = self.iter().map(bytes).fold(0, usize::saturating_add);
        if bytes <= limits::CARRIED_BYTES {
            return Ok(());
        }
        let most = limits::CARRIED_BYTES;
        let message = format!(
            "the fields that are only stored have {bytes} bytes as JSON, expected at most {most}"
        );
        Err(Error::invalid("carried", message))
    }
}

impl TryFrom<BTreeMap<String, String>> for Carried {
    type Error = Error;

    fn try_from(fields: BTreeMap<String, String>) -> Result<Self, Error> {
        Self::new(fields)
    }
}

impl From<Carried> for BTreeMap<String, String> {
    fn from(carried: Carried) -> Self {
        carried.0
    }
}

/// Update of the fields that the engine has no use for: those that it names are replaced, or
/// removed by `null`; the others stay.
///
/// ```
/// use accrue::CarriedUpdate;
///
/// let update = CarriedUpdate::new([("net_terms", "60"), ("tax_id", "null")])?;
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CarriedUpdate(BTreeMap<String, Option<String>>);

impl CarriedUpdate {
    /// Creates an update from fields, each with its JSON text.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where a text is not JSON.
    pub fn new<N: Into<String>, T: AsRef<str>>(
        fields: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Self, Error> {
        let field = |(name, text): (N, T)| {
            let (name, text) = (name.into(), text.as_ref().trim_matches(JSON_SPACE));
            if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
                let field = format!("carried.{name}");
                return Err(Error::invalid(field, format!("not JSON: {error}")));
            }
            Ok((name, (text != "null").then(|| text.to_owned())))
        };
        fields.into_iter().map(field).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn apply(self, carried: &mut Carried) -> Result<(), Error> {
        for (name, text) in self.0 {
            match text {
                Some(text) => carried.0.insert(name, text),
                None => carried.0.remove(&name),
            };
        }
        carried.check()
    }
}

/// White space that JSON allows around a value.
const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_field_keeps_its_digits() {
        let carried = Carried::new([("a", " 1.10000000000000000000000000001e0\n")]).unwrap();
        assert_eq!(carried.get("a"), Some("1.10000000000000000000000000001e0"));
        let row = serde_json::to_string(&carried).unwrap();
        assert_eq!(row, r#"{"a":"1.10000000000000000000000000001e0"}"#);
        assert_eq!(serde_json::from_str::<Carried>(&row).unwrap(), carried);
    }

    #[test]
    fn an_update_replaces_what_it_names_and_null_removes() {
        let mut carried = Carried::new([("a", "1"), ("b", "{}"), ("c", "[]")]).unwrap();
        let update = CarriedUpdate::new([("a", "2"), ("b", "null"), ("d", "\"null\"")]).unwrap();
        update.apply(&mut carried).unwrap();
        let found: Vec<_> = carried.iter().collect();
        assert_eq!(found, [("a", "2"), ("c", "[]"), ("d", "\"null\"")]);
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_stands() {
        for text in ["", "{", "1 2", "nul", "NaN", "'a'", "\u{a0}1"] {
            let refused = CarriedUpdate::new([("a/b~", text)]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::RequestValidation, "{text}");
            assert_eq!(refused.violations()[0].field, "carried.a/b~");
        }
    }

    #[test]
    fn the_whole_is_bounded_one_below_at_and_one_above() {
        // A name and a string of JSON, whose quotes are escaped in the row.
        let of = |length: usize| {
            let text = format!("\"{}\"", "x".repeat(length));
            Carried::new([("a", text)]).map(|_| ()).map_err(|error| error.kind())
        };
        let most = limits::CARRIED_BYTES - "\"a\":\"\\\"\\\"\",".len();
        assert_eq!(of(most - 1), Ok(()));
        assert_eq!(of(most), Ok(()));
        assert_eq!(of(most + 1), Err(ErrorKind::RequestValidation));
        let mut carried = Carried::new([("a", "1")]).unwrap();
        let update = CarriedUpdate::new([("b", format!("\"{}\"", "x".repeat(most - 1)))]).unwrap();
        assert!(update.apply(&mut carried).is_err(), "what stays counts too");
    }
}
