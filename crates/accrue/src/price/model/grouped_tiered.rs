use serde::{Deserialize, Serialize};

use super::{
    DeclaredGroups, GroupQuantity, LowerBoundTier, Part, Rates, RatesGroups,
    tiers::{Tiers, check_rows, tier_field},
};
use crate::{Decimal, Error, PropertyName};

/// Graduated tiers of each value of a property, whichever values there are (price models 5.1).
///
/// One part for each value and tier that it reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedTiered {
    /// Property whose value decides on the group.
    pub grouping_key: PropertyName,
    /// Tiers of each group, two or more, by rising bounds from 0 on.
    pub tiers: Vec<LowerBoundTier>,
}

impl Rates for GroupedTiered {
    fn check(&self) -> Result<(), Error> {
        check_rows("tiers", self.tiers.len(), 2)?;
        Tiers::of(&self.tiers).check("unit_amount", tier_field)
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        Tiers::of(&self.tiers).only_rise()
    }
}

impl RatesGroups for GroupedTiered {
    fn groups(&self) -> DeclaredGroups {
        DeclaredGroups::by(&self.grouping_key)
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let parts = Tiers::of(&self.tiers).graduated(&group.billable());
        group.parts(&self.grouping_key, parts)
    }

    fn group_amount(&self, group: &GroupQuantity) -> Decimal {
        Tiers::of(&self.tiers).graduated_amount(&group.billable())
    }
}
