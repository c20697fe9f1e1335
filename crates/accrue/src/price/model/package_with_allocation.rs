use serde::{Deserialize, Serialize};

use super::{
    Part, Quantity, Rates, Rating,
    arithmetic::{check_package_size, draw, started_packages},
};
use crate::{
    Decimal, Error, WrittenDecimal,
    price::{check_bounds, check_not_negative},
};

/// One amount for each started package of the units above an allocation (price models 3.3).
///
/// The allocation is in units and comes off before packages are counted. Two parts: the free units, and the
/// packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageWithAllocation {
    /// Amount for a package.
    pub package_amount: WrittenDecimal,
    /// Number of units of a package: a whole number, at least 1.
    pub package_size: u64,
    /// Units that are free, at least 0.
    pub allocation: WrittenDecimal,
}

impl Rates for PackageWithAllocation {
    fn check(&self) -> Result<(), Error> {
        check_bounds("package_amount", self.package_amount.number())?;
        check_package_size(self.package_size)?;
        check_not_negative("allocation", self.allocation.number())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let mut units = quantity.billable();
        let free = draw(self.allocation.number(), [&mut units]);
        let packages = started_packages(&units, self.package_size);
        Rating::of(vec![
            Part::named("Allocation", free, &Decimal::zero()),
            Part::named("Packages", packages, self.package_amount.number()),
        ])
    }

    fn only_rises(&self) -> bool {
        !self.package_amount.number().is_negative()
    }
}
