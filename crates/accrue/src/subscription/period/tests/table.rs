//! Billing periods, one fact a row: the zone, the anchor, the cycle, the life, an instant in it, and
//! the period that holds it with its days. The instants are in UTC.

use super::*;

fn check(zone: &str, anchor: &str, cycle: &str, life: &str, at: &str, expect: &str) {
    let (start, end) = life.split_once("..").map_or((life, None), |(from, to)| (from, Some(to)));
    let (cycle_is, anchor_is) = (cycle_of(cycle), anchor_of(anchor));
    let (zone_is, end) = (Zone::parse(zone).unwrap(), end.map(instant));
    let periods = BillingPeriods::new(cycle_is, anchor_is, zone_is, instant(start), end);
    let period = periods.containing(instant(at));
    let mut found = period.map_or("none".to_owned(), |period| {
        format!("{} {}", minutes(period.start()), minutes(period.end()))
    });
    // Where a cycle ends after the calendar, the row tells no days.
    if let Some(period) = period.filter(|_| expect.contains('/')) {
        let Days { part, whole } = periods.days(period);
        found.push_str(&format!(" {part}/{whole}"));
    }
    assert_eq!(found, expect, "{zone} {anchor} {cycle} {life} at {at}");
}

fn check_rows(rows: &str) {
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (given, expect) = row.split_once(" = ").unwrap();
        let given: Vec<_> = given.split(' ').collect();
        let [zone, anchor, cycle, life, at] = given[..] else { panic!("{row}") };
        check(zone, anchor, cycle, life, at, expect);
    }
}

fn instant(minutes: &str) -> Timestamp {
    Timestamp::parse(&format!("{minutes}:00Z")).unwrap()
}

fn minutes(instant: Timestamp) -> String {
    if instant == Timestamp::MAX {
        return "MAX".to_owned();
    }
    let text = instant.to_string();
    text.strip_suffix(":00.000000Z").unwrap_or(&text).to_owned()
}

fn cycle_of(text: &str) -> Cycle {
    let (count, unit) = text.split_at(text.len() - 1);
    let count = count.parse().unwrap();
    if unit == "d" { Cycle::Days(count) } else { Cycle::Months(count) }
}

/// Reads `start`, `first`, or a day with its month and its year: `15`, `15/6`, `15/6/2026`.
fn anchor_of(text: &str) -> BillingAnchor {
    let mut parts = text.split('/');
    match parts.next().unwrap() {
        "start" => BillingAnchor::SubscriptionStart,
        "first" => BillingAnchor::FirstOfMonth,
        day => BillingAnchor::Day {
            day: day.parse().unwrap(),
            month: parts.next().map(|month| month.parse().unwrap()),
            year: parts.next().map(|year| year.parse().unwrap()),
        },
    }
}

#[test]
fn month_ends_are_counted_from_the_start() {
    check_rows(
        "
        UTC start 1m 2026-01-31T09:00 2026-01-31T08:59 = none
        UTC start 1m 2026-01-31T09:00 2026-01-31T09:00 = 2026-01-31T09:00 2026-02-28T09:00 28/28
        UTC start 1m 2026-01-31T09:00 2026-02-28T08:59 = 2026-01-31T09:00 2026-02-28T09:00 28/28
        UTC start 1m 2026-01-31T09:00 2026-02-28T09:00 = 2026-02-28T09:00 2026-03-31T09:00 31/31
        UTC start 1m 2026-01-31T09:00 2026-04-30T08:59 = 2026-03-31T09:00 2026-04-30T09:00 30/30
        UTC start 1m 2026-01-31T09:00 2026-04-30T09:00 = 2026-04-30T09:00 2026-05-31T09:00 31/31
        UTC start 1m 2026-01-30T00:00 2026-03-01T00:00 = 2026-02-28T00:00 2026-03-30T00:00 30/30
        UTC start 3m 2025-11-30T12:00 2026-02-28T12:00 = 2026-02-28T12:00 2026-05-30T12:00 91/91
        UTC start 6m 2025-08-31T12:00 2026-02-28T12:00 = 2026-02-28T12:00 2026-08-31T12:00 184/184
        Asia/Tokyo start 1m 2026-01-30T20:00 2026-03-01T00:00 = 2026-02-27T20:00 2026-03-30T20:00 31/31
        America/Los_Angeles start 1m 2026-02-01T04:00 2026-03-02T00:00 = 2026-03-01T04:00 2026-04-01T03:00 31/31
        Pacific/Kiritimati 31 1m 2026-01-30T10:00 2026-02-27T10:00 = 2026-02-27T10:00 2026-03-30T10:00 31/31
        ",
    );
}

