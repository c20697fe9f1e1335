use std::collections::BTreeMap;

use super::oldest_judged;
use crate::{
    Timeframe, Timestamp,
    subscription::{BillingPeriods, PeriodKey, SubscriptionEntry},
    time::INSTANT,
};

/// Stretch of a subscription's life of which a state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) key: PeriodKey,
    pub(crate) timeframe: Timeframe,
}

impl Stretch {
    /// Creates the stretch of a whole period of a grid.
    pub(crate) fn whole(grid: &BillingPeriods, period: Timeframe) -> Self {
        Self { key: grid.key(period), timeframe: period }
    }

    fn up_to(period: Timeframe, boundary: Timestamp) -> Self {
        Self {
            key: PeriodKey { start: period.start(), end: boundary },
            timeframe: Timeframe::nothing_at(period.start()).until(boundary),
        }
    }
}

/// Returns the start of the billing period that holds an instant, or of the last one before.
pub(crate) fn billing_start_at(entry: &SubscriptionEntry, at: Timestamp) -> Option<Timestamp> {
    let last = entry.subscription.end_date.map_or(at, |end| end.saturating_sub(INSTANT).min(at));
    entry.subscription.periods().containing(last).map(Timeframe::start)
}

impl SubscriptionEntry {
    /// Returns the stretches whose states some billing periods need, and those that events in them are
    /// added to.
    ///
    /// A billing period is one. Where a price has longer periods, or others, they are stretches too, and so
    /// is each of them up to the start of a billing period that it goes on over: its amount within a
    /// billing period is that up to the end of it less that up to its start. Those parts are kept
    /// for the billing periods that alerts are judged on, and begin as copies of the whole when the first
    /// event of a further billing period comes: up to [`parts_until`](Self::parts_until) they are there.
    ///
    /// So are the periods of usage that a composite price sees, which has longer ones.
    pub(crate) fn stretches(
        &self,
        billing: &[Timeframe],
        now: Timestamp,
    ) -> BTreeMap<PeriodKey, Timeframe> {
        self.stretches_on(&self.subscription.periods(), billing, now)
    }

    /// Returns them where the billing periods of the subscription are known.
    pub(crate) fn stretches_on(
        &self,
        grid: &BillingPeriods,
        billing: &[Timeframe],
        now: Timestamp,
    ) -> BTreeMap<PeriodKey, Timeframe> {
        let mut found = BTreeMap::new();
        let mut insert = |of: Stretch| found.insert(of.key, of.timeframe);
        for period in billing {
            insert(Stretch::whole(grid, *period));
        }
        if self.subscription.has_one_grid() {
            return found;
        }
        for usage in self.subscription.usage_grids() {
            for of in billing {
                for period in usage.overlapping(*of) {
                    insert(Stretch::whole(&usage, period));
                    for part in self.parts(grid, period, of.start(), now) {
                        insert(part);
                    }
                }
            }
        }
        for stretch in self.seen_by_composites(billing) {
            insert(stretch);
        }
        found
    }

    /// Returns the periods of usage that composite prices see within some billing periods: those that end with
    /// theirs, or before.
    fn seen_by_composites(&self, billing: &[Timeframe]) -> Vec<Stretch> {
        let composites = self.subscription.composite_grids();
        let own = billing.iter().flat_map(|of| {
            composites.iter().flat_map(move |grid| grid.overlapping(*of).map(move |own| (own, of)))
        });
        let own: Vec<_> = own.collect();
        let grids = self.subscription.usage_grids().into_iter();
        let seen = grids.flat_map(|usage| {
            let seen = own.iter().flat_map(|(own, of)| {
                let periods = usage.overlapping(*own).filter(|period| period.end() <= own.end());
                let begun = periods.filter(|period| period.start() < of.end());
                begun.map(|period| Stretch::whole(&usage, period)).collect::<Vec<_>>()
            });
            seen.collect::<Vec<_>>()
        });
        seen.collect()
    }

