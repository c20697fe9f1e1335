//! The slow way: from boundary to boundary, date by date.

use jiff::{
    SignedDuration, Timestamp as Instant, ToSpan as _,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};

use super::{
    properties::{Life, instant},
    *,
};

pub(super) struct Oracle {
    pub(super) zone: TimeZone,
    pub(super) origin: DateTime,
    day: i8,
    life: Life,
}

impl Oracle {
    pub(super) fn new(life: &Life) -> Self {
        let zone = jiff::tz::TimeZoneDatabase::bundled().get(life.zone).unwrap();
        let start = zone.to_datetime(life.start.to_jiff());
        let life = life.clone();
        let (day, month, year) = match life.anchor {
            BillingAnchor::SubscriptionStart => {
                return Self { zone, origin: start, day: start.day(), life };
            }
            BillingAnchor::FirstOfMonth => (1, None, None),
            BillingAnchor::Day { day, month, year } => (day.try_into().unwrap(), month, year),
        };
        let month = month.map(|month| i8::try_from(month).unwrap());
        let year = year.map(|year| i16::try_from(year).unwrap());
        let midnight = |year, month| {
            on_day(Date::new(year, month, 1).unwrap(), day).to_datetime(Time::midnight())
        };
        // The last of the dates that the anchor may mean and that have come.
        let latest = |month: Option<i8>| {
            let years = (start.year() - 1..=start.year() + 1).rev();
            let mut dates = years.flat_map(|year| {
                (1..=12).rev().map(move |month| (year, month)).collect::<Vec<_>>()
            });
            let found = dates.find(|(y, m)| {
                month.is_none_or(|month| month == *m)
                    && first_showing(&zone, midnight(*y, *m)) <= life.start.to_jiff()
            });
            found.map(|(year, month)| midnight(year, month)).unwrap()
        };
        let origin = match (month, year, life.cycle) {
            (Some(month), Some(year), _) => midnight(year, month),
            (Some(month), None, Cycle::Months(_)) => midnight(start.year(), month),
            (month, _, _) => latest(month),
        };
        Self { zone, origin, day, life }
    }

    fn civil(&self, index: i32) -> DateTime {
        match self.life.cycle {
            Cycle::Days(step) => self.origin + (index * i32::from(step)).days(),
            Cycle::Months(step) => {
                let first = self.origin.date().first_of_month();
                let month = first + (index * i32::from(step)).months();
                on_day(month, self.day).to_datetime(self.origin.time())
            }
        }
    }

    fn boundary(&self, index: i32) -> Instant {
        if index == 0 && self.life.anchor == BillingAnchor::SubscriptionStart {
            return self.life.start.to_jiff();
        }
        first_showing(&self.zone, self.civil(index))
    }

    /// Returns the cycle that holds an instant: its number, its start and its end.
    fn cycle(&self, at: Timestamp) -> (i32, Instant, Instant) {
        let mut index = 0;
        while self.boundary(index) > at.to_jiff() {
            index -= 1;
        }
        while self.boundary(index + 1) <= at.to_jiff() {
            index += 1;
        }
        (index, self.boundary(index), self.boundary(index + 1))
    }

    pub(super) fn containing(&self, at: Timestamp) -> Timeframe {
        let (_, start, end) = self.cycle(at);
        let start = start.max(self.life.start.to_jiff()).as_microsecond();
        let end = end.min(self.life.end.to_jiff()).as_microsecond();
        Timeframe::new(instant(start), instant(end)).unwrap()
    }

    pub(super) fn days(&self, period: Timeframe) -> Days {
        let (index, start, end) = self.cycle(period.start());
        let (mut part, mut whole) = (0, 0);
        let mut day = start;
        for number in 1.. {
            if day >= end {
                break;
            }
            let next = first_showing(&self.zone, self.civil(index) + number.days()).min(end);
            let touched = day < period.end().to_jiff() && period.start().to_jiff() < next;
            whole += u32::from(day < next);
            part += u32::from(day < next && touched);
            day = next;
        }
        Days { part, whole }
    }
}

fn on_day(month: Date, day: i8) -> Date {
    month.with().day(day.min(month.days_in_month())).build().unwrap()
}

/// Goes back from where the library's rule puts a skipped time to where the gap ends.
pub(super) fn first_showing(zone: &TimeZone, civil: DateTime) -> Instant {
    let found = zone.to_timestamp(civil).unwrap();
    let minute = SignedDuration::from_mins(1);
    let shows = |instant: Instant| zone.to_datetime(instant) >= civil;
    let whole = Instant::from_second(found.as_second().div_euclid(60) * 60).unwrap();
    if zone.to_datetime(found) == civil || !shows(whole) {
        return found;
    }
    let before = std::iter::successors(Some(whole), |instant| Some(*instant - minute));
    before.take_while(|instant| shows(*instant)).last().unwrap()
}
