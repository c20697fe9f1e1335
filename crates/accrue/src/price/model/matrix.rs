use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{DeclaredCells, Part, PartOf, Quantity, Rates, Rating, check_scaling_factor, scaled};
use crate::{Decimal, Error, PropertyName, WrittenDecimal, limits, price::check_bounds};

/// A unit amount for each combination of values of up to ten properties of the events.
///
/// One part for each cell in their order, also for those without units, and the default cell last. A
/// cell below zero costs nothing and takes nothing from the others. A quantity that is not given by
/// cell lies in the default cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// Properties whose values decide on the cell, 1 to 10 different ones. `None` is no dimension: it
    /// stands behind those that are, and cells may have a `None` in its place.
    pub dimensions: Vec<Option<PropertyName>>,
    /// Amount for a unit that is in no cell.
    pub default_unit_amount: WrittenDecimal,
    /// What the quantity that is in no cell is multiplied by, more than 0; 1 where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling_factor: Option<Decimal>,
    /// Cells of the matrix, one or more.
    pub matrix_values: Vec<MatrixCell>,
}

/// Cell of a matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// Values of the dimensions that its events have, in their order; `None` where the property is
    /// missing. A number or a boolean is compared by its shortest text: `1` and not `1.0`.
    pub dimension_values: Vec<Option<String>>,
    /// Amount for a unit.
    pub unit_amount: WrittenDecimal,
    /// What the quantity of the cell is multiplied by, more than 0; 1 where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling_factor: Option<Decimal>,
}

impl Matrix {
    /// Creates a configuration without scaling factors of its own.
    pub fn new(
        dimensions: impl IntoIterator<Item = PropertyName>,
        default_unit_amount: impl Into<WrittenDecimal>,
        matrix_values: impl IntoIterator<Item = MatrixCell>,
    ) -> Self {
        Self {
            dimensions: dimensions.into_iter().map(Some).collect(),
            default_unit_amount: default_unit_amount.into(),
            scaling_factor: None,
            matrix_values: matrix_values.into_iter().collect(),
        }
    }

    /// Returns the properties that decide on the cell.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyName> {
        self.dimensions.iter().flatten()
    }

    /// Returns the values of each cell, one per property.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[Option<String>]> {
        let properties = self.properties().count();
        self.matrix_values.iter().map(move |cell| cell.of_properties(properties))
    }

    fn check_dimensions(&self) -> Result<(), Error> {
        let (found, most) = (self.properties().count(), limits::DIMENSIONS);
        let mut seen = BTreeSet::new();
        let twice = self.properties().find(|property| !seen.insert(*property));
        let are_first = self.dimensions.iter().take(found).all(Option::is_some);
        let message = match twice {
            Some(twice) => format!("found {twice} twice"),
            None if found == 0 || self.dimensions.len() > most => {
                let found = if found == 0 { 0 } else { self.dimensions.len() };
                format!("found {found}, expected 1 to {most}")
            }
            None if !are_first => "found none before another one".to_owned(),
            None => return Ok(()),
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
        check_bounds(at("unit_amount"), cell.unit_amount.number())?;
        check_scaling_factor(at("scaling_factor"), cell.scaling_factor.as_ref())?;
        let properties = self.properties().count();
        let (found, beyond) = (
            cell.dimension_values.len(),
            cell.dimension_values.iter().skip(properties).any(Option::is_some),
        );
        if found < properties || found > self.dimensions.len() || beyond {
            let message = format!("found {found} values, expected {properties}, one per dimension");
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

impl MatrixCell {
    /// Creates a cell without a scaling factor.
    pub fn new(
        dimension_values: impl IntoIterator<Item = Option<String>>,
        unit_amount: impl Into<WrittenDecimal>,
    ) -> Self {
        Self {
            dimension_values: dimension_values.into_iter().collect(),
            unit_amount: unit_amount.into(),
            scaling_factor: None,
        }
    }

    /// Returns the values of so many properties.
    fn of_properties(&self, properties: usize) -> &[Option<String>] {
        self.dimension_values.get(..properties).unwrap_or(&self.dimension_values)
    }
}

impl Rates for Matrix {
    fn check(&self) -> Result<(), Error> {
        self.check_dimensions()?;
        check_bounds("default_unit_amount", self.default_unit_amount.number())?;
        check_scaling_factor("scaling_factor", self.scaling_factor.as_ref())?;
        let (cells, most) = (self.matrix_values.len(), limits::MATRIX_CELLS);
        if cells == 0 || cells > most {
            let message = format!("found {cells} cells, expected 1 to {most}");
            return Err(Error::invalid("matrix_values", message));
        }
        self.check_bytes()?;
        let (mut seen, properties) = (BTreeMap::new(), self.properties().count());
        for (index, cell) in self.matrix_values.iter().enumerate() {
            let at = |field: &str| format!("matrix_values[{index}].{field}");
            self.check_cell(cell, at)?;
            if let Some(first) = seen.insert(cell.of_properties(properties), index) {
                let message = format!("found the values of cell {first} again");
                return Err(Error::invalid(at("dimension_values"), message));
            }
        }
        Ok(())
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(DeclaredCells {
            dimensions: self.properties().cloned().collect(),
            values: self.values().map(<[_]>::to_vec).collect(),
            has_whole: false,
        })
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (cells, others) = quantity.in_cells(self.matrix_values.len());
        let properties = self.properties().count();
        let parts = self.matrix_values.iter().zip(cells).map(|(cell, units)| {
            let dimension_values = cell.of_properties(properties).to_vec();
            let (of, factor) = (PartOf::Cell { dimension_values }, cell.scaling_factor.as_ref());
            Part::scaled(of, units, factor, cell.unit_amount.number())
        });
        let (factor, unit_amount) = (self.scaling_factor.as_ref(), &self.default_unit_amount);
        let default = Part::scaled(PartOf::DefaultCell, others, factor, unit_amount.number());
        Rating::of(parts.chain([default]).collect())
    }

    fn cell_amount(&self, cell: usize, quantity: &Decimal) -> Option<Decimal> {
        let (factor, unit_amount) = match self.matrix_values.get(cell) {
            Some(cell) => (&cell.scaling_factor, &cell.unit_amount),
            None => (&self.scaling_factor, &self.default_unit_amount),
        };
        let quantity = quantity.clone().max(Decimal::zero());
        Some(scaled(quantity, factor.as_ref()) * unit_amount.number())
    }

    fn only_rises(&self) -> bool {
        let amounts = self.matrix_values.iter().map(|cell| &cell.unit_amount);
        amounts.chain([&self.default_unit_amount]).all(|amount| !amount.number().is_negative())
    }
}
