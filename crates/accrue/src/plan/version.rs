use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Agreed, Placed, Plan, PlanPrice, PlanVersion, check_phase, prices};
use crate::{
    Error, PlanId, PriceId, Timestamp,
    price::{AdjustmentScope, Cycle, NewAdjustment, Price, ScopedAdjustment, check_no_units_off},
};

/// Version of a plan, with its prices. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PricedVersion {
    /// Plan that it is a version of.
    pub plan_id: PlanId,
    /// Its number.
    pub version: PlanVersion,
    /// Its prices, in the order in which they were given.
    pub prices: Vec<Price>,
    /// Its adjustments, in the order in which they were given.
    pub adjustments: Vec<ScopedAdjustment>,
    /// Prices of earlier versions by those that took their places.
    pub replaces: BTreeMap<PriceId, PriceId>,
    /// Billing cycle of its subscriptions: the shortest of its prices' (a month counts 30 days), and a
    /// month where none has one.
    pub cycle: Cycle,
    /// Instant at which it was created.
    pub created_at: Timestamp,
}

/// Version of a plan to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewPlanVersion {
    /// Its prices, at most 100. Those of earlier versions are its own only where it names them.
    pub prices: Vec<PlanPrice>,
    /// Its adjustments. Those of earlier versions are not its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<NewAdjustment>,
    /// Effect on the plan's default version.
    pub default: DefaultVersion,
}

/// Effect of a new version on the plan's default version, which subscriptions are created on unless
/// they choose another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultVersion {
    /// The default version stays.
    #[default]
    Keep,
    /// The new version becomes the default: `set_as_default`.
    Replace,
}

impl NewPlanVersion {
    /// Prepares a version with prices that leaves the plan's default version as it is.
    pub fn new(prices: impl IntoIterator<Item = PlanPrice>) -> Self {
        let (prices, adjustments) = (prices.into_iter().collect(), Vec::new());
        Self { prices, adjustments, default: DefaultVersion::Keep }
    }

    /// Says everything that is wrong with it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        prices::check_count(&self.prices)
    }
}

impl PricedVersion {
    /// Decides whether the prices can be a version together.
    pub(crate) fn decide(
        plan_id: PlanId,
        version: PlanVersion,
        (prices, placed): (Vec<Price>, &[Placed]),
        agreed: Agreed<'_>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        prices::check_together(&prices)?;
        let references = Placed::references(placed, &prices)?;
        let replaces = placed.iter().zip(&prices);
        let replaces = replaces.filter_map(|(of, price)| Some((price.id, of.replaces?))).collect();
        let cycle = Cycle::shortest(prices.iter().map(|price| price.cadence));
        let adjustments = agreed.decide((plan_id, version), (&prices, &references), now)?;
        check_no_units_off(&prices, &adjustments)?;
        Ok(Self { plan_id, version, prices, adjustments, replaces, cycle, created_at: now })
    }
    /// Refuses prices and adjustments that are of no phase of its plan, where that has phases, or of one where it has
    /// none (subscriptions 5.1).
    pub(crate) fn check_phases(&self, plan: &Plan) -> Result<(), Error> {
        for price in &self.prices {
            let what = format_args!("the price {}", price.id);
            check_phase(price.plan_phase_order, &plan.phases, what)?;
        }
        for AdjustmentScope { id, plan_phase_order, .. } in
            self.adjustments.iter().map(|of| &of.scope)
        {
            check_phase(*plan_phase_order, &plan.phases, format_args!("the adjustment {id}"))?;
        }
        Ok(())
    }
}
