//! Time zones, from the built-in database: no file of the machine decides a bill.

use std::{fmt, str::FromStr};

use jiff::{
    Span, Timestamp as Instant,
    civil::{Date, DateTime, Time},
    tz::{AmbiguousOffset, TimeZoneDatabase},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Timeframe, Timestamp, TimestampError, time::civil_time};

/// IANA time zone, by name.
///
/// ```
/// use accrue::Zone;
///
/// assert_eq!(Zone::parse("europe/berlin")?.name(), "Europe/Berlin");
/// assert!(Zone::parse("Europe/Atlantis").is_err());
/// # Ok::<(), accrue::ZoneError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(jiff::tz::TimeZone);

impl Zone {
    /// Zone of UTC.
    pub const UTC: Self = Self(jiff::tz::TimeZone::UTC);

    /// Finds a zone by its name, in any case.
    ///
    /// # Errors
    ///
    /// If there is no such zone.
    pub fn parse(name: &str) -> Result<Self, ZoneError> {
        if name.eq_ignore_ascii_case("UTC") {
            return Ok(Self::UTC);
        }
        // The library keeps the zones that it has read, also from one call to the next.
        let found = TimeZoneDatabase::bundled().get(name).ok().filter(|zone| !zone.is_unknown());
        found.map(Self).ok_or_else(|| ZoneError { name: name.chars().take(64).collect() })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Reads a date and time in ISO 8601 (subscriptions 0.1): with an offset an instant, without one what
    /// the clocks of the zone show, and a plain `YYYY-MM-DD` the first instant of that day.
    ///
    /// A time that the clocks skip is the first instant after the gap, one that comes twice the first of the two.
    ///
    /// ```
    /// use accrue::{Timestamp, Zone};
    ///
    /// let york = Zone::parse("America/New_York")?;
    /// assert_eq!(york.instant("2026-03-08")?, Timestamp::parse("2026-03-08T05:00:00Z")?);
    /// assert_eq!(york.instant("2026-03-08T12:00:00")?, Timestamp::parse("2026-03-08T16:00:00Z")?);
    /// assert_eq!(york.instant("2026-03-08T12:00:00Z")?, Timestamp::parse("2026-03-08T12:00:00Z")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is neither, or the instant is out of range.
    pub fn instant(&self, text: &str) -> Result<Timestamp, TimestampError> {
        let civil = day(text).map(|day| day.to_datetime(Time::midnight()));
        match civil.or_else(|| civil_time(text)) {
            Some(civil) => Timestamp::from_micros(self.first_showing(civil).as_microsecond()),
            None => Timestamp::parse(text),
        }
    }

    /// Returns the first instant of the day that holds an instant.
    ///
    /// ```
    /// use accrue::{Timestamp, Zone};
    ///
    /// let york = Zone::parse("America/New_York")?;
    /// let day = york.begin_of_day_of(Timestamp::parse("2026-03-08T20:00:00Z")?);
    /// assert_eq!(day, Timestamp::parse("2026-03-08T05:00:00Z")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn begin_of_day_of(&self, instant: Timestamp) -> Timestamp {
        let day = self.civil(instant.to_jiff()).date();
        let begin = self.first_showing(day.to_datetime(Time::midnight()));
        // Only the first day of all may begin before time does.
        Timestamp::from_micros(begin.as_microsecond()).unwrap_or(Timestamp::MIN)
    }

    /// Returns the first instant of the day that comes so many days after that of an instant.
    pub(crate) fn midnight_after(&self, instant: Timestamp, days: u32) -> Timestamp {
        let day = self.civil(instant.to_jiff()).date();
        let day = Span::new().try_days(days).map_or(Date::MAX, |span| day.saturating_add(span));
        let begin = self.first_showing(day.to_datetime(Time::midnight()));
        Timestamp::from_micros(begin.as_microsecond()).unwrap_or(Timestamp::MAX)
    }

    /// Returns the instant so many days and months before another one, by the clocks.
    pub(crate) fn before(&self, instant: Timestamp, days: u32, months: u32) -> Timestamp {
        let span = Span::new().try_days(days).and_then(|span| span.try_months(months));
        let civil = self.civil(instant.to_jiff());
        let civil = span.map_or(DateTime::MIN, |span| civil.saturating_sub(span));
        let begin = self.first_showing(civil).as_microsecond();
        Timestamp::from_micros(begin).unwrap_or(Timestamp::MIN)
    }

    /// Returns the instant so many days and months after another one, by the clocks: on the last day of a month that
    /// is shorter.
    pub(crate) fn after(&self, instant: Timestamp, days: u32, months: u32) -> Timestamp {
        let civil = self.civil(instant.to_jiff());
        let span = Span::new().try_days(days).and_then(|span| span.try_months(months));
        let civil = span.map_or(DateTime::MAX, |span| civil.saturating_add(span));
        let end = self.first_showing(civil).as_microsecond();
        Timestamp::from_micros(end).unwrap_or(Timestamp::MAX)
    }

    /// Returns the instant that is as far behind one as another is behind a third, by the clocks.
    pub(crate) fn moved(&self, instant: Timestamp, from: Timestamp, to: Timestamp) -> Timestamp {
        let [civil, from, to] = [instant, from, to].map(|of| self.civil(of.to_jiff()));
        let civil = to.saturating_add(civil.duration_since(from));
        let moved = self.first_showing(civil).as_microsecond();
        let (first, last) = (Timestamp::MIN.micros(), Timestamp::MAX.micros());
        Timestamp::from_micros(moved.clamp(first, last)).unwrap_or(Timestamp::MAX)
    }

