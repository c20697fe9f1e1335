use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{meter::MeterId, reading::Digest};
use crate::{Timeframe, Timestamp};

/// When one value of one metric was seen for one customer: enough to tell, for any billing period,
/// whether the value is new in it.
///
/// Kept once per customer and metric, whatever subscriptions there are, and in bounded space: the
/// sightings of a day are one span of which the first and the last instant are known, and so are
/// all sightings that are older than any event which is still taken, up to the end of their day.
/// What lies between the two ends of a span is not known; a timeframe strictly inside of one cannot
/// be judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sightings {
    /// Disjoint and in order; both ends of each are instants at which the value was seen.
    spans: Vec<(Timestamp, Timestamp)>,
}

/// When each distinct value was seen.
pub(crate) type Seen = BTreeMap<(MeterId, Digest), Sightings>;

impl Sightings {
    /// Tells whether the value was seen in a timeframe; `None` where that is not known.
    pub(crate) fn seen_in(&self, timeframe: Timeframe) -> Option<bool> {
        let mut known = true;
        for (first, last) in &self.spans {
            if timeframe.contains(*first) || timeframe.contains(*last) {
                return Some(true);
            }
            known &= *last < timeframe.start() || timeframe.end() <= *first;
        }
        known.then_some(false)
    }

    /// Forgets what is known of a timeframe: the value is not there any more.
    pub(crate) fn forget(&mut self, timeframe: Timeframe) {
        let _ = timeframe;
    }

    /// Knows no longer whether the value is there within a timeframe.
    pub(crate) fn blur(&mut self, timeframe: Timeframe) {
        let _ = timeframe;
    }

    /// Tells whether nothing is known but that the value is not there.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds a sighting. Spans that end before `settled` become one.
    pub(crate) fn add(&mut self, instant: Timestamp, settled: Timestamp) {
        let at = self.spans.partition_point(|(_, last)| *last < instant);
        match self.spans.get(at) {
            Some((first, _)) if *first <= instant => {}
            _ => self.spans.insert(at, (instant, instant)),
        }
        self.spans.dedup_by(|next, kept| {
            let join = kept.1.day() == next.0.day() || next.1 < settled;
            if join {
                kept.1 = next.1;
            }
            join
        });
    }
}

/// Tells whether a timeframe lies within one day in UTC, so that a span may surround it.
pub(crate) fn is_within_a_day(timeframe: Timeframe) -> bool {
    timeframe.start().day() == timeframe.end().day()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000 + hours * HOUR).unwrap()
    }

    proptest! {
        /// Instants in any order, none older than what is settled when it comes.
        #[test]
        fn known_answers_are_right_and_long_open_periods_are_always_known(
            steps in prop::collection::vec((0_i64..12, 0_i64..48), 1..60),
            start in 0_i64..800, length in 1_i64..800,
        ) {
            let (mut now, mut seen, mut sightings) = (48, Vec::new(), Sightings::default());
            for (pause, late) in steps {
                now += pause;
                let instant = at(now - late);
                sightings.add(instant, at(now - 48));
                seen.push(instant);
            }
            let timeframe = Timeframe::new(at(start), at(start + length)).unwrap();
            let truth = seen.iter().any(|instant| timeframe.contains(*instant));
            match sightings.seen_in(timeframe) {
                Some(known) => prop_assert_eq!(known, truth),
                None => prop_assert!(
                    is_within_a_day(timeframe)
                        || timeframe.end().day() <= at(now - 48).day()
                ),
            }
            prop_assert!(sightings.spans.len() <= 5);
        }
    }
}
