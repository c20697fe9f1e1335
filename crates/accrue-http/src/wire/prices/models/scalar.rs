//! Models of one quantity.

use accrue::{JsonNumber, WrittenDecimal, price};

use super::both::configs;
use crate::shape::{Sparse, Whole};

configs! {
    /// One amount for every unit.
    Unit: UnitConfigIn, UnitConfig {
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Sparse<JsonNumber>,
        /// True if usage is prorated to the days that it is served. Fees always are.
        prorated: bool,
    }

    /// An amount for each started package of units.
    Package: PackageConfigIn, PackageConfig {
        /// Amount per package.
        package_amount: WrittenDecimal,
        /// Number of units of a package.
        package_size: Whole<0, 9_007_199_254_740_991>,
    }

    /// Graduated tiers: each prices the units that lie in it.
    Tiered: TieredConfigIn, TieredConfig {
        /// Tiers, each from where the one before ends.
        tiers: Vec<price::Tier>,
        /// True if usage is prorated to the days that it is served. Fees always are.
        prorated: bool,
    }

    /// A tier of a graduated price.
    Tier: TierIn, Tier {
        /// Lower bound of the tier; not part of it.
        first_unit: JsonNumber,
        /// Its last unit; null for the last tier.
        last_unit: Option<JsonNumber>,
        /// Amount per unit of the tier.
        unit_amount: WrittenDecimal,
    }

    /// Volume tiers: the one that the quantity lies in prices all units.
    Bulk: BulkConfigIn, BulkConfig {
        /// Tiers, by rising maximum.
        tiers: Vec<price::BulkTier>,
    }

    /// A tier of a volume price.
    BulkTier: BulkTierIn, BulkTier {
        /// Largest quantity that lies in it; null for the last tier.
        maximum_units: Option<JsonNumber>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }
}
