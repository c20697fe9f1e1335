use serde::{Deserialize, Serialize};

use super::{Combination, DeclaredGroups, GroupQuantity, Part, Rates, RatesGroups};
use crate::{
    Decimal, Error, PropertyName, WrittenDecimal,
    price::{check_bounds, check_not_negative},
};

/// One amount for every unit of each value of a property above its own allocation, or above what is left of the
/// allocation of all, whichever is more (price models 5.5).
///
/// Values draw on the allocation of all in their order: usage without a value first, then byte by byte. One part for
/// each value, with the units that are charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CumulativeGroupedAllocation {
    /// Property whose value decides on the group.
    pub grouping_key: PropertyName,
    /// Units of each group that are free.
    pub group_allocation: WrittenDecimal,
    /// Units of all groups together that are free.
    pub cumulative_allocation: WrittenDecimal,
    /// Amount for each unit above.
    pub unit_amount: WrittenDecimal,
}

impl Rates for CumulativeGroupedAllocation {
    fn check(&self) -> Result<(), Error> {
        check_not_negative("group_allocation", self.group_allocation.number())?;
        check_not_negative("cumulative_allocation", self.cumulative_allocation.number())?;
        check_bounds("unit_amount", self.unit_amount.number())
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        !self.unit_amount.number().is_negative()
    }
}

impl RatesGroups for CumulativeGroupedAllocation {
    fn groups(&self) -> DeclaredGroups {
        DeclaredGroups::by(&self.grouping_key)
    }

    /// Rates a group as if it were the only one.
    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        self.rate_in_order(std::slice::from_ref(group))
    }

    fn combination(&self) -> Combination {
        Combination::InOrder
    }

    fn rate_in_order(&self, groups: &[GroupQuantity]) -> Vec<Part> {
        let above = |units: &Decimal, allocation: &WrittenDecimal| {
            (units - allocation.number()).max(Decimal::zero())
        };
        let (mut so_far, mut before) = (Decimal::zero(), Decimal::zero());
        let parts = groups.iter().map(|group| {
            let units = group.billable();
            so_far += &units;
            let over = above(&so_far, &self.cumulative_allocation);
            let own = above(&units, &self.group_allocation).max(&over - &before);
            before = over;
            group.part(&self.grouping_key, own, self.unit_amount.number())
        });
        parts.collect()
    }
}
