use super::hour::Hours;
use crate::{Error, Timeframe, Timestamp};

/// Query for the number of events in each hour (wire 3.5).
///
/// ```
/// use accrue::{Timestamp, usage::EventVolumeQuery};
///
/// let since_noon = EventVolumeQuery::since(Timestamp::parse("2026-03-01T12:00:00Z")?);
/// assert_eq!(since_noon.timeframe_end, None);
/// # Ok::<(), accrue::TimestampError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventVolumeQuery {
    /// Start of the timeframe: an hour that it lies in counts as a whole.
    pub timeframe_start: Timestamp,
    /// End of the timeframe, not part of it, now where none is given: an hour that it lies in counts as
    /// a whole.
    pub timeframe_end: Option<Timestamp>,
}

impl EventVolumeQuery {
    /// Asks for the hours from an instant on, until now.
    #[must_use]
    pub const fn since(timeframe_start: Timestamp) -> Self {
        Self { timeframe_start, timeframe_end: None }
    }

    /// Returns the hours.
    pub(crate) fn hours(self, now: Timestamp) -> Result<Hours, Error> {
        let timeframe = Timeframe::new(self.timeframe_start, self.timeframe_end.unwrap_or(now));
        let timeframe =
            timeframe.map_err(|error| Error::invalid("timeframe_end", error.to_string()))?;
        Ok(Hours::touched_by(timeframe))
    }
}

impl From<Timeframe> for EventVolumeQuery {
    fn from(timeframe: Timeframe) -> Self {
        Self { timeframe_start: timeframe.start(), timeframe_end: Some(timeframe.end()) }
    }
}

/// Number of events of an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventVolume {
    /// Hour, in UTC.
    pub timeframe: Timeframe,
    /// Number of events with a timestamp in it that count: none twice, those of customers that are yet
    /// to be created too, and none that was deprecated or replaced by a backfill.
    pub count: u64,
}

impl EventVolume {
    pub(crate) const fn new(timeframe: Timeframe, count: u64) -> Self {
        Self { timeframe, count }
    }
}
