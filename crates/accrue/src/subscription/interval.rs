use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    BillingAnchor, BillingPeriods, FeeStretch, Given, InForce, Lane, PlanInterval, Refilled,
    Subscription, price_override::Overridden, trial::Delayed,
};
use crate::{
    Decimal, PriceId, PriceIntervalId, SubscriptionId, Timeframe, Timestamp,
    expression::Expression,
    meter::UsageCustomers,
    plan::PlanVersion,
    price::{Cadence, Charge, Cycle, PhaseOrder, Price},
};

/// Price while it is in force for a subscription (subscriptions 2.3).
///
/// A plan version is a template: its prices become intervals when a subscription is created. From then
/// on the intervals alone decide the charges of the subscription
/// (`docs/decisions/terms-are-intervals.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PriceInterval {
    /// Its id.
    pub id: PriceIntervalId,
    /// Price that is in force.
    pub price_id: PriceId,
    /// Price of the plan version whose place it takes, where it does (subscriptions 1.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces_price_id: Option<PriceId>,
    /// What is said of its price's adjustments, where that is the replaced one with other numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) overridden: Option<Overridden>,
    /// Version of the plan that it was cut from.
    pub plan_version: PlanVersion,
    /// Phase of the plan that it is of, where that has phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase_order: Option<PhaseOrder>,
    /// Interval that goes on with its usage when the trial ends, where it is on trial: all of it is one billing period
    /// then, whatever the cadence (subscriptions 1.7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_of: Option<PriceIntervalId>,
    /// Begin of a fee that waits for the end of the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delayed: Option<Box<Delayed>>,
    /// How far it has given the credits of its periods, where it gives any (subscriptions 9.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) given: Option<Given>,
    /// How far messages have told that the pools of its licenses are full again, where those have such (subscriptions
    /// 7.4.12).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refilled: Option<Refilled>,
    /// Its first instant.
    pub start_date: Timestamp,
    /// First instant after it; `None` where it ends with the subscription.
    pub end_date: Option<Timestamp>,
    /// Cadence: how long its periods are.
    pub cadence: Cadence,
    /// Day on which its periods begin.
    pub anchor: BillingAnchor,
    /// Condition on the events that count, beside that of the metric (subscriptions 1.5). A fee has no use for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expression>,
    /// Customers whose usage counts, where that is not the subscriber's alone (subscriptions 1.5). A fee has no use for
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_customers: Option<UsageCustomers>,
    /// True if its last charge waits for the end of the period that it ends within, where it is one of usage
    /// (subscriptions 2.6).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_defer_billing: bool,
    /// Lane of its price that it runs in.
    #[serde(default, skip_serializing_if = "Lane::is_first")]
    pub(crate) lane: Lane,
    /// True where its price is of what others come to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_composite: bool,
    /// Quantities of a fee, each from an instant on, the first from the start on; none for usage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub quantities: BTreeMap<Timestamp, Decimal>,
}

/// Subscription that intervals are cut for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// What ids are made of: the id of the subscription, or one that was drawn.
    pub(crate) seed: SubscriptionId,
    pub(crate) plan_version: PlanVersion,
    pub(crate) start_date: Timestamp,
    pub(crate) anchor: BillingAnchor,
    /// Instant at which they are cut.
    pub(crate) created_at: Timestamp,
}

impl Cut {
    /// Cuts the interval of a price, from the start on.
    pub(crate) fn interval(&self, price: &Price) -> PriceInterval {
        let Self { seed, plan_version, start_date, anchor, created_at } = *self;
        let version = plan_version.number().to_be_bytes();
        let names = [seed.as_bytes().as_slice(), price.id.as_bytes(), &version];
        let quantity = match &price.charge {
            Charge::Fixed { quantity, .. } => Some(quantity),
            Charge::Usage { .. } | Charge::Composite { .. } => None,
        };
        PriceInterval {
            id: PriceIntervalId::derived(created_at, &names),
            price_id: price.id,
            replaces_price_id: None,
            overridden: None,
            plan_version,
            plan_phase_order: price.plan_phase_order,
            trial_of: None,
            delayed: None,
            given: Given::of(price),
            refilled: Refilled::of(price, created_at),
            start_date,
            end_date: None,
            cadence: price.cadence,
            anchor,
            filter: None,
            usage_customers: None,
            can_defer_billing: false,
            lane: Lane::FIRST,
            is_composite: price.charge.is_composite(),
            quantities: quantity.into_iter().map(|of| (start_date, of.clone())).collect(),
        }
    }
}

