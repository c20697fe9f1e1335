//! Texts and numbers of the examples, which are written out in them.

use std::time::Duration;

use accrue::{Currency, Decimal, ExternalId, Name, PricingUnit, alert::Thresholds};

/// How long a day lasts where no clock changes.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The pricing unit that customers prepay.
pub(crate) const CREDITS: &str = "credits";

pub(crate) fn credits() -> PricingUnit {
    PricingUnit::parse(CREDITS).expect("a short text")
}

pub(crate) fn usd() -> Currency {
    Currency::parse("USD").expect("a currency")
}

pub(crate) fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).expect("a number")
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("a short text")
}

pub(crate) fn external(text: &str) -> ExternalId {
    ExternalId::parse(text).expect("a short text")
}

pub(crate) fn thresholds(values: &[&str]) -> Result<Thresholds, accrue::Error> {
    Thresholds::new(values.iter().copied().map(decimal))
}
