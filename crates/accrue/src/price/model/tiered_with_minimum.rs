use serde::{Deserialize, Serialize};

use super::{
    Quantity, Rates, Rating,
    tiers::{Tiers, check_minimums, check_rows, minimums_rise, tier_field},
};
use crate::{Decimal, Error, WrittenDecimal, price::Share};

/// Graduated, with a least amount by the tier that the whole quantity lies in (price models 3.6).
///
/// The least amount counts once the period is over. At a bound it is that of the lower tier, and without units
/// that of the first. One part for each tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TieredWithMinimum {
    /// Tiers, two or more, by rising bounds from 0 on.
    pub tiers: Vec<MinimumTier>,
    /// True if parts of nothing are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hide_zero_amount_tiers: bool,
    /// True if usage is prorated to the days that it is served, the least amount with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prorate: bool,
}

/// Tier with the least amount of a period whose quantity lies in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinimumTier {
    /// Lower bound of the tier, not part of it: 0 for the first.
    pub tier_lower_bound: WrittenDecimal,
    /// Amount for each unit of it.
    pub unit_amount: WrittenDecimal,
    /// Least amount, at least 0. It need not rise from tier to tier.
    pub minimum_amount: WrittenDecimal,
}

impl TieredWithMinimum {
    fn tiers(&self) -> Tiers<'_> {
        Tiers::new(self.tiers.iter().map(|tier| (&tier.tier_lower_bound, &tier.unit_amount)))
    }

    fn minimums(&self) -> impl Iterator<Item = &WrittenDecimal> {
        self.tiers.iter().map(|tier| &tier.minimum_amount)
    }
}

impl Rates for TieredWithMinimum {
    fn check(&self) -> Result<(), Error> {
        check_rows("tiers", self.tiers.len(), 2)?;
        self.tiers().check("unit_amount", tier_field)?;
        check_minimums(self.minimums())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let mut parts = self.tiers().graduated(&quantity.billable());
        parts.retain(|part| !self.hide_zero_amount_tiers || !part.amount.is_zero());
        Rating::of(parts)
    }

    fn amount(&self, quantity: &Quantity) -> Decimal {
        self.tiers().graduated_amount(&quantity.billable())
    }

    fn minimum(&self, quantity: &Quantity, _: Share) -> Option<Decimal> {
        let tier = self.tiers.get(self.tiers().volume_below(&quantity.billable()))?;
        Some(tier.minimum_amount.number().clone())
    }

    fn is_prorated(&self) -> bool {
        self.prorate
    }

    fn only_rises(&self) -> bool {
        self.tiers().only_rise() && minimums_rise(self.minimums())
    }
}
