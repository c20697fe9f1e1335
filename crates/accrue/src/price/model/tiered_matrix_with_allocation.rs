use serde::{Deserialize, Serialize};

use super::{
    DeclaredCells, Part, Quantity, Rates, Rating, Tiers,
    arithmetic::draw,
    cell_tiers::{CellTiers, Row, grouped},
    tiers::check_rows,
};
use crate::{
    Decimal, Error, PropertyName, WrittenDecimal,
    price::{check_bounds, check_not_negative},
};

/// Graduated tiers of each cell of a matrix, whose cells share an allocation of free units (price models 4.6).
///
/// Cells draw on it in the order in which the tiers first name them, all others last; what is left fills the
/// tiers from 0 on. One part for each tier of each cell, one for all others, and one of the units that are free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TieredMatrixWithAllocation {
    /// Properties whose values decide on the cell, different ones.
    pub dimensions: Vec<PropertyName>,
    /// Units that are free, of all cells together, at least 0.
    pub allocation: WrittenDecimal,
    /// Amount for a unit that is in no cell.
    pub default_unit_amount: WrittenDecimal,
    /// Tiers of cells, one or more: the bounds of each cell rise from 0 on.
    pub tiers: Vec<MatrixTier>,
}

/// Tier of a cell of a matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixTier {
    /// Values of the dimensions that the cell has, in their order.
    pub dimension_values: Vec<String>,
    /// Lower bound of the tier, not part of it.
    pub tier_lower_bound: WrittenDecimal,
    /// Amount for each unit of it.
    pub unit_amount: WrittenDecimal,
}

impl TieredMatrixWithAllocation {
    fn tiers(&self) -> CellTiers<'_> {
        CellTiers::new(self.tiers.iter().map(|tier| Row {
            values: &tier.dimension_values,
            bound: &tier.tier_lower_bound,
            unit_amount: &tier.unit_amount,
        }))
    }

    fn key(&self) -> String {
        let names: Vec<_> = self.dimensions.iter().map(PropertyName::as_str).collect();
        names.join(",")
    }
}

impl Rates for TieredMatrixWithAllocation {
    fn check(&self) -> Result<(), Error> {
        check_not_negative("allocation", self.allocation.number())?;
        check_bounds("default_unit_amount", self.default_unit_amount.number())?;
        check_rows("tiers", self.tiers.len(), 1)?;
        let expected = self.dimensions.len();
        for (place, tier) in self.tiers.iter().enumerate() {
            let found = tier.dimension_values.len();
            if found != expected {
                let message = format!("found {found} values, expected {expected}");
                return Err(Error::invalid(format!("tiers[{place}].dimension_values"), message));
            }
        }
        let tiers = self.tiers();
        let cells = tiers.declared(self.dimensions.iter().cloned());
        cells.check("dimensions", "tiers")?;
        tiers.check("tiers")
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.tiers().declared(self.dimensions.iter().cloned()))
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (tiers, key) = (self.tiers(), self.key());
        let (mut cells, mut others) = quantity.in_cells(tiers.count());
        let free = draw(self.allocation.number(), cells.iter_mut().chain([&mut others]));
        let mut parts = tiers.graduated(&key, &cells);
        let default = Tiers::flat(&self.default_unit_amount).graduated(&others).into_iter();
        parts.extend(default.map(|part| grouped(part, &key, None)));
        parts.push(Part::named("Allocation", free, &Decimal::zero()));
        Rating::of(parts)
    }

    fn only_rises(&self) -> bool {
        self.tiers().only_rise() && !self.default_unit_amount.number().is_negative()
    }
}
