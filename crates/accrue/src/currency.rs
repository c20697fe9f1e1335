//! Currencies by their ISO 4217 code.

use std::{cmp::Ordering, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{PricingUnit, limits};

/// A currency of ISO 4217.
///
/// ```
/// use accrue::Currency;
///
/// assert_eq!(Currency::parse("EUR")?.code(), "EUR");
/// assert!(Currency::parse("credits").is_err());
/// # Ok::<(), accrue::CurrencyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(iso_currency::Currency);

impl Currency {
    /// Finds a currency by its three capital letters.
    ///
    /// # Errors
    ///
    /// If there is no such currency.
    pub fn parse(code: &str) -> Result<Self, CurrencyError> {
        let found = iso_currency::Currency::from_code(code).map(Self);
        found.ok_or_else(|| CurrencyError { code: code.chars().take(16).collect() })
    }

    /// Returns the code.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.code()
    }
}

/// By their codes.
impl Ord for Currency {
    fn cmp(&self, other: &Self) -> Ordering {
        self.code().cmp(other.code())
    }
}

impl PartialOrd for Currency {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Currency {
    /// Returns the number of digits that its amounts have behind the point: 2 for the euro, 0 for
    /// the yen.
    #[must_use]
    pub fn places(self) -> u32 {
        self.0.exponent().map_or(0, u32::from)
    }
}

impl PricingUnit {
    /// Returns the currency, where it is one.
    #[must_use]
    pub fn currency(&self) -> Option<Currency> {
        Currency::parse(self).ok()
    }

    /// Returns the number of digits behind the point to which an amount is rounded, where it is.
    #[must_use]
    pub fn places(&self) -> u32 {
        self.currency().map_or(limits::PRICING_UNIT_PLACES, Currency::places)
    }
}

impl From<Currency> for PricingUnit {
    fn from(currency: Currency) -> Self {
        Self::parse(currency.code()).expect("the code of a currency has three letters")
    }
}

impl FromStr for Currency {
    type Err = CurrencyError;

    /// Finds a currency by its code, as [`parse`](Self::parse) does.
    fn from_str(code: &str) -> Result<Self, CurrencyError> {
        Self::parse(code)
    }
}

impl TryFrom<String> for Currency {
    type Error = CurrencyError;

    fn try_from(code: String) -> Result<Self, CurrencyError> {
        Self::parse(&code)
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.code().to_owned()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Error of a code that is of no currency.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {code:?}, expected the code of an ISO 4217 currency")]
pub struct CurrencyError {
    code: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_rounded_as_its_currency_is_and_to_two_digits_where_it_is_none() {
        let check = |unit: &str, currency: Option<&str>, places: u32| {
            let unit = PricingUnit::parse(unit).unwrap();
            assert_eq!(unit.currency().map(Currency::code), currency);
            assert_eq!(unit.currency().map(|of| of.to_string()).as_deref(), currency);
            assert_eq!(unit.places(), places);
        };
        check("EUR", Some("EUR"), 2);
        check("JPY", Some("JPY"), 0);
        check("KWD", Some("KWD"), 3);
        check("eur", None, 2);
        check("credits", None, 2);
    }

    #[test]
    fn a_pricing_unit_has_at_most_64_characters() {
        assert!(PricingUnit::parse("ü".repeat(64)).is_ok());
        assert!(PricingUnit::parse("ü".repeat(65)).is_err());
        assert!(PricingUnit::parse("").is_err());
    }
}
