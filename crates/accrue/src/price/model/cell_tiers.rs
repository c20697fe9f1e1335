//! Tiers of cells: rows that each name a cell and a tier of it.

use super::{DeclaredCells, Grouping, Part, Tiers};
use crate::{Decimal, Error, PropertyName, WrittenDecimal};

/// Row of a configuration: a tier of a cell.
pub(super) struct Row<'a> {
    pub(super) values: &'a [String],
    pub(super) bound: &'a WrittenDecimal,
    pub(super) unit_amount: &'a WrittenDecimal,
}

/// The tiers of each cell, in the order in which rows first name the cells.
pub(super) struct CellTiers<'a>(Vec<CellOf<'a>>);

/// A cell with its tiers.
pub(super) struct CellOf<'a> {
    pub(super) values: &'a [String],
    pub(super) tiers: Tiers<'a>,
    /// Places of its tiers among the rows.
    places: Vec<usize>,
}

impl<'a> CellTiers<'a> {
    pub(super) fn new(rows: impl IntoIterator<Item = Row<'a>>) -> Self {
        let mut cells: Vec<CellOf<'a>> = Vec::new();
        for (place, Row { values, bound, unit_amount }) in rows.into_iter().enumerate() {
            let known = cells.iter().position(|cell| cell.values == values);
            let at = known.unwrap_or(cells.len());
            if known.is_none() {
                cells.push(CellOf { values, tiers: Tiers::default(), places: Vec::new() });
            }
            if let Some(cell) = cells.get_mut(at) {
                cell.tiers.push(bound, unit_amount);
                cell.places.push(place);
            }
        }
        Self(cells)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &CellOf<'a>> {
        self.0.iter()
    }

    pub(super) fn get(&self, cell: usize) -> Option<&CellOf<'a>> {
        self.0.get(cell)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the cells by the values of some properties.
    pub(super) fn declared(
        &self,
        dimensions: impl IntoIterator<Item = PropertyName>,
    ) -> DeclaredCells {
        let values = self.iter().map(|of| of.values.iter().cloned().map(Some).collect());
        DeclaredCells::new(dimensions, values)
    }

    /// Refuses tiers of a cell that do not rise from zero. Each row is in the list of the configuration.
    pub(super) fn check(&self, list: &str) -> Result<(), Error> {
        for cell in self.iter() {
            let row = |place: usize| cell.places.get(place).copied().unwrap_or_default();
            let at = |place: usize, field: &str| format!("{list}[{}].{field}", row(place));
            cell.tiers.check("unit_amount", at)?;
        }
        Ok(())
    }

    /// Graduated: one part for each tier of each cell, told by the properties.
    pub(super) fn graduated(&self, key: &str, cells: &[Decimal]) -> Vec<Part> {
        let parts = self.iter().zip(cells).flat_map(|(cell, units)| {
            let grouped = |part| grouped(part, key, Some(cell.values.join(",")));
            cell.tiers.graduated(units).into_iter().map(grouped)
        });
        parts.collect()
    }

    pub(super) fn only_rise(&self) -> bool {
        self.iter().all(|cell| cell.tiers.only_rise())
    }
}

/// Tells the cell that a part is of; `None` for all others.
pub(super) fn grouped(part: Part, key: &str, value: Option<String>) -> Part {
    Part { grouping: Some(Grouping { key: key.to_owned(), value }), ..part }
}
