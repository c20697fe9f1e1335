use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating, check_scaling_factor, scaled};
use crate::{Decimal, Error, WrittenDecimal, price::check_bounds};

/// One amount for every unit (price models 3.1).
///
/// One part: all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Amount for a unit.
    pub unit_amount: WrittenDecimal,
    /// What a quantity is multiplied by, more than 0; 1 where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling_factor: Option<Decimal>,
    /// True if usage is prorated to the days that it is served.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prorated: bool,
}

impl Unit {
    /// Creates a configuration without a scaling factor, and of usage that is not prorated.
    pub fn new(unit_amount: impl Into<WrittenDecimal>) -> Self {
        Self { unit_amount: unit_amount.into(), scaling_factor: None, prorated: false }
    }
}

impl Rates for Unit {
    fn check(&self) -> Result<(), Error> {
        check_bounds("unit_amount", self.unit_amount.number())?;
        check_scaling_factor("scaling_factor", self.scaling_factor.as_ref())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let part = Part::scaled(
            PartOf::Whole,
            quantity.billable(),
            self.scaling_factor.as_ref(),
            self.unit_amount.number(),
        );
        Rating::of(vec![part])
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        scaled(quantity.billable(), self.scaling_factor.as_ref()) * self.unit_amount.number()
    }

    fn is_prorated(&self) -> bool {
        self.prorated
    }

    fn only_rises(&self) -> bool {
        !self.unit_amount.number().is_negative()
    }
}
