//! Cells that models divide usage into.

use crate::{PropertyName, meter::Values};

/// Cells that a model divides usage into: it rates a figure of each, in order, then one of all that is in none
/// of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredCells {
    /// Properties whose values decide on the cell.
    pub(crate) dimensions: Vec<PropertyName>,
    /// Values of each cell, in the order of the model.
    pub(crate) values: Vec<Values>,
    /// True where the figure of all events together is rated too: behind the others, and not their sum for
    /// every metric.
    pub(crate) has_whole: bool,
}

impl DeclaredCells {
    /// Returns the number of figures.
    pub(crate) const fn count(&self) -> usize {
        let whole = if self.has_whole { 2 } else { 1 };
        self.values.len().saturating_add(whole)
    }

    /// Returns the values of each cell, in order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[Option<String>]> {
        self.values.iter().map(Vec::as_slice)
    }
}
