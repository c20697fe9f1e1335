use std::collections::{BTreeMap, BTreeSet};

use super::{
    AdjustmentInterval, Cut, PlanInterval, PriceInterval, Subscription, SubscriptionStatus,
};
use crate::{
    AdjustmentId, Error, MigrationId, PriceId, SubscriptionId, Timestamp,
    plan::{MigrationTiming, PlanVersion},
    price::{Price, ScopedAdjustment},
    time::INSTANT,
};

/// Move of a subscription from a version of its plan to another one (subscriptions 5.6).
pub(crate) struct VersionMove<'a> {
    pub(crate) migration_id: MigrationId,
    /// What its ids are made of.
    pub(crate) seed: SubscriptionId,
    pub(crate) version: PlanVersion,
    pub(crate) at: Timestamp,
    /// Prices of the version that it leaves.
    pub(crate) leaves: &'a [PriceId],
    /// Prices of the version that it moves to.
    pub(crate) prices: &'a [Price],
    pub(crate) replaced: &'a Replaced,
    pub(crate) leaves_adjustments: &'a [ScopedAdjustment],
    pub(crate) adjustments: &'a [ScopedAdjustment],
}

/// What takes the place of what, from one version of a plan to another.
#[derive(Debug, Default)]
pub(crate) struct Replaced {
    /// Prices by those whose places they take.
    prices: BTreeMap<PriceId, PriceId>,
    /// The adjustments whose places others take, by those.
    adjustments: BTreeMap<AdjustmentId, AdjustmentId>,
}

impl Replaced {
    /// Goes on to the next version, in which a price takes the place of another one.
    pub(crate) fn price(&mut self, old: PriceId, new: PriceId) {
        self.prices.values_mut().filter(|last| **last == old).for_each(|last| *last = new);
        self.prices.entry(old).or_insert(new);
    }

    /// Goes on to the next version, in which an adjustment takes the place of another one.
    pub(crate) fn adjustment(&mut self, old: AdjustmentId, new: AdjustmentId) {
        let first = self.adjustments.get(&old).copied().unwrap_or(old);
        self.adjustments.insert(new, first);
    }
}

impl MigrationTiming {
    /// Decides the instant at which a subscription moves; none for one that ends before.
    pub(crate) fn decide(
        self,
        of: &Subscription,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        if of.status(now) == SubscriptionStatus::Ended {
            return Ok(None);
        }
        let from = now.max(of.start_date);
        let current = of.periods().containing(from);
        let at = match self {
            Self::Immediate => from,
            Self::At(at) => at.max(of.start_date),
            Self::OnDate(day) => {
                let midnight = day.in_zone(&of.timezone);
                let midnight =
                    midnight.map_err(|error| Error::invalid("when", error.to_string()))?;
                midnight.start().max(of.start_date)
            }
            Self::EndOfTerm | Self::EndOfInvoice => match current {
                Some(period) => period.end(),
                None => return Ok(None),
            },
        };
        if of.end_date.is_some_and(|end| end <= at) {
            return Ok(None);
        }
        match current.filter(|period| at < period.start()) {
            Some(period) => Err(Error::constraint(format!(
                "the move at {at} is before the current billing period, from {}",
                period.start()
            ))),
            None => Ok(Some(at)),
        }
    }
}

impl Subscription {
    /// Moves to another version of its plan at an instant: what both have goes on, and its own terms stay
    /// (subscriptions 5.6).
    pub(crate) fn move_version(
        &mut self,
        to: &VersionMove<'_>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let at = to.at;
        let pending: Vec<_> = self.plan_intervals.iter().filter(|of| now < of.start_date).collect();
        let pending: Vec<_> = pending.into_iter().filter_map(|of| of.migration_id).collect();
        // Of several that are still to come the last one counts.
        pending.into_iter().for_each(|id| self.stay(id));
        let before = self.plan_at(at.saturating_sub(INSTANT).max(self.start_date));
        let until = self.changes_plan_after(at);
        let next = PlanInterval {
            plan_version: to.version,
            start_date: at,
            created_at: now,
            migration_id: Some(to.migration_id),
            ..before
        };
        let cut = Cut {
            seed: to.seed,
            plan_version: to.version,
            start_date: at,
            anchor: next.anchor,
            created_at: now,
        };
        let mut plans = self.plans();
        plans.retain(|of| of.start_date != at);
        plans.push(next);
        plans.sort_by_key(|of| of.start_date);
        self.plan_intervals = plans;
        self.move_prices(to, &cut, until);
        self.move_adjustments(to, &cut, until);
        self.reach(to.prices)?;
        self.check_intervals()?;
        self.check_size()
    }

