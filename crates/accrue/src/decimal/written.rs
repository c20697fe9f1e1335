//! Numbers that come back as their callers wrote them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Decimal, DecimalError};

/// A number, and the text that its caller wrote it with: `1.50` comes back as `1.50`.
///
/// Two of them are equal where their texts are; what is computed takes the [`number`](Self::number).
/// A text of more than 64 bytes comes back as the number's own. In documents it is the text, as a
/// string.
///
/// ```
/// use accrue::{Decimal, WrittenDecimal};
///
/// let amount = WrittenDecimal::parse("1.50")?;
/// assert_eq!(amount.to_string(), "1.50");
/// assert_eq!(*amount.number(), Decimal::parse("1.5")?);
/// assert_eq!(WrittenDecimal::from(Decimal::parse("1.50")?).to_string(), "1.5");
/// # Ok::<(), accrue::DecimalError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct WrittenDecimal {
    number: Decimal,
    /// The text, where it is not that of the number.
    text: Option<Box<str>>,
}

/// The most bytes of a text that is kept: those of any number in bounds, and some zeros.
const TEXT_BYTES: usize = 64;

impl WrittenDecimal {
    /// Parses a number, as [`Decimal::parse`] does, and keeps its text.
    ///
    /// # Errors
    ///
    /// Those of [`Decimal::parse`].
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        let number = Decimal::parse(text)?;
        Ok(Self::new(number, text))
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(&self) -> &Decimal {
        &self.number
    }

    fn new(number: Decimal, text: &str) -> Self {
        let is_kept = text.len() <= TEXT_BYTES && number.to_string() != text;
        Self { number, text: is_kept.then(|| text.into()) }
    }
}

impl From<Decimal> for WrittenDecimal {
    fn from(number: Decimal) -> Self {
        Self { number, text: None }
    }
}

impl From<WrittenDecimal> for Decimal {
    fn from(written: WrittenDecimal) -> Self {
        written.number
    }
}

impl FromStr for WrittenDecimal {
    type Err = DecimalError;

    /// Parses a number, as [`parse`](Self::parse) does.
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        Self::parse(text)
    }
}

impl fmt::Display for WrittenDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => f.write_str(text),
            None => fmt::Display::fmt(&self.number, f),
        }
    }
}

impl fmt::Debug for WrittenDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for WrittenDecimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WrittenDecimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_as_it_was_written() {
        for text in ["1.50", "1.5", "0.00", "-0.10", "1e2", "007"] {
            let written = WrittenDecimal::parse(text).unwrap();
            assert_eq!(written.to_string(), text);
            assert_eq!(*written.number(), Decimal::parse(text).unwrap());
            let document = serde_json::to_string(&written).unwrap();
            assert_eq!(document, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<WrittenDecimal>(&document).unwrap(), written);
        }
    }

    #[test]
    fn a_long_text_comes_back_as_its_number() {
        let check = |zeros: usize, expect: &str| {
            let text = format!("1.5{}", "0".repeat(zeros));
            let written = WrittenDecimal::parse(&text).unwrap();
            assert_eq!(written.to_string(), if expect.is_empty() { &text } else { expect });
        };
        check(TEXT_BYTES - 3, "");
        check(TEXT_BYTES - 2, "1.5");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert_eq!(WrittenDecimal::parse("1,5"), Err(DecimalError::NotANumber));
        assert!(serde_json::from_str::<WrittenDecimal>("\"many\"").is_err());
    }
}
