use serde::{Deserialize, Serialize};

use super::{DeclaredGroups, GroupQuantity, Part, Rates, RatesGroups};
use crate::{Decimal, Error, PropertyName, WrittenDecimal, price::check_bounds};

/// Every unit at the rate that its event says (price models 5.9).
///
/// The rate is a number, or a text that is one. Events without are not counted, unless there is a rate for them. One
/// part for each rate, or for each value of a property and rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventOutput {
    /// Property that says the rate.
    pub unit_rating_key: PropertyName,
    /// Property whose value decides on the group; all usage is in one where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grouping_key: Option<PropertyName>,
    /// Amount for each unit of events that say no rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_unit_rate: Option<WrittenDecimal>,
}

impl EventOutput {
    /// Returns the rate of a group; none of one that is not counted.
    fn rate_of(&self, group: &GroupQuantity) -> Option<Decimal> {
        let said = group.values.last().and_then(Option::as_deref).map(Decimal::parse);
        let default = || self.default_unit_rate.as_ref().map(|of| of.number().clone());
        said.and_then(Result::ok).or_else(default)
    }
}

impl Rates for EventOutput {
    fn check(&self) -> Result<(), Error> {
        let default = self.default_unit_rate.as_ref();
        default.map_or(Ok(()), |rate| check_bounds("default_unit_rate", rate.number()))
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }
}

impl RatesGroups for EventOutput {
    fn groups(&self) -> DeclaredGroups {
        let group_by = self.grouping_key.iter().cloned().collect();
        let rated_by = Some(self.unit_rating_key.clone());
        DeclaredGroups { group_by, rated_by, licenses_of: None, cells: None }
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let Some(rate) = self.rate_of(group) else { return Vec::new() };
        let part = Part::named(rate.to_string(), group.billable(), &rate);
        let grouping = self.grouping_key.as_ref().map(|key| group.grouping(key, 0));
        vec![Part { grouping, ..part }]
    }

    fn group_quantity(&self, group: &GroupQuantity) -> Decimal {
        self.rate_of(group).map_or_else(Decimal::zero, |_| group.billable())
    }
}
