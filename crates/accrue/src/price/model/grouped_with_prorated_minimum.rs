use serde::{Deserialize, Serialize};

use super::{DeclaredGroups, GroupQuantity, Part, Rates, RatesGroups};
use crate::{
    Decimal, Error, PropertyName, WrittenDecimal,
    price::{Share, check_bounds, check_not_negative},
};

/// One amount for every unit of each value of a property, and at least the part of an amount that the days served
/// are worth once the period is over (price models 5.7).
///
/// Usage itself is not prorated. One part for each value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedWithProratedMinimum {
    /// Property whose value decides on the group.
    pub grouping_key: PropertyName,
    /// Amount for each unit.
    pub unit_rate: WrittenDecimal,
    /// Least amount of a group that has events, for a whole cycle.
    pub minimum: WrittenDecimal,
}

impl Rates for GroupedWithProratedMinimum {
    fn check(&self) -> Result<(), Error> {
        check_bounds("unit_rate", self.unit_rate.number())?;
        check_not_negative("minimum", self.minimum.number())
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        !self.unit_rate.number().is_negative()
    }
}

impl RatesGroups for GroupedWithProratedMinimum {
    fn groups(&self) -> DeclaredGroups {
        DeclaredGroups::by(&self.grouping_key)
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        vec![group.part(&self.grouping_key, group.billable(), self.unit_rate.number())]
    }

    fn group_minimum(&self, _: &GroupQuantity, served: Share) -> Option<Decimal> {
        Some(served.of(self.minimum.number()))
    }
}
