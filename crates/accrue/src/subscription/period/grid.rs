use jiff::{SignedDuration, Timestamp as Instant, civil::Time};

use super::{
    super::BillingAnchor,
    dates::{Dates, month_number, step},
};
use crate::{Timestamp, Zone, price::Cycle};

/// Boundaries of billing cycles: a time of day in a zone, on dates at equal distances.
///
/// A cycle may begin before 1970 or end after 9998: its instants are those of the calendar, and
/// saturate beyond its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    dates: Dates,
    time: Time,
    zone: Zone,
}

/// Cell between two boundaries. It is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    index: i64,
    pub(super) start: Instant,
    pub(super) end: Instant,
}

const DAY: SignedDuration = SignedDuration::from_hours(24);

impl Grid {
    pub(super) fn new(cycle: Cycle, anchor: BillingAnchor, zone: Zone, start: Timestamp) -> Self {
        let start = start.to_jiff();
        match anchor {
            BillingAnchor::SubscriptionStart => {
                let civil = zone.civil(start);
                // A start that is the second of two times cuts the cycle of the first: the life
                // begins no earlier.
                let dates = Dates::new(cycle, civil.date());
                Self { dates, time: civil.time(), zone }
            }
            BillingAnchor::FirstOfMonth => Self::on_day(cycle, (1, None, None), zone, start),
            BillingAnchor::Day { day, month, year } => {
                Self::on_day(cycle, (day, month, year), zone, start)
            }
        }
    }

    /// Anchors cycles at the midnight of a day.
    fn on_day(
        cycle: Cycle,
        (day, month, year): (u8, Option<u8>, Option<u16>),
        zone: Zone,
        start: Instant,
    ) -> Self {
        let here = zone.civil(start);
        let day = i8::try_from(day).unwrap_or(i8::MAX);
        let anchor_year = year.map_or(here.year(), |year| i16::try_from(year).unwrap_or(i16::MAX));
        // The days that the anchor may mean: of every month, or of one month of every year.
        let (first, every) = match month {
            None => (month_number(here.year(), here.month()), 1),
            Some(month) => (month_number(anchor_year, i8::try_from(month).unwrap_or(12)), 12),
        };
        let days = Dates::Months { first, step: every, day };
        let mut grid = Self { dates: days, time: Time::midnight(), zone };
        let is_told = month.is_some() && (year.is_some() || matches!(cycle, Cycle::Months(_)));
        let meant = if is_told { 0 } else { grid.locate(start).index };
        grid.dates = match cycle {
            Cycle::Months(_) => {
                let first = first.saturating_add(meant.saturating_mul(every));
                Dates::Months { first, step: step(cycle), day }
            }
            Cycle::Days(_) => Dates::new(cycle, grid.dates.date(meant)),
        };
        grid
    }

    pub(super) const fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Returns the days of a cycle: from its start, date by date at the same time.
    pub(super) fn days_of(&self, cycle: &Cell) -> Self {
        self.cycles_of(cycle, Cycle::Days(1))
    }

    /// Returns shorter cycles, of which one begins with a cycle.
    pub(super) fn cycles_of(&self, cycle: &Cell, shorter: Cycle) -> Self {
        let dates = Dates::new(shorter, self.dates.date(cycle.index));
        Self { dates, time: self.time, zone: self.zone.clone() }
    }

    /// Finds the cell that holds an instant.
    pub(super) fn locate(&self, instant: Instant) -> Cell {
        // The calendar's guess is right, or one off: where the day or the time has not come, or
        // where the clocks went back over a boundary.
        let mut index = self.dates.number_near(self.zone.civil(instant).date());
        let mut start = self.boundary(index);
        let mut end = None;
        while instant < start {
            end = Some(start);
            index = index.saturating_sub(1);
            start = self.boundary(index);
        }
        loop {
            let next = index.saturating_add(1);
            let end = end.take().unwrap_or_else(|| self.boundary(next));
            if instant < end || end == Instant::MAX {
                return Cell { index, start, end };
            }
            (index, start) = (next, end);
        }
    }

    /// Counts the cells that share an instant with [start, end).
    pub(super) fn touched(&self, start: Instant, end: Instant) -> u32 {
        let last = end.checked_sub(SignedDuration::from_micros(1)).unwrap_or(Instant::MIN);
        if last < start {
            return 0;
        }
        let (first, last) = (self.locate(start), self.locate(last));
        let count = last.index.saturating_sub(first.index).saturating_add(1);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        // A cell is empty where the zone skipped a date, and only then.
        let skipped = DAY.saturating_mul(i32::try_from(count).unwrap_or(i32::MAX))
            - last.end.duration_since(first.start);
        if skipped < DAY / 2 {
            return count;
        }
        let lasting = (first.index..=last.index)
            .filter(|index| self.boundary(*index) < self.boundary(index.saturating_add(1)));
        u32::try_from(lasting.count()).unwrap_or(u32::MAX)
    }

    fn boundary(&self, index: i64) -> Instant {
        self.zone.first_showing(self.dates.date(index).to_datetime(self.time))
    }
}
