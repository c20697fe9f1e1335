use serde::{Deserialize, Serialize};

use super::{DeclaredCells, Part, PartOf, Quantity, Rates, Rating, check_text};
use crate::{Decimal, Error, PropertyName, WrittenDecimal, price::check_bounds};

/// A unit amount for each of some values of a property, shown by a name of its own (price models 4.3).
///
/// Units of other values cost nothing. One part for each value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixWithDisplayName {
    /// Property whose value decides.
    pub dimension: PropertyName,
    /// Amounts of values, one or more.
    pub unit_amounts: Vec<DisplayedAmount>,
}

/// Unit amount of a value, with the name that it is shown by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisplayedAmount {
    /// The value.
    pub dimension_value: String,
    /// The name.
    pub display_name: String,
    /// Amount for a unit.
    pub unit_amount: WrittenDecimal,
}

impl MatrixWithDisplayName {
    fn declared(&self) -> DeclaredCells {
        let values = self.unit_amounts.iter().map(|row| vec![Some(row.dimension_value.clone())]);
        DeclaredCells::new([self.dimension.clone()], values)
    }
}

impl Rates for MatrixWithDisplayName {
    fn check(&self) -> Result<(), Error> {
        self.declared().check("dimension", "unit_amounts")?;
        for (place, row) in self.unit_amounts.iter().enumerate() {
            let at = |field: &str| format!("unit_amounts[{place}].{field}");
            check_bounds(at("unit_amount"), row.unit_amount.number())?;
            check_text(at("display_name"), &row.display_name)?;
        }
        Ok(())
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.declared())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (cells, _) = quantity.in_cells(self.unit_amounts.len());
        let parts = self.unit_amounts.iter().zip(cells).map(|(row, units)| {
            let of = PartOf::Cell { dimension_values: vec![Some(row.dimension_value.clone())] };
            let part = Part::new(of, units, row.unit_amount.number());
            Part { name: Some(row.display_name.clone()), ..part }
        });
        Rating::of(parts.collect())
    }

    fn cell_amount(&self, cell: usize, quantity: &Decimal) -> Option<Decimal> {
        let quantity = quantity.clone().max(Decimal::zero());
        let row = self.unit_amounts.get(cell);
        Some(row.map_or_else(Decimal::zero, |row| quantity * row.unit_amount.number()))
    }

    fn only_rises(&self) -> bool {
        self.unit_amounts.iter().all(|row| !row.unit_amount.number().is_negative())
    }
}
