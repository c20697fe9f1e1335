use serde::{Deserialize, Serialize};

use super::{
    Quantity, Rates, Rating,
    arithmetic::check_package_size,
    tiers::{Tiers, check_rows, tier_field},
};
use crate::{Error, WrittenDecimal};

/// Graduated in packages: each tier prices the started packages that lie in it (price models 3.7).
///
/// The quantity is rounded up to whole packages first. One part for each tier, whose quantity is the number of
/// packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TieredPackage {
    /// Tiers, two or more, by rising bounds from 0 on.
    pub tiers: Vec<PackageTier>,
    /// Number of units of a package: a whole number, at least 1.
    pub package_size: u64,
}

/// Tier that prices packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageTier {
    /// Lower bound of the tier in units, not part of it: a multiple of the package size, 0 for the first.
    pub tier_lower_bound: WrittenDecimal,
    /// Amount for each package of it.
    pub per_unit: WrittenDecimal,
}

impl TieredPackage {
    fn tiers(&self) -> Tiers<'_> {
        Tiers::new(self.tiers.iter().map(|tier| (&tier.tier_lower_bound, &tier.per_unit)))
    }
}

impl Rates for TieredPackage {
    fn check(&self) -> Result<(), Error> {
        check_package_size(self.package_size)?;
        check_rows("tiers", self.tiers.len(), 2)?;
        self.tiers().check("per_unit", tier_field)?;
        self.tiers().check_packages(self.package_size)
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        Rating::of(self.tiers().in_packages(&quantity.billable(), self.package_size))
    }

    fn only_rises(&self) -> bool {
        self.tiers().only_rise()
    }
}
