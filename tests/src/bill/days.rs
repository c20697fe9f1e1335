//! The civil days of a zone, counted one by one.

use accrue::{
    price::Cycle,
    subscription::{BillingAnchor, Subscription},
};
use jiff::{
    Timestamp, ToSpan as _,
    civil::{Date, DateTime},
    tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase},
};

use super::{Instant, Span, instant, span};

/// The midnights within a span, its ends left out.
pub(crate) fn midnights(zone: &str, (from, until): Span) -> Vec<Instant> {
    let zone = time_zone(zone);
    let mut date = civil(&zone, from).date();
    let mut found = Vec::new();
    loop {
        date = date.tomorrow().unwrap();
        let midnight = first_showing(&zone, date.at(0, 0, 0, 0));
        if midnight >= until {
            return found;
        }
        found.push(midnight);
    }
}

/// The instants within a span, its start left out, at which a day has gone by since it.
pub(crate) fn days_from(zone: &str, (from, until): Span) -> Vec<Instant> {
    let zone = time_zone(zone);
    let mut shown = civil(&zone, from);
    let mut found = Vec::new();
    loop {
        shown = shown.checked_add(1.day()).unwrap();
        let next = first_showing(&zone, shown);
        if next >= until {
            return found;
        }
        found.push(next);
    }
}

/// The days of its cycle that a period touches, cut to it, and how many days the cycle has.
pub(super) fn days(core: &Subscription, cycle: Cycle, period: Span) -> (Vec<Span>, u32) {
    let zone = time_zone(core.timezone.name());
    let (first, time) = beginning(core, cycle, &zone);
    // A cycle that life or a cancellation cuts short is counted as if they did not.
    let mut endless = core.clone();
    endless.end_date = None;
    let (from, until) = endless.periods_of(cycle).containing(instant(period.0)).map(span).unwrap();
    let first_day =
        if from == core.start_date.micros() { first } else { civil(&zone, from).date() };
    let (mut part, mut whole) = (Vec::new(), 0);
    let mut day = first_day;
    loop {
        let next = day.tomorrow().unwrap();
        let (begins, ends) = (
            first_showing(&zone, day.to_datetime(time)),
            first_showing(&zone, next.to_datetime(time)),
        );
        if begins >= until {
            return (part, whole);
        }
        whole += 1;
        let touched = (begins.max(period.0), ends.min(period.1));
        if touched.0 < touched.1 {
            part.push(touched);
        }
        day = next;
    }
}

/// On which day the cycle began that holds the start of a subscription, and at which time of day.
fn beginning(core: &Subscription, cycle: Cycle, zone: &TimeZone) -> (Date, jiff::civil::Time) {
    let start = core.start_date.micros();
    let shown = civil(zone, start);
    let (day, month, year) = match core.anchor {
        BillingAnchor::SubscriptionStart => return (shown.date(), shown.time()),
        BillingAnchor::Day { day, month, year } => (day, month, year),
        _ => (1, None, None),
    };
    let day = i8::try_from(day).unwrap();
    let midnight = jiff::civil::Time::midnight();
    let clamped = |year: i16, month: i8| {
        let first = Date::new(year, month, 1).unwrap();
        first.with().day(day.min(first.days_in_month())).build().unwrap()
    };
    let has_begun = |date: Date| first_showing(zone, date.to_datetime(midnight)) <= start;
    let mut month_of_start = shown.date().first_of_month();
    let last = |matches: &dyn Fn(Date) -> bool, month: &mut Date| loop {
        let date = clamped(month.year(), month.month());
        if matches(*month) && has_begun(date) {
            return date;
        }
        *month = month.checked_sub(1.month()).unwrap();
    };
    let is_named = |of: Date| month.is_none_or(|month| of.month() == i8::try_from(month).unwrap());
    let date = match (cycle, month) {
        (Cycle::Months(months), Some(month)) => {
            let year = year.map_or(shown.year(), |year| i16::try_from(year).unwrap());
            let named = i64::from(year) * 12 + i64::from(month);
            let is_whole_cycles_away = |of: Date| {
                let away = i64::from(of.year()) * 12 + i64::from(of.month()) - named;
                away % i64::from(months) == 0
            };
            last(&is_whole_cycles_away, &mut month_of_start)
        }
        (Cycle::Days(days), _) => {
            let mut date = match (month, year) {
                (Some(month), Some(year)) => {
                    clamped(i16::try_from(year).unwrap(), i8::try_from(month).unwrap())
                }
                _ => last(&is_named, &mut month_of_start),
            };
            while !has_begun(date) {
                date = date.checked_sub(i64::from(days).days()).unwrap();
            }
            loop {
                let next = date.checked_add(i64::from(days).days()).unwrap();
                if !has_begun(next) {
                    break date;
                }
                date = next;
            }
        }
        _ => last(&is_named, &mut month_of_start),
    };
    (date, midnight)
}

fn time_zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

fn civil(zone: &TimeZone, at: Instant) -> DateTime {
    zone.to_datetime(Timestamp::from_microsecond(at).unwrap())
}

/// The first instant at which the clocks show a time or a later one.
fn first_showing(zone: &TimeZone, shown: DateTime) -> Instant {
    let first = match zone.to_ambiguous_timestamp(shown).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(shown),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(shown),
        AmbiguousOffset::Gap { before, after } => {
            let (mut early, mut late) = (
                after.to_timestamp(shown).unwrap().as_microsecond(),
                before.to_timestamp(shown).unwrap().as_microsecond(),
            );
            while early + 1 < late {
                let middle = early.midpoint(late);
                match civil(zone, middle) >= shown {
                    true => late = middle,
                    false => early = middle,
                }
            }
            Timestamp::from_microsecond(late)
        }
    };
    first.unwrap().as_microsecond()
}
