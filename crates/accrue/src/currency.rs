//! Currencies by their ISO 4217 code.

use std::fmt;

use serde::{Deserialize, Serialize};

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

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// There is no currency of that code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {code:?}, expected the code of an ISO 4217 currency")]
pub struct CurrencyError {
    code: String,
}
