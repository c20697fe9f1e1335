//! Groups of meters that are not known beforehand: how many there may be.

use std::collections::BTreeSet;

use super::Periods;
use crate::{
    Timestamp, limits,
    meter::{MeterId, Values},
    subscription::PeriodKey,
    usage::Reading,
};

/// Groups that events begin, by the stretch that they are in.
pub(crate) type Begun = BTreeSet<(PeriodKey, MeterId, Values)>;

impl Periods {
    /// Tells whether some groups may be more than a stretch may have of a meter, if it has none of them yet.
    pub(crate) fn may_begin_too_many(&self, groups: usize) -> bool {
        let counts = self.states.values().flat_map(|state| {
            let of = &state.total.groups;
            of.meters().map(|meter| of.count(meter))
        });
        counts.max().unwrap_or_default().saturating_add(to_u64(groups)) > limits::GROUPS
    }

    /// Tells whether an event would be in one more group of a meter than a stretch may have, beside those that
    /// events before it begin; else it begins its own.
    pub(crate) fn begins_too_many(
        &self,
        at: Timestamp,
        readings: &[Reading],
        begun: &mut Begun,
    ) -> bool {
        let is_own = |meter: MeterId| self.meters.contains(&meter);
        let own = readings.iter().filter(|reading| reading.meter.is_some_and(is_own));
        let own: Vec<_> = own.filter_map(|reading| reading.place().group).collect();
        let mut new = Begun::new();
        for (key, state) in self.states.iter().filter(|(_, of)| of.timeframe.contains(at)) {
            let groups = &state.total.groups;
            for (meter, values) in own.iter().filter(|(meter, of)| groups.get(*meter, of).is_none())
            {
                let place = (*key, *meter, (*values).clone());
                if begun.contains(&place) {
                    continue;
                }
                let before = begun.iter().filter(|of| (of.0, of.1) == (*key, *meter)).count();
                let before = groups.count(*meter).saturating_add(to_u64(before));
                if before >= limits::GROUPS {
                    return true;
                }
                new.insert(place);
            }
        }
        begun.append(&mut new);
        false
    }
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
