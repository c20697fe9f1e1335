use serde::{Deserialize, Serialize};

use super::{
    AdjustmentChanges, AdjustmentInterval, BillingAnchor, Cut, PlanInterval, PriceChanges,
    Subscription, SubscriptionStatus, Terms,
};
use crate::{
    Carried, CarriedUpdate, Error, IdOr, PlanId, PricingUnit, RedemptionCode, SubscriptionId,
    Timestamp,
    expression::Expression,
    meter::UsageCustomers,
    plan::{PhaseOrder, PlanVersion},
    price::Price,
    time::INSTANT,
};

/// Change of the plan of a subscription (subscriptions 3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    /// Plan that it changes to; that which it is on, for another version or other adjustments.
    pub plan: IdOr<PlanId>,
    /// Version of the plan; its default version where none is given.
    pub plan_version: Option<PlanVersion>,
    /// When it takes effect.
    pub when: PlanChangeTiming,
    /// Day on which billing cycles begin from then on.
    pub alignment: BillingCycleAlignment,
    /// Changes to the prices of the version, for the subscription alone.
    #[serde(default, skip_serializing_if = "PriceChanges::is_empty")]
    pub prices: PriceChanges,
    /// Changes to the adjustments of the version, for the subscription alone.
    pub adjustments: AdjustmentChanges,
    /// Phase of the plan that it begins with: the first one where none is given (subscriptions 1.8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_phase: Option<PhaseOrder>,
    /// Number of days of its trial: as the plan says where none is given, and no trial where it is 0. A subscription
    /// has one trial in its life (subscriptions 1.7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_days: Option<u32>,
    /// Condition on the events that count for its prices, beside those of their metrics: that of before is none
    /// (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expression>,
    /// Customers whose usage counts for its prices: the subscriber, where none are given, whatever counted before
    /// (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_customers: Option<UsageCustomers>,
    /// Code of a coupon that it redeems with the change.
    pub coupon_redemption_code: Option<RedemptionCode>,
    /// Fields that the engine has no use for, in place of those that it had: what is left out is gone.
    pub carried: Carried,
}

/// Timing of a change of plan: when it takes effect (subscriptions 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanChangeTiming {
    /// Now; with the start of a subscription that has not begun.
    Immediate,
    /// End of the current term, or of the first one of a subscription that has not begun.
    EndOfSubscriptionTerm,
    /// Date from the start of the current billing period on.
    RequestedDate(Timestamp),
}

/// Day on which billing cycles begin after a change of plan (subscriptions 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BillingCycleAlignment {
    /// As before.
    #[default]
    Unchanged,
    /// With the change.
    PlanChangeDate,
    /// On the first of a month.
    StartOfMonth,
    /// On a day that is given.
    Anchor(BillingAnchor),
}

/// What a subscription is on from a change of plan on.
pub(crate) struct NextPlan<'a> {
    /// What its ids are made of.
    pub(crate) seed: SubscriptionId,
    pub(crate) start_date: Timestamp,
    pub(crate) terms: Terms<'a>,
}

/// Carried fields that are of the subscription and not of its plan.
const OF_SUBSCRIPTION: &[&str] =
    &["aws_region", "external_marketplace", "external_marketplace_reporting_id"];

impl PlanChange {
    /// Changes to a plan now.
    pub fn immediate(plan: impl Into<IdOr<PlanId>>) -> Self {
        Self {
            plan: plan.into(),
            plan_version: None,
            when: PlanChangeTiming::Immediate,
            alignment: BillingCycleAlignment::Unchanged,
            prices: PriceChanges::default(),
            adjustments: AdjustmentChanges::default(),
            initial_phase: None,
            trial_days: None,
            filter: None,
            usage_customers: None,
            coupon_redemption_code: None,
            carried: Carried::NONE,
        }
    }

    /// Says everything that is wrong with it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let BillingCycleAlignment::Anchor(anchor) = self.alignment {
            anchor.check()?;
        }
        self.prices.check()
    }
}

impl PlanChangeTiming {
    /// Decides the instant at which a subscription changes its plan.
    pub(crate) fn decide(self, of: &Subscription, now: Timestamp) -> Result<Timestamp, Error> {
        let wrong = |message: String| Err(Error::invalid("change_date", message));
        let from = now.max(of.start_date);
        let at = match self {
            Self::Immediate => from,
            Self::RequestedDate(date) => date,
            Self::EndOfSubscriptionTerm => {
                let term = of.terms().containing(from);
                let none = || Error::invalid("change_date", "the subscription has no term left");
                term.ok_or_else(none)?.end()
            }
        };
        if let Some(end) = of.end_date {
            if of.status(now) == SubscriptionStatus::Ended {
                return wrong(format!("the subscription has ended already, at {end}"));
            }
            if end < at {
                return wrong(format!("found {at}, behind the end of the subscription at {end}"));
            }
        }
        let current = of.periods().containing(from).map(|period| period.start());
        match current.into_iter().chain([of.start_date]).max().filter(|first| at < *first) {
            Some(first) => {
                let detail = format!(
                    "the change at {at} is before the current billing period, from {first}"
                );
                Err(Error::constraint(detail))
            }
            None => Ok(at),
        }
    }
}

