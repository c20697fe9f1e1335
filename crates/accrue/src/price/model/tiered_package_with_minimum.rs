use serde::{Deserialize, Serialize};

use super::{
    Quantity, Rates, Rating,
    arithmetic::{check_package_size, started_packages},
    tiers::{Tiers, check_minimums, check_rows, minimums_rise, tier_field},
};
use crate::{Decimal, Error, WrittenDecimal, price::Share};

/// Graduated in packages, with a least amount by the tier that all packages lie in (price models 3.8).
///
/// The least amount counts once the period is over. At a bound it is that of the lower tier, and without units
/// that of the first. One part for each tier, whose quantity is the number of packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TieredPackageWithMinimum {
    /// Tiers, two or more, by rising bounds from 0 on.
    pub tiers: Vec<MinimumPackageTier>,
    /// Number of units of a package: a whole number, at least 1.
    pub package_size: u64,
}

/// Tier that prices packages, with the least amount of a period whose packages lie in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinimumPackageTier {
    /// Lower bound of the tier in units, not part of it: a multiple of the package size, 0 for the first.
    pub tier_lower_bound: WrittenDecimal,
    /// Amount for each package of it.
    pub per_unit: WrittenDecimal,
    /// Least amount, at least 0. It need not rise from tier to tier.
    pub minimum_amount: WrittenDecimal,
}

impl TieredPackageWithMinimum {
    fn tiers(&self) -> Tiers<'_> {
        Tiers::new(self.tiers.iter().map(|tier| (&tier.tier_lower_bound, &tier.per_unit)))
    }

    fn minimums(&self) -> impl Iterator<Item = &WrittenDecimal> {
        self.tiers.iter().map(|tier| &tier.minimum_amount)
    }
}

impl Rates for TieredPackageWithMinimum {
    fn check(&self) -> Result<(), Error> {
        check_package_size(self.package_size)?;
        check_rows("tiers", self.tiers.len(), 2)?;
        self.tiers().check("per_unit", tier_field)?;
        self.tiers().check_packages(self.package_size)?;
        check_minimums(self.minimums())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        Rating::of(self.tiers().in_packages(&quantity.billable(), self.package_size))
    }

    fn minimum(&self, quantity: &Quantity, _: Share) -> Option<Decimal> {
        let packages = started_packages(&quantity.billable(), self.package_size);
        let units = packages * Decimal::from(self.package_size);
        let tier = self.tiers.get(self.tiers().volume_below(&units))?;
        Some(tier.minimum_amount.number().clone())
    }

    fn only_rises(&self) -> bool {
        self.tiers().only_rise() && minimums_rise(self.minimums())
    }
}
