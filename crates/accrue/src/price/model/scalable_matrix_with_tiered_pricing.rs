use serde::{Deserialize, Serialize};

use super::{
    DeclaredCells, LowerBoundTier, PairFactor, Quantity, Rates, Rating, Tiers,
    scaling::Factors,
    tiers::{check_rows, tier_field},
};
use crate::{Decimal, Error, PropertyName};

/// Graduated, where units of different cells count as many as their factors say (price models 4.9).
///
/// One part for each tier, in units that are multiplied by their factors: that of all other cells is 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScalableMatrixWithTieredPricing {
    /// Tiers, two or more, by rising bounds from 0 on.
    pub tiers: Vec<LowerBoundTier>,
    /// Property whose value decides on the cell.
    pub first_dimension: PropertyName,
    /// Second property whose value does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_dimension: Option<PropertyName>,
    /// Factors of cells, one or more.
    pub matrix_scaling_factors: Vec<PairFactor>,
}

impl ScalableMatrixWithTieredPricing {
    const fn factors(&self) -> Factors<'_> {
        Factors {
            first: &self.first_dimension,
            second: self.second_dimension.as_ref(),
            rows: self.matrix_scaling_factors.as_slice(),
        }
    }
}

impl Rates for ScalableMatrixWithTieredPricing {
    fn check(&self) -> Result<(), Error> {
        check_rows("tiers", self.tiers.len(), 2)?;
        Tiers::of(&self.tiers).check("unit_amount", tier_field)?;
        self.factors().check()
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.factors().declared())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        Rating::of(Tiers::of(&self.tiers).graduated(&self.factors().scaled(quantity)))
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        Tiers::of(&self.tiers).graduated_amount(&self.factors().scaled(quantity))
    }

    fn only_rises(&self) -> bool {
        Tiers::of(&self.tiers).only_rise()
    }
}
