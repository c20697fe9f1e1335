use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    AdjustmentInterval, Cut, PlanInterval, PriceInterval, Subscription, SubscriptionStatus,
};
use crate::{
    AdjustmentId, AdjustmentIntervalId, Error, MigrationId, PriceId, PriceIntervalId,
    SubscriptionId, Timestamp,
    plan::{MigrationTiming, PlanVersion},
    price::{Price, ScopedAdjustment},
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
    /// These, and all that it has now.
    pub(crate) known: &'a [Price],
    pub(crate) replaced: &'a Replaced,
    pub(crate) leaves_adjustments: &'a [ScopedAdjustment],
    pub(crate) adjustments: &'a [ScopedAdjustment],
}

/// Move of a subscription that a migration has brought, and what it did: that is known until it is taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VersionMoved {
    /// The migration.
    pub migration_id: MigrationId,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    began: BTreeSet<PriceIntervalId>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    began_adjustments: BTreeSet<AdjustmentIntervalId>,
    /// Intervals that it ends, as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ended: Vec<PriceInterval>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ended_adjustments: Vec<AdjustmentInterval>,
}

impl VersionMoved {
    const fn new(migration_id: MigrationId) -> Self {
        Self {
            migration_id,
            began: BTreeSet::new(),
            began_adjustments: BTreeSet::new(),
            ended: Vec::new(),
            ended_adjustments: Vec::new(),
        }
    }
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
        // Of several that are still to come the last one counts.
        let pending = self.plan_intervals.iter().filter(|of| now < of.start_date);
        let pending = pending.filter_map(|of| Some(of.moved.as_ref()?.migration_id));
        let pending: Vec<_> = pending.collect();
        pending.into_iter().for_each(|id| self.stay(id));
        let mut plans = self.plans();
        let before = self.plan_at(at);
        if before.start_date == at && self.start_date < at && before.moved.is_none() {
            return Err(Error::constraint(format!("the subscription changes its plan at {at}")));
        }
        let cut = Cut {
            seed: to.seed,
            plan_version: to.version,
            start_date: at,
            anchor: before.anchor,
            created_at: now,
        };
        let mut moved = VersionMoved::new(to.migration_id);
        let until = self.changes_plan_after(at);
        self.move_prices(to, &cut, until, &mut moved);
        let runs = |price: &&Price| {
            let own = self.price_intervals.iter().filter(|of| of.price_id == price.id);
            own.clone().any(|of| of.end_date.is_none_or(|end| at < end))
        };
        let running: Vec<_> = to.known.iter().filter(runs).cloned().collect();
        self.move_adjustments(to, &cut, (&running, until), &mut moved);
        self.reach(&running)?;
        plans.retain(|of| of.start_date != at);
        plans.push(PlanInterval {
            plan_version: to.version,
            start_date: at,
            created_at: now,
            moved: Some(Box::new(moved)),
            ..before
        });
        plans.sort_by_key(|of| of.start_date);
        self.plan_intervals = plans;
        self.check_intervals()?;
        self.check_size()
    }

    fn move_prices(
        &mut self,
        to: &VersionMove<'_>,
        cut: &Cut,
        until: Option<Timestamp>,
        moved: &mut VersionMoved,
    ) {
        let at = to.at;
        let comes: BTreeSet<_> = to.prices.iter().map(|price| price.id).collect();
        let lives = |of: &PriceInterval| {
            of.end_date.is_none_or(|end| at < end)
                && until.is_none_or(|until| of.start_date < until)
        };
        let running: Vec<_> = self.price_intervals.iter().filter(|of| lives(of)).cloned().collect();
        let interval_of = |id: PriceId| running.iter().find(|of| of.price_id == id);
        for price in to.prices.iter().filter(|price| !to.leaves.contains(&price.id)) {
            let replaced =
                to.leaves.iter().filter(|old| to.replaced.prices.get(old) == Some(&price.id));
            let replaced: Vec<_> = replaced.copied().collect();
            let old = replaced.iter().find_map(|old| interval_of(*old));
            // What it takes the place of was removed, or is another price already.
            let is_own = !replaced.is_empty() && old.is_none();
            if is_own || interval_of(price.id).is_some() {
                continue;
            }
            let mut interval = PriceInterval { end_date: until, ..cut.interval(price) };
            if let Some(old) = old.filter(|old| old.is_fee() && interval.is_fee()) {
                interval.quantities = old.quantities_from(at);
            }
            let own = cut.adjustments(price).map(|of| AdjustmentInterval { end_date: until, ..of });
            let own: Vec<_> = own.collect();
            moved.began_adjustments.extend(own.iter().map(|of| of.id));
            moved.began.insert(interval.id);
            self.adjustment_intervals.extend(own);
            self.price_intervals.push(interval);
        }
        let goes = |id: &PriceId| to.leaves.contains(id) && !comes.contains(id);
        for of in running.iter().filter(|of| goes(&of.price_id)) {
            let is_own =
                |own: &AdjustmentInterval| own.is_own_of(of.price_id) && own.life() == of.life();
            self.end_adjustments(at, moved, is_own);
            self.price_intervals.retain_mut(|own| own.id != of.id || own.end_at(at));
            moved.ended.push(of.clone());
        }
    }

    fn move_adjustments(
        &mut self,
        to: &VersionMove<'_>,
        cut: &Cut,
        (prices, until): (&[Price], Option<Timestamp>),
        moved: &mut VersionMoved,
    ) {
        let at = to.at;
        let ids = |all: &[ScopedAdjustment]| -> BTreeSet<AdjustmentId> {
            all.iter().map(|of| of.scope.id).collect()
        };
        let (leaves, comes) = (ids(to.leaves_adjustments), ids(to.adjustments));
        let given = |of: &AdjustmentInterval| of.scope.as_ref().map(|scope| scope.id);
        let lives = |of: &AdjustmentInterval| {
            of.end_date.is_none_or(|end| at < end)
                && until.is_none_or(|until| of.start_date < until)
        };
        let running = self.adjustment_intervals.iter().filter(|of| lives(of));
        let running: BTreeSet<_> = running.filter_map(given).collect();
        let goes = |of: &AdjustmentInterval| {
            let id = given(of).filter(|_| lives(of));
            id.is_some_and(|id| leaves.contains(&id) && !comes.contains(&id))
        };
        self.end_adjustments(at, moved, goes);
        for of in to.adjustments.iter().filter(|of| !leaves.contains(&of.scope.id)) {
            let replaced = to.replaced.adjustments.get(&of.scope.id);
            let replaced = replaced.filter(|old| leaves.contains(old));
            if replaced.is_none_or(|old| running.contains(old)) {
                let interval = cut.agreed(of, prices, (at, until));
                moved.began_adjustments.insert(interval.id);
                self.adjustment_intervals.push(interval);
            }
        }
    }

    /// Ends some adjustments at an instant, and notes how they were.
    fn end_adjustments(
        &mut self,
        at: Timestamp,
        moved: &mut VersionMoved,
        goes: impl Fn(&AdjustmentInterval) -> bool,
    ) {
        self.adjustment_intervals.retain_mut(|of| {
            if !goes(of) {
                return true;
            }
            moved.ended_adjustments.push(of.clone());
            of.end_date = Some(at);
            of.start_date < at
        });
    }

    /// Returns the instant at which a migration moves it, where it does.
    pub(crate) fn moves_with(&self, id: MigrationId) -> Option<Timestamp> {
        self.plan_intervals.iter().find(|of| of.is_of(id)).map(|of| of.start_date)
    }

    /// Returns the next instant after another at which it changes its plan.
    fn changes_plan_after(&self, at: Timestamp) -> Option<Timestamp> {
        let mut later = self.plan_intervals.iter().filter(|of| of.moved.is_none());
        later.find(|of| at < of.start_date).map(|of| of.start_date)
    }

    /// Takes back a move that is still to come: what it was to end goes on as it was, up to the next change of plan, and
    /// what was to begin with it is gone.
    pub(crate) fn stay(&mut self, id: MigrationId) {
        // One that moves with its start has done so.
        let own = self.plan_intervals.iter().find(|of| of.is_of(id));
        let Some(own) = own.filter(|of| self.start_date < of.start_date) else { return };
        let (at, Some(moved)) = (own.start_date, own.moved.clone()) else { return };
        let until = self.changes_plan_after(at);
        let before = |end: Option<Timestamp>| end.into_iter().chain(until).min();
        self.plan_intervals.retain(|of| !of.is_of(id));
        let ended: BTreeSet<_> = moved.ended.iter().map(|of| of.id).collect();
        // One that was ended since by somebody else stays so.
        let goes = |of: &PriceInterval| {
            moved.began.contains(&of.id) || ended.contains(&of.id) && of.end_date == Some(at)
        };
        let (gone, stay): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.price_intervals).into_iter().partition(goes);
        self.price_intervals = stay;
        let back = moved
            .ended
            .into_iter()
            .filter(|of| at <= of.start_date || gone.iter().any(|gone| gone.id == of.id));
        let back = back.map(|of| PriceInterval { end_date: before(of.end_date), ..of });
        self.price_intervals.extend(back);
        let ended: BTreeSet<_> = moved.ended_adjustments.iter().map(|of| of.id).collect();
        let goes = |of: &AdjustmentInterval| {
            moved.began_adjustments.contains(&of.id)
                || ended.contains(&of.id) && of.end_date == Some(at)
        };
        let (gone, stay): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.adjustment_intervals).into_iter().partition(goes);
        self.adjustment_intervals = stay;
        let back = moved
            .ended_adjustments
            .into_iter()
            .filter(|of| at <= of.start_date || gone.iter().any(|gone| gone.id == of.id));
        let back = back.map(|of| AdjustmentInterval { end_date: before(of.end_date), ..of });
        self.adjustment_intervals.extend(back);
    }
}

impl PlanInterval {
    fn is_of(&self, id: MigrationId) -> bool {
        self.moved.as_ref().is_some_and(|moved| moved.migration_id == id)
    }
}

impl PriceInterval {
    /// Ends it at an instant, and tells whether anything is left of it.
    fn end_at(&mut self, at: Timestamp) -> bool {
        self.end_date = Some(at);
        self.quantities.retain(|from, _| *from < at);
        self.start_date < at
    }
}
