use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Cut, InForce, Lane, PriceInterval, Subscription};
use crate::{
    AdjustmentIntervalId, CouponId, Error, PriceId, Timestamp,
    plan::PlanVersion,
    price::{Adjustment, AdjustmentScope, Discount, PhaseOrder, Price, ScopedAdjustment},
};

/// Adjustment while it is in force for a subscription (subscriptions 2.4).
///
/// It applies to charges that fall due while it is: in advance from its start on and before its end, in
/// arrears behind its start and up to its end. So for one month of both, it is the month itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AdjustmentInterval {
    /// Its id.
    pub id: AdjustmentIntervalId,
    /// Adjustment that is in force.
    pub adjustment: Adjustment,
    /// Id of the adjustment and the prices that it is over, where a plan or the subscription was given it,
    /// and where it is not a price's own or a coupon's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Box<AdjustmentScope>>,
    /// Prices that it reaches, in each interval of theirs; what is a price's own reaches that which it
    /// [came with](Self::is_over). An amount, a minimum and a maximum are spread over those that fall due together.
    pub price_ids: BTreeSet<PriceId>,
    /// Lane of the interval that it came with: it reaches no other.
    #[serde(default, skip_serializing_if = "Lane::is_first")]
    pub(crate) lane: Lane,
    /// Version of the plan that it was cut from, or under which a coupon was redeemed.
    pub plan_version: PlanVersion,
    /// Coupon that it comes from, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupon_id: Option<CouponId>,
    /// True where it is the discount of a trial (subscriptions 1.7).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_trial: bool,
    /// Instant at which it would begin, where it waits for the end of the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delayed_from: Option<Timestamp>,
    /// Its first instant.
    pub start_date: Timestamp,
    /// First instant after it; `None` where no end is known.
    pub end_date: Option<Timestamp>,
}

/// Coupon that a subscription has redeemed (invoicing 11.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RedeemedCoupon {
    /// The coupon.
    pub coupon_id: CouponId,
    /// First instant of its discount.
    pub start_date: Timestamp,
    /// First instant after it; `None` where it has no end.
    pub end_date: Option<Timestamp>,
}

impl AdjustmentInterval {
    /// Tells whether it is over the whole invoice, and not of one price.
    #[must_use]
    pub fn is_invoice_level(&self) -> bool {
        match &self.scope {
            Some(scope) => scope.is_invoice_level,
            None => self.coupon_id.is_some() || self.price_ids.len() > 1,
        }
    }

    /// Returns the phase of the plan that it is of.
    pub(super) fn phase(&self) -> Option<PhaseOrder> {
        self.scope.as_ref()?.plan_phase_order
    }

    /// Tells whether it is over what an interval of a price is charged.
    #[must_use]
    pub fn is_over(&self, interval: &PriceInterval) -> bool {
        self.reaches_in_force(interval.in_force())
    }

    /// Tells whether it came with an interval of a price, and goes with it: they have one life.
    pub(super) fn goes_with(&self, interval: &PriceInterval) -> bool {
        self.is_own_of(interval.price_id)
            && self.is_over(interval)
            && self.life() == interval.life()
    }

    /// Tells whether it came with a price.
    fn is_own_of(&self, price: PriceId) -> bool {
        self.is_own() && self.price_ids == [price].into()
    }

    pub(super) fn is_own(&self) -> bool {
        self.scope.is_none() && !self.is_trial && !self.is_invoice_level()
    }

    /// Returns the adjustment as a plan or the subscription was given it; none where it is a price's own or a
    /// coupon's.
    pub(super) fn given(&self) -> Option<ScopedAdjustment> {
        let (adjustment, scope) = (self.adjustment.clone(), self.scope.as_deref()?.clone());
        Some(ScopedAdjustment { adjustment, scope })
    }

    pub(crate) fn reaches(&self, price: PriceId) -> bool {
        self.price_ids.contains(&price)
    }

    /// Tells whether it reaches a price in force: what came with an interval reaches its lane alone.
    pub(crate) fn reaches_in_force(&self, of: InForce) -> bool {
        self.reaches(of.price) && (!self.is_own() || self.lane == of.lane)
    }
}

impl Cut {
    /// Cuts the intervals of a price's own adjustments, from the start on.
    pub(crate) fn adjustments(&self, price: &Price) -> impl Iterator<Item = AdjustmentInterval> {
        let price_id = price.id;
        price.adjustments.each().map(move |adjustment| {
            let version = self.plan_version.number().to_be_bytes();
            let rank = [adjustment.rank()];
            let names = [self.seed.as_bytes().as_slice(), price_id.as_bytes(), &version, &rank];
            let id = AdjustmentIntervalId::derived(self.created_at, &names);
            self.of_price(id, adjustment, price_id)
        })
    }

