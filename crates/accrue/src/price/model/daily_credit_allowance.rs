use serde::{Deserialize, Serialize};

use super::{DeclaredGroups, GroupQuantity, Matrix, MatrixCell, Part, Rates, RatesGroups};
use crate::{Decimal, Error, PropertyName, WrittenDecimal, price::check_not_negative};

/// A matrix whose units of each day cost nothing up to an allowance (price models 5.10).
///
/// The day is the text of a property of the events, whatever that is: those without it have one more day. What a day
/// leaves of its allowance is lost. One part for each day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyCreditAllowance {
    /// Property that says the day.
    pub event_day_property: PropertyName,
    /// Properties that decide on the cell, one or two; a null behind them is none.
    pub dimensions: Vec<Option<PropertyName>>,
    /// Amount for each unit that is in no cell.
    pub default_unit_amount: WrittenDecimal,
    /// Amount of each day that is free.
    pub daily_allowance: WrittenDecimal,
    /// Cells, one or more.
    pub matrix_values: Vec<DailyAmount>,
}

/// The unit amount of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyAmount {
    /// Values of the dimensions; `None` for events that have none.
    pub dimension_values: Vec<Option<String>>,
    /// Amount for each unit.
    pub unit_amount: WrittenDecimal,
}

impl DailyCreditAllowance {
    /// The most properties that decide on the cell.
    const DIMENSIONS: usize = 2;

    fn matrix(&self) -> Matrix {
        let cell = |of: &DailyAmount| {
            MatrixCell::new(of.dimension_values.iter().cloned(), of.unit_amount.clone())
        };
        let cells = self.matrix_values.iter().map(cell);
        let mut matrix = Matrix::new([], self.default_unit_amount.clone(), cells);
        matrix.dimensions.clone_from(&self.dimensions);
        matrix
    }
}

impl Rates for DailyCreditAllowance {
    fn check(&self) -> Result<(), Error> {
        let (found, most) = (self.dimensions.len(), Self::DIMENSIONS);
        if found > most {
            return Err(Error::invalid(
                "dimensions",
                format!("found {found}, expected 1 to {most}"),
            ));
        }
        let matrix = self.matrix();
        matrix.check()?;
        matrix.cells().map_or(Ok(()), |of| of.check_sizes("matrix_values"))?;
        check_not_negative("daily_allowance", self.daily_allowance.number())
    }

    fn grouped(&self) -> Option<&dyn RatesGroups> {
        Some(self)
    }

    fn only_rises(&self) -> bool {
        let amounts = self.matrix_values.iter().map(|cell| &cell.unit_amount);
        amounts.chain([&self.default_unit_amount]).all(|amount| !amount.number().is_negative())
    }
}

impl RatesGroups for DailyCreditAllowance {
    fn groups(&self) -> DeclaredGroups {
        let cells = self.matrix().cells();
        DeclaredGroups { cells, ..DeclaredGroups::by(&self.event_day_property) }
    }

    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let amount = self.group_amount(group);
        let part = group.part(&self.event_day_property, group.billable(), &Decimal::zero());
        vec![Part { amount, ..part }]
    }

    fn group_amount(&self, group: &GroupQuantity) -> Decimal {
        let (cells, others) = group.quantity.in_cells(self.matrix_values.len());
        let rows = cells.iter().zip(&self.matrix_values);
        let priced = rows.map(|(units, cell)| units * cell.unit_amount.number());
        let used = priced.sum::<Decimal>() + others * self.default_unit_amount.number();
        (used - self.daily_allowance.number()).max(Decimal::zero())
    }
}
