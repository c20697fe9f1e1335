//! The trace: rows of usage in order of time, from a CSV file or made by a fixed rule.

mod error;
mod read;
mod sample;

use std::{path::Path, time::Duration};

use accrue::{Timeframe, Timestamp, limits};

pub use self::error::{Problem, TraceError};

/// One request to a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number in the trace, from 0.
    pub number: u64,
    /// When it came in.
    pub at: Timestamp,
    /// How many tokens the model read.
    pub input_tokens: u64,
    /// How many tokens the model wrote.
    pub output_tokens: u64,
}

/// Rows in order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    name: String,
    rows: Vec<Row>,
    timeframe: Timeframe,
}

/// No batch spans more than an account accepts of the past.
const LONGEST_BATCH: Duration = Duration::from_secs(limits::GRACE_HOURS * 60 * 60);
const QUARTER_MICROS: u64 = 15 * 60 * 1_000_000;
const QUARTER: Duration = Duration::from_micros(QUARTER_MICROS);

impl Trace {
    /// Reads a trace from a CSV file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, has no rows, or has a row that is malformed or earlier than the
    /// one before it.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        read::read(path)
    }

    /// Makes the small sample, which is the same every time.
    #[must_use]
    pub fn sample() -> Self {
        sample::sample()
    }

    /// Returns what it is called: the file's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the rows in order of time.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the instants from the first row to the last, both included; of a part those of the
    /// whole.
    #[must_use]
    pub const fn timeframe(&self) -> Timeframe {
        self.timeframe
    }

    /// Returns the quarter of an hour, by the clock, before the one in which the last row lies.
    #[must_use]
    pub fn last_whole_quarter(&self) -> Timeframe {
        let since_then = self.timeframe.end().saturating_sub(Duration::from_micros(1)).micros();
        let into_quarter = u64::try_from(since_then).unwrap_or(0) % QUARTER_MICROS;
        let end = self.timeframe.end().saturating_sub(Duration::from_micros(into_quarter + 1));
        let start = end.saturating_sub(QUARTER);
        Timeframe::new(start, start.saturating_add(QUARTER)).expect("time goes on")
    }

    /// Parts the rows outside of a timeframe from those in it. Either part may have none.
    #[must_use]
    pub fn without(&self, timeframe: Timeframe) -> [Self; 2] {
        let (within, without) = self.rows.iter().partition(|row| timeframe.contains(row.at));
        [without, within].map(|rows| Self { rows, name: self.name.clone(), ..*self })
    }

    /// Cuts the rows into batches of at most `size` rows, and of no more time than the engine
    /// accepts events late: by the clock of the last row, the first is still in time.
    pub fn batches(&self, size: usize) -> impl Iterator<Item = &[Row]> {
        let mut rest = self.rows.as_slice();
        std::iter::from_fn(move || {
            let latest = rest.first()?.at.saturating_add(LONGEST_BATCH);
            let in_time = rest.iter().take(size).take_while(|row| row.at <= latest).count();
            let (batch, later) = rest.split_at_checked(in_time.max(1))?;
            rest = later;
            Some(batch)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_bounded_in_rows_and_in_time() {
        let check = |hours: &[u64], size: usize, expect: &[&[u64]]| {
            let row = |(number, hour): (u64, &u64)| Row {
                number,
                at: Timestamp::MIN.saturating_add(Duration::from_secs(hour * 60 * 60)),
                input_tokens: 0,
                output_tokens: 0,
            };
            let rows = (0..).zip(hours).map(row).collect();
            let timeframe = Timeframe::new(Timestamp::MIN, Timestamp::MAX).unwrap();
            let trace = Trace { name: String::new(), rows, timeframe };
            let numbers = |batch: &[Row]| batch.iter().map(|row| row.number).collect::<Vec<_>>();
            assert_eq!(trace.batches(size).map(numbers).collect::<Vec<_>>(), expect);
        };
        check(&[0, 0, 1, 1, 2], 2, &[&[0, 1], &[2, 3], &[4]]);
        check(&[0, 24, 25, 49], 500, &[&[0, 1], &[2, 3]]);
        check(&[0, 1_000, 2_000], 500, &[&[0], &[1], &[2]]);
    }

    #[test]
    fn the_quarter_before_the_last_row_is_lost() {
        let check = |last: &str, start: &str, end: &str| {
            let at = Timestamp::parse(last).unwrap();
            let row = Row { number: 0, at, input_tokens: 0, output_tokens: 0 };
            let trace = Trace::new(String::new(), vec![row]).unwrap();
            let lost = trace.last_whole_quarter();
            let expect = [start, end].map(|at| Timestamp::parse(at).unwrap());
            assert_eq!([lost.start(), lost.end()], expect);
        };
        check("2023-11-16T19:14:08.4Z", "2023-11-16T18:45:00Z", "2023-11-16T19:00:00Z");
        check("2026-03-02T09:45:00Z", "2026-03-02T09:30:00Z", "2026-03-02T09:45:00Z");
        check("2026-03-02T09:44:59.999999Z", "2026-03-02T09:15:00Z", "2026-03-02T09:30:00Z");
        check("2026-03-02T00:00:00Z", "2026-03-01T23:45:00Z", "2026-03-02T00:00:00Z");
        check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-01-01T00:15:00Z");
        check("1970-01-01T00:15:00Z", "1970-01-01T00:00:00Z", "1970-01-01T00:15:00Z");
    }

    #[test]
    fn a_part_keeps_its_rows_and_their_numbers() {
        let sample = Trace::sample();
        let [kept, lost] = sample.without(sample.last_whole_quarter());
        let numbers = |trace: &Trace| {
            let numbers = trace.rows.iter().map(|row| row.number).collect::<Vec<_>>();
            (numbers.len(), numbers.first().copied(), numbers.last().copied())
        };
        assert_eq!(numbers(&lost), (667, Some(667), Some(1_333)));
        assert_eq!(numbers(&kept), (1_333, Some(0), Some(1_999)));
        assert_eq!(kept.timeframe(), sample.timeframe());
    }
}
