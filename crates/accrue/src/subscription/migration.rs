use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    AdjustmentInterval, Cut, PlanInterval, PriceInterval, Subscription, SubscriptionStatus,
    differences::Life,
};
use crate::{
    AdjustmentId, AdjustmentIntervalId, Error, MigrationId, PriceId, PriceIntervalId,
    SubscriptionId, Timestamp,
    plan::{MigrationTiming, PhaseOrder, PlanVersion},
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
    /// Overrides of prices, and what each is of in the version that it moves to.
    pub(crate) overridden: &'a BTreeMap<PriceId, PriceId>,
    pub(crate) leaves_adjustments: &'a [ScopedAdjustment],
    pub(crate) adjustments: &'a [ScopedAdjustment],
}

/// Move of a subscription that a migration has brought, and what it did: that is known until it is taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VersionMoved {
    /// The migration.
    pub migration_id: MigrationId,
    /// Intervals that begin with it, each with the one whose place it takes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) began: BTreeMap<PriceIntervalId, Option<PriceIntervalId>>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) began_adjustments: BTreeSet<AdjustmentIntervalId>,
    /// Intervals that end with it, with the ends that they had.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) ended: BTreeMap<PriceIntervalId, Option<Timestamp>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) ended_adjustments: BTreeMap<AdjustmentIntervalId, Option<Timestamp>>,
    /// Intervals that were to begin later, and that it has removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removed: Vec<PriceInterval>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removed_adjustments: Vec<AdjustmentInterval>,
}

impl VersionMoved {
    const fn new(migration_id: MigrationId) -> Self {
        Self {
            migration_id,
            began: BTreeMap::new(),
            began_adjustments: BTreeSet::new(),
            ended: BTreeMap::new(),
            ended_adjustments: BTreeMap::new(),
            removed: Vec::new(),
            removed_adjustments: Vec::new(),
        }
    }

