use serde::{Deserialize, Serialize};

use super::{Quantity, Rates, Rating};
use crate::{Decimal, Error, PropertyName};

/// A unit amount for each combination of up to two properties of the events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// The properties whose values decide on the cell, one or two.
    pub dimensions: Vec<PropertyName>,
    /// What a unit costs that is in no cell.
    pub default_unit_amount: Decimal,
    /// The cells.
    pub matrix_values: Vec<MatrixCell>,
}

/// A cell of a matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// The values of the dimensions that its events have, in their order; `None` where the property
    /// is missing. A number or a boolean is compared by its text.
    pub dimension_values: Vec<Option<String>>,
    /// What a unit costs.
    pub unit_amount: Decimal,
}

impl Rates for Matrix {
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn rate(&self, _: &Quantity) -> Rating {
        Rating { amount: Decimal::zero(), parts: Vec::new() }
    }
}
