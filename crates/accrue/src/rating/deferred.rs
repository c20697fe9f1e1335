//! Usage that is invoiced later than it falls due (subscriptions 2.6).

use std::collections::{BTreeMap, BTreeSet};

use super::{RateCard, RatedInterval, Used, due::Trace, joint::Joint};
use crate::{Timeframe, Timestamp, subscription::PeriodKey, time::INSTANT};

impl RatedInterval {
    /// Returns when what falls due with one of its periods is invoiced, where that waits.
    pub(super) fn deferral(&self, period: Timeframe) -> Option<Timestamp> {
        self.deferred.filter(|(last, _)| *last == period).map(|(_, invoiced_at)| invoiced_at)
    }
}

impl RateCard {
    /// Tells whether usage has waited for an instant.
    pub(super) fn has_deferred_to(&self, at: Timestamp) -> bool {
        self.intervals
            .iter()
            .any(|of| of.deferred.is_some_and(|(_, invoiced_at)| invoiced_at == at))
    }

    /// Returns the periods of usage that what has waited for an instant was rated by, and what fell due with it: they
    /// are adjusted together.
    pub(crate) fn deferred_to(&self, at: Timestamp) -> BTreeMap<Timeframe, PeriodKey> {
        let deferred = self.intervals.iter().filter_map(|of| of.deferred);
        let ends = deferred.filter(|(_, invoiced_at)| *invoiced_at == at).map(|(of, _)| of.end());
        let periods = ends.flat_map(|end| {
            let before = Timeframe::nothing_at(end.saturating_sub(INSTANT)).until(end);
            let rated = self.rated_periods(before).into_iter();
            rated.filter(move |(period, _)| period.end() <= end)
        });
        periods.collect()
    }

    /// Traces usage that is invoiced later than it falls due, by when it falls due and when it is invoiced: it comes to
    /// what it comes to when it falls due.
    pub(super) fn deferred(
        &self,
        used: &Used<'_>,
        which: impl Fn(Timestamp, Timestamp) -> bool,
    ) -> Vec<Trace> {
        let deferred = self.intervals.iter().filter_map(|of| of.deferred);
        let deferred = deferred.map(|(period, invoiced_at)| (period.end(), invoiced_at));
        let deferred: BTreeSet<_> = deferred.filter(|(end, at)| which(*end, *at)).collect();
        let traces = deferred.into_iter().flat_map(|(end, invoiced_at)| {
            self.joints(around(end)).filter_map(move |(group, joint)| {
                let trace = joint.trace(group, self, used, end)?;
                let waits = |of: &RatedInterval, period| of.deferral(period) == Some(invoiced_at);
                trace.only(&joint, self, waits)
            })
        });
        traces.collect()
    }
}

impl Trace {
    /// Keeps what falls due of some members; nothing where that is none of it.
    pub(super) fn only(
        mut self,
        joint: &Joint,
        card: &RateCard,
        which: impl Fn(&RatedInterval, Timeframe) -> bool,
    ) -> Option<Self> {
        for (place, member) in joint.members.iter().enumerate() {
            let interval = card.intervals.get(member.interval);
            if interval.is_some_and(|of| which(of, member.period)) {
                continue;
            }
            if let Some(line) = self.lines.get_mut(place) {
                *line = None;
            }
            self.steps.values_mut().for_each(|of| of.retain(|(reached, _)| *reached != place));
        }
        self.lines.iter().any(Option::is_some).then_some(self)
    }
}

/// The instant before an instant, and itself.
pub(super) fn around(at: Timestamp) -> Timeframe {
    Timeframe::nothing_at(at.saturating_sub(INSTANT)).until(at.saturating_add(INSTANT))
}
