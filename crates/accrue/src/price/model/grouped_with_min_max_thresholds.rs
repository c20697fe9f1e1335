use serde::{Deserialize, Serialize};

use super::{DeclaredGroups, GroupQuantity, Part, Rates, RatesGroups};
use crate::{
    Decimal, Error, PropertyName, WrittenDecimal,
    price::{Share, check_bounds, check_not_negative},
};

/// One amount for every unit of each value of a property, at most so much, and at least so much once the period is
/// over (price models 5.6).
///
/// One part for each value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedWithMinMaxThresholds {
    /// Property whose value decides on the group.
    pub grouping_key: PropertyName,
    /// Amount for each unit.
    pub per_unit_rate: WrittenDecimal,
    /// Least amount of a group that has events.
    pub minimum_charge: WrittenDecimal,
    /// Greatest amount of a group.
    pub maximum_charge: WrittenDecimal,
}

impl Rates for GroupedWithMinMaxThresholds {
    fn check(&self) -> Result<(), Error> {
        let (least, most) = (self.minimum_charge.number(), self.maximum_charge.number());
        check_bounds("per_unit_rate", self.per_unit_rate.number())?;
        check_not_negative("minimum_charge", least)?;
        check_not_negative("maximum_charge", most)?;
        if most < least {
            let message = format!("found {most}, expected no less than the minimum, {least}");
            return Err(Error::invalid("maximum_charge", message));
        }
        Ok(())
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        !self.per_unit_rate.number().is_negative()
    }
}

impl RatesGroups for GroupedWithMinMaxThresholds {
    fn groups(&self) -> DeclaredGroups {
        DeclaredGroups::by(&self.grouping_key)
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let part = group.part(&self.grouping_key, group.billable(), self.per_unit_rate.number());
        let amount = part.amount.min(self.maximum_charge.number().clone());
        vec![Part { amount, ..part }]
    }

    fn group_minimum(&self, _: &GroupQuantity, _: Share) -> Option<Decimal> {
        Some(self.minimum_charge.number().clone())
    }
}
