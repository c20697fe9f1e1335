use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::reading::Digest;
use crate::{Timeframe, Timestamp, limits, meter::CellId};

/// Instants at which one value of one metric was seen for one customer: enough to tell, for any billing
/// period, whether the value is new in it.
///
/// Kept once per customer and metric, whatever subscriptions there are, and in bounded space: the
/// instants of a day are one span of which the first and the last instant are known, and so are
/// all that are older than any event which is still taken, up to the end of their day.
/// The time between the two ends of a span is not known; a timeframe strictly inside of one cannot
/// be judged, nor one that touches a stretch of which a correction has left nothing known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DistinctIndex {
    /// Spans, disjoint and in order; both ends of each are instants at which the value was seen.
    spans: Vec<(Timestamp, Timestamp)>,
    /// Timeframes, disjoint and in order, in which the value may be or not, besides within spans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<Timeframe>,
}

/// Instants at which each distinct value was seen.
pub(crate) type Seen = BTreeMap<(CellId, Digest), DistinctIndex>;

impl DistinctIndex {
    /// Tells whether the value was seen in a timeframe; `None` where that is not known.
    pub(crate) fn seen_in(&self, timeframe: Timeframe) -> Option<bool> {
        let mut known = !self.unknown.iter().any(|stretch| stretch.overlaps(timeframe));
        for (first, last) in &self.spans {
            if timeframe.contains(*first) || timeframe.contains(*last) {
                return Some(true);
            }
            known &= *last < timeframe.start() || timeframe.end() <= *first;
        }
        known.then_some(false)
    }

    /// Adds the instants at which the value was seen for another customer, as if it were the same one.
    pub(crate) fn merge(&mut self, other: Self) {
        self.spans.extend(other.spans);
        self.spans.sort_unstable();
        self.spans.dedup_by(|next, kept| {
            let join = next.0 <= kept.1 || kept.1.day() == next.0.day();
            if join {
                kept.1 = kept.1.max(next.1);
            }
            join
        });
        let stretches = std::mem::take(&mut self.unknown).into_iter();
        self.set_unknown(stretches.chain(other.unknown).collect());
    }

    /// Forgets the instants of a timeframe: the value is not there any more.
    pub(crate) fn forget(&mut self, timeframe: Timeframe) {
        let mut cut = Vec::new();
        self.spans.retain_mut(|(first, last)| {
            match (timeframe.contains(*first), timeframe.contains(*last)) {
                (true, true) => return false,
                (false, true) => {
                    cut.extend(Timeframe::new(*first, timeframe.start()));
                    *last = *first;
                }
                (true, false) => {
                    cut.extend(Timeframe::new(timeframe.end(), *last));
                    *first = *last;
                }
                (false, false) => {}
            }
            true
        });
        let stretches = std::mem::take(&mut self.unknown).into_iter().flat_map(|stretch| {
            let before = stretch.end().min(timeframe.start());
            let behind = stretch.start().max(timeframe.end());
            let before = Timeframe::new(stretch.start(), before);
            before.into_iter().chain(Timeframe::new(behind, stretch.end()))
        });
        cut.extend(stretches);
        self.set_unknown(cut);
    }

    /// Knows no longer whether the value is there within a timeframe.
    pub(crate) fn blur(&mut self, timeframe: Timeframe) {
        let mut stretches = std::mem::take(&mut self.unknown);
        stretches.push(timeframe);
        self.set_unknown(stretches);
    }

    /// Tells whether nothing is known but that the value is not there.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.unknown.is_empty()
    }

    /// Keeps stretches of which nothing is known. Where there are too many, the time between those that
    /// are closest becomes unknown too, which is never wrong.
    fn set_unknown(&mut self, mut stretches: Vec<Timeframe>) {
        let within_span = |stretch: &Timeframe| {
            self.spans
                .iter()
                .any(|(first, last)| *first <= stretch.start() && stretch.end() <= *last)
        };
        stretches.retain(|stretch| stretch.start() < stretch.end() && !within_span(stretch));
        stretches.sort_unstable();
        stretches.dedup_by(|next, kept| {
            let join = next.start() <= kept.end();
            if join {
                *kept = kept.until(kept.end().max(next.end()));
            }
            join
        });
        while stretches.len() > limits::UNKNOWN_STRETCHES {
            let gaps = stretches.iter().zip(stretches.iter().skip(1)).enumerate();
            let gap = |(_, (one, next)): &(usize, (&Timeframe, &Timeframe))| {
                next.start().micros().saturating_sub(one.end().micros())
            };
            let Some((at, hull)) =
                gaps.min_by_key(gap).map(|(at, (one, next))| (at, one.until(next.end())))
            else {
                break;
            };
            stretches.splice(at..=at.saturating_add(1), [hull]);
        }
        self.unknown = stretches;
    }

    /// Adds an instant. Spans that end before `oldest_taken` become one.
    pub(crate) fn add(&mut self, instant: Timestamp, oldest_taken: Timestamp) {
        let at = self.spans.partition_point(|(_, last)| *last < instant);
        match self.spans.get(at) {
            Some((first, _)) if *first <= instant => {}
            _ => self.spans.insert(at, (instant, instant)),
        }
        self.spans.dedup_by(|next, kept| {
            let join = kept.1.day() == next.0.day() || next.1 < oldest_taken;
            if join {
                kept.1 = next.1;
            }
            join
        });
        let stretches = std::mem::take(&mut self.unknown);
        self.set_unknown(stretches);
    }
}