    /// Returns the time that the clocks show at an instant.
    pub(crate) fn civil(&self, instant: Instant) -> DateTime {
        self.0.to_datetime(instant)
    }

    /// Returns the first instant at which the clocks show `civil` or a later time: the one after
    /// the gap for a time that is skipped, the first of the two for one that comes twice.
    pub(crate) fn first_showing(&self, civil: DateTime) -> Instant {
        let instant = match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(civil),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(civil),
            AmbiguousOffset::Gap { before, after } => after.to_timestamp(civil).and_then(|early| {
                let gap = self.0.following(early).next();
                gap.map_or_else(|| before.to_timestamp(civil), |gap| Ok(gap.timestamp()))
            }),
        };
        let beyond = if civil.year() < 0 { Instant::MIN } else { Instant::MAX };
        instant.unwrap_or(beyond)
    }
}

/// Date of a day, which every zone has at another time.
///
/// ```
/// use accrue::{CivilDate, Timestamp, Zone};
///
/// let date = CivilDate::parse("2026-03-08")?;
/// let day = date.in_zone(&Zone::parse("America/New_York")?)?;
/// assert_eq!(day.start(), Timestamp::parse("2026-03-08T05:00:00Z")?);
/// assert_eq!(day.end(), Timestamp::parse("2026-03-09T04:00:00Z")?, "a day of 23 hours");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CivilDate(Date);

impl CivilDate {
    /// Parses a date, and no time: `2026-03-08`.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        day(text).map(Self).ok_or(TimestampError)
    }

    /// Returns the day of it in a zone: from its midnight to the next.
    ///
    /// # Errors
    ///
    /// If the day is out of range.
    pub fn in_zone(self, zone: &Zone) -> Result<Timeframe, TimestampError> {
        let start = zone.first_showing(self.0.to_datetime(Time::midnight()));
        let start = Timestamp::from_micros(start.as_microsecond())?;
        Timeframe::new(start, zone.midnight_after(start, 1)).map_err(|_| TimestampError)
    }

    /// Returns the date of the day in a zone that holds an instant.
    pub(crate) fn of(instant: Timestamp, zone: &Zone) -> Self {
        Self(zone.civil(instant.to_jiff()).date())
    }

    /// Returns the next one; the last one of all has none behind it.
    pub(crate) fn tomorrow(self) -> Self {
        Self(self.0.tomorrow().unwrap_or(Date::MAX))
    }
}

impl<'de> Deserialize<'de> for CivilDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl Serialize for CivilDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl FromStr for Zone {
    type Err = ZoneError;

    /// Finds a zone by its name, as [`parse`](Self::parse) does.
    fn from_str(name: &str) -> Result<Self, ZoneError> {
        Self::parse(name)
    }
}

impl TryFrom<String> for Zone {
    type Error = ZoneError;

    fn try_from(name: String) -> Result<Self, ZoneError> {
        Self::parse(&name)
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name().to_owned()
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error for a name that no time zone has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {name:?}, expected the name of an IANA time zone")]
pub struct ZoneError {
    name: String,
}

/// Reads a date as `YYYY-MM-DD`.
fn day(text: &str) -> Option<Date> {
    let is_separated = matches!(text.as_bytes(), [_, _, _, _, b'-', _, _, b'-', _, _]);
    text.parse().ok().filter(|_| is_separated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_where_the_clocks_first_show_it() {
        let check = |zone: &str, date: &str, expect: &str| {
            let begin = Zone::parse(zone).unwrap().instant(date).unwrap();
            assert_eq!(begin, Timestamp::parse(expect).unwrap(), "{zone} {date}");
        };
        check("UTC", "2026-02-28", "2026-02-28T00:00:00Z");
        check("Europe/Berlin", "2026-01-01", "2025-12-31T23:00:00Z");
        check("Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00Z");
        check("America/Los_Angeles", "2026-07-01", "2026-07-01T07:00:00Z");
        // The clocks went from the end of the day before to one o'clock.
        check("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z");
        // Midnight came twice.
        check("America/Havana", "2026-11-01", "2026-11-01T04:00:00Z");
    }

    #[test]
    fn subscriptions_0_1_a_time_without_an_offset_is_that_of_the_zone() {
        let check = |zone: &str, text: &str, expect: &str| {
            let instant = Zone::parse(zone).unwrap().instant(text).unwrap();
            assert_eq!(instant, Timestamp::parse(expect).unwrap(), "{zone} {text}");
        };
        check("America/New_York", "2026-03-09", "2026-03-09T04:00:00Z");
        check("America/New_York", "2026-03-08T12:00:00", "2026-03-08T16:00:00Z");
        check("America/New_York", "2026-03-08T12:00:00.5", "2026-03-08T16:00:00.5Z");
        check("America/New_York", "2026-03-08T12:00:00+02:00", "2026-03-08T10:00:00Z");
        // Skipped, and twice.
        check("Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:00:00Z");
        check("Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00Z");
    }

    #[test]
    fn what_is_no_date_or_beyond_time_begins_nowhere() {
        for text in [
            "",
            "2026",
            "2026-02-30",
            "2026-2-28",
            "20260228",
            "2026-02-28T",
            "2026-02-28T25:00:00",
            "2026-02-28T00:00:00[Europe/Berlin]",
            "26-02-2028",
            "1969-12-31",
            "9999-01-01",
        ] {
            assert_eq!(Zone::UTC.instant(text), Err(TimestampError), "{text}");
        }
        let east = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(east.instant("1970-01-01"), Err(TimestampError));
    }
}
