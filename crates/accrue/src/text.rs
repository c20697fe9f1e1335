//! Bounded strings: untrusted text becomes a type once, at the edge.

use std::{borrow::Borrow, fmt, ops::Deref, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::limits;

/// Declares bounded strings.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $what:literal, $unit:ident 1..=$max:expr $(, $rule:ident)*;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Parses a text of this kind.
            ///
            /// # Errors
            ///
            /// If it is empty, too long, or has what its kind does not allow.
            pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, TextError> {
                let text = text.into();
                let found = LengthUnit::$unit.length(&text);
                if found == 0 || found > $max {
                    return Err(TextError::Length { what: $what, found, max: $max, unit: LengthUnit::$unit });
                }
                $($rule($what, &text)?;)*
                Ok(Self(text))
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = TextError;

            /// Parses a text, as [`parse`](Self::parse) does.
            fn from_str(text: &str) -> Result<Self, TextError> {
                Self::parse(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = TextError;

            fn try_from(text: &str) -> Result<Self, TextError> {
                Self::parse(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Arc::<str>::deserialize(deserializer)?;
                Self::parse(text).map_err(de::Error::custom)
            }
        }
    )*};
}

texts! {
    /// Id of an account (tenant) of the host: 1 to 64 bytes without control characters.
    AccountId: "account id", Bytes 1..=limits::ACCOUNT_ID_BYTES, no_control_characters;
    /// Key of an idempotent operation: 1 to 64 characters without control characters (§4.5.2).
    ///
    /// ```
    /// use accrue::IdempotencyKey;
    ///
    /// assert!(IdempotencyKey::parse("k".repeat(64)).is_ok());
    /// assert!(IdempotencyKey::parse("k".repeat(65)).is_err());
    /// ```
    IdempotencyKey: "idempotency key", Characters 1..=limits::IDEMPOTENCY_KEY_CHARACTERS, no_control_characters;
    /// Key of a usage event, which is its id: 1 to 256 bytes without control characters, which JSON
    /// would write six times as long.
    EventKey: "event key", Bytes 1..=limits::EVENT_KEY_BYTES, no_control_characters;
    /// Name of a usage event: 1 to 128 bytes without NUL, not all of them spaces.
    EventName: "event name", Bytes 1..=limits::EVENT_NAME_BYTES, no_nul, not_blank;
    /// Name of a property of a usage event: 1 to 128 bytes.
    PropertyName: "property name", Bytes 1..=limits::PROPERTY_NAME_BYTES;
    /// Alias of the caller's own for a resource: 1 to 256 bytes without control characters.
    ExternalId: "external id", Bytes 1..=limits::EXTERNAL_ID_BYTES, no_control_characters;
    /// Code that a coupon is redeemed by: 1 to 256 bytes without control characters.
    RedemptionCode: "redemption code", Bytes 1..=limits::REDEMPTION_CODE_BYTES, no_control_characters;
    /// Unit of an amount: a currency of ISO 4217 by its code, or a pricing unit of the host's own, such
    /// as `credits`. 1 to 64 characters, in the case given.
    PricingUnit: "pricing unit", Characters 1..=limits::PRICING_UNIT_CHARACTERS, no_control_characters;
    /// Name for people to read: 1 to 500 characters without NUL, not all of them white space.
    Name: "name", Characters 1..=limits::NAME_CHARACTERS, no_nul, not_blank;
    /// Description for people to read: 1 to 5,000 characters without NUL.
    Description: "description", Characters 1..=limits::DESCRIPTION_CHARACTERS, no_nul;
    /// E-mail address: at most 500 characters, something on both sides of an `@`.
    Email: "e-mail address", Characters 1..=limits::EMAIL_CHARACTERS, no_control_characters, an_address;
}

impl AccountId {
    /// Stands for the host, where an operation is of no account.
    pub(crate) fn host() -> Self {
        Self("(host)".into())
    }
}

fn no_control_characters(what: &'static str, text: &str) -> Result<(), TextError> {
    if text.chars().any(char::is_control) {
        return Err(TextError::ControlCharacter { what });
    }
    Ok(())
}

/// Refuses NUL: stores and programs in other languages end a text there.
fn no_nul(what: &'static str, text: &str) -> Result<(), TextError> {
    if text.contains('\0') { Err(TextError::ControlCharacter { what }) } else { Ok(()) }
}

fn not_blank(what: &'static str, text: &str) -> Result<(), TextError> {
    if text.trim().is_empty() { Err(TextError::Blank { what }) } else { Ok(()) }
}

fn an_address(_: &'static str, text: &str) -> Result<(), TextError> {
    let sides = text.rsplit_once('@').filter(|(local, domain)| {
        let spaced = text.chars().any(char::is_whitespace);
        !local.is_empty() && !domain.is_empty() && !spaced
    });
    sides.map(|_| ()).ok_or(TextError::NotAnAddress)
}

/// Returns the number of bytes that JSON takes for a text.
pub(crate) fn json_bytes(text: &str) -> usize {
    if is_plain(text.as_bytes()) {
        return text.len();
    }
    text.chars().map(json_width).fold(0, usize::saturating_add)
}

/// Tells whether bytes are printable ASCII that JSON writes as it is. Most are, and are looked at by
/// eights.
fn is_plain(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let (words, rest) = bytes.as_chunks::<8>();
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH != 0;
    let is_plain_word = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        let is_ascii = word & HIGH == 0;
        // With the high bit set no byte borrows from the next one.
        let has_control = (word | HIGH).wrapping_sub(ONES * u64::from(b' ')) & HIGH != HIGH;
        let has = |byte: u8| has_zero(word ^ (ONES * u64::from(byte)));
        is_ascii && !has_control && !has(b'"') && !has(b'\\') && !has(0x7f)
    };
    let is_plain_byte = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    words.iter().all(is_plain_word) && rest.iter().all(is_plain_byte)
}