#[test]
fn leap_days_come_when_they_come() {
    check_rows(
        "
        UTC start 1m 2024-01-31T12:00 2024-02-29T11:59 = 2024-01-31T12:00 2024-02-29T12:00 29/29
        UTC start 1m 2024-01-31T12:00 2024-02-29T12:00 = 2024-02-29T12:00 2024-03-31T12:00 31/31
        UTC start 12m 2024-02-29T00:00 2025-02-28T00:00 = 2025-02-28T00:00 2026-02-28T00:00 365/365
        UTC start 12m 2024-02-29T00:00 2028-02-28T23:59 = 2027-02-28T00:00 2028-02-29T00:00 366/366
        UTC start 12m 2024-02-29T00:00 2028-02-29T00:00 = 2028-02-29T00:00 2029-02-28T00:00 365/365
        UTC start 1m 2000-01-30T00:00 2000-02-29T00:00 = 2000-02-29T00:00 2000-03-30T00:00 30/30
        UTC start 1m 2100-01-30T00:00 2100-02-28T00:00 = 2100-02-28T00:00 2100-03-30T00:00 30/30
        UTC 29/2 12m 2023-06-01T00:00 2024-02-28T23:59 = 2023-06-01T00:00 2024-02-29T00:00 273/366
        UTC first 12m 2024-02-10T00:00 2024-12-31T23:59 = 2024-02-10T00:00 2025-02-01T00:00 357/366
        Asia/Kolkata first 1m 2100-02-10T00:00 2100-02-28T18:29 = 2100-02-10T00:00 2100-02-28T18:30 19/28
        ",
    );
}

#[test]
fn a_day_of_23_or_25_hours_is_one_day() {
    check_rows(
        "
        Europe/Berlin start 1d 2026-03-27T23:00 2026-03-29T21:59 = 2026-03-28T23:00 2026-03-29T22:00 1/1
        Europe/Berlin start 1d 2026-03-27T23:00 2026-03-29T22:00 = 2026-03-29T22:00 2026-03-30T22:00 1/1
        Europe/Berlin start 1d 2026-10-23T22:00 2026-10-25T22:59 = 2026-10-24T22:00 2026-10-25T23:00 1/1
        Europe/Berlin start 7d 2026-03-25T12:00 2026-04-01T10:59 = 2026-03-25T12:00 2026-04-01T11:00 7/7
        Europe/Berlin first 1m 2026-01-01T00:00 2026-03-31T21:59 = 2026-02-28T23:00 2026-03-31T22:00 31/31
        Europe/Berlin first 1m 2026-01-01T00:00 2026-10-31T22:59 = 2026-09-30T22:00 2026-10-31T23:00 31/31
        America/New_York start 1d 2026-03-07T05:00 2026-03-09T03:59 = 2026-03-08T05:00 2026-03-09T04:00 1/1
        America/New_York start 1d 2026-10-31T04:00 2026-11-02T04:59 = 2026-11-01T04:00 2026-11-02T05:00 1/1
        America/New_York first 1m 2026-01-01T05:00 2026-11-15T00:00 = 2026-11-01T04:00 2026-12-01T05:00 30/30
        Australia/Lord_Howe start 1d 2026-04-03T13:00 2026-04-05T13:29 = 2026-04-04T13:00 2026-04-05T13:30 1/1
        Australia/Lord_Howe start 1d 2026-10-02T13:30 2026-10-04T12:59 = 2026-10-03T13:30 2026-10-04T13:00 1/1
        Australia/Lord_Howe 15 1m 2026-03-20T00:00 2026-04-14T13:29 = 2026-03-20T00:00 2026-04-14T13:30 26/31
        Europe/Berlin start 30d 2026-10-20T22:00 2026-11-01T00:00 = 2026-10-20T22:00 2026-11-19T23:00 30/30
        ",
    );
}

