use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    DeclaredCells, DeclaredGroups, GroupQuantity, Part, Rates, RatesGroups, check_scaling_factor,
    tiers::check_rows,
};
use crate::{
    Decimal, Error, PropertyName, WrittenDecimal,
    meter::Values,
    price::{Share, check_bounds, check_not_negative},
};

/// An amount for every unit by the values of two further properties of its events, of each value of a property; and
/// at least so much for each unit of that once the period is over (price models 5.8).
///
/// One property chooses the rate, and the other one a factor of it: 1 where its value has none. Usage whose rate is
/// not there costs the minimum, without a factor. One part for each value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedWithMeteredMinimum {
    /// Property whose value decides on the group.
    pub grouping_key: PropertyName,
    /// Property whose value decides on the rate.
    pub pricing_key: PropertyName,
    /// Property whose value decides on the factor: another one.
    pub scaling_key: PropertyName,
    /// Least amount for each unit of a group.
    pub minimum_unit_amount: WrittenDecimal,
    /// Rates of values, one or more.
    pub unit_amounts: Vec<PricingAmount>,
    /// Factors of values, one or more.
    pub scaling_factors: Vec<ScalingFactor>,
}

/// Rate of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PricingAmount {
    /// The value.
    pub pricing_value: String,
    /// Amount for each unit.
    pub unit_amount: WrittenDecimal,
}

/// Factor of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScalingFactor {
    /// The value.
    pub scaling_value: String,
    /// What the rate is multiplied by, more than 0.
    pub scaling_factor: WrittenDecimal,
}

impl GroupedWithMeteredMinimum {
    /// Returns what each cell costs a unit: of each rate those with its factors, and the one without.
    fn rates(&self) -> impl Iterator<Item = Decimal> {
        self.unit_amounts.iter().flat_map(|of| {
            let rate = of.unit_amount.number();
            let scaled =
                self.scaling_factors.iter().map(move |by| rate * by.scaling_factor.number());
            scaled.chain([rate.clone()])
        })
    }

    /// Returns the values of the cells, in that order.
    fn values(&self) -> impl Iterator<Item = Values> {
        self.unit_amounts.iter().flat_map(|of| {
            let own = Some(of.pricing_value.clone());
            let factors = self.scaling_factors.iter().map(|by| Some(by.scaling_value.clone()));
            let scaled: Vec<_> = factors.map(|factor| vec![own.clone(), factor]).collect();
            scaled.into_iter().chain([vec![own]])
        })
    }

    fn declared(&self) -> DeclaredCells {
        DeclaredCells::new([self.pricing_key.clone(), self.scaling_key.clone()], self.values())
    }
}

impl Rates for GroupedWithMeteredMinimum {
    fn check(&self) -> Result<(), Error> {
        let minimum = self.minimum_unit_amount.number();
        check_not_negative("minimum_unit_amount", minimum)?;
        check_rows("unit_amounts", self.unit_amounts.len(), 1)?;
        check_rows("scaling_factors", self.scaling_factors.len(), 1)?;
        let mut seen = BTreeSet::new();
        for (place, of) in self.unit_amounts.iter().enumerate() {
            check_bounds(format!("unit_amounts[{place}].unit_amount"), of.unit_amount.number())?;
            if !seen.insert(&of.pricing_value) {
                return Err(twice(
                    format!("unit_amounts[{place}].pricing_value"),
                    &of.pricing_value,
                ));
            }
        }
        let mut seen = BTreeSet::new();
        for (place, of) in self.scaling_factors.iter().enumerate() {
            let at = |field: &str| format!("scaling_factors[{place}].{field}");
            check_scaling_factor(at("scaling_factor"), Some(of.scaling_factor.number()))?;
            if !seen.insert(&of.scaling_value) {
                return Err(twice(at("scaling_value"), &of.scaling_value));
            }
        }
        let cells = self.declared();
        cells.check_dimensions("scaling_key")?;
        cells.check_sizes("unit_amounts")
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        self.unit_amounts.iter().all(|of| !of.unit_amount.number().is_negative())
    }
}

impl RatesGroups for GroupedWithMeteredMinimum {
    fn groups(&self) -> DeclaredGroups {
        let cells = Some(self.declared());
        DeclaredGroups { cells, ..DeclaredGroups::by(&self.grouping_key) }
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let amount = self.group_amount(group);
        let part = group.part(&self.grouping_key, group.billable(), &Decimal::zero());
        vec![Part { amount, ..part }]
    }

    fn group_amount(&self, group: &GroupQuantity) -> Decimal {
        let rates: Vec<_> = self.rates().collect();
        let (cells, others) = group.quantity.in_cells(rates.len());
        let priced = cells.iter().zip(&rates).map(|(units, rate)| units * rate);
        priced.sum::<Decimal>() + others * self.minimum_unit_amount.number()
    }

    fn group_minimum(&self, group: &GroupQuantity, _: Share) -> Option<Decimal> {
        Some(group.billable() * self.minimum_unit_amount.number())
    }
}

fn twice(at: String, value: &str) -> Error {
    Error::invalid(at, format!("found {value:?} twice"))
}
