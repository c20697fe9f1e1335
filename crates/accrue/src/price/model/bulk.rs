use serde::{Deserialize, Serialize};

use super::{Quantity, Rates, Rating};
use crate::{Decimal, Error};

/// Volume: the tier that the quantity lies in prices all units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bulk {
    /// The tiers, by rising maximum; the last has none.
    pub tiers: Vec<BulkTier>,
}

/// A tier of a volume price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkTier {
    /// The largest quantity that lies in it; `None` for the last tier.
    pub maximum_units: Option<Decimal>,
    /// What each unit costs.
    pub unit_amount: Decimal,
}

impl Rates for Bulk {
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn rate(&self, _: &Quantity) -> Rating {
        Rating { amount: Decimal::zero(), parts: Vec::new() }
    }
}
