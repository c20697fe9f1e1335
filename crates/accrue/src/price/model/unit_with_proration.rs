use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating};
use crate::{Decimal, Error, WrittenDecimal, price::check_bounds};

/// One amount for every unit, prorated to the days that usage is served (price models 3.1).
///
/// One part: all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitWithProration {
    /// Amount for a unit.
    pub unit_amount: WrittenDecimal,
}

impl Rates for UnitWithProration {
    fn check(&self) -> Result<(), Error> {
        check_bounds("unit_amount", self.unit_amount.number())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let unit_amount = self.unit_amount.number();
        Rating::of(vec![Part::new(PartOf::Whole, quantity.billable(), unit_amount)])
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        quantity.billable() * self.unit_amount.number()
    }

    fn is_prorated(&self) -> bool {
        true
    }

    fn only_rises(&self) -> bool {
        !self.unit_amount.number().is_negative()
    }
}
