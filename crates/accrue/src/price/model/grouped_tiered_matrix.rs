use serde::{Deserialize, Serialize};

use super::{
    DeclaredCells, Quantity, Rates, Rating, Tiers,
    cell_tiers::{CellTiers, Row, grouped},
    tiers::check_rows,
};
use crate::{Decimal, Error, PropertyName, WrittenDecimal, price::check_bounds};

/// Graduated tiers of each of some values of a property (price models 4.7).
///
/// One part for each tier of each value, and one for all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedTieredMatrix {
    /// Property whose value decides.
    pub dimension: PropertyName,
    /// Amount for a unit of any other value.
    pub default_unit_amount: WrittenDecimal,
    /// Tiers of values, one or more: the bounds of each value rise from 0 on.
    pub tiers: Vec<ValueTier>,
}

/// Tier of a value of a property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueTier {
    /// The value.
    pub dimension_value: String,
    /// Lower bound of the tier, not part of it.
    pub tier_lower_bound: WrittenDecimal,
    /// Amount for each unit of it.
    pub unit_amount: WrittenDecimal,
}

impl GroupedTieredMatrix {
    fn tiers(&self) -> CellTiers<'_> {
        CellTiers::new(self.tiers.iter().map(|tier| Row {
            values: std::slice::from_ref(&tier.dimension_value),
            bound: &tier.tier_lower_bound,
            unit_amount: &tier.unit_amount,
        }))
    }
}

impl Rates for GroupedTieredMatrix {
    fn check(&self) -> Result<(), Error> {
        check_bounds("default_unit_amount", self.default_unit_amount.number())?;
        check_rows("tiers", self.tiers.len(), 1)?;
        let tiers = self.tiers();
        tiers.declared([self.dimension.clone()]).check("dimension", "tiers")?;
        tiers.check("tiers")
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.tiers().declared([self.dimension.clone()]))
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (tiers, key) = (self.tiers(), self.dimension.as_str());
        let (cells, others) = quantity.in_cells(tiers.count());
        let mut parts = tiers.graduated(key, &cells);
        let default = Tiers::flat(&self.default_unit_amount).graduated(&others).into_iter();
        parts.extend(default.map(|part| grouped(part, key, None)));
        Rating::of(parts)
    }

    fn cell_amount(&self, cell: usize, quantity: &Decimal) -> Option<Decimal> {
        let quantity = quantity.clone().max(Decimal::zero());
        Some(match self.tiers().get(cell) {
            Some(of) => of.tiers.graduated_amount(&quantity),
            None => quantity * self.default_unit_amount.number(),
        })
    }

    fn only_rises(&self) -> bool {
        self.tiers().only_rise() && !self.default_unit_amount.number().is_negative()
    }
}
