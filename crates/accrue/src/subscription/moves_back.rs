use super::{AdjustmentInterval, InForce, PriceInterval, Subscription, VersionMoved};
use crate::{MigrationId, Timestamp, time::INSTANT};

impl Subscription {
    /// Takes back a move that is still to come: what it was to end goes on as it was, up to the next change of plan, and
    /// what was to begin with it is gone.
    pub(crate) fn stay(&mut self, id: MigrationId) {
        // One that moves with its start has done so.
        let own = self.plan_intervals.iter().find(|of| of.is_of(id));
        let Some(own) = own.filter(|of| self.start_date < of.start_date) else { return };
        let (at, Some(moved)) = (own.start_date, own.moved.clone()) else { return };
        self.without_trial(|of| of.take_back(id, at, *moved));
    }

    fn take_back(&mut self, id: MigrationId, at: Timestamp, moved: VersionMoved) {
        let until = self.changes_plan_after(at);
        let before = |end: Option<Timestamp>| end.into_iter().chain(until).min();
        self.plan_intervals.retain_mut(|of| {
            if of.is_of(id) && of.is_later_phase {
                of.moved = None;
                return true;
            }
            !of.is_of(id)
        });
        let version = self.plan_at(at.saturating_sub(INSTANT)).plan_version;
        let own = self.plan_intervals.iter_mut().find(|of| of.start_date == at);
        own.into_iter().for_each(|of| of.plan_version = version);
        self.follow_version(at);
        self.price_intervals.retain(|of| !moved.began.contains_key(&of.id));
        // What somebody has begun in its place since stays, and so does what somebody else has ended.
        let begun = self.price_intervals.iter().filter(|of| at <= of.start_date);
        let begun: Vec<_> = begun.map(|of| (of.in_force(), of.start_date)).collect();
        let first = |is_of: &dyn Fn(InForce) -> bool| {
            let own = begun.iter().filter(|(in_force, _)| is_of(*in_force));
            own.map(|(_, start)| *start).min()
        };
        let next_to = |of: &PriceInterval| first(&|in_force| in_force == of.in_force());
        let next_to_own = |of: &AdjustmentInterval| {
            first(&|in_force| of.is_own() && of.reaches_in_force(in_force))
        };
        for of in self.price_intervals.iter_mut().filter(|of| of.end_date == Some(at)) {
            let Some(end) = moved.ended.get(&of.id) else { continue };
            of.end_date = before(*end).into_iter().chain(next_to(of)).min();
        }
        self.adjustment_intervals.retain(|of| !moved.began_adjustments.contains(&of.id));
        for of in self.adjustment_intervals.iter_mut().filter(|of| of.end_date == Some(at)) {
            let Some(end) = moved.ended_adjustments.get(&of.id) else { continue };
            of.end_date = before(*end).into_iter().chain(next_to_own(of)).min();
        }
        let is_there = |start: Timestamp| until.is_none_or(|until| start < until);
        let removed = moved.removed.into_iter().filter(|of| is_there(of.start_date));
        let removed = removed.filter(|of| next_to(of).is_none());
        self.price_intervals
            .extend(removed.map(|of| PriceInterval { end_date: before(of.end_date), ..of }));
        let removed = moved.removed_adjustments.into_iter().filter(|of| is_there(of.start_date));
        let removed = removed.filter(|of| next_to_own(of).is_none());
        self.adjustment_intervals
            .extend(removed.map(|of| AdjustmentInterval { end_date: before(of.end_date), ..of }));
    }

    /// Takes back the moves that are still to come, from an instant on.
    pub(crate) fn stay_from(&mut self, from: Timestamp) {
        let pending = self.plan_intervals.iter().filter(|of| from <= of.start_date);
        let pending = pending.filter_map(|of| Some(of.moved.as_ref()?.migration_id));
        let pending: Vec<_> = pending.collect();
        pending.into_iter().for_each(|id| self.stay(id));
    }
}
