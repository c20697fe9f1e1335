//! Conversion rates of prices, as answers have them.

use accrue::Decimal;
use serde::Serialize;

use crate::shape::{choices, response};

response! {
    /// The conversion rate of a price, as the caller gave it.
    pub(crate) struct StoredRate {
        /// Type of the rate: one rate for all.
        conversion_rate_type: ConversionRateType,
        /// Rate.
        unit_config: StoredUnitRate,
    }

    /// A conversion rate.
    pub(crate) struct StoredUnitRate {
        /// Amount of the invoicing currency that one unit is worth.
        unit_amount: Decimal,
    }
}

/// The type of a conversion rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConversionRateType {
    Unit,
    Tiered,
}

choices! {
    ConversionRateType {
        "unit" => ConversionRateType::Unit,
        "tiered" => ConversionRateType::Tiered,
    }
}
