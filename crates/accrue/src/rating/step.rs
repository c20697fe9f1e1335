//! One adjustment, applied to amounts: of each by itself, or spread over them.

use super::group::Force;
use crate::{
    AdjustmentIntervalId, Decimal, Timestamp,
    price::{Adjustment, Discount, round_lines},
};

/// Digits that a share is computed with, behind those that it is rounded to.
pub(super) const EXACT: u32 = 20;

/// An adjustment of amounts that fall due together.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) id: AdjustmentIntervalId,
    pub(super) adjustment: Adjustment,
    pub(super) force: Force,
    /// The places of the members that it reaches.
    pub(super) reaches: Vec<usize>,
    /// End of the last of their periods, at which a minimum counts.
    pub(super) end: Timestamp,
    /// Digits behind the point that a share has at least.
    pub(super) places: u32,
}

impl Step {
    pub(super) fn apply(&self, amounts: &mut [Decimal]) {
        apply_adjustment(&self.adjustment, &self.reaches, self.places, amounts);
    }
}

/// Applies an adjustment to the amounts at some places, with shares of so many digits at least.
pub(crate) fn apply_adjustment(
    adjustment: &Adjustment,
    reaches: &[usize],
    places: u32,
    amounts: &mut [Decimal],
) {
    let reached = || reaches.iter().filter_map(|place| amounts.get(*place));
    let positive = || reached().filter(|amount| **amount > Decimal::zero()).sum::<Decimal>();
    let by = match adjustment {
        Adjustment::Discount(discount @ Discount::Percentage(_)) => {
            for place in reaches {
                if let Some(amount) = amounts.get_mut(*place) {
                    let off = discount.off(amount).max(Decimal::zero());
                    *amount -= off;
                }
            }
            return;
        }
        Adjustment::Discount(discount) => {
            let sum = positive();
            Decimal::zero() - discount.off(&sum).min(sum)
        }
        Adjustment::Minimum(least) => {
            (least.clone() - reached().sum::<Decimal>()).max(Decimal::zero())
        }
        Adjustment::Maximum(most) => {
            (most.clone() - reached().sum::<Decimal>()).min(Decimal::zero())
        }
    };
    if !by.is_zero() {
        spread(&by, reaches, places, amounts);
    }
}

/// Spreads an amount over those at some places, in proportion to them; equally where none is above zero.
fn spread(by: &Decimal, reaches: &[usize], least_places: u32, amounts: &mut [Decimal]) {
    if let [alone] = reaches {
        amounts.iter_mut().skip(*alone).take(1).for_each(|amount| *amount += by);
        return;
    }
    let reached = || reaches.iter().filter_map(|place| amounts.get(*place));
    let mut weights: Vec<_> = reached().map(|of| of.clone().max(Decimal::zero())).collect();
    if weights.iter().all(Decimal::is_zero) {
        weights.fill(Decimal::from(1));
    }
    let sum: Decimal = weights.iter().sum();
    // As many digits as any of them has: then none is taken below zero.
    let places = by.places().max(sum.places()).max(least_places);
    let exact = weights.iter().map(|of| by.share(of, &sum, places.saturating_add(EXACT)));
    let exact: Vec<_> = exact.collect();
    for (place, share) in reaches.iter().zip(round_lines(&exact, places)) {
        amounts.iter_mut().skip(*place).take(1).for_each(|amount| *amount += &share);
    }
}