    /// Lets what ended at an instant before it had moved end there no more.
    pub(super) fn forget_end(&mut self, at: Timestamp) {
        let ends = self.ended.values_mut().chain(self.ended_adjustments.values_mut());
        ends.filter(|end| **end == Some(at)).for_each(|end| *end = None);
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

    /// Returns what a price has become.
    pub(crate) fn now(&self, price: PriceId) -> PriceId {
        self.prices.get(&price).copied().unwrap_or(price)
    }

    /// Goes on to the next version, in which an adjustment takes the place of another one.
    pub(crate) fn adjustment(&mut self, old: AdjustmentId, new: AdjustmentId) {
        let first = self.adjustments.get(&old).copied().unwrap_or(old);
        self.adjustments.insert(new, first);
    }
}

impl MigrationTiming {
    /// Decides the instant at which a subscription moves, by a migration of some instant; none for one that ends before.
    pub(crate) fn decide(
        self,
        of: &Subscription,
        (created_at, now): (Timestamp, Timestamp),
    ) -> Result<Option<Timestamp>, Error> {
        if of.status(now) == SubscriptionStatus::Ended {
            return Ok(None);
        }
        let from = created_at.max(of.start_date);
        let current = of.periods().containing(now.max(of.start_date));
        let first = current.map_or(of.start_date, |period| period.start());
        let at = match self {
            // A period may have ended before its turn came.
            Self::Immediate => from.max(first),
            Self::At(at) => at.max(of.start_date),
            Self::OnDate(day) => {
                let midnight = day.in_zone(&of.timezone);
                let midnight =
                    midnight.map_err(|error| Error::invalid("when", error.to_string()))?;
                midnight.start().max(of.start_date)
            }
            Self::EndOfTerm | Self::EndOfInvoice => match of.periods().containing(from) {
                Some(period) => period.end().max(first),
                None => return Ok(None),
            },
        };
        if of.end_date.is_some_and(|end| end <= at) {
            return Ok(None);
        }
        if at < first {
            let detail =
                format!("the move at {at} is before the current billing period, from {first}");
            return Err(Error::constraint(detail));
        }
        let changes = of.plan_intervals.iter().filter(|of| !of.is_later_phase);
        let mut since = changes.map(|of| of.start_date);
        match since.find(|start| at < *start && *start <= now) {
            Some(start) => {
                let detail =
                    format!("the subscription has changed its plan since {at}, at {start}");
                Err(Error::constraint(detail))
            }
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
        let (at, before) = (to.at, self.plan_at(to.at));
        if before.start_date == at && self.start_date < at && before.is_change() {
            return Err(Error::constraint(format!("the subscription changes its plan at {at}")));
        }
        self.without_trial(|of| of.move_terms(to, before, now))?;
        self.check_cells(to.known, "version")?;
        self.check_intervals()?;
        self.check_size()
    }

    fn move_terms(
        &mut self,
        to: &VersionMove<'_>,
        before: PlanInterval,
        now: Timestamp,
    ) -> Result<(), Error> {
        let (at, mut plans) = (to.at, self.plans());
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
            let mut own = self.price_intervals.iter().filter(|of| of.price_id == price.id);
            own.any(|of| lives((of.start_date, of.end_date), (at, until)))
        };
        let running: Vec<_> = to.known.iter().filter(runs).cloned().collect();
        self.move_adjustments(to, &cut, (&running, until), &mut moved);
        self.reach(&running, |of| lives((of.start_date, of.end_date), (at, until)))?;
        self.redeem_on(to.prices);
        if self.trial.as_ref().is_some_and(|of| of.start_date == self.change_before(at)) {
            self.discount_trial(&running);
        }
        let begins_phase = before.start_date == at && before.is_later_phase;
        plans.retain(|of| of.start_date != at);
        plans.push(PlanInterval {
            plan_version: to.version,
            start_date: at,
            created_at: now,
            is_later_phase: begins_phase,
            moved: Some(Box::new(moved)),
            ..before
        });
        plans.sort_by_key(|of| of.start_date);
        self.plan_intervals = plans;
        self.follow_version(at);
        Ok(())
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
        let running = self.price_intervals.iter();
        let running = running.filter(|of| lives((of.start_date, of.end_date), (at, until)));
        let running: Vec<_> = running.cloned().collect();
        for price in to.prices.iter().filter(|price| !to.leaves.contains(&price.id)) {
            let replaced =
                to.leaves.iter().filter(|old| to.replaced.prices.get(old) == Some(&price.id));
            let replaced: Vec<_> = replaced.collect();
            if running.iter().any(|of| of.price_id == price.id) {
                continue;
            }
            if let Some((start_date, end_date)) =
                self.phase_life(price.plan_phase_order, (at, until)).filter(|_| replaced.is_empty())
            {
                let plan = self.plan_at(start_date);
                let cut = Cut { start_date, anchor: plan.anchor, ..*cut };
                let PlanInterval { filter, usage_customers, .. } = plan;
                let interval =
                    PriceInterval { end_date, filter, usage_customers, ..cut.interval(price) };
                self.begin_moved(&cut, interval, (price, None), moved);
            }
            // What it takes the place of may be removed, or be another price already.
            for old in running.iter().filter(|of| replaced.contains(&&of.price_id)) {
                // What is charged once has been.
                let tried = self.tried().filter(|of| of.holds(old.start_date));
                let charged_from = tried.map_or(old.start_date, |of| of.end);
                if old.cadence.cycle().is_none() && charged_from < at {
                    continue;
                }
                let start_date = old.start_date.max(at);
                let names = [to.seed.as_bytes().as_slice(), price.id.as_bytes(), old.id.as_bytes()];
                let mut interval = PriceInterval {
                    id: PriceIntervalId::derived(cut.created_at, &names),
                    end_date: old.end_date.into_iter().chain(until).min(),
                    plan_phase_order: old.plan_phase_order,
                    filter: old.filter.clone(),
                    usage_customers: old.usage_customers.clone(),
                    can_defer_billing: old.can_defer_billing,
                    ..Cut { start_date, anchor: old.anchor, ..*cut }.interval(price)
                };
                if old.hands_quantities_to(&interval) {
                    interval.quantities = old.quantities_from(start_date);
                }
                self.begin_moved(cut, interval, (price, Some(old.id)), moved);
            }
        }
        let goes = |id: &PriceId| to.leaves.contains(id) && !comes.contains(id);
        for of in running.iter().filter(|of| goes(&of.price_id)) {
            self.end_adjustments(at, moved, |own| own.goes_with(of));
            if at <= of.start_date {
                moved.removed.push(of.clone());
                self.price_intervals.retain(|own| own.id != of.id);
            } else {
                moved.ended.insert(of.id, of.end_date);
                let own = self.price_intervals.iter_mut().filter(|own| own.id == of.id);
                own.for_each(|own| own.end_date = Some(at));
            }
        }
    }

