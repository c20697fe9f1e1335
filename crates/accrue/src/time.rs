//! Time is an input: the engine reads no clock of its own, the host hands one in.

mod conversions;
mod usual;

use std::{
    borrow::Cow,
    fmt,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use jiff::{civil::DateTime, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// Distance from one instant to the next.
pub(crate) const INSTANT: Duration = Duration::from_micros(1);

/// Instant in UTC with microseconds, in the years 1970 to 9998.
///
/// Its text is RFC 3339 with `Z` and six digits of fraction. It is made of a
/// [`SystemTime`](std::time::SystemTime) with `try_from`, and becomes one with `into`; with the
/// features `jiff` and `time` so do `jiff::Timestamp` and `time::OffsetDateTime`. Digits finer than a
/// microsecond are cut.
///
/// ```
/// use accrue::Timestamp;
///
/// let instant = Timestamp::parse("2026-03-01T08:00:00.1234567+01:00")?;
/// assert_eq!(instant.to_string(), "2026-03-01T07:00:00.123456Z");
/// # Ok::<(), accrue::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const MICROS_PER_SECOND: i64 = 1_000_000;

impl Timestamp {
    /// First instant: 1970-01-01T00:00:00Z.
    pub const MIN: Self = Self(0);
    /// Last instant: the last microsecond of the year 9998.
    pub const MAX: Self = Self(253_370_764_800 * MICROS_PER_SECOND - 1);

    /// Creates an instant from microseconds since 1970.
    ///
    /// # Errors
    ///
    /// If it is before 1970 or after the year 9998.
    pub fn from_micros(micros: i64) -> Result<Self, TimestampError> {
        let instant = Self(micros);
        if (Self::MIN..=Self::MAX).contains(&instant) { Ok(instant) } else { Err(TimestampError) }
    }

    /// Returns the microseconds since 1970.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Parses a date and time in ISO 8601: with an offset, or without one in UTC.
    ///
    /// Digits finer than a microsecond are cut. A leap second is no instant here.
    ///
    /// # Errors
    ///
    /// If the text is no date and time, or one out of range.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        Self::from_usual(text).map_or_else(|| Self::parse_any(text), Ok)
    }

    fn parse_any(text: &str) -> Result<Self, TimestampError> {
        let text = readable(text).ok_or(TimestampError)?;
        let instant = match text.parse::<jiff::Timestamp>() {
            Ok(instant) => instant,
            Err(_) => {
                let civil = text.parse::<DateTime>().map_err(|_| TimestampError)?;
                civil.to_zoned(TimeZone::UTC).map_err(|_| TimestampError)?.timestamp()
            }
        };
        Self::from_micros(instant.as_microsecond())
    }

    /// Returns the instant later by `span`, or [`Timestamp::MAX`].
    #[must_use]
    pub fn saturating_add(self, span: Duration) -> Self {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros)).min(Self::MAX)
    }

    /// Returns the instant earlier by `span`, or [`Timestamp::MIN`].
    #[must_use]
    pub fn saturating_sub(self, span: Duration) -> Self {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros)).max(Self::MIN)
    }

    /// Returns the number of its day in UTC, from 1970.
    pub(crate) const fn day(self) -> i64 {
        self.0.div_euclid(24 * 60 * 60 * MICROS_PER_SECOND)
    }

    /// Returns its text.
    fn text(self) -> [u8; 27] {
        let civil = TimeZone::UTC.to_datetime(self.to_jiff());
        let second = u32::try_from(self.0.rem_euclid(MICROS_PER_SECOND)).unwrap_or_default();
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        for (end, digits, value) in [
            (4, 4, u32::from(civil.year().unsigned_abs())),
            (7, 2, u32::from(civil.month().unsigned_abs())),
            (10, 2, u32::from(civil.day().unsigned_abs())),
            (13, 2, u32::from(civil.hour().unsigned_abs())),
            (16, 2, u32::from(civil.minute().unsigned_abs())),
            (19, 2, u32::from(civil.second().unsigned_abs())),
            (26, 6, second),
        ] {
            let mut rest = value;
            for digit in text.iter_mut().take(end).rev().take(digits) {
                *digit = b'0'.saturating_add(u8::try_from(rest % 10).unwrap_or_default());
                rest /= 10;
            }
        }
        text
    }

    pub(crate) fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

/// Reads a date and time that has no offset.
pub(crate) fn civil_time(text: &str) -> Option<DateTime> {
    let text = readable(text).filter(|text| text.parse::<jiff::Timestamp>().is_err())?;
    text.parse().ok()
}

/// Returns the text of a date and time without the digits that are too fine; none where it cannot be one.
fn readable(text: &str) -> Option<Cow<'_, str>> {
    let at = |index: usize| text.as_bytes().get(index).copied().unwrap_or_default();
    let separated = matches!(at(10), b'T' | b't' | b' ') && at(13) == b':' && at(16) == b':';
    let is_leap_second = at(17) == b'6';
    let is_readable = separated && !is_leap_second && !text.contains('[') && text.len() <= 64;
    is_readable.then(|| cut_finer_digits(text))
}

