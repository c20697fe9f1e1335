use serde::{Deserialize, Serialize};

use super::{DeclaredGroups, GroupQuantity, Part, Rates, RatesGroups};
use crate::{
    Decimal, Error, PropertyName, WrittenDecimal,
    price::{check_bounds, check_not_negative},
};

/// One amount for every unit of each value of a property above an allocation (price models 5.4).
///
/// What a value leaves of its allocation is no other's. One part for each value, with the units above.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedAllocation {
    /// Property whose value decides on the group.
    pub grouping_key: PropertyName,
    /// Units of each group that are free.
    pub allocation: WrittenDecimal,
    /// Amount for each unit above.
    pub overage_unit_rate: WrittenDecimal,
}

impl Rates for GroupedAllocation {
    fn check(&self) -> Result<(), Error> {
        check_not_negative("allocation", self.allocation.number())?;
        check_bounds("overage_unit_rate", self.overage_unit_rate.number())
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        !self.overage_unit_rate.number().is_negative()
    }
}

impl RatesGroups for GroupedAllocation {
    fn groups(&self) -> DeclaredGroups {
        DeclaredGroups::by(&self.grouping_key)
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let over = (group.billable() - self.allocation.number()).max(Decimal::zero());
        vec![group.part(&self.grouping_key, over, self.overage_unit_rate.number())]
    }
}
