use serde::{Deserialize, Serialize};

use super::{
    Quantity, Rates, Rating, VolumeTier,
    tiers::{Tiers, check_rows, tier_field},
};
use crate::Error;

/// Volume, prorated to the days that usage is served (price models 3.10).
///
/// One part: the tier that the quantity lies in, with all units. A quantity that is exactly a bound lies in the
/// upper tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkWithProration {
    /// Tiers, two or more, by rising bounds from 0 on.
    pub tiers: Vec<VolumeTier>,
}

impl Rates for BulkWithProration {
    fn check(&self) -> Result<(), Error> {
        check_rows("tiers", self.tiers.len(), 2)?;
        Tiers::of_volume(&self.tiers).check("unit_amount", tier_field)
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let (tiers, quantity) = (Tiers::of_volume(&self.tiers), quantity.billable());
        Rating::of(tiers.part(tiers.volume(&quantity), quantity).into_iter().collect())
    }

    fn is_prorated(&self) -> bool {
        true
    }
}
