use serde::{Deserialize, Serialize};

use super::{DeclaredCells, Matrix, Part, Quantity, Rates, Rating, arithmetic::draw};
use crate::{Decimal, Error, WrittenDecimal, price::check_not_negative};

/// Matrix whose cells share an allocation of free units (price models 4.4).
///
/// Cells draw on it in their order, the default cell last; scaling factors apply to what is left. The parts of a
/// matrix, and one of the units that are free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixWithAllocation {
    /// Matrix that rates what is left, of one cell or more.
    pub matrix: Matrix,
    /// Units that are free, of all cells together, at least 0.
    pub allocation: WrittenDecimal,
}

impl Rates for MatrixWithAllocation {
    fn check(&self) -> Result<(), Error> {
        self.matrix.check()?;
        self.matrix.cells().map_or(Ok(()), |of| of.check_sizes("matrix_values"))?;
        check_not_negative("allocation", self.allocation.number())
    }

    fn cells(&self) -> Option<DeclaredCells> {
        self.matrix.cells()
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (mut cells, others) = quantity.in_cells(self.matrix.matrix_values.len());
        cells.push(others);
        let free = draw(self.allocation.number(), &mut cells);
        let mut parts = self.matrix.rate(&Quantity::Cells(cells)).parts;
        parts.push(Part::named("Allocation", free, &Decimal::zero()));
        Rating::of(parts)
    }

    fn only_rises(&self) -> bool {
        self.matrix.only_rises()
    }
}