    /// Returns the parts of a price's period up to starts of billing periods, from one of them on.
    fn parts(
        &self,
        grid: &BillingPeriods,
        period: Timeframe,
        from: Timestamp,
        now: Timestamp,
    ) -> Vec<Stretch> {
        let boundaries = self.boundaries(grid, period, from, self.parts_until, now);
        let mut parts: Vec<_> =
            boundaries.into_iter().map(|at| Stretch::up_to(period, at)).collect();
        // A part that is a billing period is always there.
        let first = grid.containing(period.start()).filter(|of| of.start() == period.start());
        let first = first.filter(|of| from <= of.end() && of.end() < period.end());
        parts.extend(first.map(|first| Stretch::up_to(period, first.end())));
        parts
    }

    /// Returns the starts of billing periods within a period at which it is parted, from one instant up to
    /// another, none that is too old to be judged.
    fn boundaries(
        &self,
        grid: &BillingPeriods,
        period: Timeframe,
        from: Timestamp,
        to: Option<Timestamp>,
        now: Timestamp,
    ) -> Vec<Timestamp> {
        let Some(to) = to else { return Vec::new() };
        let from = from.max(self.oldest_kept(grid, now)).max(period.start());
        let within =
            Timeframe::nothing_at(from).until(to.saturating_add(INSTANT).min(period.end()));
        let starts = grid.overlapping(within).map(Timeframe::start);
        starts.filter(|at| from <= *at && period.start() < *at).collect()
    }

    /// Returns the parts that are to be there once something was used in a billing period, and were not
    /// before: each with the period that it is of.
    pub(crate) fn new_parts(
        &self,
        billing_start: Timestamp,
        now: Timestamp,
    ) -> Vec<(Stretch, Stretch)> {
        if self.subscription.has_one_grid() || self.parts_until >= Some(billing_start) {
            return Vec::new();
        }
        let grid = self.subscription.periods();
        let from = self.parts_until.map_or(Timestamp::MIN, |at| at.saturating_add(INSTANT));
        let from = from.max(self.oldest_kept(&grid, now));
        let new = Timeframe::nothing_at(from).until(billing_start.saturating_add(INSTANT));
        let is_own = |of: &Stretch| grid.containing(of.key.start) == Some(of.timeframe);
        let mut parts = Vec::new();
        for usage in self.subscription.usage_grids() {
            for period in usage.overlapping(new) {
                let whole = Stretch::whole(&usage, period);
                let boundaries = self.boundaries(&grid, period, from, Some(billing_start), now);
                let new = boundaries.into_iter().map(|at| Stretch::up_to(period, at));
                parts.extend(new.filter(|of| !is_own(of)).map(|part| (part, whole)));
            }
        }
        parts
    }

    /// Returns the parts that no billing period needs any more once one has ended and is closed: those
    /// up to the start of the third before it, which no clock that is behind still asks for.
    pub(crate) fn outlived_parts(&self, closed: Timestamp) -> Vec<PeriodKey> {
        let grid = self.subscription.periods();
        let before = |at: Timestamp| grid.containing(at.saturating_sub(INSTANT));
        let ended = before(closed).filter(|of| of.end() == closed);
        if self.subscription.has_one_grid() || ended.is_none() {
            return Vec::new();
        }
        let third = (0..3).try_fold(closed, |at, _| before(at).map(Timeframe::start));
        let Some(boundary) = third.and_then(before).map(Timeframe::start) else {
            return Vec::new();
        };
        let usage = self.subscription.usage_grids().into_iter();
        let periods = usage.filter_map(|usage| usage.containing(boundary));
        let parted = periods.filter(|period| period.start() < boundary);
        let is_own = |of: &Stretch| grid.containing(of.key.start) == Some(of.timeframe);
        let parts = parted.map(|period| Stretch::up_to(period, boundary));
        parts.filter(|part| !is_own(part)).map(|part| part.key).collect()
    }

    /// Returns the oldest start of a billing period up to which parts are kept: one more than is judged,
    /// for a clock that is a little behind.
    fn oldest_kept(&self, grid: &BillingPeriods, now: Timestamp) -> Timestamp {
        let judged = oldest_judged(&self.subscription, now);
        grid.containing(judged.saturating_sub(INSTANT)).map_or(judged, Timeframe::start)
    }
}