impl PriceInterval {
    /// Returns the quantities of a fee from an instant on.
    pub(super) fn quantities_from(&self, at: Timestamp) -> BTreeMap<Timestamp, Decimal> {
        let first = self.quantity(at).map(|of| (at, of.clone()));
        let later = self.quantities.iter().filter(|(from, _)| at < **from);
        first.into_iter().chain(later.map(|(from, of)| (*from, of.clone()))).collect()
    }

    /// Tells whether what takes its place has its quantities: both are fees, and neither gives credits.
    pub(super) fn hands_quantities_to(&self, other: &Self) -> bool {
        let is_of_quantities = |of: &Self| of.is_fee() && of.given.is_none();
        is_of_quantities(self) && is_of_quantities(other)
    }

    /// Returns what its usage is known by.
    pub(crate) fn in_force(&self) -> InForce {
        InForce { price: self.price_id, lane: self.lane }
    }

    /// Tells whether it is charged in its first period alone.
    pub(crate) fn is_charged_once(&self) -> bool {
        self.cadence.cycle().is_none() && !self.is_trial()
    }

    /// Tells whether there is an instant at which both are in force.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let begins_in = |one: &Self, of: &Self| one.end_date.is_none_or(|end| of.start_date < end);
        begins_in(self, other) && begins_in(other, self)
    }

    /// Tells whether its price is a fee.
    #[must_use]
    pub fn is_fee(&self) -> bool {
        !self.quantities.is_empty()
    }

    /// Tells whether its price is of usage.
    pub(crate) fn is_usage(&self) -> bool {
        !self.is_fee() && !self.is_composite
    }

    /// Takes another price in. Quantities that are not the price's own stay where both are fees.
    pub(super) fn replace_price(&mut self, before: &Price, after: &Price) {
        self.price_id = after.id;
        self.cadence = after.cadence;
        self.given = Given::of(after);
        let since = self.refilled.map_or(self.start_date, |of| of.since);
        self.refilled = Refilled::of(after, since);
        self.is_composite = after.charge.is_composite();
        let own = |price: &Price| match &price.charge {
            Charge::Fixed { quantity, .. } => Some(quantity.clone()),
            Charge::Usage { .. } | Charge::Composite { .. } => None,
        };
        let first = self.quantities.first_key_value().map(|(_, quantity)| quantity.clone());
        match own(after) {
            None => self.quantities.clear(),
            Some(quantity) if first == own(before) => {
                self.quantities.insert(self.start_date, quantity);
            }
            Some(_) => {}
        }
    }

    /// Returns the quantity of a fee at an instant; `None` for usage.
    #[must_use]
    pub fn quantity(&self, at: Timestamp) -> Option<&Decimal> {
        let later = self.quantities.range(..=at).next_back();
        later.or_else(|| self.quantities.first_key_value()).map(|(_, quantity)| quantity)
    }
}

impl Subscription {
    /// Prepares to cut further intervals, from an instant on.
    pub(super) fn cut(&self, start_date: Timestamp, created_at: Timestamp) -> Cut {
        let PlanInterval { plan_version, anchor, .. } = self.plan_at(start_date);
        Cut { seed: self.id, plan_version, start_date, anchor, created_at }
    }

    /// Returns the length of its billing periods: the shortest cadence of its prices, and a month where
    /// none has one (subscriptions 0.2).
    #[must_use]
    pub fn billing_cycle(&self) -> Cycle {
        Cycle::shortest(self.cadences())
    }

    /// Returns the length of its terms: the longest cadence of its prices (subscriptions 0.2).
    #[must_use]
    pub fn term_cycle(&self) -> Cycle {
        Cycle::longest(self.cadences())
    }

    fn cadences(&self) -> impl Iterator<Item = Cadence> {
        self.price_intervals.iter().map(|interval| interval.cadence)
    }

    /// Tells whether all usage is charged in the billing periods.
    pub(crate) fn has_one_grid(&self) -> bool {
        let (cycle, start, anchor) = (self.billing_cycle(), self.start_date, self.anchor);
        let mut usage = self.price_intervals.iter().filter(|interval| !interval.is_fee());
        // Billing periods may be cut where a plan or a phase begins.
        let is_split = self.plan_intervals.iter().skip(1).any(PlanInterval::splits);
        !is_split
            && usage.all(|of| {
                of.cadence.cycle().is_none_or(|own| own == cycle)
                    && (of.start_date, of.end_date, of.anchor) == (start, None, anchor)
            })
    }

    /// Returns the periods in which usage is charged, those of prices that have the same once.
    pub(crate) fn usage_grids(&self) -> Vec<BillingPeriods> {
        self.grids(PriceInterval::is_usage)
    }

