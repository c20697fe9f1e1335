mod dates;
mod grid;

use self::grid::Grid;
use super::BillingAnchor;
use crate::{Timeframe, Timestamp, Zone, price::Cycle};

/// Billing periods of a subscription: the cycles of its anchor, cut to its life.
///
/// The grid of cycles is infinite both ways. The periods tile the life: each begins where the one
/// before ends, the first begins with the life and the last ends with it, or with time itself.
/// None is empty.
///
/// A boundary is a civil date and time of the customer's zone. It falls on the first instant at
/// which the clocks there show it or a later one: where it is skipped, on the instant after the
/// gap; where it comes twice, on the first of the two.
///
/// ```
/// use accrue::{
///     Timestamp, Zone,
///     price::Cycle,
///     subscription::{BillingAnchor, BillingPeriods},
/// };
///
/// let berlin = Zone::parse("Europe/Berlin")?;
/// let start = Timestamp::parse("2026-03-10T09:00:00Z")?;
/// let anchor = BillingAnchor::FirstOfMonth;
/// let periods = BillingPeriods::new(Cycle::Months(1), anchor, berlin, start, None);
///
/// let first = periods.first().unwrap();
/// assert_eq!(first.start(), start);
/// assert_eq!(first.end().to_string(), "2026-03-31T22:00:00.000000Z");
///
/// let days = periods.days(first);
/// assert_eq!((days.part, days.whole), (22, 31));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BillingPeriods {
    grid: Grid,
    /// Grids that take its place, each from an instant on.
    later: Vec<(Timestamp, Grid)>,
    start: Timestamp,
    end: Timestamp,
    /// End of a life that was cut further.
    cut: Timestamp,
}

/// Share of a billing cycle that a period is, in days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days {
    /// Days of the cycle that the period touches.
    pub part: u32,
    /// Days of the whole cycle.
    pub whole: u32,
}

/// Key of a stretch of a subscription's life: its start, and its end, were the subscription to go on.
/// So another end of the subscription leaves the key as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PeriodKey {
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

impl BillingPeriods {
    /// Creates the cycles of an anchor in a zone, from `start` up to `end` where there is one.
    #[must_use]
    pub fn new(
        cycle: Cycle,
        anchor: BillingAnchor,
        zone: Zone,
        start: Timestamp,
        end: Option<Timestamp>,
    ) -> Self {
        Self::anchored(cycle, (anchor, start), zone, (start, end))
    }

    /// Creates the cycles of an anchor that is counted from another instant than the start of the life.
    pub(super) fn anchored(
        cycle: Cycle,
        (anchor, anchored_at): (BillingAnchor, Timestamp),
        zone: Zone,
        (start, end): (Timestamp, Option<Timestamp>),
    ) -> Self {
        let grid = Grid::new(cycle, anchor, zone, anchored_at);
        let cut = Timestamp::MAX;
        Self { grid, later: Vec::new(), start, end: end.unwrap_or(cut), cut }
    }

    /// Goes on from an instant on with the cycles of an anchor that is counted from another one: the period before
    /// ends then. Where these are the same cycles, it does only where a period is to begin.
    pub(super) fn then(
        mut self,
        from: Timestamp,
        cycle: Cycle,
        (anchor, anchored_at): (BillingAnchor, Timestamp),
        begins: bool,
    ) -> Self {
        let grid = Grid::new(cycle, anchor, self.grid.zone().clone(), anchored_at);
        if begins || *self.grid_at(from).0 != grid {
            self.later.push((from, grid));
        }
        self
    }

    /// Cuts the life further: from `start` up to `end` where there is one. The grid stays.
    #[must_use]
    pub fn within(self, start: Timestamp, end: Option<Timestamp>) -> Self {
        let cut = end.map_or(self.cut, |end| end.min(self.cut));
        Self { start: start.max(self.start), end: self.end.min(cut), cut, ..self }
    }

    /// Returns the period that holds `instant`; `None` outside of the life, and for the last
    /// instant of all, which no timeframe holds.
    #[must_use]
    pub fn containing(&self, instant: Timestamp) -> Option<Timeframe> {
        if instant < self.start || self.end <= instant {
            return None;
        }
        let (grid, from, until) = self.grid_at(instant);
        let cycle = grid.locate(instant.to_jiff());
        let start = timestamp(cycle.start).max(self.start).max(from);
        let end = timestamp(cycle.end).min(self.end).min(until);
        Timeframe::new(start, end).ok()
    }

