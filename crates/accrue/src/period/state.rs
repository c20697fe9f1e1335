use std::collections::{BTreeSet, HashSet};

use crate::{
    Timeframe,
    meter::{CellId, MeterId},
    usage::{
        Aggregate, Amount, Digest, DistinctIndex, GroupFigures, KnownGroups, Reading, Seen, Sums,
        Total, is_within_a_day,
    },
};

/// Usage in a stretch of a subscription's life: a billing period, a period of a price, or the part of
/// one up to the start of a billing period.
#[derive(Clone, Debug)]
pub(crate) struct PeriodState {
    pub(crate) timeframe: Timeframe,
    pub(crate) total: Total,
    /// True where the total is another than the stored one.
    pub(crate) has_moved: bool,
    /// Parts of the total that were stored before it moved.
    pub(crate) stored: Stored,
    /// Distinct values by cell, where the distinct index cannot tell.
    pub(crate) distinct: Option<HashSet<(CellId, Digest)>>,
}

/// Parts of a total that have a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) metrics: bool,
    pub(crate) cells: bool,
    /// Groups that were read, as their rows have them.
    pub(crate) groups: GroupFigures,
}

impl PeriodState {
    /// Creates the state that is stored, in such rows or in none.
    pub(crate) fn new(timeframe: Timeframe, total: Total, stored: Stored) -> Self {
        Self { timeframe, total, has_moved: false, stored, distinct: None }
    }

    /// Takes another total.
    pub(crate) fn set(&mut self, total: Total) {
        self.has_moved |= self.total != total;
        self.total = total;
    }

    /// Takes other groups of some meters.
    pub(crate) fn set_groups(&mut self, meters: BTreeSet<MeterId>, groups: &KnownGroups) {
        let own = &mut self.total.groups.known;
        for meter in meters {
            let next = groups.get(&meter);
            self.has_moved |= own.get(&meter) != next;
            match next {
                Some(next) => drop(own.insert(meter, next.clone())),
                None => drop(own.remove(&meter)),
            }
        }
    }

    /// Tells whether the distinct index may be unable to tell what is new here, so that the values
    /// themselves are needed.
    pub(crate) fn needs_distinct_values<'a>(
        &self,
        index: impl IntoIterator<Item = &'a DistinctIndex>,
    ) -> bool {
        is_within_a_day(self.timeframe)
            || index.into_iter().any(|seen| seen.seen_in(self.timeframe).is_none())
    }

    /// Adds a reading, and tells whether that moves something: a value that is there already does not.
    /// `seen` is as it was before the event.
    pub(super) fn add(&mut self, reading: &Reading, seen: &Seen) -> bool {
        let amount = match &reading.amount {
            Amount::Plain(amount) => amount.clone(),
            Amount::Distinct(digest) if self.is_new((reading.cell, *digest), seen) => {
                Aggregate::Distinct(1)
            }
            Amount::Distinct(_) => return false,
        };
        self.total.add_in(reading.place(), amount);
        self.has_moved = true;
        true
    }

    /// Adds what some readings add up to, none of them a distinct value.
    pub(super) fn add_all(&mut self, sums: &Sums) {
        self.has_moved |= !sums.is_empty();
        self.total.add_all(sums);
    }

    fn is_new(&mut self, value: (CellId, Digest), seen: &Seen) -> bool {
        match &mut self.distinct {
            Some(distinct) => distinct.insert(value),
            None => {
                let seen = seen.get(&value).map(|seen| seen.seen_in(self.timeframe));
                seen.is_none_or(|seen| seen == Some(false))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn values_are_needed_only_where_the_index_cannot_tell() {
        let timeframe = |start, end| {
            let at = |text| Timestamp::parse(text).unwrap();
            Timeframe::new(at(start), at(end)).unwrap()
        };
        let check = |timeframe: Timeframe, seen: &[DistinctIndex], expect: bool| {
            let state = PeriodState::new(timeframe, Total::default(), Stored::default());
            assert_eq!(state.needs_distinct_values(seen), expect, "{timeframe:?}");
        };
        let month = timeframe("2026-03-10T00:00:00Z", "2026-04-10T00:00:00Z");
        let mut blurred = DistinctIndex::default();
        blurred.blur(timeframe("2026-03-12T00:00:00Z", "2026-03-13T00:00:00Z"));
        check(month, &[], false);
        check(month, &[DistinctIndex::default()], false);
        check(month, &[DistinctIndex::default(), blurred], true);
        check(timeframe("2026-03-10T00:00:00Z", "2026-03-10T06:00:00Z"), &[], true);
    }
}
