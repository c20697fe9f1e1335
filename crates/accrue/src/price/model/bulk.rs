use serde::{Deserialize, Serialize};

use super::{Part, PartOf, Quantity, Rates, Rating, check_number_of_tiers};
use crate::{Decimal, Error, WrittenDecimal, price::check_bounds};

/// Volume: the tier that the quantity lies in prices all units.
///
/// One part: that tier, with all units. A quantity that is exactly the maximum of a tier lies in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bulk {
    /// Tiers, by rising maximum. The last may have none; where it has one, its amount is that of more units too.
    pub tiers: Vec<BulkTier>,
}

/// Tier of a volume price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkTier {
    /// Largest quantity that lies in it; `None` only for the last tier.
    pub maximum_units: Option<Decimal>,
    /// Amount for each unit.
    pub unit_amount: WrittenDecimal,
}

impl Bulk {
    /// Creates a configuration.
    pub fn new(tiers: impl IntoIterator<Item = BulkTier>) -> Self {
        Self { tiers: tiers.into_iter().collect() }
    }
}

impl BulkTier {
    /// Creates a tier.
    pub fn new(maximum_units: Option<Decimal>, unit_amount: impl Into<WrittenDecimal>) -> Self {
        Self { maximum_units, unit_amount: unit_amount.into() }
    }

    fn holds(&self, quantity: &Decimal) -> bool {
        self.maximum_units.as_ref().is_none_or(|maximum| quantity <= maximum)
    }
}

impl Rates for Bulk {
    fn check(&self) -> Result<(), Error> {
        check_number_of_tiers(self.tiers.len())?;
        let last = self.tiers.len().saturating_sub(1);
        let mut before = Decimal::zero();
        for (index, tier) in self.tiers.iter().enumerate() {
            let at = |field: &str| format!("tiers[{index}].{field}");
            check_bounds(at("unit_amount"), tier.unit_amount.number())?;
            tier.maximum_units
                .iter()
                .try_for_each(|most| check_bounds(at("maximum_units"), most))?;
            let wrong = match &tier.maximum_units {
                None if index == last => None,
                None => Some("found none, which only the last tier may have".to_owned()),
                Some(most) if *most <= before => {
                    Some(format!("found {most}, expected more than {before}"))
                }
                Some(most) => {
                    before = most.clone();
                    None
                }
            };
            if let Some(message) = wrong {
                return Err(Error::invalid(at("maximum_units"), message));
            }
        }
        Ok(())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let quantity = quantity.billable();
        let holding = self.tiers.iter().position(|tier| tier.holds(&quantity));
        let place = holding.unwrap_or(self.tiers.len().saturating_sub(1));
        let below = place.checked_sub(1).and_then(|below| self.tiers.get(below));
        let part = self.tiers.get(place).map(|tier| {
            let of = PartOf::Tier {
                first_unit: below.and_then(|below| below.maximum_units.clone()).unwrap_or_default(),
                last_unit: tier.maximum_units.clone(),
            };
            Part::new(of, quantity, tier.unit_amount.number())
        });
        Rating::of(part.into_iter().collect())
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        let quantity = quantity.billable();
        let tier = self.tiers.iter().find(|tier| tier.holds(&quantity)).or(self.tiers.last());
        tier.map_or_else(Decimal::zero, |tier| quantity * tier.unit_amount.number())
    }
}
