use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{Decimal, DecimalError};

/// A fraction of a whole: 0 to 1, exact. 0.15 is 15 %.
///
/// ```
/// use accrue::Fraction;
///
/// let fraction = Fraction::parse("0.15")?;
/// assert_eq!(fraction.to_string(), "0.15");
/// assert_eq!(Fraction::parse("15").unwrap_err().to_string(), "found 15, expected a fraction of 0 to 1");
/// # Ok::<(), accrue::FractionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Fraction(Decimal);

/// Error of a number that is no fraction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FractionError {
    /// Number below 0 or above 1.
    #[error("found {found}, expected a fraction of 0 to 1")]
    OutOfRange {
        /// The number.
        found: Decimal,
    },
    /// Text that is no number, or one out of bounds.
    #[error(transparent)]
    Number(#[from] DecimalError),
}

impl Fraction {
    /// Parses the text of a number of 0 to 1.
    ///
    /// # Errors
    ///
    /// If it is no number, has more than 28 digits, or lies outside.
    pub fn parse(text: &str) -> Result<Self, FractionError> {
        Self::try_from(Decimal::parse(text)?)
    }

    /// Returns the whole: 1.
    #[must_use]
    pub fn one() -> Self {
        Self(Decimal::from(1))
    }

    /// Returns the number.
    #[must_use]
    pub const fn as_decimal(&self) -> &Decimal {
        &self.0
    }
}

impl TryFrom<Decimal> for Fraction {
    type Error = FractionError;

    fn try_from(found: Decimal) -> Result<Self, FractionError> {
        found.check_bounds()?;
        if found.is_negative() || found > Decimal::from(1) {
            return Err(FractionError::OutOfRange { found });
        }
        Ok(Self(found))
    }
}

impl From<Fraction> for Decimal {
    fn from(fraction: Fraction) -> Self {
        fraction.0
    }
}

impl FromStr for Fraction {
    type Err = FractionError;

    fn from_str(text: &str) -> Result<Self, FractionError> {
        Self::parse(text)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Decimal::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_a_number_from_zero_to_one() {
        for text in ["0", "0.15", "1"] {
            let fraction: Fraction = text.parse().unwrap();
            assert_eq!(fraction.to_string(), text);
            assert_eq!(Decimal::from(fraction.clone()), *fraction.as_decimal());
            let json = serde_json::to_string(&fraction).unwrap();
            assert_eq!(serde_json::from_str::<Fraction>(&json).unwrap(), fraction);
        }
        let refused = |text: &str| Fraction::parse(text).unwrap_err().to_string();
        assert_eq!(refused("-0.1"), "found -0.1, expected a fraction of 0 to 1");
        assert_eq!(refused("1.01"), "found 1.01, expected a fraction of 0 to 1");
        assert!(matches!(Fraction::parse("half"), Err(FractionError::Number(_))));
        assert!(serde_json::from_str::<Fraction>("\"2\"").is_err());
    }
}
