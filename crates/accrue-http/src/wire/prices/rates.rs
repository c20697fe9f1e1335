//! Conversion rates of prices, as answers have them.

use accrue::{
    Decimal,
    price::{ConversionRate, Tier},
};
use serde::Serialize;

use super::models::Both;
use crate::shape::{Describe, Schema, choices, response};

/// The conversion rate of a price: as the caller gave it, where it gave the object.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum StoredRate {
    Unit(StoredUnitRate),
    Tiered(StoredTieredRate),
}

response! {
    /// A conversion rate for all.
    pub(crate) struct StoredUnitRate {
        /// Type of the rate: one rate for all.
        conversion_rate_type: ConversionRateType,
        /// Rate.
        unit_config: StoredUnitConfig,
    }

    /// Conversion rates in tiers.
    pub(crate) struct StoredTieredRate {
        /// Type of the rate: rates in tiers.
        conversion_rate_type: ConversionRateType,
        /// Rates.
        tiered_config: StoredTieredConfig,
    }

    /// A conversion rate.
    pub(crate) struct StoredUnitConfig {
        /// Amount of the invoicing currency that one unit is worth.
        unit_amount: Decimal,
    }

    /// Conversion rates in graduated tiers, of what a price comes to in a billing period.
    pub(crate) struct StoredTieredConfig {
        /// Tiers, each from where the one before ends.
        tiers: Vec<<Tier as Both>::Out>,
    }
}

impl StoredRate {
    pub(crate) fn of(rate: &ConversionRate) -> Option<Self> {
        Some(match rate {
            ConversionRate::Unit(rate) => Self::Unit(StoredUnitRate {
                conversion_rate_type: ConversionRateType::Unit,
                unit_config: StoredUnitConfig { unit_amount: rate.clone() },
            }),
            ConversionRate::Tiered(tiers) => Self::Tiered(StoredTieredRate {
                conversion_rate_type: ConversionRateType::Tiered,
                tiered_config: StoredTieredConfig { tiers: Vec::<Tier>::write(tiers) },
            }),
            _ => return None,
        })
    }
}

impl Describe for StoredRate {
    fn schema() -> Schema {
        let variants = [("unit", StoredUnitRate::schema()), ("tiered", StoredTieredRate::schema())];
        let told = |(name, schema): (&'static str, Schema)| {
            (name, schema.told_by("conversion_rate_type", name))
        };
        let variants = variants.map(told).to_vec();
        Schema::OneOf { name: "StoredRate", tag: "conversion_rate_type", variants }
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
