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
