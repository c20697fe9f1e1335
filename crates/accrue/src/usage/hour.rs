use super::stretch::Hour;
use crate::{Timeframe, Timestamp};

impl Hour {
    /// Returns the number of the hour within its day.
    pub(crate) fn of_day(self) -> u8 {
        let into = self.start().micros().rem_euclid(24 * 60 * 60 * 1_000_000);
        u8::try_from(into / (60 * 60 * 1_000_000)).unwrap_or_default()
    }
}

/// Hours that adjoin, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hours(Timeframe);

impl Hours {
    /// Returns the hours that a timeframe touches: an instant that lies within one takes all of it.
    pub(crate) fn touched_by(timeframe: Timeframe) -> Self {
        Self(Hour::covering(timeframe))
    }

    /// Keeps only those before an hour.
    pub(crate) fn before(self, hour: Hour) -> Self {
        Self(self.0.until(self.0.end().min(hour.start())))
    }

    /// Keeps only those after an hour.
    pub(crate) fn after(self, hour: Hour) -> Self {
        self.from(hour.end())
    }

    /// Keeps only so many of the newest.
    pub(crate) fn newest(self, count: usize) -> Self {
        match self.iter().take(count).last() {
            Some(oldest) => self.from(oldest.start()),
            None => self,
        }
    }

    fn from(self, start: Timestamp) -> Self {
        Self(Timeframe::nothing_at(self.0.start().max(start)).until(self.0.end()))
    }

    pub(crate) const fn timeframe(self) -> Timeframe {
        self.0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Hour> {
        let before = move |end: Timestamp| {
            let within = end.saturating_sub(std::time::Duration::from_micros(1));
            (self.0.start() < end).then(|| Hour::of(within))
        };
        std::iter::successors(before(self.0.end()), move |hour| before(hour.start()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_timeframe_touches_whole_hours() {
        let check = |start: &str, end: &str, expect: &[&str]| {
            let day = |text: &str| at(&format!("2026-03-01T{text}Z"));
            let hours = Hours::touched_by(Timeframe::new(day(start), day(end)).unwrap());
            let expect: Vec<_> = expect.iter().map(|text| Hour::of(day(text))).collect();
            assert_eq!(hours.iter().collect::<Vec<_>>(), expect, "{start} to {end}");
        };
        check("10:00:00", "12:00:00", &["11:00:00", "10:00:00"]);
        check("10:59:59.999999", "12:00:00.000001", &["12:00:00", "11:00:00", "10:00:00"]);
        check("10:30:00", "10:30:00", &["10:00:00"]);
        check("10:00:00", "10:00:00", &[]);
    }

    #[test]
    fn hours_end_with_time() {
        let all = Hours::touched_by(Timeframe::new(Timestamp::MIN, Timestamp::MAX).unwrap());
        let last = all.iter().next().unwrap();
        assert_eq!(last.timeframe().end(), Timestamp::MAX);
        assert_eq!(last.start(), at("9998-12-31T23:00:00Z"));
        let first = Hour::of(Timestamp::MIN);
        assert_eq!(
            all.before(Hour::of(at("1970-01-01T01:00:00Z"))).iter().collect::<Vec<_>>(),
            [first]
        );
        assert_eq!(all.before(first).iter().next(), None);
    }

    #[test]
    fn the_newest_are_so_many_or_all() {
        let day = Timeframe::new(at("2026-03-01T00:00:00Z"), at("2026-03-02T00:00:00Z")).unwrap();
        let hours = Hours::touched_by(day);
        assert_eq!(hours.newest(2).timeframe().start(), at("2026-03-01T22:00:00Z"));
        assert_eq!((hours.newest(24), hours.newest(25)), (hours, hours));
    }
}