/// Returns the number of bytes that JSON takes for a character.
pub(crate) fn json_width(character: char) -> usize {
    match character {
        '"' | '\\' => 2,
        control if control.is_control() => 6,
        other => other.len_utf8(),
    }
}

/// Unit in which the length of a text is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LengthUnit {
    /// Bytes of UTF-8.
    Bytes,
    /// Unicode scalar values.
    Characters,
}

impl LengthUnit {
    fn length(self, text: &str) -> usize {
        match self {
            Self::Bytes => text.len(),
            Self::Characters => text.chars().count(),
        }
    }
}

impl fmt::Display for LengthUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Characters => "characters",
        })
    }
}

/// Reason why a text is not of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// Text that is empty or too long.
    #[error("{what} has {found} {unit}, expected 1 to {max}")]
    Length {
        /// Kind of the text.
        what: &'static str,
        /// Length of the text.
        found: usize,
        /// Greatest length that it may have.
        max: usize,
        /// Unit of both lengths.
        unit: LengthUnit,
    },
    /// Text with a control character.
    #[error("{what} has a control character")]
    ControlCharacter {
        /// Kind of the text.
        what: &'static str,
    },
    /// Text that is nothing but white space.
    #[error("{what} is blank")]
    Blank {
        /// Kind of the text.
        what: &'static str,
    },
    /// Text that is no e-mail address.
    #[error("e-mail address has nothing on one side of an @, or white space")]
    NotAnAddress,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_met_one_below_at_and_one_above() {
        let check = |length: usize, expect: bool| {
            assert_eq!(
                EventKey::parse("é".repeat(length / 2) + &"x".repeat(length % 2)).is_ok(),
                expect
            );
        };
        check(0, false);
        check(1, true);
        check(255, true);
        check(256, true);
        check(257, false);
    }

    #[test]
    fn s4_5_2_a_key_has_at_most_64_characters() {
        let check =
            |key: &str, expect: bool| assert_eq!(IdempotencyKey::parse(key).is_ok(), expect);
        check("", false);
        check(&"ü".repeat(64), true);
        check(&"ü".repeat(65), false);
        check("a\nb", false);
        check("a b", true);
    }

    #[test]
    fn from_str_says_what_parse_says() {
        for text in ["ada@example.com", "", "ada"] {
            assert_eq!(text.parse::<Email>(), Email::parse(text));
        }
    }

    #[test]
    fn a_name_is_not_blank_and_has_no_nul() {
        let check = |text: &str, expect: bool| {
            assert_eq!(Name::parse(text).is_ok(), expect, "{text:?}");
            assert_eq!(EventName::parse(text).is_ok(), expect, "{text:?}");
        };
        check("a", true);
        check(" a\n", true);
        check(" ", false);
        check("\t\u{2003}\n", false);
        check("a\0b", false);
        assert!(Description::parse(" ").is_ok());
        assert!(Description::parse("a\0").is_err());
    }

    #[test]
    fn an_address_has_two_sides() {
        let check =
            |text: &str, expect: bool| assert_eq!(Email::parse(text).is_ok(), expect, "{text}");
        check("ada@example.com", true);
        check("@example.com", false);
        check("ada@", false);
        check("ada", false);
        check("a da@example.com", false);
    }
}
