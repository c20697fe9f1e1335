use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating};
use crate::{
    Decimal, Error, WrittenDecimal,
    price::{check_bounds, check_not_negative},
};

/// A percentage of an amount for every unit (price models 3.1).
///
/// One part: all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitWithPercent {
    /// Amount for a unit.
    pub unit_amount: WrittenDecimal,
    /// Part of it that is charged, out of 100: at least 0, and also more than 100.
    pub percent: WrittenDecimal,
}

impl UnitWithPercent {
    /// Returns what is charged for a unit.
    fn each(&self) -> Decimal {
        self.unit_amount.number() * self.percent.number() * Decimal::last_place(2)
    }
}

impl Rates for UnitWithPercent {
    fn check(&self) -> Result<(), Error> {
        check_bounds("unit_amount", self.unit_amount.number())?;
        check_not_negative("percent", self.percent.number())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        Rating::of(vec![Part::new(PartOf::Whole, quantity.billable(), &self.each())])
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        quantity.billable() * self.each()
    }

    fn only_rises(&self) -> bool {
        !self.unit_amount.number().is_negative()
    }
}
