//! Cells whose units count as many as their factors say.

use serde::{Deserialize, Serialize};

use super::{
    DeclaredCells, Quantity,
    cells::{check_pair, pair},
    check_scaling_factor,
};
use crate::{Decimal, Error, PropertyName, WrittenDecimal};

/// Scaling factor of a cell of one or two properties.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairFactor {
    /// Value of the first property.
    pub first_dimension_value: String,
    /// Value of the second property; `None` for events without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_dimension_value: Option<String>,
    /// What the quantity of the cell is multiplied by, more than 0.
    pub scaling_factor: WrittenDecimal,
}

/// Factors of cells; that of all others is 1.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) first: &'a PropertyName,
    pub(super) second: Option<&'a PropertyName>,
    pub(super) rows: &'a [PairFactor],
}

impl Factors<'_> {
    pub(super) fn declared(&self) -> DeclaredCells {
        let has_second = self.second.is_some();
        let values = self.rows.iter().map(|row| {
            pair(has_second, &row.first_dimension_value, row.second_dimension_value.as_ref())
        });
        let dimensions = [self.first].into_iter().chain(self.second).cloned();
        DeclaredCells::new(dimensions, values)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        for (place, row) in self.rows.iter().enumerate() {
            let at = |field: &str| format!("matrix_scaling_factors[{place}].{field}");
            check_scaling_factor(at("scaling_factor"), Some(row.scaling_factor.number()))?;
            let second = row.second_dimension_value.as_ref();
            check_pair(self.second.is_some(), second, at("second_dimension_value"))?;
        }
        self.declared().check("second_dimension", "matrix_scaling_factors")
    }

    /// Returns the factor of a cell.
    pub(super) fn of(&self, cell: usize) -> Decimal {
        let row = self.rows.get(cell);
        row.map_or_else(|| Decimal::from(1), |row| row.scaling_factor.number().clone())
    }

    /// Returns the units of all cells together, each times its factor.
    pub(super) fn scaled(&self, quantity: &Quantity) -> Decimal {
        let (cells, others) = quantity.in_cells(self.rows.len());
        let scaled = cells.iter().zip(self.rows);
        others + scaled.map(|(units, row)| units * row.scaling_factor.number()).sum::<Decimal>()
    }
}
