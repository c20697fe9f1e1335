//! Models of one quantity.

use accrue::{JsonNumber, WrittenDecimal, price};

use super::both::{WholeText, configs};
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

    /// One amount for every unit, prorated to the days that usage is served.
    UnitWithProration: UnitWithProrationConfigIn, UnitWithProrationConfig {
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }

    /// A percentage of an amount for every unit.
    UnitWithPercent: UnitWithPercentConfigIn, UnitWithPercentConfig {
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// Part of it that is charged, out of 100; at least 0.
        percent: WrittenDecimal,
    }

    /// An amount for each started package of the units above an allocation.
    PackageWithAllocation: PackageWithAllocationConfigIn, PackageWithAllocationConfig {
        /// Amount per package.
        package_amount: WrittenDecimal,
        /// Number of units of a package, a whole number.
        package_size: WholeText,
        /// Units that are free: they come off before packages are counted.
        allocation: WrittenDecimal,
    }

    /// Graduated tiers, prorated to the days that usage is served.
    TieredWithProration: TieredWithProrationConfigIn, TieredWithProrationConfig {
        /// Tiers, by rising bounds from 0 on.
        tiers: Vec<price::LowerBoundTier>,
    }

    /// A tier by its lower bound.
    LowerBoundTier: LowerBoundTierIn, LowerBoundTier {
        /// Lower bound of the tier: 0 for the first.
        tier_lower_bound: WrittenDecimal,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }

    /// Graduated tiers, with a least amount by the tier that the whole quantity lies in.
    TieredWithMinimum: TieredWithMinimumConfigIn, TieredWithMinimumConfig {
        /// Tiers, two or more, by rising bounds from 0 on.
        tiers: Vec<price::MinimumTier>,
        /// True if sub line items of nothing are left out.
        hide_zero_amount_tiers: bool,
        /// True if usage is prorated to the days that it is served, the least amount with it.
        prorate: bool,
    }

    /// A tier with the least amount of a period whose quantity lies in it.
    MinimumTier: MinimumTierIn, MinimumTier {
        /// Lower bound of the tier, not part of it: 0 for the first.
        tier_lower_bound: WrittenDecimal,
        /// Amount per unit of the tier.
        unit_amount: WrittenDecimal,
        /// Least amount of the period, once it is over.
        minimum_amount: WrittenDecimal,
    }

    /// Graduated tiers of packages: the quantity is rounded up to whole packages first.
    TieredPackage: TieredPackageConfigIn, TieredPackageConfig {
        /// Tiers, two or more, by rising bounds from 0 on.
        tiers: Vec<price::PackageTier>,
        /// Number of units of a package, a whole number.
        package_size: WholeText,
    }

    /// A tier of packages.
    PackageTier: PackageTierIn, PackageTier {
        /// Lower bound of the tier in units, not part of it: a multiple of the package size.
        tier_lower_bound: WrittenDecimal,
        /// Amount per package of the tier.
        per_unit: WrittenDecimal,
    }

    /// Graduated tiers of packages, with a least amount by the tier that all packages lie in.
    TieredPackageWithMinimum: TieredPackageWithMinimumConfigIn, TieredPackageWithMinimumConfig {
        /// Tiers, two or more, by rising bounds from 0 on.
        tiers: Vec<price::MinimumPackageTier>,
        /// Number of units of a package.
        package_size: Whole<0, 9_007_199_254_740_991>,
    }

    /// A tier of packages, with the least amount of a period whose packages lie in it.
    MinimumPackageTier: MinimumPackageTierIn, MinimumPackageTier {
        /// Lower bound of the tier in units, not part of it: a multiple of the package size.
        tier_lower_bound: WrittenDecimal,
        /// Amount per package of the tier.
        per_unit: WrittenDecimal,
        /// Least amount of the period, once it is over.
        minimum_amount: WrittenDecimal,
    }

    /// Volume tiers, prorated to the days that usage is served.
    BulkWithProration: BulkWithProrationConfigIn, BulkWithProrationConfig {
        /// Tiers, two or more, by rising bounds from 0 on.
        tiers: Vec<price::VolumeTier>,
    }

    /// A volume tier by its lower bound.
    VolumeTier: VolumeTierIn, VolumeTier {
        /// Lower bound of the tier, part of it: 0 where the first has none.
        tier_lower_bound: Option<WrittenDecimal>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }

    /// Stair steps: one amount for all units, by the last threshold that they have passed.
    ThresholdTotalAmount: ThresholdTotalAmountConfigIn, ThresholdTotalAmountConfig {
        /// Steps, two or more, by rising thresholds.
        consumption_table: Vec<price::ThresholdStep>,
        /// True if usage is prorated to the days that it is served.
        prorate: bool,
    }

    /// A step of an amount.
    ThresholdStep: ThresholdStepIn, ThresholdStep {
        /// Quantity above which the amount is charged.
        threshold: WrittenDecimal,
        /// Amount of all units.
        total_amount: WrittenDecimal,
    }
}
