use jiff::{ToSpan as _, tz::TimeZone};

use crate::{Timeframe, Timestamp};

/// The billing periods of a subscription: calendar months from its start, in UTC, the last one cut
/// at its end.
///
/// They tile its life: each begins where the one before ends. A month is counted from the start and
/// not from the period before, so that a start on the 31st falls on the last day of shorter months
/// and on the 31st again afterwards.
///
/// ```
/// use accrue::{Timestamp, subscription::BillingPeriods};
///
/// let periods = BillingPeriods::monthly(Timestamp::parse("2026-01-31T09:00:00Z")?, None);
/// let at = |text| Timestamp::parse(text).map(|t| periods.containing(t));
/// let february = at("2026-02-27T00:00:00Z")?.unwrap();
/// assert_eq!(february.end().to_string(), "2026-02-28T09:00:00.000000Z");
/// let march = at("2026-03-01T00:00:00Z")?.unwrap();
/// assert_eq!(march.end().to_string(), "2026-03-31T09:00:00.000000Z");
/// # Ok::<(), accrue::TimestampError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BillingPeriods {
    start: Timestamp,
    end: Option<Timestamp>,
}

impl BillingPeriods {
    /// Months from `start`, up to `end` where there is one.
    #[must_use]
    pub const fn monthly(start: Timestamp, end: Option<Timestamp>) -> Self {
        Self { start, end }
    }

    /// Returns the period that holds `instant`; `None` outside of the subscription's life.
    #[must_use]
    pub fn containing(self, instant: Timestamp) -> Option<Timeframe> {
        if instant < self.start || self.end.is_some_and(|end| end <= instant) {
            return None;
        }
        // The month that the calendar tells is right, or one too far where the day has not come.
        let calendar = self.calendar_months_until(instant);
        let month =
            if self.boundary(calendar) <= instant { calendar } else { calendar.saturating_sub(1) };
        let end = self.boundary(month.saturating_add(1));
        let end = self.end.map_or(end, |cut| cut.min(end));
        Timeframe::new(self.boundary(month), end).ok()
    }

    /// Returns the periods that share an instant with `timeframe`, oldest first.
    #[must_use]
    pub fn overlapping(self, timeframe: Timeframe) -> Vec<Timeframe> {
        let first = self.containing(timeframe.start().max(self.start));
        // The last period of all ends with time itself, and nothing follows it.
        let next = |period: &Timeframe| {
            self.containing(period.end()).filter(|next| period.start() < next.start())
        };
        std::iter::successors(first, next)
            .take_while(|period| period.start() < timeframe.end())
            .collect()
    }

    /// Returns the instant a number of months after the start.
    fn boundary(self, months: i32) -> Timestamp {
        let start = TimeZone::UTC.to_datetime(self.start.to_jiff());
        start
            .checked_add(months.months())
            .and_then(|civil| civil.to_zoned(TimeZone::UTC))
            .ok()
            .and_then(|zoned| Timestamp::from_micros(zoned.timestamp().as_microsecond()).ok())
            .unwrap_or(Timestamp::MAX)
    }

    fn calendar_months_until(self, instant: Timestamp) -> i32 {
        let months = |instant: Timestamp| {
            let civil = TimeZone::UTC.to_datetime(instant.to_jiff());
            i32::from(civil.year()).saturating_mul(12).saturating_add(i32::from(civil.month()))
        };
        months(instant).saturating_sub(months(self.start))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn months_are_counted_from_the_start() {
        let check = |start: &str, at: &str, expect: Option<(&str, &str)>| {
            let at_instant = |text: &str| Timestamp::parse(text).unwrap();
            let period =
                BillingPeriods::monthly(at_instant(start), None).containing(at_instant(at));
            let expect =
                expect.map(|(from, to)| Timeframe::new(at_instant(from), at_instant(to)).unwrap());
            assert_eq!(period, expect, "{start} at {at}");
        };
        let (jan, feb, mar) =
            ("2024-01-31T12:00:00Z", "2024-02-29T12:00:00Z", "2024-03-31T12:00:00Z");
        check(jan, "2024-01-31T11:59:59.999999Z", None);
        check(jan, jan, Some((jan, feb)));
        check(jan, "2024-02-29T11:59:59.999999Z", Some((jan, feb)));
        check(jan, feb, Some((feb, mar)));
        check(jan, "2024-03-30T00:00:00Z", Some((feb, mar)));
        check("2023-12-31T12:00:00Z", "2024-02-29T12:00:00Z", Some((feb, mar)));
        check(
            "2023-11-16T18:15:46.680590Z",
            "2023-12-16T18:15:46.680589Z",
            Some(("2023-11-16T18:15:46.680590Z", "2023-12-16T18:15:46.680590Z")),
        );
        check(
            "9998-12-01T00:00:00Z",
            "9998-12-31T00:00:00Z",
            Some(("9998-12-01T00:00:00Z", "9998-12-31T23:59:59.999999Z")),
        );
    }

    #[test]
    fn nothing_follows_the_last_period_of_all() {
        let at = |text| Timestamp::parse(text).unwrap();
        let periods = BillingPeriods::monthly(at("9998-12-01T00:00:00Z"), None);
        let rest = Timeframe::new(at("9998-12-01T00:00:00Z"), Timestamp::MAX).unwrap();
        assert_eq!(periods.overlapping(rest), [rest]);
    }

    proptest! {
        #[test]
        fn periods_tile_the_life(
            start in 0_i64..4_000_000_000_000_000, life in 1_i64..100_000_000_000_000, at in 0_i64..1_000,
        ) {
            let instant = |micros| Timestamp::from_micros(micros).unwrap();
            let periods = BillingPeriods::monthly(instant(start), Some(instant(start + life)));
            let whole = Timeframe::new(instant(start), instant(start + life)).unwrap();
            let tiles = periods.overlapping(whole);
            prop_assert_eq!(tiles.first().map(|tile| tile.start()), Some(whole.start()));
            prop_assert_eq!(tiles.last().map(|tile| tile.end()), Some(whole.end()));
            prop_assert!(tiles.windows(2).all(|pair| pair[0].end() == pair[1].start()));
            let inside = instant(start + (life - 1) / 1_000 * at);
            let holding: Vec<_> = tiles.into_iter().filter(|tile| tile.contains(inside)).collect();
            prop_assert_eq!(holding, vec![periods.containing(inside).unwrap()]);
        }
    }
}