impl Subscription {
    /// Cuts all that it is charged at an instant, and goes on with another plan from there (subscriptions 3.2).
    /// Coupons live on. What was to start later is dropped, and so is an end that lies there.
    pub(crate) fn change_plan(
        &mut self,
        change: &PlanChange,
        next: &NextPlan<'_>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let plan = self.next_plan(change, next, now)?;
        self.without_trial(|of| of.go_on_with(plan, next, now))?;
        self.check_intervals()?;
        self.check_size()
    }

    fn go_on_with(
        &mut self,
        plan: PlanInterval,
        next: &NextPlan<'_>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let at = next.start_date;
        let mut plans = self.plans();
        plans.retain(|of| of.start_date < at);
        if self.trial.as_ref().is_some_and(|of| at <= of.start_date) {
            self.drop_trial();
        }
        self.cut_at(at);
        let cut = Cut {
            seed: next.seed,
            plan_version: next.terms.plan_version,
            start_date: at,
            anchor: plan.anchor,
            created_at: now,
        };
        plans.push(plan);
        self.plan_intervals = plans;
        self.redeem_on(&next.terms.prices.prices());
        self.begin(&cut, &next.terms)
    }

    /// Ends everything at an instant but coupons, and drops what was to start from there on.
    fn cut_at(&mut self, at: Timestamp) {
        let end = |end: &mut Option<Timestamp>| *end = Some(end.map_or(at, |end| end.min(at)));
        self.price_intervals.retain(|of| of.start_date < at);
        for of in &mut self.price_intervals {
            end(&mut of.end_date);
            of.quantities.retain(|from, _| *from < at);
        }
        self.adjustment_intervals.retain(|of| of.start_date < at);
        let others = self.adjustment_intervals.iter_mut().filter(|of| of.coupon_id.is_none());
        others.for_each(|of| end(&mut of.end_date));
        if self.end_date.is_some_and(|end| at <= end) {
            self.end_date = None;
        }
    }

    /// Lets coupons reach the prices of another plan, as far as they can.
    pub(super) fn redeem_on(&mut self, prices: &[Price]) {
        let currency = PricingUnit::from(self.currency);
        let own = prices.iter().filter(|price| price.currency == currency);
        let own: Vec<_> = own.map(|price| price.id).collect();
        let coupons = self.adjustment_intervals.iter_mut().filter(|of| of.coupon_id.is_some());
        coupons.for_each(|of: &mut AdjustmentInterval| of.price_ids.extend(own.iter().copied()));
    }

    fn next_plan(
        &self,
        change: &PlanChange,
        next: &NextPlan<'_>,
        now: Timestamp,
    ) -> Result<PlanInterval, Error> {
        let at = next.start_date;
        let before = self.plan_at(at.saturating_sub(INSTANT));
        let (anchor, anchored_at) = match change.alignment {
            BillingCycleAlignment::Unchanged => (before.anchor, before.anchored_at),
            BillingCycleAlignment::PlanChangeDate => (BillingAnchor::SubscriptionStart, at),
            BillingCycleAlignment::StartOfMonth => (BillingAnchor::FirstOfMonth, at),
            BillingCycleAlignment::Anchor(anchor) => (anchor, at),
        };
        let mut carried = self.carried.only(OF_SUBSCRIPTION);
        CarriedUpdate::new(change.carried.iter())?.apply(&mut carried)?;
        let of_plan = Self { carried: carried.clone(), ..self.clone() };
        of_plan.check_overage_rate()?;
        of_plan.check_threshold()?;
        Ok(PlanInterval {
            plan_id: next.terms.plan.map(|plan| plan.id),
            plan_version: next.terms.plan_version,
            start_date: at,
            created_at: now,
            anchor,
            anchored_at,
            carried,
            filter: change.filter.clone(),
            usage_customers: change.usage_customers.clone(),
            phase: None,
            is_later_phase: false,
            moved: None,
        })
    }

    /// Drops the changes of plan that are still to come: what was cut for the first one goes on, and what was to
    /// start with it is gone (subscriptions 3.3). Tells whether there were any.
    pub(crate) fn drop_plan_changes(&mut self, now: Timestamp) -> bool {
        let start = self.start_date;
        let changes =
            self.plan_intervals.iter().filter(|of| of.is_change() && start < of.start_date);
        let mut upcoming = changes.filter(|of| now < of.start_date);
        let Some(at) = upcoming.next().map(|of| of.start_date) else { return false };
        self.without_trial(|of| of.drop_plans_from(at));
        true
    }

    fn drop_plans_from(&mut self, at: Timestamp) {
        self.plan_intervals.retain(|of| of.start_date < at);
        self.price_intervals.retain(|of| of.start_date < at);
        self.adjustment_intervals.retain(|of| of.start_date < at);
        let moves = self.plan_intervals.iter_mut().filter_map(|of| of.moved.as_mut());
        moves.for_each(|of| of.forget_end(at));
        let goes_on = |end: &mut Option<Timestamp>| *end = end.filter(|end| *end != at);
        self.price_intervals.iter_mut().for_each(|of| goes_on(&mut of.end_date));
        let own = self.adjustment_intervals.iter_mut().filter(|of| of.coupon_id.is_none());
        own.for_each(|of| goes_on(&mut of.end_date));
        if self.trial.as_ref().is_some_and(|of| at <= of.start_date) {
            self.drop_trial();
        }
    }
}
