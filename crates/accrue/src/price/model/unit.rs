use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating};
use crate::{Decimal, Error};

/// The same for every unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// What a unit costs.
    pub unit_amount: Decimal,
}

impl Rates for Unit {
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (quantity, unit_amount) =
            (quantity.total().max(Decimal::zero()), self.unit_amount.clone());
        let amount = quantity.clone() * unit_amount.clone();
        let part = Part { of: PartOf::Whole, quantity, unit_amount, amount: amount.clone() };
        Rating { amount, parts: vec![part] }
    }
}