#[test]
fn a_time_that_is_skipped_is_the_instant_after_the_gap() {
    check_rows(
        "
        Europe/Berlin start 1m 2026-02-28T01:30 2026-03-28T01:29 = 2026-02-28T01:30 2026-03-28T01:30 28/28
        Europe/Berlin start 1d 2026-03-28T01:30 2026-03-29T00:59 = 2026-03-28T01:30 2026-03-29T01:00 1/1
        Europe/Berlin start 1d 2026-03-28T01:30 2026-03-29T01:00 = 2026-03-29T01:00 2026-03-30T00:30 1/1
        America/New_York start 1m 2026-02-08T07:30 2026-03-08T07:15 = 2026-03-08T07:00 2026-04-08T06:30 31/31
        Australia/Lord_Howe start 1d 2026-10-02T15:45 2026-10-03T15:30 = 2026-10-03T15:30 2026-10-04T15:15 1/1
        America/Sao_Paulo start 1d 2018-11-03T03:00 2018-11-04T02:59 = 2018-11-03T03:00 2018-11-04T03:00 1/1
        America/Sao_Paulo start 1d 2018-11-03T03:00 2018-11-04T03:00 = 2018-11-04T03:00 2018-11-05T02:00 1/1
        America/Sao_Paulo 4 1m 2018-10-10T00:00 2018-11-04T02:59 = 2018-10-10T00:00 2018-11-04T03:00 26/31
        America/Sao_Paulo 4 1m 2018-10-10T00:00 2018-11-04T03:00 = 2018-11-04T03:00 2018-12-04T02:00 30/30
        Africa/Cairo start 1d 2026-04-22T22:00 2026-04-23T22:00 = 2026-04-23T22:00 2026-04-24T21:00 1/1
        Asia/Beirut start 1d 2026-03-27T22:00 2026-03-28T22:00 = 2026-03-28T22:00 2026-03-29T21:00 1/1
        Asia/Beirut 29 1m 2026-03-01T00:00 2026-03-29T00:00 = 2026-03-28T22:00 2026-04-28T21:00 31/31
        America/Asuncion start 1d 2023-09-30T04:00 2023-10-01T04:00 = 2023-10-01T04:00 2023-10-02T03:00 1/1
        America/Asuncion first 1m 2023-09-10T00:00 2023-10-01T04:00 = 2023-10-01T04:00 2023-11-01T03:00 31/31
        ",
    );
}

#[test]
fn a_time_that_comes_twice_is_the_first_of_the_two() {
    check_rows(
        "
        America/Havana start 1d 2026-10-31T04:00 2026-11-01T04:59 = 2026-11-01T04:00 2026-11-02T05:00 1/1
        America/Havana first 1m 2026-10-10T00:00 2026-11-01T03:59 = 2026-10-10T00:00 2026-11-01T04:00 23/31
        America/Havana first 1m 2026-10-10T00:00 2026-11-01T04:00 = 2026-11-01T04:00 2026-12-01T05:00 30/30
        Atlantic/Azores start 1d 2026-10-24T00:00 2026-10-25T00:30 = 2026-10-25T00:00 2026-10-26T01:00 1/1
        Atlantic/Azores 25 1m 2026-10-01T00:00 2026-10-25T00:00 = 2026-10-25T00:00 2026-11-25T01:00 31/31
        America/St_Johns start 1d 2010-11-06T02:30 2010-11-07T02:31 = 2010-11-07T02:30 2010-11-08T03:30 1/1
        Europe/Berlin start 1d 2026-10-24T00:30 2026-10-25T00:30 = 2026-10-25T00:30 2026-10-26T01:30 1/1
        Europe/Berlin start 1d 2026-10-25T01:30 2026-10-25T01:30 = 2026-10-25T01:30 2026-10-26T01:30 1/1
        Europe/Berlin start 1d 2026-10-25T00:30 2026-10-25T01:30 = 2026-10-25T00:30 2026-10-26T01:30 1/1
        Europe/Berlin start 1m 2026-10-25T01:30 2026-11-25T01:29 = 2026-10-25T01:30 2026-11-25T01:30 31/31
        ",
    );
}

