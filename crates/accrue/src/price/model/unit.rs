use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating};
use crate::{Decimal, Error, price::check_bounds};

/// One amount for every unit.
///
/// One part: all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Amount for a unit.
    pub unit_amount: Decimal,
}

impl Rates for Unit {
    fn check(&self) -> Result<(), Error> {
        check_bounds("unit_amount", &self.unit_amount)
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let part = Part::new(PartOf::Whole, quantity.billable(), &self.unit_amount);
        Rating::of(vec![part])
    }

    fn amount(&self, _: usize, quantity: &Decimal) -> Decimal {
        quantity.clone().max(Decimal::zero()) * &self.unit_amount
    }
}
