use std::fmt;

use accrue::{Currency, Decimal};
use serde::{Serialize, Serializer};

/// Amount of money, written with the digits of its currency at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Money {
    /// How much it is.
    pub amount: Decimal,
    /// What it is in.
    pub currency: Currency,
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.amount.with_places(self.currency.places()))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