#[test]
fn a_date_that_the_zone_skipped_is_no_period() {
    check_rows(
        "
        Pacific/Apia start 1d 2011-12-28T10:00 2011-12-30T09:59 = 2011-12-29T10:00 2011-12-30T10:00 1/1
        Pacific/Apia start 1d 2011-12-28T10:00 2011-12-30T10:00 = 2011-12-30T10:00 2011-12-31T10:00 1/1
        Pacific/Apia 30 1m 2011-12-01T10:00 2011-12-30T09:59 = 2011-12-01T10:00 2011-12-30T10:00 29/30
        Pacific/Apia 30 1m 2011-12-01T10:00 2011-12-30T10:00 = 2011-12-30T10:00 2012-01-29T10:00 30/30
        Pacific/Apia start 1m 2011-11-30T20:00 2011-12-30T10:00 = 2011-12-30T10:00 2012-01-29T20:00 31/31
        Pacific/Apia start 1d 2011-12-28T20:00 2011-12-29T20:00 = 2011-12-29T20:00 2011-12-30T10:00 1/1
        Pacific/Apia start 1d 2011-12-28T20:00 2011-12-30T10:00 = 2011-12-30T10:00 2011-12-30T20:00 1/1
        Pacific/Apia start 7d 2011-12-23T10:00 2011-12-30T10:00 = 2011-12-30T10:00 2012-01-05T10:00 6/6
        Pacific/Apia first 1m 2011-12-01T10:00 2011-12-31T09:59 = 2011-12-01T10:00 2011-12-31T10:00 30/30
        Pacific/Kwajalein start 1d 1993-08-19T12:00 1993-08-21T11:59 = 1993-08-20T12:00 1993-08-21T12:00 1/1
        Pacific/Kwajalein start 1d 1993-08-19T12:00 1993-08-20T12:00 = 1993-08-20T12:00 1993-08-21T12:00 1/1
        Pacific/Kwajalein 21 1m 1993-08-01T12:00 1993-08-21T12:00 = 1993-08-21T12:00 1993-09-20T12:00 30/30
        Pacific/Kwajalein first 1m 1993-08-01T12:00 1993-08-25T12:00 = 1993-08-01T12:00 1993-08-31T12:00 30/30
        ",
    );
}

#[test]
fn the_first_of_the_month() {
    check_rows(
        "
        UTC first 1m 2026-01-15T10:00 2026-01-31T23:59 = 2026-01-15T10:00 2026-02-01T00:00 17/31
        UTC first 1m 2026-01-15T10:00 2026-02-01T00:00 = 2026-02-01T00:00 2026-03-01T00:00 28/28
        UTC first 3m 2026-02-10T00:00 2026-04-30T23:59 = 2026-02-10T00:00 2026-05-01T00:00 80/89
        UTC first 12m 2026-02-10T00:00 2027-02-01T00:00 = 2027-02-01T00:00 2028-02-01T00:00 365/365
        Asia/Kathmandu first 1m 2026-01-01T00:00 2026-01-31T18:15 = 2026-01-31T18:15 2026-02-28T18:15 28/28
        America/New_York first 1m 2026-03-01T04:59 2026-03-01T04:59 = 2026-03-01T04:59 2026-03-01T05:00 1/28
        Europe/Berlin first 3m 2026-03-31T22:00 2026-03-31T22:00 = 2026-03-31T22:00 2026-06-30T22:00 91/91
        ",
    );
}

#[test]
fn a_day_without_a_month() {
    check_rows(
        "
        UTC 15 3m 2026-02-10T00:00 2026-02-10T00:00 = 2026-02-10T00:00 2026-04-15T00:00 64/90
        UTC 15 3m 2026-02-15T00:00 2026-02-15T00:00 = 2026-02-15T00:00 2026-05-15T00:00 89/89
        UTC 31 1m 2026-02-10T00:00 2026-02-28T00:00 = 2026-02-28T00:00 2026-03-31T00:00 31/31
        UTC 31 3m 2026-03-01T00:00 2026-05-30T00:00 = 2026-03-01T00:00 2026-05-31T00:00 91/92
        UTC 15 24m 2026-02-10T00:00 2028-01-14T23:59 = 2026-02-10T00:00 2028-01-15T00:00 704/730
        ",
    );
}

