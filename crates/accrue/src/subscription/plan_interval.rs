use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{BillingAnchor, BillingPeriods, Subscription, VersionMoved};
use crate::{
    Carried, PlanId, Timestamp,
    expression::Expression,
    meter::UsageCustomers,
    plan::{PlanPhase, PlanVersion},
    price::{Cadence, Cycle},
    time::INSTANT,
};

/// Plan of a subscription, from an instant on (subscriptions 3.2, 3.7).
///
/// It ends where the next one begins, or with the subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanInterval {
    /// The plan; `None` for a contract (subscriptions 1.9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<PlanId>,
    /// Version of the plan.
    pub plan_version: PlanVersion,
    /// Its first instant.
    pub start_date: Timestamp,
    /// Instant at which it was asked for.
    pub created_at: Timestamp,
    /// Day on which billing cycles begin.
    pub anchor: BillingAnchor,
    /// Instant that the anchor is counted from.
    pub anchored_at: Timestamp,
    /// Fields of the subscription that the engine has no use for.
    #[serde(default, skip_serializing_if = "Carried::is_empty")]
    pub carried: Carried,
    /// Condition on the events that count for its prices, where these have no other (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expression>,
    /// Customers whose usage counts for its prices, where these have no others: the subscriber where there are none
    /// (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_customers: Option<UsageCustomers>,
    /// Phase of the plan, where that has phases (subscriptions 1.8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PlanPhase>,
    /// True where the plan goes on with a later phase of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_later_phase: bool,
    /// Move of a migration that brought it, where one did: to another version of the same plan, in whose billing
    /// periods all that stays goes on (subscriptions 5.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Box<VersionMoved>>,
}

/// Stretch of the life of a subscription on one plan, whatever its versions (subscriptions 3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanStretch {
    /// The plan; `None` for a contract (subscriptions 1.9).
    pub plan_id: Option<PlanId>,
    /// Its first instant.
    pub start_date: Timestamp,
    /// First instant after it; `None` where no end is known.
    pub end_date: Option<Timestamp>,
    /// Instant at which it was asked for.
    pub created_at: Timestamp,
}

impl Subscription {
    /// Returns the stretches of its life on one plan each, oldest first (subscriptions 3.7).
    #[must_use]
    pub fn plan_stretches(&self) -> Vec<PlanStretch> {
        let mut stretches: Vec<PlanStretch> = Vec::new();
        let lived = |of: &PlanInterval| self.end_date.is_none_or(|end| of.start_date < end);
        let plans = self.plans();
        let first = plans.first().map(|of| of.start_date);
        let plans = plans.into_iter().filter(|of| first == Some(of.start_date) || lived(of));
        for PlanInterval { plan_id, start_date, created_at, .. } in plans {
            match stretches.last_mut() {
                Some(last) if last.plan_id == plan_id => continue,
                Some(last) => last.end_date = Some(start_date),
                None => {}
            }
            let end_date = self.end_date;
            stretches.push(PlanStretch { plan_id, start_date, end_date, created_at });
        }
        stretches
    }

    /// Returns the plans that it is on, was on and will be on, oldest first: at least one.
    #[must_use]
    pub fn plans(&self) -> Vec<PlanInterval> {
        match self.plan_intervals.as_slice() {
            [] => vec![self.only_plan()],
            known => known.to_vec(),
        }
    }

    /// Returns the plan that it is on at an instant: the first one before it begins, the last one once it has ended.
    #[must_use]
    pub fn plan_at(&self, at: Timestamp) -> PlanInterval {
        let last = self.end_date.map(|end| end.saturating_sub(INSTANT));
        let at = last.map_or(at, |last| at.min(last));
        let known = self.plan_intervals.iter();
        let begun = known.clone().rfind(|of| of.start_date <= at);
        begun.or_else(|| self.plan_intervals.first()).cloned().unwrap_or_else(|| self.only_plan())
    }

