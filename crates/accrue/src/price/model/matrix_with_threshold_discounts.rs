use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    DeclaredCells, Part, PartOf, Quantity, Rates, Rating,
    cells::{check_pair, pair},
    check_text,
};
use crate::{
    Decimal, Error, PropertyName, WrittenDecimal, limits,
    price::{check_bounds, check_not_negative},
};

/// Matrix with discounts of what groups of cells come to, below and above a threshold (price models 4.5).
///
/// The parts of a matrix, and one for each group, which takes something off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixWithThresholdDiscounts {
    /// Property whose value decides on the cell.
    pub first_dimension: PropertyName,
    /// Second property whose value does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_dimension: Option<PropertyName>,
    /// Amount for a unit that is in no cell.
    pub default_unit_amount: WrittenDecimal,
    /// Cells, one or more.
    pub matrix_values: Vec<PairAmount>,
    /// Groups of cells that have a discount: each cell is in one at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threshold_discount_groups: Vec<ThresholdDiscount>,
}

/// Unit amount of a cell of one or two properties.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairAmount {
    /// Value of the first property.
    pub first_dimension_value: String,
    /// Value of the second property; `None` for events without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_dimension_value: Option<String>,
    /// Amount for a unit.
    pub unit_amount: WrittenDecimal,
}

/// Discount of what some cells come to together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThresholdDiscount {
    /// The cells: their values, joined by commas, one after the other, joined by semicolons. A value that has
    /// either cannot be named.
    pub cell_coordinates: String,
    /// Amount up to which the one part is taken off, and above which the other is; at least 0.
    pub threshold_amount: WrittenDecimal,
    /// Part that is taken off up to the threshold: 0 to 1.
    pub below_threshold_discount_percentage: WrittenDecimal,
    /// Part that is taken off above the threshold: 0 to 1.
    pub above_threshold_discount_percentage: WrittenDecimal,
    /// Name of the discount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl MatrixWithThresholdDiscounts {
    fn declared(&self) -> DeclaredCells {
        let has_second = self.second_dimension.is_some();
        let dimensions = [&self.first_dimension].into_iter().chain(&self.second_dimension);
        let values = self.matrix_values.iter().map(|row| {
            pair(has_second, &row.first_dimension_value, row.second_dimension_value.as_ref())
        });
        DeclaredCells::new(dimensions.cloned(), values)
    }

    fn check_group(
        &self,
        group: &ThresholdDiscount,
        at: impl Fn(&str) -> String,
        seen: &mut BTreeSet<usize>,
    ) -> Result<(), Error> {
        check_not_negative(&at("threshold_amount"), group.threshold_amount.number())?;
        check_text(at("description"), group.description.as_deref().unwrap_or_default())?;
        let (found, most) = (group.cell_coordinates.len(), limits::MATRIX_VALUE_BYTES);
        if found > most {
            let message = format!("found {found} bytes, expected at most {most}");
            return Err(Error::invalid(at("cell_coordinates"), message));
        }
        for (field, part) in [
            ("below_threshold_discount_percentage", &group.below_threshold_discount_percentage),
            ("above_threshold_discount_percentage", &group.above_threshold_discount_percentage),
        ] {
            check_not_negative(&at(field), part.number())?;
            if *part.number() > Decimal::from(1) {
                let message = format!("found {part}, expected a fraction of 0 to 1");
                return Err(Error::invalid(at(field), message));
            }
        }
        for (cell, text) in group.cells(&self.matrix_values).zip(group.texts()) {
            let wrong = match cell {
                None => "which is no cell",
                Some(cell) if !seen.insert(cell) => "which is there before",
                Some(_) => continue,
            };
            let message = format!("found {text:?}, {wrong}");
            return Err(Error::invalid(at("cell_coordinates"), message));
        }
        Ok(())
    }
}

impl ThresholdDiscount {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.cell_coordinates.split(';').map(str::trim)
    }

    /// Returns the places of its cells; `None` of what is no cell.
    fn cells(&self, rows: &[PairAmount]) -> impl Iterator<Item = Option<usize>> {
        self.texts().map(move |text| {
            let mut values = text.split(',').map(str::trim);
            let (first, second) = (values.next(), values.next());
            let is_named = |row: &PairAmount| {
                Some(row.first_dimension_value.as_str()) == first
                    && row.second_dimension_value.as_deref() == second
            };
            rows.iter().position(is_named).filter(|_| values.next().is_none())
        })
    }

    /// Returns what it takes off the amounts of the cells.
    fn off(&self, rows: &[PairAmount], amounts: &[Part]) -> Decimal {
        let cells = self.cells(rows).flatten();
        let spent: Decimal =
            cells.filter_map(|cell| amounts.get(cell)).map(|part| part.amount.clone()).sum();
        let spent = spent.max(Decimal::zero());
        let below = (&spent).min(self.threshold_amount.number());
        let above = &spent - below;
        below * self.below_threshold_discount_percentage.number()
            + above * self.above_threshold_discount_percentage.number()
    }
}

impl Rates for MatrixWithThresholdDiscounts {
    fn check(&self) -> Result<(), Error> {
        let has_second = self.second_dimension.is_some();
        check_bounds("default_unit_amount", self.default_unit_amount.number())?;
        for (place, row) in self.matrix_values.iter().enumerate() {
            let at = |field: &str| format!("matrix_values[{place}].{field}");
            check_bounds(at("unit_amount"), row.unit_amount.number())?;
            let second = row.second_dimension_value.as_ref();
            check_pair(has_second, second, at("second_dimension_value"))?;
        }
        self.declared().check("second_dimension", "matrix_values")?;
        let mut seen = BTreeSet::new();
        for (place, group) in self.threshold_discount_groups.iter().enumerate() {
            let at = |field: &str| format!("threshold_discount_groups[{place}].{field}");
            self.check_group(group, at, &mut seen)?;
        }
        Ok(())
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.declared())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (cells, others) = quantity.in_cells(self.matrix_values.len());
        let values = self.declared().values.into_iter();
        let rows = self.matrix_values.iter().zip(values).zip(cells);
        let parts = rows.map(|((row, dimension_values), units)| {
            Part::new(PartOf::Cell { dimension_values }, units, row.unit_amount.number())
        });
        let default = Part::new(PartOf::DefaultCell, others, self.default_unit_amount.number());
        let mut parts: Vec<_> = parts.chain([default]).collect();
        for group in &self.threshold_discount_groups {
            let off = group.off(&self.matrix_values, &parts);
            let name = group.description.as_deref().unwrap_or("Discount");
            let quantity = Decimal::from(u64::from(!off.is_zero()));
            parts.push(Part::named(name, quantity, &-off));
        }
        Rating::of(parts)
    }

    fn only_rises(&self) -> bool {
        let amounts = self.matrix_values.iter().map(|row| &row.unit_amount);
        amounts.chain([&self.default_unit_amount]).all(|amount| !amount.number().is_negative())
    }
}
