//! Time zones, from the built-in database: no file of the machine decides a bill.

use std::{fmt, str::FromStr};

use jiff::{
    Timestamp as Instant,
    civil::{Date, DateTime, Time},
    tz::{AmbiguousOffset, TimeZoneDatabase},
};
use serde::{Deserialize, Serialize};

use crate::{Timestamp, TimestampError};

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

    /// Returns the instant at which a day begins, given as `YYYY-MM-DD`: midnight, or the first
    /// instant after it where the clocks skip that.
    ///
    /// ```
    /// use accrue::{Timestamp, Zone};
    ///
    /// let berlin = Zone::parse("Europe/Berlin")?;
    /// let begin = berlin.begin_of_day("2026-07-01")?;
    /// assert_eq!(begin, Timestamp::parse("2026-06-30T22:00:00Z")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is no such date, or the instant is out of range.
    pub fn begin_of_day(&self, date: &str) -> Result<Timestamp, TimestampError> {
        let is_separated = matches!(date.as_bytes(), [_, _, _, _, b'-', _, _, b'-', _, _]);
        let day: Date = match date.parse() {
            Ok(day) if is_separated => day,
            _ => return Err(TimestampError),
        };
        let instant = self.first_showing(day.to_datetime(Time::midnight()));
        Timestamp::from_micros(instant.as_microsecond())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_where_the_clocks_first_show_it() {
        let check = |zone: &str, date: &str, expect: &str| {
            let begin = Zone::parse(zone).unwrap().begin_of_day(date).unwrap();
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
    fn what_is_no_date_or_beyond_time_begins_nowhere() {
        for text in [
            "",
            "2026",
            "2026-02-30",
            "2026-2-28",
            "20260228",
            "2026-02-28T00:00:00Z",
            "26-02-2028",
            "1969-12-31",
            "9999-01-01",
        ] {
            assert_eq!(Zone::UTC.begin_of_day(text), Err(TimestampError), "{text}");
        }
        let east = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(east.begin_of_day("1970-01-01"), Err(TimestampError));
    }
}
