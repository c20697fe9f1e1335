//! Amounts that were computed.

use accrue::{Decimal, PricingUnit};
use serde::Serialize;

use crate::shape::{Describe, Schema};

/// An amount, with the digits of its currency at least: three dollars are `3.00`.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Amount(String);

impl Amount {
    pub(crate) fn of(amount: &Decimal, unit: &PricingUnit) -> Self {
        Self(amount.with_places(unit.places()))
    }

    /// An amount whose currency is not known: exact, with two digits at least.
    pub(crate) fn without_currency(amount: &Decimal) -> Self {
        Self(amount.with_places(2))
    }

    /// No money, where no currency is known.
    pub(crate) fn nothing() -> Self {
        Self("0.00".to_owned())
    }
}

impl Describe for Amount {
    fn schema() -> Schema {
        Schema::Decimal
    }
}
