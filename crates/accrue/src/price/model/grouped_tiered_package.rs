use serde::{Deserialize, Serialize};

use super::{
    DeclaredGroups, GroupQuantity, PackageTier, Part, Rates, RatesGroups,
    arithmetic::check_package_size,
    tiers::{Tiers, check_rows, tier_field},
};
use crate::{Error, PropertyName};

/// Graduated tiers of packages of each value of a property, whichever values there are (price models 5.2).
///
/// The quantity of each value is rounded up to whole packages by itself. One part for each value and tier that it
/// reaches, whose quantity is the number of packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedTieredPackage {
    /// Property whose value decides on the group.
    pub grouping_key: PropertyName,
    /// Number of units of a package: a whole number, at least 1.
    pub package_size: u64,
    /// Tiers of each group, two or more, by rising bounds from 0 on.
    pub tiers: Vec<PackageTier>,
}

impl GroupedTieredPackage {
    fn tiers(&self) -> Tiers<'_> {
        Tiers::new(self.tiers.iter().map(|tier| (&tier.tier_lower_bound, &tier.per_unit)))
    }
}

impl Rates for GroupedTieredPackage {
    fn check(&self) -> Result<(), Error> {
        check_package_size(self.package_size)?;
        check_rows("tiers", self.tiers.len(), 2)?;
        self.tiers().check("per_unit", tier_field)?;
        self.tiers().check_packages(self.package_size)
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        self.tiers().only_rise()
    }
}

impl RatesGroups for GroupedTieredPackage {
    fn groups(&self) -> DeclaredGroups {
        DeclaredGroups::by(&self.grouping_key)
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let parts = self.tiers().in_packages(&group.billable(), self.package_size);
        group.parts(&self.grouping_key, parts)
    }
}