    /// Begins an interval of a price, with the price's own adjustments.
    fn begin_moved(
        &mut self,
        cut: &Cut,
        mut interval: PriceInterval,
        (price, old): (&Price, Option<PriceIntervalId>),
        moved: &mut VersionMoved,
    ) {
        interval.lane = self.lane_of(&interval);
        for own in cut.own_of(&interval, price.adjustments.each(), price.id) {
            moved.began_adjustments.insert(own.id);
            self.adjustment_intervals.push(own);
        }
        moved.began.insert(interval.id, old);
        self.price_intervals.push(interval);
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
        let overridden = self.price_intervals.iter().filter_map(|own| {
            let old = to.overridden.get(&own.price_id)?;
            let by = prices.iter().find(|price| price.id == own.price_id)?;
            Some((own.overridden?, *old, by))
        });
        let overridden: Vec<_> = overridden.collect();
        let lives = |of: &AdjustmentInterval| lives((of.start_date, of.end_date), (at, until));
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
            let life = self.phase_life(of.scope.plan_phase_order, (at, until));
            let mut of = of.clone();
            let is_in_force = replaced.is_none_or(|old| running.contains(old))
                && overridden.iter().all(|(said, old, by)| said.follow(&mut of, *old, by));
            if let Some(life) = life.filter(|_| is_in_force) {
                let cut = Cut { start_date: life.0, ..*cut };
                let interval = cut.agreed(&of, prices, life);
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
            if at <= of.start_date {
                moved.removed_adjustments.push(of.clone());
                return false;
            }
            moved.ended_adjustments.insert(of.id, of.end_date);
            of.end_date = Some(at);
            true
        });
    }

    /// Returns the instant at which a migration moves it, where it does.
    pub(crate) fn moves_with(&self, id: MigrationId) -> Option<Timestamp> {
        self.plan_intervals.iter().find(|of| of.is_of(id)).map(|of| of.start_date)
    }

    /// Returns when a phase of the plan is to come that it is on at an instant, from that on up to the next change of
    /// plan: none where it is over by then. All of that is of no phase where the plan has none.
    fn phase_life(
        &self,
        phase: Option<PhaseOrder>,
        (at, until): (Timestamp, Option<Timestamp>),
    ) -> Option<Life> {
        let Some(phase) = phase else { return Some((at, until)) };
        let begin = self.change_before(at);
        let phases = self.plan_intervals.iter().filter(|of| {
            begin <= of.start_date && until.is_none_or(|until| of.start_date < until) && of.splits()
        });
        let mut phases = phases.skip_while(|of| of.phase.is_none_or(|of| of.order != phase));
        let start = phases.next()?.start_date.max(at);
        let end = phases.next().map(|of| of.start_date).or(until);
        end.is_none_or(|end| start < end).then_some((start, end))
    }

    /// Lets the phases behind a move be those of its version, up to the next move or change of plan.
    pub(super) fn follow_version(&mut self, at: Timestamp) {
        let version = self.plan_at(at).plan_version;
        let later = self.plan_intervals.iter_mut().filter(|of| at < of.start_date);
        let phases = later.take_while(|of| of.is_later_phase && of.moved.is_none());
        phases.for_each(|of| of.plan_version = version);
    }

    /// Returns the next instant after another at which it changes its plan.
    pub(super) fn changes_plan_after(&self, at: Timestamp) -> Option<Timestamp> {
        let mut later = self.plan_intervals.iter().filter(|of| of.is_change());
        later.find(|of| at < of.start_date).map(|of| of.start_date)
    }

    /// Lets the fees that moves have yet to begin in place of one have the quantities of that.
    pub(crate) fn follow_quantities(&mut self, price: PriceId, now: Timestamp) {
        let pending = self.plan_intervals.iter().filter(|of| now < of.start_date);
        let moves = pending.filter_map(|of| of.moved.as_ref());
        let pairs =
            moves.flat_map(|of| of.began.iter()).filter_map(|(new, old)| Some((*new, (*old)?)));
        let pairs: Vec<_> = pairs.collect();
        for (new, old) in pairs {
            let interval = |id| self.price_intervals.iter().find(|of| of.id == id);
            let Some((old, to)) = interval(old).zip(interval(new)) else { continue };
            if old.price_id != price {
                continue;
            }
            let counts = (old.filter.clone(), old.usage_customers.clone());
            let found = old.hands_quantities_to(to).then(|| old.quantities_from(to.start_date));
            let own = self.price_intervals.iter_mut().filter(|of| of.id == new);
            for own in own {
                (own.filter, own.usage_customers) = counts.clone();
                own.quantities = found.clone().unwrap_or_else(|| own.quantities.clone());
            }
        }
    }

    /// Returns the migration that moves it at an instant that is still to come.
    pub(crate) fn pending_move(&self, now: Timestamp) -> Option<MigrationId> {
        let mut pending = self.plan_intervals.iter().filter(|of| now < of.start_date);
        pending.find_map(|of| Some(of.moved.as_ref()?.migration_id))
    }
}

/// Tells whether a life shares an instant with what is from one instant on, up to another.
fn lives((start, end): Life, (at, until): (Timestamp, Option<Timestamp>)) -> bool {
    end.is_none_or(|end| at < end) && until.is_none_or(|until| start < until)
}

impl PlanInterval {
    pub(super) fn is_of(&self, id: MigrationId) -> bool {
        self.moved.as_ref().is_some_and(|moved| moved.migration_id == id)
    }
}