    /// Returns it as it stands at an instant: on the plan of then.
    #[must_use]
    pub fn as_of(&self, at: Timestamp) -> Cow<'_, Self> {
        let mut shown = Cow::Borrowed(self);
        if !self.plan_intervals.is_empty() {
            shown.to_mut().follow_plan(&self.plan_at(at));
        }
        shown
    }

    /// Goes on without an end: what it cut has none either, and what was to start behind it is gone
    /// (subscriptions 3.10).
    pub(crate) fn go_on(&mut self) {
        let Some(end) = self.end_date.take() else { return };
        self.stay_from(end);
        self.without_trial(|of| of.go_on_from(end));
    }

    fn go_on_from(&mut self, end: Timestamp) {
        let start = self.start_date;
        let has_begun = |from: Timestamp| from < end || from <= start;
        // What ends with a plan or a phase, of which another one would follow, goes on too.
        let next = self.plan_intervals.iter().find(|of| of.start_date == end);
        let (plan_ends, phase_ends) = next
            .filter(|_| start < end)
            .map_or((false, false), |of| (of.is_change(), of.is_later_phase));
        self.plan_intervals.retain(|of| has_begun(of.start_date));
        let goes_on = |own: &mut Option<Timestamp>, of_phase: bool| {
            let is_cut = |own: &Timestamp| {
                end < *own || *own == end && (plan_ends || phase_ends && of_phase)
            };
            *own = own.filter(|own| !is_cut(own));
        };
        self.price_intervals.retain(|of| has_begun(of.start_date));
        for of in &mut self.price_intervals {
            goes_on(&mut of.end_date, of.plan_phase_order.is_some());
        }
        self.adjustment_intervals.retain(|of| has_begun(of.start_date));
        let own = self.adjustment_intervals.iter_mut().filter(|of| of.coupon_id.is_none());
        for of in own {
            let of_phase = of.scope.is_none() || of.phase().is_some();
            goes_on(&mut of.end_date, of_phase);
        }
        if self.trial.as_ref().is_some_and(|of| !has_begun(of.start_date)) {
            self.drop_trial();
        }
    }

    /// Returns the plan of one that has never changed it.
    fn only_plan(&self) -> PlanInterval {
        PlanInterval {
            plan_id: self.plan_id,
            plan_version: self.plan_version,
            start_date: self.start_date,
            created_at: self.created_at,
            anchor: self.anchor,
            anchored_at: self.anchored_at.unwrap_or(self.start_date),
            carried: self.carried.clone(),
            filter: self.filter.clone(),
            usage_customers: self.usage_customers.clone(),
            phase: None,
            is_later_phase: false,
            moved: None,
        }
    }

    /// Takes on what a plan says from its start on.
    pub(crate) fn follow_plan(&mut self, of: &PlanInterval) {
        (self.plan_id, self.plan_version) = (of.plan_id, of.plan_version);
        self.anchor = of.anchor;
        self.anchored_at = Some(of.anchored_at).filter(|from| *from != self.start_date);
        self.carried = of.carried.clone();
        self.filter = of.filter.clone();
        self.usage_customers = of.usage_customers.clone();
    }

    /// Returns the instant that the anchor of the plan at an instant is counted from.
    pub(super) fn plan_anchored_at(&self, at: Timestamp) -> Timestamp {
        let known = self.plan_intervals.iter().rfind(|of| of.start_date <= at);
        known.or_else(|| self.plan_intervals.first()).map_or(self.start_date, |of| of.anchored_at)
    }

    /// Returns the cycles of each of its plans, one after the other: of the lengths that a choice of the cadences of
    /// their prices gives.
    pub(super) fn periods_by_plan(
        &self,
        cycle: impl Fn(&mut dyn Iterator<Item = Cadence>) -> Cycle,
    ) -> BillingPeriods {
        let cycle_until = |from: Option<Timestamp>, until: Option<Timestamp>| {
            let own = self.price_intervals.iter().filter(|of| {
                from.is_none_or(|from| of.end_date.is_none_or(|end| from < end))
                    && until.is_none_or(|until| of.start_date < until)
            });
            cycle(&mut own.map(|of| of.cadence))
        };
        let (zone, life) = (self.timezone.clone(), (self.start_date, self.end_date));
        if self.plan_intervals.is_empty() && self.trial.is_none() {
            let anchor = (self.anchor, self.start_date);
            return BillingPeriods::anchored(cycle_until(None, None), anchor, zone, life);
        }
        let plans = self.plans();
        let plans = plans.iter().enumerate();
        let plans: Vec<_> = plans.filter(|(place, of)| *place == 0 || of.splits()).collect();
        let ends = plans.iter().skip(1).map(|(_, of)| Some(of.start_date)).chain([None]);
        let grids = plans.iter().zip(ends).map(|((place, of), until)| {
            let from = Some(of.start_date).filter(|_| *place > 0);
            let anchor = (of.anchor, of.anchored_at);
            (of.start_date, cycle_until(from, until), anchor, of.is_later_phase)
        });
        let mut grids = self.in_trial(grids.collect()).into_iter();
        let Some((_, cycle, anchor, _)) = grids.next() else {
            return BillingPeriods::new(Cycle::MONTH, self.anchor, zone, life.0, life.1);
        };
        let periods = BillingPeriods::anchored(cycle, anchor, zone, life);
        grids.fold(periods, |periods, (from, cycle, anchor, begins)| {
            periods.then(from, cycle, anchor, begins)
        })
    }
}

impl PlanInterval {
    /// Tells whether it begins with a change to the plan, and not with a later phase or another version of it.
    pub(super) fn is_change(&self) -> bool {
        !self.is_later_phase && self.moved.is_none()
    }

    /// Tells whether billing periods may be others from it on.
    pub(super) fn splits(&self) -> bool {
        self.is_later_phase || self.moved.is_none()
    }
}