    /// Cuts the intervals of adjustments that are of one price interval alone.
    pub(super) fn own_of(
        &self,
        interval: &PriceInterval,
        own: impl Iterator<Item = Adjustment>,
        price_id: PriceId,
    ) -> Vec<AdjustmentInterval> {
        let PriceInterval { id, lane, start_date, end_date, .. } = *interval;
        let own = (0_u32..).zip(own).map(|(place, adjustment)| {
            let names = [id.as_bytes().as_slice(), &place.to_be_bytes()];
            let id = AdjustmentIntervalId::derived(self.created_at, &names);
            let own = self.of_price(id, adjustment, price_id);
            AdjustmentInterval { lane, start_date, end_date, ..own }
        });
        own.collect()
    }

    /// Cuts the interval of an adjustment that is a price's own.
    pub(super) fn of_price(
        &self,
        id: AdjustmentIntervalId,
        adjustment: Adjustment,
        price_id: PriceId,
    ) -> AdjustmentInterval {
        AdjustmentInterval {
            id,
            adjustment,
            scope: None,
            price_ids: [price_id].into(),
            lane: Lane::FIRST,
            plan_version: self.plan_version,
            coupon_id: None,
            is_trial: false,
            delayed_from: None,
            start_date: self.start_date,
            end_date: None,
        }
    }

    /// Cuts the interval of an adjustment of the plan version or of the subscription, over some of all
    /// prices, between two instants.
    pub(super) fn agreed(
        &self,
        of: &ScopedAdjustment,
        prices: &[Price],
        (start_date, end_date): (Timestamp, Option<Timestamp>),
    ) -> AdjustmentInterval {
        let version = self.plan_version.number().to_be_bytes();
        let names = [self.seed.as_bytes().as_slice(), of.scope.id.as_bytes(), &version];
        AdjustmentInterval {
            id: AdjustmentIntervalId::derived(self.created_at, &names),
            adjustment: of.adjustment.clone(),
            scope: Some(Box::new(of.scope.clone())),
            price_ids: of.reached(prices).map(|price| price.id).collect(),
            lane: Lane::FIRST,
            plan_version: self.plan_version,
            coupon_id: None,
            is_trial: false,
            delayed_from: None,
            start_date,
            end_date,
        }
    }
}

impl Subscription {
    /// Refuses a discount of the units of usage that draws from the allocations of a license fee.
    pub(crate) fn check_no_units_off(&self, usage: &Price, fee: &Price) -> Result<(), Error> {
        let takes_units = |of: &&AdjustmentInterval| {
            matches!(of.adjustment, Adjustment::Discount(Discount::Usage(_)))
                && of.reaches(usage.id)
        };
        match self.adjustment_intervals.iter().find(takes_units) {
            Some(of) if fee.allocation_for(usage).is_some() => Err(Error::constraint(format!(
                "the price {} draws from allocations of the price {}, and {} takes units off it",
                usage.id, fee.id, of.id
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the adjustments that its plan or itself was given.
    pub(crate) fn given_adjustments(&self) -> Vec<ScopedAdjustment> {
        let waiting = self.waiting.iter().flat_map(|of| &of.adjustment_intervals);
        let all = self.adjustment_intervals.iter().chain(waiting);
        all.filter_map(AdjustmentInterval::given).collect()
    }

    /// Returns the coupons that it has redeemed, once for each time.
    pub(crate) fn redeemed(&self) -> impl Iterator<Item = CouponId> {
        self.adjustment_intervals.iter().filter_map(|of| of.coupon_id)
    }

    /// Returns the coupon that it has redeemed, the last one of several; also where its discount is over.
    #[must_use]
    pub fn redeemed_coupon(&self) -> Option<RedeemedCoupon> {
        let redeemed = self.adjustment_intervals.iter().filter_map(|of| {
            let AdjustmentInterval { coupon_id, start_date, end_date, .. } = *of;
            Some(RedeemedCoupon { coupon_id: coupon_id?, start_date, end_date })
        });
        redeemed.max_by_key(|of| of.start_date)
    }

    /// Puts another price in the place of one, with its own adjustments. Quantities that are not the
    /// price's own stay where both are fees.
    pub(crate) fn replace_price(&mut self, before: &Price, after: &Price, version: PlanVersion) {
        let own = |of: &AdjustmentInterval| of.is_own_of(before.id);
        let replaced = self.adjustment_intervals.iter().filter(|of| own(of));
        let start_date = replaced.map(|of| of.start_date).min().unwrap_or(self.start_date);
        self.adjustment_intervals.retain(|of| !own(of));
        for shared in &mut self.adjustment_intervals {
            if shared.price_ids.remove(&before.id) {
                shared.price_ids.insert(after.id);
            }
        }
        let cut = Cut { plan_version: version, ..self.cut(start_date, self.created_at) };
        self.adjustment_intervals.extend(cut.adjustments(after));
        for interval in self.price_intervals.iter_mut().filter(|of| of.price_id == before.id) {
            interval.replace_price(before, after);
            if !interval.lane.is_first() {
                let own = cut.own_of(interval, after.adjustments.each(), after.id);
                self.adjustment_intervals.extend(own);
            }
        }
    }
}
