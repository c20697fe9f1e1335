use serde::{Deserialize, Serialize};

use super::{
    LowerBoundTier, Quantity, Rates, Rating,
    tiers::{Tiers, check_rows, tier_field},
};
use crate::{Decimal, Error};

/// Graduated, prorated to the days that usage is served (price models 3.5).
///
/// One part for each tier, also for those that no unit has reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TieredWithProration {
    /// Tiers, by rising bounds from 0 on.
    pub tiers: Vec<LowerBoundTier>,
}

impl Rates for TieredWithProration {
    fn check(&self) -> Result<(), Error> {
        check_rows("tiers", self.tiers.len(), 1)?;
        Tiers::of(&self.tiers).check("unit_amount", tier_field)
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        Rating::of(Tiers::of(&self.tiers).graduated(&quantity.billable()))
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        Tiers::of(&self.tiers).graduated_amount(&quantity.billable())
    }

    fn is_prorated(&self) -> bool {
        true
    }

    fn only_rises(&self) -> bool {
        Tiers::of(&self.tiers).only_rise()
    }
}
