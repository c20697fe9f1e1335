use serde::{Deserialize, Serialize};

use super::{Quantity, Rates, Rating};
use crate::{Decimal, Error};

/// So much for each started package of units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// What a package costs.
    pub package_amount: Decimal,
    /// How many units it has: a whole number, at least 1.
    pub package_size: u64,
}

impl Rates for Package {
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn rate(&self, _: &Quantity) -> Rating {
        Rating { amount: Decimal::zero(), parts: Vec::new() }
    }
}
