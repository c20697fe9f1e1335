use serde::{Deserialize, Serialize};

use super::{Quantity, Rates, Rating};
use crate::{
    Decimal, Error, WrittenDecimal,
    price::{Share, check_not_negative},
};

/// What other prices lack of an amount (price models 6.2).
///
/// It counts once the period is over: before that it costs nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinimumComposite {
    /// Amount that they and this one come to at least.
    pub minimum_amount: WrittenDecimal,
    /// True if it is prorated to the days that are served.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prorated: bool,
}

impl MinimumComposite {
    /// Creates the amount of a whole period, however many of its days are served.
    pub fn new(minimum_amount: impl Into<WrittenDecimal>) -> Self {
        Self { minimum_amount: minimum_amount.into(), prorated: false }
    }
}

impl Rates for MinimumComposite {
    fn check(&self) -> Result<(), Error> {
        check_not_negative("minimum_amount", self.minimum_amount.number())
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn rate(&self, _: &Quantity) -> Rating {
        Rating::of(Vec::new())
    }

    fn minimum(&self, base: &Quantity, served: Share) -> Option<Decimal> {
        let least = self.minimum_amount.number();
        let least = if self.prorated { served.of(least) } else { least.clone() };
        Some(least - base.total())
    }

    fn line_quantity(&self, _: &Quantity) -> Decimal {
        Decimal::from(1)
    }
}
