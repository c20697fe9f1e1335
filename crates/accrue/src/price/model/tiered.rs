use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating};
use crate::{Decimal, Error};

/// Graduated: each tier prices the units that lie in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tiered {
    /// The tiers: the first begins at zero, each begins where the one before ends, and the last has
    /// no end.
    pub tiers: Vec<Tier>,
}

/// A tier of a graduated price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// Where it begins; not part of it.
    pub first_unit: Decimal,
    /// Its last unit; `None` for the last tier.
    pub last_unit: Option<Decimal>,
    /// What each unit of it costs.
    pub unit_amount: Decimal,
}

impl Rates for Tiered {
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let quantity = quantity.total();
        let mut amount = Decimal::zero();
        let parts = self.tiers.iter().map(|tier| {
            let end =
                tier.last_unit.clone().map_or(quantity.clone(), |last| last.min(quantity.clone()));
            let units = (end - tier.first_unit.clone()).max(Decimal::zero());
            let cost = units.clone() * tier.unit_amount.clone();
            amount = std::mem::take(&mut amount) + cost.clone();
            Part {
                of: PartOf::Tier {
                    first_unit: tier.first_unit.clone(),
                    last_unit: tier.last_unit.clone(),
                },
                quantity: units,
                unit_amount: tier.unit_amount.clone(),
                amount: cost,
            }
        });
        let parts = parts.collect();
        Rating { amount, parts }
    }
}
