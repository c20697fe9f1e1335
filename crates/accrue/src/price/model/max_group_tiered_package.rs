use serde::{Deserialize, Serialize};

use super::{
    Combination, DeclaredGroups, GroupQuantity, LowerBoundTier, Part, Rates, RatesGroups,
    arithmetic::check_package_size,
    tiers::{Tiers, check_rows, tier_field},
};
use crate::{Error, PropertyName};

/// Graduated tiers of packages of the value of a property that has the most units (price models 5.3).
///
/// One part for each tier that it reaches: of several values with as many units the first one is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaxGroupTieredPackage {
    /// Property whose value decides on the group.
    pub grouping_key: PropertyName,
    /// Number of units of a package: a whole number, at least 1.
    pub package_size: u64,
    /// Tiers of the largest group, two or more, by rising bounds from 0 on, each a multiple of the package size: the
    /// unit amount is that of a package.
    pub tiers: Vec<LowerBoundTier>,
}

impl Rates for MaxGroupTieredPackage {
    fn check(&self) -> Result<(), Error> {
        check_package_size(self.package_size)?;
        check_rows("tiers", self.tiers.len(), 2)?;
        let tiers = Tiers::of(&self.tiers);
        tiers.check("unit_amount", tier_field)?;
        tiers.check_packages(self.package_size)
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        Tiers::of(&self.tiers).only_rise()
    }
}

impl RatesGroups for MaxGroupTieredPackage {
    fn groups(&self) -> DeclaredGroups {
        DeclaredGroups::by(&self.grouping_key)
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let parts = Tiers::of(&self.tiers).in_packages(&group.billable(), self.package_size);
        group.parts(&self.grouping_key, parts)
    }

    fn combination(&self) -> Combination {
        Combination::Greatest
    }
}
