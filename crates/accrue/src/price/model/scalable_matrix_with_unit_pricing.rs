use serde::{Deserialize, Serialize};

use super::{DeclaredCells, PairFactor, Part, PartOf, Quantity, Rates, Rating, scaling::Factors};
use crate::{Decimal, Error, PropertyName, WrittenDecimal, price::check_bounds};

/// One amount for every unit, where units of different cells count as many as their factors say (price models
/// 4.8).
///
/// One part for each cell, and one for all others, whose factor is 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScalableMatrixWithUnitPricing {
    /// Amount for a unit that counts once.
    pub unit_price: WrittenDecimal,
    /// Property whose value decides on the cell.
    pub first_dimension: PropertyName,
    /// Second property whose value does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_dimension: Option<PropertyName>,
    /// Factors of cells, one or more.
    pub matrix_scaling_factors: Vec<PairFactor>,
    /// Property by whose values the usage is told apart. It changes no amount, since the amount is in proportion to
    /// the units: it is kept as it is given, and parts are of cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grouping_key: Option<PropertyName>,
    /// True if usage is prorated to the days that it is served.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prorate: bool,
}

impl ScalableMatrixWithUnitPricing {
    const fn factors(&self) -> Factors<'_> {
        Factors {
            first: &self.first_dimension,
            second: self.second_dimension.as_ref(),
            rows: self.matrix_scaling_factors.as_slice(),
        }
    }
}

impl Rates for ScalableMatrixWithUnitPricing {
    fn check(&self) -> Result<(), Error> {
        check_bounds("unit_price", self.unit_price.number())?;
        self.factors().check()
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.factors().declared())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (cells, others) = quantity.in_cells(self.matrix_scaling_factors.len());
        let (factors, values) = (self.factors(), self.factors().declared().values);
        let unit_price = self.unit_price.number();
        let parts = cells.into_iter().zip(values).enumerate();
        let parts = parts.map(|(cell, (units, dimension_values))| {
            let of = PartOf::Cell { dimension_values };
            Part::scaled(of, units, Some(&factors.of(cell)), unit_price)
        });
        let default = Part::new(PartOf::DefaultCell, others, unit_price);
        Rating::of(parts.chain([default]).collect())
    }

    fn cell_amount(&self, cell: usize, quantity: &Decimal) -> Option<Decimal> {
        let quantity = quantity.clone().max(Decimal::zero());
        Some(quantity * self.factors().of(cell) * self.unit_price.number())
    }

    fn is_prorated(&self) -> bool {
        self.prorate
    }

    fn only_rises(&self) -> bool {
        !self.unit_price.number().is_negative()
    }
}