/// Cuts the digits of a fraction behind the sixth.
fn cut_finer_digits(text: &str) -> Cow<'_, str> {
    let Some((seconds, rest)) = text.split_once(['.', ',']) else { return Cow::Borrowed(text) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits <= 6 && !text.contains(',') {
        return Cow::Borrowed(text);
    }
    let (fraction, offset) = rest.split_at(digits);
    Cow::Owned(format!("{seconds}.{}{offset}", fraction.get(..6).unwrap_or(fraction)))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.text()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    /// Parses a date and time, as [`parse`](Self::parse) does.
    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Self::parse(text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.text();
        serializer.serialize_str(std::str::from_utf8(&text).map_err(ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// Error for a text that is no date and time, or one before 1970 or after 9998.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date and time in ISO 8601 between the years 1970 and 9998")]
#[non_exhaustive]
pub struct TimestampError;

/// Timeframe: the instants from `start` up to, not including, `end`.
///
/// ```
/// use accrue::{Timeframe, Timestamp};
///
/// let noon = Timestamp::parse("2026-03-01T12:00:00Z")?;
/// let hour = Timeframe::new(noon, Timestamp::parse("2026-03-01T13:00:00Z")?)?;
/// assert!(hour.contains(noon));
/// assert!(!hour.contains(hour.end()));
/// assert!(Timeframe::new(hour.end(), hour.start()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Ends", into = "Ends")]
pub struct Timeframe {
    start: Timestamp,
    end: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Ends {
    start: Timestamp,
    end: Timestamp,
}

impl Timeframe {
    /// Returns the timeframe from its start to another end.
    pub(crate) fn until(self, end: Timestamp) -> Self {
        Self { start: self.start, end: end.max(self.start) }
    }

    /// Returns the part of it from an instant on.
    pub(crate) fn since(self, start: Timestamp) -> Self {
        Self::nothing_at(self.start.max(start)).until(self.end)
    }

    /// Returns the timeframe without length at an instant.
    pub(crate) const fn nothing_at(instant: Timestamp) -> Self {
        Self { start: instant, end: instant }
    }

    /// Returns all of time before an instant.
    pub(crate) const fn before(instant: Timestamp) -> Self {
        Self { start: Timestamp::MIN, end: instant }
    }

    /// Returns all of time up to an instant, and that instant too, unless it is the last one.
    pub(crate) fn through(instant: Timestamp) -> Self {
        Self::before(instant.saturating_add(INSTANT))
    }

    /// Returns the part of it that lies in another timeframe; one without length where none does.
    pub(crate) fn within(self, other: Self) -> Self {
        Self::nothing_at(self.start.clamp(other.start, other.end)).until(self.end.min(other.end))
    }

    /// Creates a timeframe.
    ///
    /// # Errors
    ///
    /// If it ends before it starts.
    pub fn new(start: Timestamp, end: Timestamp) -> Result<Self, TimeframeError> {
        if start <= end { Ok(Self { start, end }) } else { Err(TimeframeError { start, end }) }
    }

    /// Returns its first instant.
    #[must_use]
    pub const fn start(self) -> Timestamp {
        self.start
    }

    /// Returns the first instant after it.
    #[must_use]
    pub const fn end(self) -> Timestamp {
        self.end
    }

    /// Tells whether the instant lies in it.
    #[must_use]
    pub fn contains(self, instant: Timestamp) -> bool {
        self.start <= instant && instant < self.end
    }

    /// Tells whether both hold an instant.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }
}

impl TryFrom<Ends> for Timeframe {
    type Error = TimeframeError;

    fn try_from(Ends { start, end }: Ends) -> Result<Self, TimeframeError> {
        Self::new(start, end)
    }
}

impl From<Timeframe> for Ends {
    fn from(Timeframe { start, end }: Timeframe) -> Self {
        Self { start, end }
    }
}

/// Error for a timeframe that ends before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("timeframe ends at {end}, before its start {start}")]
pub struct TimeframeError {
    start: Timestamp,
    end: Timestamp,
}

/// Clock that tells the present instant. The engine asks once per operation, and never goes back within
/// one [`Billing`](crate::Billing).
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Returns the present instant.
    fn now(&self) -> Timestamp;
}

/// Clock that stands still until it is told otherwise. Clones share their hands.
///
/// ```
/// use accrue::{Clock, ManualClock, Timestamp};
///
/// let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
/// clock.advance(std::time::Duration::from_secs(90));
/// assert_eq!(clock.now().to_string(), "2026-03-01T00:01:30.000000Z");
/// # Ok::<(), accrue::TimestampError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Creates a clock that stands at `now`.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.0)))
    }

    /// Sets the clock.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }

    /// Moves the clock forward.
    pub fn advance(&self, span: Duration) {
        self.set(self.now().saturating_add(span));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_text_out() {
        let check = |text: &str, expect: &str| {
            assert_eq!(Timestamp::parse(text).map(|t| t.to_string()), Ok(expect.to_owned()));
        };
        check("2019-12-27T18:11:19.117000+00:00", "2019-12-27T18:11:19.117000Z");
        check("2024-01-02T00:00:00", "2024-01-02T00:00:00.000000Z");
        check("2023-11-16 18:15:46.6805900", "2023-11-16T18:15:46.680590Z");
        check("2024-01-02T00:00:00.9999999999999Z", "2024-01-02T00:00:00.999999Z");
        check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z");
        check("9998-12-31T23:59:59.999999Z", "9998-12-31T23:59:59.999999Z");
        assert_eq!(Timestamp::MAX.to_string(), "9998-12-31T23:59:59.999999Z");
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "2024-01-02",
            "2024-02-30T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "9999-01-01T00:00:00Z",
            "2024-01-02T00:00:00Z[Europe/Berlin]",
            "1704067200",
            "2024-01-02T25:00:00Z",
            "2024-01-02Tnoon",
            "2024-01-02T12Z",
            "2024-01-02T12:30Z",
            "2016-12-31T23:59:60Z",
        ] {
            assert_eq!(Timestamp::parse(text), Err(TimestampError), "{text}");
        }
    }
}
