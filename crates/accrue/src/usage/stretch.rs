use crate::{Timeframe, Timestamp};

/// Stretch of so many minutes in UTC, counted from 1970: such stretches adjoin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Stretch<const MINUTES: i64>(Timestamp);

/// Minute: events of one can share a row.
pub(crate) type Minute = Stretch<1>;

/// Window of 15 minutes: one bucket covers one.
pub(crate) type Window = Stretch<15>;

/// Hour: events are counted by it.
pub(crate) type Hour = Stretch<60>;

/// Day: it is corrected as a whole.
pub(crate) type Day = Stretch<{ 24 * 60 }>;

/// Four weeks: the groups of a meter are known for them.
pub(crate) type FourWeeks = Stretch<{ 28 * 24 * 60 }>;

impl<const MINUTES: i64> Stretch<MINUTES> {
    const MICROS: i64 = MINUTES * 60 * 1_000_000;

    /// Returns the one that holds an instant.
    pub(crate) fn of(instant: Timestamp) -> Self {
        let into = instant.micros().rem_euclid(Self::MICROS);
        Self(Timestamp::from_micros(instant.micros().saturating_sub(into)).unwrap_or(instant))
    }

    /// Returns how many there were before it since 1970.
    pub(crate) const fn number(self) -> i64 {
        self.0.micros().div_euclid(Self::MICROS)
    }

    /// Returns the one with so many before it since 1970; none outside of time.
    pub(crate) fn numbered(number: i64) -> Option<Self> {
        Timestamp::from_micros(number.checked_mul(Self::MICROS)?).ok().map(Self)
    }

    /// Returns those that a timeframe touches, in order.
    pub(crate) fn touched_by(timeframe: Timeframe) -> impl Iterator<Item = Self> {
        let within = move |of: &Self| of.start() < timeframe.end();
        let first = Some(Self::of(timeframe.start())).filter(within);
        std::iter::successors(first, move |of| {
            // The last one of time has no next.
            Some(Self::of(of.end())).filter(|next| next.start() > of.start()).filter(within)
        })
    }

    /// Returns the timeframe of all that another one touches.
    pub(crate) fn covering(timeframe: Timeframe) -> Timeframe {
        let (start, end) = (Self::of(timeframe.start()).start(), Self::of(timeframe.end()));
        let ends_with_one = end.start() == timeframe.end();
        let end = if ends_with_one { timeframe.end() } else { end.end() };
        Timeframe::nothing_at(start).until(end)
    }

    /// Returns the timeframe of all that overlap another one: where that has no length, neither has this.
    pub(crate) fn overlapping(timeframe: Timeframe) -> Timeframe {
        if timeframe.start() == timeframe.end() { timeframe } else { Self::covering(timeframe) }
    }

    pub(crate) const fn start(self) -> Timestamp {
        self.0
    }

    /// Returns the instant at which the next one begins, or the last one of time.
    pub(crate) fn end(self) -> Timestamp {
        let end = self.0.micros().saturating_add(Self::MICROS);
        Timestamp::from_micros(end).unwrap_or(Timestamp::MAX)
    }

    pub(crate) fn timeframe(self) -> Timeframe {
        Timeframe::nothing_at(self.start()).until(self.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_timeframe_touches_whole_days() {
        let check = |start: &str, end: &str, expect: &[&str]| {
            let timeframe = Timeframe::new(at(start), at(end)).unwrap();
            let expect: Vec<_> =
                expect.iter().map(|day| Day::of(at(&format!("{day}T12:00:00Z")))).collect();
            assert_eq!(Day::touched_by(timeframe).collect::<Vec<_>>(), expect, "{start} to {end}");
        };
        check("2026-02-28T23:00:00Z", "2026-03-01T00:00:00Z", &["2026-02-28"]);
        check("2026-02-28T23:00:00Z", "2026-03-01T00:00:01Z", &["2026-02-28", "2026-03-01"]);
        check("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", &[]);
        check("9998-12-31T00:00:00Z", "9998-12-31T23:59:59Z", &["9998-12-31"]);
    }

    #[test]
    fn a_timeframe_without_length_overlaps_nothing() {
        let frame = |start, end| Timeframe::new(at(start), at(end)).unwrap();
        let nothing = frame("2026-03-01T10:07:00Z", "2026-03-01T10:07:00Z");
        assert_eq!(Window::overlapping(nothing), nothing);
        let window = frame("2026-03-01T10:00:00Z", "2026-03-01T10:15:00Z");
        assert_eq!(Window::covering(nothing), window);
        let instant = frame("2026-03-01T10:07:00Z", "2026-03-01T10:07:00.000001Z");
        assert_eq!(Window::overlapping(instant), window);
    }
}
