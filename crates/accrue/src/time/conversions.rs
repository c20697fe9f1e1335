//! Instants of the standard library and of other crates. None of them reads a clock.
//!
//! Instants that come in are cut to the microsecond that they lie in. Instants that go out are exact.

use std::time::{Duration, SystemTime};

use super::{Timestamp, TimestampError};

impl TryFrom<SystemTime> for Timestamp {
    type Error = TimestampError;

    /// Takes an instant of the standard library. Nanoseconds are cut to the microsecond that they
    /// lie in.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    ///
    /// use accrue::Timestamp;
    ///
    /// let instant = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_999);
    /// assert_eq!(Timestamp::try_from(instant)?.micros(), 1);
    /// # Ok::<(), accrue::TimestampError>(())
    /// ```
    fn try_from(instant: SystemTime) -> Result<Self, TimestampError> {
        let since = instant.duration_since(SystemTime::UNIX_EPOCH).map_err(|_| TimestampError)?;
        Self::from_micros(i64::try_from(since.as_micros()).map_err(|_| TimestampError)?)
    }
}

impl From<Timestamp> for SystemTime {
    /// Converts into an instant of the standard library. A system that counts time more coarsely than in
    /// microseconds cuts it.
    fn from(instant: Timestamp) -> Self {
        Self::UNIX_EPOCH + Duration::from_micros(instant.micros().unsigned_abs())
    }
}

#[cfg(feature = "jiff")]
impl TryFrom<jiff::Timestamp> for Timestamp {
    type Error = TimestampError;

    /// Takes an instant of jiff. Nanoseconds are cut to the microsecond that they lie in.
    ///
    /// ```
    /// use accrue::Timestamp;
    ///
    /// let instant: jiff::Timestamp = "2026-03-01T07:00:00.123456789Z".parse()?;
    /// let instant = Timestamp::try_from(instant)?;
    /// assert_eq!(instant.to_string(), "2026-03-01T07:00:00.123456Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn try_from(instant: jiff::Timestamp) -> Result<Self, TimestampError> {
        from_nanos(instant.as_nanosecond())
    }
}

#[cfg(feature = "jiff")]
impl From<Timestamp> for jiff::Timestamp {
    /// Converts into an instant of jiff.
    fn from(instant: Timestamp) -> Self {
        instant.to_jiff()
    }
}

#[cfg(feature = "time")]
impl TryFrom<::time::OffsetDateTime> for Timestamp {
    type Error = TimestampError;

    /// Takes an instant of the crate `time`, at any offset. Nanoseconds are cut to the microsecond
    /// that they lie in.
    ///
    /// ```
    /// use accrue::Timestamp;
    /// use time::OffsetDateTime;
    ///
    /// let instant = OffsetDateTime::from_unix_timestamp_nanos(1_999)?;
    /// assert_eq!(Timestamp::try_from(instant)?.micros(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn try_from(instant: ::time::OffsetDateTime) -> Result<Self, TimestampError> {
        from_nanos(instant.unix_timestamp_nanos())
    }
}

#[cfg(feature = "time")]
impl From<Timestamp> for ::time::OffsetDateTime {
    /// Converts into an instant of the crate `time`, in UTC.
    fn from(instant: Timestamp) -> Self {
        let nanos = i128::from(instant.micros()).saturating_mul(1_000);
        Self::from_unix_timestamp_nanos(nanos).expect("the years 1970 to 9998 are within its range")
    }
}

/// Finds the microsecond that a nanosecond lies in, counted from 1970.
#[cfg(any(feature = "jiff", feature = "time"))]
fn from_nanos(nanos: i128) -> Result<Timestamp, TimestampError> {
    let micros = i64::try_from(nanos.div_euclid(1_000)).map_err(|_| TimestampError)?;
    Timestamp::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANO: Duration = Duration::from_nanos(1);

    #[test]
    fn system_time_comes_in_and_goes_out() {
        for instant in [Timestamp::MIN, Timestamp::MAX] {
            let out = SystemTime::from(instant);
            assert_eq!(Timestamp::try_from(out), Ok(instant));
            assert_eq!(Timestamp::try_from(out + NANO), Ok(instant));
        }
        let [first, last] = [Timestamp::MIN, Timestamp::MAX].map(SystemTime::from);
        assert_eq!(Timestamp::try_from(first - NANO), Err(TimestampError));
        assert_eq!(Timestamp::try_from(last + NANO * 1_000), Err(TimestampError));
    }

    #[cfg(feature = "jiff")]
    #[test]
    fn jiff_comes_in_and_goes_out() {
        for instant in [Timestamp::MIN, Timestamp::MAX] {
            let out = jiff::Timestamp::from(instant);
            assert_eq!(Timestamp::try_from(out), Ok(instant));
            assert_eq!(Timestamp::try_from(out + NANO), Ok(instant));
        }
        let [first, last] = [Timestamp::MIN, Timestamp::MAX].map(jiff::Timestamp::from);
        assert_eq!(Timestamp::try_from(first - NANO), Err(TimestampError));
        assert_eq!(Timestamp::try_from(last + NANO * 1_000), Err(TimestampError));
    }

    #[cfg(feature = "time")]
    #[test]
    fn the_crate_time_comes_in_and_goes_out() {
        use ::time::OffsetDateTime;

        for instant in [Timestamp::MIN, Timestamp::MAX] {
            let out = OffsetDateTime::from(instant);
            assert_eq!(Timestamp::try_from(out), Ok(instant));
            assert_eq!(Timestamp::try_from(out + NANO), Ok(instant));
        }
        let [first, last] = [Timestamp::MIN, Timestamp::MAX].map(OffsetDateTime::from);
        assert_eq!(Timestamp::try_from(first - NANO), Err(TimestampError));
        assert_eq!(Timestamp::try_from(last + NANO * 1_000), Err(TimestampError));
    }
}