    /// Returns the grid at an instant, from when and until when.
    fn grid_at(&self, instant: Timestamp) -> (&Grid, Timestamp, Timestamp) {
        let until = self.later.iter().map(|(from, _)| *from).find(|from| instant < *from);
        let until = until.unwrap_or(Timestamp::MAX);
        match self.later.iter().rfind(|(from, _)| *from <= instant) {
            Some((from, grid)) => (grid, *from, until),
            None => (&self.grid, Timestamp::MIN, until),
        }
    }

    /// Returns the periods that share an instant with `timeframe`, oldest first.
    pub fn overlapping(&self, timeframe: Timeframe) -> impl Iterator<Item = Timeframe> + '_ {
        let first = self.containing(timeframe.start().max(self.start));
        let next = move |period: &Timeframe| match period.end() < timeframe.end() {
            true => self.containing(period.end()),
            false => None,
        };
        std::iter::successors(first, next)
            .take_while(move |period| period.start().max(timeframe.start()) < timeframe.end())
    }

    /// Returns the first period; `None` where the life is empty.
    #[must_use]
    pub fn first(&self) -> Option<Timeframe> {
        self.containing(self.start)
    }

    /// Returns the start of the cycle that holds an instant, also where that lies before the life.
    pub(crate) fn cycle_start(&self, at: Timestamp) -> Timestamp {
        timestamp(self.grid_at(at).0.locate(at.to_jiff()).start)
    }

    /// Tells whether the cycles are the same, whatever the life.
    pub(crate) fn has_grid_of(&self, other: &Self) -> bool {
        self.grid == other.grid && self.later == other.later
    }

    /// Returns the key of one of the periods.
    pub(crate) fn key(&self, period: Timeframe) -> PeriodKey {
        let start = period.start();
        if period.end() < self.end {
            // It ends with its cycle.
            return PeriodKey { start, end: period.end() };
        }
        let (grid, _, until) = self.grid_at(start);
        let end = timestamp(grid.locate(start.to_jiff()).end);
        PeriodKey { start, end: end.min(until).min(self.cut) }
    }

    /// Returns the ends of shorter cycles that lie within one of the periods, where one of them begins with
    /// the period's own cycle.
    pub(crate) fn ends_within(&self, period: Timeframe, shorter: Cycle) -> Vec<Timestamp> {
        let (grid, ..) = self.grid_at(period.start());
        let grid = grid.cycles_of(&grid.locate(period.start().to_jiff()), shorter);
        let (start, end, later) = (period.start(), period.end(), Vec::new());
        let inner = Self { grid, later, start, end, cut: self.cut };
        let ends = inner.overlapping(period).map(Timeframe::end);
        ends.filter(|end| *end < period.end()).collect()
    }

    /// Returns the share of a whole cycle that a period of this life is, in days of the zone.
    ///
    /// A day lasts from one time of day to the same on the next date, 23 or 25 hours where the
    /// clocks change; the first begins with the cycle. One that the period touches counts, but for the
    /// one in the course of which the life is cut [further](Self::within): the day of a change belongs to what
    /// comes then (subscriptions 0.2). One that the zone skipped altogether is none.
    #[must_use]
    pub fn days(&self, period: Timeframe) -> Days {
        let start = period.start().to_jiff();
        let (grid, _, until) = self.grid_at(period.start());
        let cycle = grid.locate(start);
        let days = grid.days_of(&cycle);
        let mut end = period.end().to_jiff().min(cycle.end);
        let change = self.cut.min(until);
        // With time itself nothing changes.
        if change < Timestamp::MAX && change.to_jiff() < cycle.end {
            end = end.min(days.locate(change.to_jiff()).start);
        }
        Days { part: days.touched(start, end), whole: days.touched(cycle.start, cycle.end) }
    }
}

/// Cuts an instant before the first or after the last one to that.
fn timestamp(instant: jiff::Timestamp) -> Timestamp {
    let micros = instant.as_microsecond();
    let micros = micros.clamp(Timestamp::MIN.micros(), Timestamp::MAX.micros());
    Timestamp::from_micros(micros).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