    fn move_prices(&mut self, to: &VersionMove<'_>, cut: &Cut, until: Option<Timestamp>) {
        let at = to.at;
        let comes: BTreeSet<_> = to.prices.iter().map(|price| price.id).collect();
        let leaves = |id: &PriceId| to.leaves.contains(id) && !comes.contains(id);
        let lives = |of: &PriceInterval| {
            of.end_date.is_none_or(|end| at < end)
                && until.is_none_or(|until| of.start_date < until)
        };
        let running: Vec<_> = self.price_intervals.iter().filter(|of| lives(of)).cloned().collect();
        let has = |id: PriceId| running.iter().any(|of| of.price_id == id);
        for price in to.prices.iter().filter(|price| !to.leaves.contains(&price.id)) {
            let replaced =
                to.leaves.iter().filter(|old| to.replaced.prices.get(old) == Some(&price.id));
            let mut replaced = replaced.peekable();
            // What it takes the place of was removed, or is another price already.
            if replaced.peek().is_some() && !replaced.clone().any(|old| has(*old)) || has(price.id)
            {
                continue;
            }
            let mut interval = PriceInterval { end_date: until, ..cut.interval(price) };
            let old = running.iter().find(|of| replaced.clone().any(|old| *old == of.price_id));
            if let Some(old) = old.filter(|old| old.is_fee() && interval.is_fee()) {
                interval.quantities = old.quantities_from(at);
            }
            let own = cut.adjustments(price).map(|of| AdjustmentInterval { end_date: until, ..of });
            self.adjustment_intervals.extend(own);
            self.price_intervals.push(interval);
        }
        let gone: Vec<_> = running.iter().filter(|of| leaves(&of.price_id)).collect();
        for of in &gone {
            let own = self
                .adjustment_intervals
                .iter_mut()
                .filter(|own| own.is_own_of(of.price_id) && own.life() == of.life());
            own.for_each(|own| own.end_date = Some(at));
            let intervals = self.price_intervals.iter_mut().filter(|own| own.id == of.id);
            intervals.for_each(|own| {
                own.end_date = Some(at);
                own.quantities.retain(|from, _| *from < at);
            });
        }
        self.price_intervals.retain(|of| of.end_date.is_none_or(|end| of.start_date < end));
        self.adjustment_intervals.retain(|of| of.end_date.is_none_or(|end| of.start_date < end));
    }

    fn move_adjustments(&mut self, to: &VersionMove<'_>, cut: &Cut, until: Option<Timestamp>) {
        let at = to.at;
        let ids = |all: &[ScopedAdjustment]| -> BTreeSet<AdjustmentId> {
            all.iter().map(|of| of.scope.id).collect()
        };
        let (leaves, comes) = (ids(to.leaves_adjustments), ids(to.adjustments));
        let of_version = |of: &AdjustmentInterval| of.scope.as_ref().map(|scope| scope.id);
        let lives = |of: &AdjustmentInterval| {
            of.end_date.is_none_or(|end| at < end)
                && until.is_none_or(|until| of.start_date < until)
        };
        let running = self.adjustment_intervals.iter().filter(|of| lives(of));
        let running: BTreeSet<_> = running.filter_map(of_version).collect();
        for of in to.adjustments.iter().filter(|of| !leaves.contains(&of.scope.id)) {
            let replaced = to.replaced.adjustments.get(&of.scope.id);
            let replaced = replaced.filter(|old| leaves.contains(old));
            if replaced.is_none_or(|old| running.contains(old)) {
                self.adjustment_intervals.push(cut.agreed(of, to.prices, (at, until)));
            }
        }
        for of in self.adjustment_intervals.iter_mut().filter(|of| lives(of)) {
            let id = of_version(of);
            if id.is_some_and(|id| leaves.contains(&id) && !comes.contains(&id)) {
                of.end_date = Some(at);
            }
        }
        self.adjustment_intervals.retain(|of| of.end_date.is_none_or(|end| of.start_date < end));
    }

    /// Returns the instant at which a migration moves it, where it does.
    pub(crate) fn moves_with(&self, id: MigrationId) -> Option<Timestamp> {
        let mut own = self.plan_intervals.iter().filter(|of| of.migration_id == Some(id));
        own.next().map(|of| of.start_date)
    }

    /// Returns the next instant after another at which it changes its plan.
    fn changes_plan_after(&self, at: Timestamp) -> Option<Timestamp> {
        let mut later = self.plan_intervals.iter().filter(|of| of.migration_id.is_none());
        later.find(|of| at < of.start_date).map(|of| of.start_date)
    }

    /// Takes back a move that is still to come: what it was to end goes on, and what was to begin with it is gone.
    pub(crate) fn stay(&mut self, id: MigrationId) {
        // One that moves with its start has done so.
        let Some(at) = self.moves_with(id).filter(|at| self.start_date < *at) else { return };
        let until = self.changes_plan_after(at);
        self.plan_intervals.retain(|of| of.migration_id != Some(id));
        let goes_on = |end: &mut Option<Timestamp>| {
            if *end == Some(at) {
                *end = until;
            }
        };
        self.price_intervals.retain(|of| of.start_date != at);
        self.adjustment_intervals.retain(|of| of.start_date != at);
        self.price_intervals.iter_mut().for_each(|of| goes_on(&mut of.end_date));
        let own = self.adjustment_intervals.iter_mut().filter(|of| of.coupon_id.is_none());
        own.for_each(|of| goes_on(&mut of.end_date));
    }
}
