//! Models that divide usage into cells.

use accrue::{JsonNumber, PropertyName, WrittenDecimal, price};

use super::both::configs;
use crate::shape::Sparse;

configs! {
    /// A unit amount for each combination of values of one to ten properties.
    Matrix: MatrixConfigIn, MatrixConfig {
        /// Properties, one to ten; a null behind them is none.
        dimensions: Vec<Option<PropertyName>>,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// What the quantity in no cell is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Sparse<JsonNumber>,
        /// Cells.
        matrix_values: Vec<price::MatrixCell>,
    }

    /// A cell of a matrix.
    MatrixCell: MatrixValueIn, MatrixValue {
        /// Values of the dimensions; null for events that have none.
        dimension_values: Vec<Option<String>>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity in the cell is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Sparse<JsonNumber>,
    }
}
