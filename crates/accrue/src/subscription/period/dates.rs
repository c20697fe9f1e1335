use jiff::{SignedDuration, civil::Date};

use crate::price::Cycle;

/// Dates at equal distances, numbered both ways. Beyond the calendar's ends they saturate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dates {
    /// Day of every so many months, the last one of a month that is shorter.
    Months { first: i64, step: i64, day: i8 },
    /// Every so many days.
    Days { first: Date, step: i64 },
}

impl Dates {
    /// Creates a date, and those whole cycles away from it.
    pub(super) fn new(cycle: Cycle, first: Date) -> Self {
        match cycle {
            Cycle::Months(_) => {
                let month = month_number(first.year(), first.month());
                Self::Months { first: month, step: step(cycle), day: first.day() }
            }
            Cycle::Days(_) => Self::Days { first, step: step(cycle) },
        }
    }

    /// Returns the date with a number.
    pub(super) fn date(&self, index: i64) -> Date {
        match *self {
            Self::Months { first, step, day } => {
                date_in(first.saturating_add(index.saturating_mul(step)), day)
            }
            Self::Days { first, step } => days_after(first, index.saturating_mul(step)),
        }
    }

    /// Returns the number of the latest date at or before `date`, or of the next one: months are
    /// counted without a look at the day.
    pub(super) fn number_near(&self, date: Date) -> i64 {
        match *self {
            Self::Months { first, step, .. } => {
                month_number(date.year(), date.month()).saturating_sub(first).div_euclid(step)
            }
            Self::Days { first, step } => {
                date.duration_since(first).as_hours().div_euclid(24).div_euclid(step)
            }
        }
    }
}

/// Returns the number of units that a cycle lasts. None lasts nothing: the grid would not move.
pub(super) fn step(cycle: Cycle) -> i64 {
    let (Cycle::Days(units) | Cycle::Months(units)) = cycle;
    i64::from(units.max(1))
}

/// Numbers the months from January of the year 0.
pub(super) fn month_number(year: i16, month: i8) -> i64 {
    i64::from(year).saturating_mul(12).saturating_add(i64::from(month)).saturating_sub(1)
}

fn date_in(month: i64, day: i8) -> Date {
    let year = i16::try_from(month.div_euclid(12)).ok();
    let in_year = i8::try_from(month.rem_euclid(12).saturating_add(1)).ok();
    let first = year.zip(in_year).and_then(|(year, month)| Date::new(year, month, 1).ok());
    // Cycles begin within the calendar, and end behind it at most.
    let Some(first) = first else { return Date::MAX };
    let day = day.clamp(1, first.days_in_month());
    Date::new(first.year(), first.month(), day).unwrap_or(first)
}

fn days_after(first: Date, days: i64) -> Date {
    let later = SignedDuration::try_from_hours(days.saturating_mul(24))
        .and_then(|hours| first.checked_add(hours).ok());
    later.unwrap_or(Date::MAX)
}