#[test]
fn a_day_with_a_month() {
    check_rows(
        "
        UTC 1/2 3m 2026-01-10T00:00 2026-01-10T00:00 = 2026-01-10T00:00 2026-02-01T00:00 22/92
        UTC 1/2 3m 2026-01-10T00:00 2026-02-01T00:00 = 2026-02-01T00:00 2026-05-01T00:00 89/89
        UTC 15/11 6m 2026-03-01T00:00 2026-05-14T23:59 = 2026-03-01T00:00 2026-05-15T00:00 75/181
        UTC 15/6 12m 2026-03-01T00:00 2026-03-01T00:00 = 2026-03-01T00:00 2026-06-15T00:00 106/365
        UTC 30/2 12m 2026-03-01T00:00 2027-02-28T00:00 = 2027-02-28T00:00 2028-02-29T00:00 366/366
        UTC 1/7 1m 2026-01-20T00:00 2026-02-10T00:00 = 2026-02-01T00:00 2026-03-01T00:00 28/28
        Asia/Tokyo 1/4 12m 2026-01-20T00:00 2026-03-31T14:59 = 2026-01-20T00:00 2026-03-31T15:00 71/365
        UTC 1/6 24m 2026-03-01T00:00 2026-06-01T00:00 = 2026-06-01T00:00 2028-06-01T00:00 731/731
        UTC 1/6 24m 2026-07-01T00:00 2026-07-01T00:00 = 2026-07-01T00:00 2028-06-01T00:00 701/731
        ",
    );
}

#[test]
fn a_day_with_a_month_and_a_year() {
    check_rows(
        "
        UTC 1/6/2025 24m 2026-03-01T00:00 2026-03-01T00:00 = 2026-03-01T00:00 2027-06-01T00:00 457/730
        UTC 1/6/2025 24m 2026-03-01T00:00 2027-06-01T00:00 = 2027-06-01T00:00 2029-06-01T00:00 731/731
        UTC 1/6/2031 24m 2026-03-01T00:00 2026-03-01T00:00 = 2026-03-01T00:00 2027-06-01T00:00 457/730
        UTC 1/6/2021 36m 2026-03-01T00:00 2027-05-31T00:00 = 2026-03-01T00:00 2027-06-01T00:00 457/1095
        UTC 1/6/2025 3m 2026-03-01T00:00 2026-03-01T00:00 = 2026-03-01T00:00 2026-06-01T00:00 92/92
        UTC 1/1/2025 5m 2026-03-01T00:00 2026-03-01T00:00 = 2026-03-01T00:00 2026-04-01T00:00 31/151
        UTC 1/1/2020 120m 2026-03-01T00:00 2029-12-31T23:59 = 2026-03-01T00:00 2030-01-01T00:00 1402/3653
        ",
    );
}

#[test]
fn cycles_of_days() {
    check_rows(
        "
        UTC first 10d 2026-01-15T00:00 2026-02-01T00:00 = 2026-01-31T00:00 2026-02-10T00:00 10/10
        UTC 10 7d 2026-01-05T12:00 2026-01-05T12:00 = 2026-01-05T12:00 2026-01-07T00:00 2/7
        UTC 10/3 90d 2026-01-05T12:00 2026-01-05T12:00 = 2026-01-05T12:00 2026-03-05T00:00 59/90
        UTC 10/3/2026 90d 2026-01-05T12:00 2026-01-05T12:00 = 2026-01-05T12:00 2026-03-10T00:00 64/90
        UTC 10/3/2026 90d 2026-01-05T12:00 2026-03-10T00:00 = 2026-03-10T00:00 2026-06-08T00:00 90/90
        UTC 31/2/2026 28d 2026-01-05T12:00 2026-03-28T00:00 = 2026-03-28T00:00 2026-04-25T00:00 28/28
        Europe/Berlin first 14d 2026-03-20T12:00 2026-03-29T21:59 = 2026-03-28T23:00 2026-04-11T22:00 14/14
        America/New_York first 3660d 2026-03-20T12:00 2036-03-08T05:00 = 2036-03-08T05:00 2046-03-16T04:00 3660/3660
        ",
    );
}

#[test]
fn a_life_cuts_its_first_and_last_period() {
    check_rows(
        "
        UTC start 1m 2026-01-10T00:00..2026-03-20T06:00 2026-03-15T00:00 = 2026-03-10T00:00 2026-03-20T06:00 11/31
        UTC start 1m 2026-01-10T00:00..2026-03-20T06:00 2026-03-20T06:00 = none
        UTC first 1m 2026-01-10T00:00..2026-01-20T06:00 2026-01-10T00:00 = 2026-01-10T00:00 2026-01-20T06:00 11/31
        UTC first 1m 2026-01-10T00:00..2026-01-10T00:00 2026-01-10T00:00 = none
        UTC first 12m 2026-01-10T00:00..2028-02-01T00:00 2028-01-01T00:00 = 2028-01-01T00:00 2028-02-01T00:00 31/366
        UTC 20 1m 2026-01-10T00:00..2026-02-20T00:00 2026-02-19T23:59 = 2026-01-20T00:00 2026-02-20T00:00 31/31
        ",
    );
}

