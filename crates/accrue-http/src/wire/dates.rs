//! Dates of requests: with an offset or without, or plain days (subscriptions 0.1); and the order of
//! two of them.

use accrue::{CivilDate, InstantRange, Timeframe, Timestamp, Zone};
use serde::Serialize;

use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{Describe, Fields, Moment, Read, Reader, Schema},
};

/// A date: an instant, or what the clocks of a zone show.
#[derive(Clone, Debug)]
pub(crate) struct Date(String);

impl Read for Date {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        reader.parse(json, at, "a string with a date", |text| {
            Zone::UTC.instant(text).map(|_| Self(text.to_owned()))
        })
    }
}

impl Describe for Date {
    fn schema() -> Schema {
        String::schema()
    }
}

impl Date {
    /// Tells whether it has no offset, so that it depends on a zone.
    pub(crate) fn is_local(&self) -> bool {
        let time = self.0.get("2026-03-08".len()..).unwrap_or_default();
        !time.contains(['Z', 'z', '+', '-'])
    }

    /// Returns its instant in a zone. At the ends of time not every zone has one.
    pub(crate) fn in_zone(&self, zone: &Zone, pointer: &str) -> Result<Timestamp, Problem> {
        let instant = zone.instant(&self.0);
        instant.map_err(|error| Violations::one(pointer, error.to_string()).into())
    }
}

/// A day, by its date alone.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Day(pub(crate) CivilDate);

impl Read for Day {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        reader.parse(json, at, "a string with a date and no time", CivilDate::parse).map(Self)
    }
}

impl Describe for Day {
    fn schema() -> Schema {
        Schema::formatted("date")
    }
}

impl Day {
    /// Returns the day in a zone, from midnight to midnight. At the ends of time not every zone has one.
    pub(crate) fn in_zone(self, zone: &Zone, pointer: &str) -> Result<Timeframe, Problem> {
        let day = self.0.in_zone(zone);
        day.map_err(|error| Violations::one(pointer, error.to_string()).into())
    }
}

/// Refuses a timeframe of instants that ends before it starts.
pub(crate) fn instants_are_in_order(fields: &Fields<'_>, reader: &mut Reader) {
    let peek = |name| fields.peek::<Option<Moment>>(name, reader.source).flatten();
    let (Some(start), Some(end)) = (peek("timeframe_start"), peek("timeframe_end")) else { return };
    check_order(fields, start.0, end.0, reader);
}

/// Refuses a timeframe of dates that ends before it starts, where that can be told without the zone.
pub(crate) fn dates_are_in_order(fields: &Fields<'_>, reader: &mut Reader) {
    let peek = |name| fields.peek::<Date>(name, reader.source);
    let (Some(start), Some(end)) = (peek("timeframe_start"), peek("timeframe_end")) else { return };
    let instants = (Zone::UTC.instant(&start.0), Zone::UTC.instant(&end.0));
    if let (Ok(from), Ok(until)) = instants
        && start.is_local() == end.is_local()
    {
        check_order(fields, from, until, reader);
    }
}

/// Makes a timeframe of the instants of `timeframe_start` and `timeframe_end`.
pub(crate) fn timeframe(start: Timestamp, end: Timestamp) -> Result<Timeframe, Problem> {
    let timeframe = Timeframe::new(start, end);
    timeframe.map_err(|error| Violations::one("/timeframe_end", error.to_string()).into())
}

fn check_order(fields: &Fields<'_>, start: Timestamp, end: Timestamp, reader: &mut Reader) {
    if let Err(error) = Timeframe::new(start, end) {
        let _: Option<()> = reader.wrong(&fields.pointer("timeframe_end"), error.to_string());
    }
}

/// Tells whether any of some dates depends on a zone.
pub(crate) fn any_is_local<'a>(dates: impl IntoIterator<Item = &'a Option<Date>>) -> bool {
    dates.into_iter().flatten().any(Date::is_local)
}

/// The bounds of a filter by date, with the name of the field that they are of.
pub(crate) struct Bounds<'a> {
    pub(crate) field: &'static str,
    pub(crate) gte: &'a Option<Date>,
    pub(crate) gt: &'a Option<Date>,
    pub(crate) lt: &'a Option<Date>,
    pub(crate) lte: &'a Option<Date>,
}

/// Gives a query with bounds of `created_at` a method that returns them.
macro_rules! created {
    ($query:ty) => {
        impl $query {
            /// Returns the bounds of the instants of creation.
            pub(crate) const fn created(&self) -> $crate::wire::dates::Bounds<'_> {
                $crate::wire::dates::Bounds {
                    field: "created_at",
                    gte: &self.created_at_gte,
                    gt: &self.created_at_gt,
                    lt: &self.created_at_lt,
                    lte: &self.created_at_lte,
                }
            }
        }
    };
}

pub(crate) use created;

impl Bounds<'_> {
    /// Tells whether any of them depends on a zone.
    pub(crate) fn are_local(&self) -> bool {
        any_is_local([self.gte, self.gt, self.lt, self.lte])
    }

    /// Returns the range of instants, where dates are those of a zone.
    pub(crate) fn range(&self, zone: &Zone) -> Result<InstantRange, Problem> {
        let at = |date: &Option<Date>, sign: &str| {
            let pointer = format!("/{}[{sign}]", self.field);
            date.as_ref().map(|date| date.in_zone(zone, &pointer)).transpose()
        };
        let range = InstantRange::default();
        let range = at(self.gte, "gte")?.map_or(range, |instant| range.at_or_after(instant));
        let range = at(self.gt, "gt")?.map_or(range, |instant| range.after(instant));
        let range = at(self.lt, "lt")?.map_or(range, |instant| range.before(instant));
        Ok(at(self.lte, "lte")?.map_or(range, |instant| range.at_or_before(instant)))
    }
}