/// Tells whether a timeframe lies within one day in UTC, so that a span may surround it.
pub(crate) fn is_within_a_day(timeframe: Timeframe) -> bool {
    timeframe.start().day() == timeframe.end().day()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000 + hours * HOUR).unwrap()
    }

    proptest! {
        /// Instants in any order, none older than what is taken when it comes.
        #[test]
        fn known_answers_are_right_and_long_open_periods_are_always_known(
            steps in prop::collection::vec((0_i64..12, 0_i64..48), 1..60),
            start in 0_i64..800, length in 1_i64..800,
        ) {
            let (mut now, mut seen, mut index) = (48, Vec::new(), DistinctIndex::default());
            for (pause, late) in steps {
                now += pause;
                let instant = at(now - late);
                index.add(instant, at(now - 48));
                seen.push(instant);
            }
            let timeframe = Timeframe::new(at(start), at(start + length)).unwrap();
            let truth = seen.iter().any(|instant| timeframe.contains(*instant));
            match index.seen_in(timeframe) {
                Some(known) => prop_assert_eq!(known, truth),
                None => prop_assert!(
                    is_within_a_day(timeframe)
                        || timeframe.end().day() <= at(now - 48).day()
                ),
            }
            prop_assert!(index.spans.len() <= 5);
        }

        #[test]
        fn what_corrections_leave_known_is_right(
            steps in prop::collection::vec(step(), 1..40), asked in hours(200),
        ) {
            let (mut now, mut index) = (0, DistinctIndex::default());
            let (mut instants, mut ever, mut corrected) =
                (BTreeSet::new(), BTreeSet::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Add { hour, pause } => {
                        now += pause;
                        index.add(at(hour), at(now));
                        instants.insert(at(hour));
                        ever.insert(at(hour));
                    }
                    Step::Correct { timeframe, leave } => {
                        let within: Vec<_> =
                            instants.iter().copied().filter(|at| timeframe.contains(*at)).collect();
                        let leave = leave.min(within.len());
                        instants.retain(|at| !within[leave..].contains(at));
                        index.forget(timeframe);
                        if leave > 0 {
                            index.blur(timeframe);
                        }
                        corrected.push(timeframe);
                    }
                }
                let truth = instants.iter().any(|instant| asked.contains(*instant));
                let known = index.seen_in(asked);
                prop_assert!(known.is_none_or(|known| known == truth), "{known:?} is wrong");
                prop_assert!(index.unknown.len() <= limits::UNKNOWN_STRETCHES);
                prop_assert!(instants.is_empty() || !index.is_empty());

                let is_corrected = corrected.iter().any(|of| of.overlaps(asked));
                let is_merged = corrected.len() > limits::UNKNOWN_STRETCHES;
                if !is_corrected && !is_merged && !is_spanned(&ever, at(now), asked) {
                    prop_assert_eq!(known, Some(truth));
                }
            }
        }
    }

    proptest! {
        /// Of several customers as of one that has seen all of it.
        #[test]
        fn merged_indexes_know_what_one_of_all_instants_would(
            seen in prop::collection::vec((0_usize..3, 0_i64..400), 0..60),
            oldest in 0_i64..300, asked in hours(200),
        ) {
            let mut all = vec![DistinctIndex::default(); 3];
            for (of, hour) in &seen {
                all[*of].add(at(*hour), at(oldest));
            }
            let mut together = DistinctIndex::default();
            all.into_iter().for_each(|own| together.merge(own));
            let truth = seen.iter().any(|(_, hour)| asked.contains(at(*hour)));
            let known = together.seen_in(asked);
            prop_assert!(known.is_none_or(|known| known == truth), "{known:?} is wrong");
            let ever = seen.iter().map(|(_, hour)| at(*hour)).collect();
            if !is_spanned(&ever, at(oldest), asked) {
                prop_assert_eq!(known, Some(truth));
            }
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add {
            hour: i64,
            pause: i64,
        },
        /// All instants of a timeframe go, but for so many of the first ones.
        Correct {
            timeframe: Timeframe,
            leave: usize,
        },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0_i64..400, 0_i64..20).prop_map(|(hour, pause)| Step::Add { hour, pause }),
            1 => (hours(40), 0_usize..3)
                .prop_map(|(timeframe, leave)| Step::Correct { timeframe, leave }),
        ]
    }

    fn hours(most: i64) -> impl Strategy<Value = Timeframe> {
        let timeframe = |(start, length)| Timeframe::new(at(start), at(start + length)).unwrap();
        (0_i64..400, 1..most).prop_map(timeframe)
    }

    /// Tells whether a timeframe touches what lies between the first and the last instant of a day,
    /// or of all days that nothing is taken of any more.
    fn is_spanned(
        ever: &BTreeSet<Timestamp>,
        oldest_taken: Timestamp,
        timeframe: Timeframe,
    ) -> bool {
        let mut spans: Vec<(Timestamp, Timestamp)> = Vec::new();
        for instant in ever {
            match spans.last_mut() {
                Some((_, last)) if last.day() == instant.day() || *instant < oldest_taken => {
                    *last = *instant;
                }
                _ => spans.push((*instant, *instant)),
            }
        }
        let touches = |(first, last): &(Timestamp, Timestamp)| {
            *first < timeframe.end() && timeframe.start() <= *last
        };
        spans.iter().any(touches)
    }

    #[test]
    fn a_correction_takes_what_is_known_of_its_timeframe() {
        let frame = |start, end| Timeframe::new(at(start), at(end)).unwrap();
        // Hour 2 is the first of a day.
        let seen = |instants: &[i64]| {
            let mut index = DistinctIndex::default();
            for hour in instants {
                index.add(at(*hour), Timestamp::MIN);
            }
            index
        };
        let check = |instants: &[i64], forgotten, spans: &[(i64, i64)], unknown: &[_]| {
            let mut index = seen(instants);
            index.forget(forgotten);
            let spans: Vec<_> = spans.iter().map(|(first, last)| (at(*first), at(*last))).collect();
            assert_eq!((index.spans, &*index.unknown), (spans, unknown), "{forgotten:?}");
        };
        check(&[2, 4, 8], frame(2, 9), &[], &[]);
        check(&[2, 4, 8], frame(2, 8), &[(8, 8)], &[]);
        check(&[2, 4, 8], frame(1, 3), &[(8, 8)], &[frame(3, 8)]);
        check(&[2, 4, 8], frame(7, 9), &[(2, 2)], &[frame(2, 7)]);
        check(&[2, 4, 8], frame(3, 8), &[(2, 8)], &[]);
        check(&[2, 30], frame(1, 3), &[(30, 30)], &[]);
        check(&[2, 30], frame(5, 8), &[(2, 2), (30, 30)], &[]);

        let mut index = seen(&[2, 8]);
        index.forget(frame(7, 9));
        index.blur(frame(7, 9));
        assert_eq!(index.unknown, [frame(2, 9)]);
        assert_eq!(index.seen_in(frame(3, 200)), None);
        assert_eq!(index.seen_in(frame(2, 200)), Some(true));
        assert_eq!(index.seen_in(frame(9, 200)), Some(false));
        index.add(at(10), Timestamp::MIN);
        assert!(index.unknown.is_empty(), "what lies within a span needs no stretch");
        index.forget(frame(0, 30));
        assert!(index.is_empty());
    }

    #[test]
    fn of_too_many_unknown_stretches_the_closest_become_one() {
        let frame = |start, end| Timeframe::new(at(start), at(end)).unwrap();
        let mut index = DistinctIndex::default();
        for start in [0, 10, 20, 25, 40] {
            index.blur(frame(start, start + 1));
        }
        assert_eq!(index.unknown, [frame(0, 1), frame(10, 11), frame(20, 26), frame(40, 41)]);
        assert_eq!(index.seen_in(frame(22, 23)), None);
        assert_eq!(index.seen_in(frame(26, 40)), Some(false));
    }
}
