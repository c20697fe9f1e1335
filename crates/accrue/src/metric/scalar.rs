use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::{Decimal, Timestamp, expression::Value};

/// A value that a metric tells from others: 1 is 1.0, but not the string "1", nor true.
///
/// ```
/// use accrue::{Decimal, metric::Scalar};
///
/// let one = Scalar::Number(Decimal::parse("1")?);
/// assert_eq!(one.digest(), Scalar::Number(Decimal::parse("10e-1")?).digest());
/// assert_ne!(one.digest(), Scalar::Text("1".into()).digest());
/// # Ok::<(), accrue::DecimalError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scalar {
    /// True or false.
    Boolean(bool),
    /// An exact number.
    Number(Decimal),
    /// A string.
    Text(Arc<str>),
    /// The event's own timestamp.
    Instant(Timestamp),
}

impl Scalar {
    /// Returns 32 bytes that equal values share, and different ones do not: a SHA-256 over the type
    /// and the one text of the value.
    ///
    /// Sets of distinct values are stored by it, so it never changes.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let hash = Sha256::new();
        let hash = match self {
            Self::Boolean(value) => hash.chain_update(b"b").chain_update([u8::from(*value)]),
            Self::Number(value) => hash.chain_update(b"n").chain_update(value.to_string()),
            Self::Text(value) => hash.chain_update(b"s").chain_update(value.as_bytes()),
            Self::Instant(value) => hash.chain_update(b"t").chain_update(value.to_string()),
        };
        hash.finalize().into()
    }
}

impl From<Value<'_>> for Scalar {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Boolean(value) => Self::Boolean(value),
            Value::Number(value) => Self::Number(value.into_owned()),
            Value::Text(value) => Self::Text(value.into()),
            Value::Instant(value) => Self::Instant(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Scalar {
        Scalar::Number(Decimal::parse(text).unwrap())
    }

    #[test]
    fn equal_values_have_one_digest() {
        for text in ["1", "1.0", "1e0", "10e-1", "0.001E3"] {
            assert_eq!(number(text).digest(), number("1").digest(), "{text}");
        }
        assert_eq!(number("-0").digest(), number("0.00").digest());
        assert_eq!(number("1e3").digest(), number("1000").digest());
    }

    #[test]
    fn different_values_have_different_digests() {
        let instant = Timestamp::parse("2026-03-01T00:00:00Z").unwrap();
        let values = [
            number("1"),
            number("-1"),
            number("0"),
            number("0.1"),
            Scalar::Text("1".into()),
            Scalar::Text("".into()),
            Scalar::Text("n1".into()),
            Scalar::Text("true".into()),
            Scalar::Text("\u{1}".into()),
            Scalar::Text(instant.to_string().into()),
            Scalar::Boolean(true),
            Scalar::Boolean(false),
            Scalar::Instant(instant),
        ];
        let digests: std::collections::BTreeSet<_> = values.iter().map(Scalar::digest).collect();
        assert_eq!(digests.len(), values.len());
    }

    #[test]
    fn a_stored_digest_never_changes() {
        let check = |value: Scalar, expect: &str| {
            let hex: String = value.digest().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expect, "{value:?}");
        };
        check(
            Scalar::Boolean(true),
            "0ffaac099f9b22205f96928a311ab077b5b9a4fdecc11660663ddf04b19493d5",
        );
        check(number("1.50"), "1c1eb222f9104a55f7b64d20dfa28c79bb862fb0aeba01e97cfdf59537384496");
        check(
            Scalar::Text("1.5".into()),
            "3ca5da780689d8f98d4616f84211af06aecb996c0d3822e505026a2740abf02c",
        );
        check(
            Scalar::Instant(Timestamp::parse("2026-03-01T00:00:00Z").unwrap()),
            "4759c18adc1ca17d001eb4ff40e8bdfee9d64bdb8b17466b2d5406a873109c09",
        );
    }
}