    /// Returns the periods of prices of what others come to, those of prices that have the same once.
    pub(crate) fn composite_grids(&self) -> Vec<BillingPeriods> {
        self.grids(|interval| interval.is_composite)
    }

    /// Returns the periods of some intervals, those that are the same once.
    pub(super) fn grids(&self, of: impl Fn(&PriceInterval) -> bool) -> Vec<BillingPeriods> {
        let mut known = Vec::new();
        let intervals = self.price_intervals.iter().filter(|interval| of(interval));
        let different = intervals.filter(|of| {
            let cycle = of.cadence.cycle().filter(|_| !of.is_trial());
            let grid = (of.is_trial(), cycle, of.anchor, of.start_date, of.end_date);
            let is_new = !known.contains(&grid);
            known.push(grid);
            is_new
        });
        different.map(|interval| self.periods_of_interval(interval)).collect()
    }

    /// Tells whether a price is in force at an instant.
    pub(crate) fn has_price(&self, id: PriceId, at: Timestamp) -> bool {
        let mut own = self.price_intervals.iter().filter(|interval| interval.price_id == id);
        own.any(|of| of.start_date <= at && self.end_of(of).is_none_or(|end| at < end))
    }

    /// Returns the prices that it has: also those that wait within a trial, which may come back.
    pub(crate) fn price_ids(&self) -> impl Iterator<Item = PriceId> {
        self.all_price_intervals().map(|of| of.price_id)
    }

    /// Returns its price intervals: also those that wait within a trial.
    pub(crate) fn all_price_intervals(&self) -> impl Iterator<Item = &PriceInterval> {
        let waiting = self.waiting.iter().flat_map(|of| &of.price_intervals);
        self.price_intervals.iter().chain(waiting)
    }

    /// Tells whether a price is in force at an instant or later.
    pub(crate) fn has_price_from(&self, id: PriceId, at: Timestamp) -> bool {
        let mut own = self.all_price_intervals().filter(|interval| interval.price_id == id);
        own.any(|of| self.end_of(of).is_none_or(|end| at < end))
    }

    /// Returns the interval of a fee at an instant: that which holds it, or else the last one before.
    pub(crate) fn fee_interval(&self, id: PriceId, at: Timestamp) -> Option<&PriceInterval> {
        let index = self.fee_interval_index(id, at)?;
        self.price_intervals.get(index)
    }

    pub(super) fn fee_interval_index(&self, id: PriceId, at: Timestamp) -> Option<usize> {
        let own = self.price_intervals.iter().enumerate();
        let own = own.filter(|(_, interval)| interval.price_id == id && interval.is_fee());
        let begun = own.clone().filter(|(_, interval)| interval.start_date <= at);
        let latest = begun.max_by_key(|(_, interval)| interval.start_date);
        latest.or_else(|| own.min_by_key(|(_, of)| of.start_date)).map(|(index, _)| index)
    }

    /// Returns the quantity of a fixed fee at an instant; `None` for a price that is none.
    #[must_use]
    pub fn fee_quantity(&self, id: PriceId, at: Timestamp) -> Option<&Decimal> {
        self.fee_interval(id, at)?.quantity(at)
    }

    /// Returns the quantities of a fee while one of its intervals is in force, oldest first: nothing
    /// for usage, or a life that is empty. Changes behind the end are left out.
    #[must_use]
    pub fn fee_schedule(&self, interval: &PriceInterval) -> Vec<FeeStretch> {
        let end = self.end_of(interval);
        let lives = |at: &Timestamp| end.is_none_or(|end| *at < end);
        let within = interval.quantities.iter().filter(|(at, _)| lives(at));
        let ends = within.clone().skip(1).map(|(at, _)| Some(*at)).chain([end]);
        let stretches = within.zip(ends).map(|((start, quantity), end_date)| FeeStretch {
            start_date: *start,
            end_date,
            quantity: quantity.clone(),
        });
        stretches.collect()
    }

    /// Returns the end of an interval: its own or the subscription's, whichever comes first.
    #[must_use]
    pub fn end_of(&self, interval: &PriceInterval) -> Option<Timestamp> {
        interval.end_date.into_iter().chain(self.end_date).min()
    }

    /// Returns the period of an interval that holds an instant: for a price that is charged once, the
    /// first billing period alone.
    #[must_use]
    pub fn period_of(&self, interval: &PriceInterval, at: Timestamp) -> Option<Timeframe> {
        let periods = self.periods_of_interval(interval);
        match interval.is_charged_once() {
            false => periods.containing(at),
            true => periods.first().filter(|first| first.contains(at)),
        }
    }
}
