use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating};
use crate::{Decimal, Error, PropertyName, limits, price::check_bounds};

/// A unit amount for each combination of up to two properties of the events.
///
/// One part for each cell in their order, also for those without units, and the default cell last. A
/// cell below zero costs nothing and takes nothing from the others. A quantity that is not given by
/// cell lies in the default cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// Properties whose values decide on the cell, 1 to 10 different ones.
    pub dimensions: Vec<PropertyName>,
    /// Amount for a unit that is in no cell.
    pub default_unit_amount: Decimal,
    /// Cells of the matrix.
    pub matrix_values: Vec<MatrixCell>,
}

/// Cell of a matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// Values of the dimensions that its events have, in their order; `None` where the property is
    /// missing. A number or a boolean is compared by its shortest text: `1` and not `1.0`.
    pub dimension_values: Vec<Option<String>>,
    /// Amount for a unit.
    pub unit_amount: Decimal,
}

impl Matrix {
    /// Returns the values of each cell.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Vec<Option<String>>> {
        self.matrix_values.iter().map(|cell| &cell.dimension_values)
    }

    fn check_dimensions(&self) -> Result<(), Error> {
        let (found, most) = (self.dimensions.len(), limits::DIMENSIONS);
        let mut seen = BTreeSet::new();
        let twice = self.dimensions.iter().find(|dimension| !seen.insert(*dimension));
        let message = match twice {
            Some(twice) => format!("found {twice} twice"),
            None if (1..=most).contains(&found) => return Ok(()),
            None => format!("found {found}, expected 1 to {most}"),
        };
        Err(Error::invalid("dimensions", message))
    }

    fn check_bytes(&self) -> Result<(), Error> {
        let found: usize = self.values().flatten().flatten().map(String::len).sum();
        let most = limits::MATRIX_VALUE_BYTES;
        if found > most {
            let message = format!("found {found} bytes of values, expected at most {most}");
            return Err(Error::invalid("matrix_values", message));
        }
        Ok(())
    }

    fn check_cell(&self, cell: &MatrixCell, at: impl Fn(&str) -> String) -> Result<(), Error> {
        check_bounds(at("unit_amount"), &cell.unit_amount)?;
        let (found, expected) = (cell.dimension_values.len(), self.dimensions.len());
        if found != expected {
            let message = format!("found {found} values, expected {expected}, one per dimension");
            return Err(Error::invalid(at("dimension_values"), message));
        }
        let most = limits::DIMENSION_VALUE_BYTES;
        let bytes = cell.dimension_values.iter().flatten().map(String::len).max().unwrap_or(0);
        if bytes > most {
            let message = format!("found a value of {bytes} bytes, expected at most {most}");
            return Err(Error::invalid(at("dimension_values"), message));
        }
        Ok(())
    }
}

impl Rates for Matrix {
    fn check(&self) -> Result<(), Error> {
        self.check_dimensions()?;
        check_bounds("default_unit_amount", &self.default_unit_amount)?;
        let (cells, most) = (self.matrix_values.len(), limits::MATRIX_CELLS);
        if cells > most {
            let message = format!("found {cells} cells, expected at most {most}");
            return Err(Error::invalid("matrix_values", message));
        }
        self.check_bytes()?;
        let mut seen = BTreeMap::new();
        for (index, cell) in self.matrix_values.iter().enumerate() {
            let at = |field: &str| format!("matrix_values[{index}].{field}");
            self.check_cell(cell, at)?;
            if let Some(first) = seen.insert(&cell.dimension_values, index) {
                let message = format!("found the values of cell {first} again");
                return Err(Error::invalid(at("dimension_values"), message));
            }
        }
        Ok(())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (cells, others): (&[Decimal], &[Decimal]) = match quantity {
            Quantity::One(quantity) => (&[], std::slice::from_ref(quantity)),
            Quantity::Cells(cells) => cells.split_at(cells.len().min(self.matrix_values.len())),
        };
        let billable = |units: &Decimal| units.clone().max(Decimal::zero());
        let units = cells.iter().map(billable).chain(std::iter::repeat_with(Decimal::zero));
        let parts = self.matrix_values.iter().zip(units).map(|(cell, units)| {
            let of = PartOf::Cell { dimension_values: cell.dimension_values.clone() };
            Part::new(of, units, &cell.unit_amount)
        });
        let others = others.iter().map(billable).sum();
        let default = Part::new(PartOf::DefaultCell, others, &self.default_unit_amount);
        Rating::of(parts.chain([default]).collect())
    }

    fn amount(&self, cell: usize, quantity: &Decimal) -> Decimal {
        let own = self.matrix_values.get(cell).map(|cell| &cell.unit_amount);
        let unit_amount = own.unwrap_or(&self.default_unit_amount).clone();
        quantity.clone().max(Decimal::zero()) * unit_amount
    }
}