#[test]
fn the_ends_of_time() {
    check_rows(
        "
        UTC first 1m 1970-01-01T00:00 1970-01-01T00:00 = 1970-01-01T00:00 1970-02-01T00:00 31/31
        America/New_York first 1m 1970-01-01T00:00 1970-01-01T00:00 = 1970-01-01T00:00 1970-01-01T05:00 1/31
        UTC 15 24m 1970-01-01T00:00 1970-01-01T00:00 = 1970-01-01T00:00 1971-12-15T00:00 713/730
        UTC start 1m 9998-12-01T00:00 9998-12-31T00:00 = 9998-12-01T00:00 MAX 31/31
        UTC start 12m 9998-06-01T00:00 9998-12-31T00:00 = 9998-06-01T00:00 MAX 214/365
        Pacific/Apia first 1m 9998-12-31T12:00 9998-12-31T12:00 = 9998-12-31T12:00 MAX 1/31
        UTC start 120m 9998-01-01T00:00 9998-12-31T00:00 = 9998-01-01T00:00 MAX
        ",
    );
}

#[test]
fn the_days_of_proration() {
    check_rows(
        "
        UTC first 1m 2026-01-15T00:00 2026-01-20T00:00 = 2026-01-15T00:00 2026-02-01T00:00 17/31
        UTC first 1m 2026-01-31T23:59 2026-01-31T23:59 = 2026-01-31T23:59 2026-02-01T00:00 1/31
        UTC first 1m 2026-01-01T00:00..2026-01-01T00:01 2026-01-01T00:00 = 2026-01-01T00:00 2026-01-01T00:01 1/31
        UTC first 1m 2026-01-01T00:00..2026-01-02T00:00 2026-01-01T00:00 = 2026-01-01T00:00 2026-01-02T00:00 1/31
        UTC first 1m 2026-01-01T00:00..2026-01-02T00:01 2026-01-01T00:00 = 2026-01-01T00:00 2026-01-02T00:01 2/31
        UTC start 1m 2026-01-15T10:00..2026-01-17T10:00 2026-01-16T00:00 = 2026-01-15T10:00 2026-01-17T10:00 2/31
        UTC start 1m 2026-01-15T10:00..2026-01-17T10:01 2026-01-16T00:00 = 2026-01-15T10:00 2026-01-17T10:01 3/31
        America/New_York first 1m 2026-03-08T12:00 2026-03-20T00:00 = 2026-03-08T12:00 2026-04-01T04:00 24/31
        ",
    );
}

#[test]
fn subscriptions_0_2_the_day_of_a_cut_has_no_part_wherever_in_it_the_life_ends() {
    let zone = Zone::parse("UTC").unwrap();
    let start = instant("2026-01-01T00:00");
    let check = |end: Option<&str>, cut: Option<&str>, part: u32| {
        let anchor = BillingAnchor::FirstOfMonth;
        let life = BillingPeriods::new(Cycle::MONTH, anchor, zone.clone(), start, end.map(instant));
        let periods = life.within(start, cut.map(instant));
        let days = periods.days(periods.first().unwrap());
        assert_eq!((days.part, days.whole), (part, 31), "ends {end:?}, is cut {cut:?}");
    };
    let noon = "2026-01-11T12:00";
    check(None, None, 31);
    check(Some(noon), None, 11);
    check(None, Some(noon), 10);
    check(None, Some("2026-01-11T00:00"), 10);
    check(None, Some("2026-01-01T12:00"), 0);
    check(Some(noon), Some(noon), 10);
    check(Some("2026-01-11T06:00"), Some(noon), 10);
    check(Some("2026-01-10T06:00"), Some(noon), 10);
    check(Some("2026-01-09T06:00"), Some(noon), 9);
}

#[test]
fn nothing_overlaps_a_timeframe_without_length() {
    let zone = Zone::parse("UTC").unwrap();
    let start = instant("2026-01-01T00:00");
    let periods = BillingPeriods::new(Cycle::MONTH, BillingAnchor::FirstOfMonth, zone, start, None);
    for at in ["2025-12-31T00:00", "2026-01-01T00:00", "2026-02-01T00:00", "2026-02-11T00:00"] {
        assert_eq!(periods.overlapping(Timeframe::nothing_at(instant(at))).next(), None, "{at}");
    }
}
