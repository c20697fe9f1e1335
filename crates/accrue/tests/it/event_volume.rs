use std::collections::BTreeMap;

use accrue::{
    AccountId, Cursor, ErrorKind, PageRequest, Timeframe, Timestamp,
    usage::{Event, EventVolume, EventVolumeQuery},
};
use proptest::prelude::*;

use crate::support::{
    fixture::{Fixture, NOON, at, block_on, event, run},
    priced::between,
};

const HOUR: i64 = 3_600_000_000;
const MINUTE: i64 = 60_000_000;

/// Every page of a list, newest first, each with at most so many rows.
fn pages(fixture: &Fixture, query: EventVolumeQuery, limit: usize) -> Vec<Vec<EventVolume>> {
    let mut pages = Vec::new();
    let mut request = PageRequest::first(limit).unwrap();
    loop {
        let page = block_on(fixture.account.event_volume(query, &request)).unwrap();
        assert!(page.data.len() <= limit);
        assert!(!(page.has_more() && page.data.is_empty()), "a page that goes on has rows");
        pages.push(page.data);
        let Some(cursor) = page.next_cursor else { return pages };
        request = request.after(cursor);
    }
}

fn walk(fixture: &Fixture, query: impl Into<EventVolumeQuery>) -> Vec<(String, u64)> {
    let hours = pages(fixture, query.into(), 100).into_iter().flatten();
    hours.map(|hour| (hour.timeframe.start().to_string(), hour.count)).collect()
}

fn micros(at: Timestamp) -> i64 {
    at.micros()
}

fn from_noon(minutes: i64) -> Timestamp {
    Timestamp::from_micros(micros(at(NOON)) + minutes * MINUTE).unwrap()
}

fn expected(hours: &[(&str, u64)]) -> Vec<(String, u64)> {
    let start = |text: &str| format!("2026-03-10T{text}:00:00.000000Z");
    hours.iter().map(|(hour, count)| (start(hour), *count)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// However events are cut into batches, repeated or named by customers that are yet to be
    /// created, each counts once in its hour, and a walk gives each hour once.
    #[test]
    fn a_walk_counts_every_event_once_in_its_hour(
        events in prop::collection::vec((0..40_usize, -23 * 60..5_i64, 0..3_usize), 0..60),
        batch in 1..20_usize,
        (start, length) in (-30 * 60..60_i64, 0..30 * 60_i64),
        limit in 1..12_usize,
    ) {
        let fixture = Fixture::new();
        fixture.customer("ada");
        let mut counts = BTreeMap::<i64, u64>::new();
        let mut first = BTreeMap::<usize, Event>::new();
        let mut all = Vec::new();
        for (key, minute, customer) in events {
            // A key that comes again comes with what it came with first.
            let new = event(["ada", "eve", "later"][customer], &key.to_string(), from_noon(minute), "1");
            let event = first.entry(key).or_insert_with(|| {
                *counts.entry(micros(new.timestamp).div_euclid(HOUR)).or_default() += 1;
                new
            });
            all.push(event.clone());
        }
        for batch in all.chunks(batch) {
            run(fixture.account.ingest(batch.to_vec())).unwrap();
        }
        fixture.customer("eve");

        let (start, end) = (from_noon(start), from_noon(start + length));
        let first = micros(start).div_euclid(HOUR);
        let behind = micros(end).div_euclid(HOUR) + i64::from(micros(end).rem_euclid(HOUR) > 0);
        let expect: Vec<_> = (first..behind)
            .rev()
            .map(|hour| (hour * HOUR, (hour + 1) * HOUR, counts.get(&hour).copied().unwrap_or(0)))
            .collect();
        let pages = pages(&fixture, Timeframe::new(start, end).unwrap().into(), limit);
        let full = pages.iter().rev().skip(1).all(|page| page.len() == limit);
        prop_assert!(full, "only the last page is short");
        let found: Vec<_> = pages.into_iter().flatten().map(|hour| {
            (micros(hour.timeframe.start()), micros(hour.timeframe.end()), hour.count)
        }).collect();
        prop_assert_eq!(found, expect);
    }
}

/// Two events at eleven, one at nine.
fn counted() -> Fixture {
    let fixture = Fixture::new();
    let events = [
        event("ada", "a", at("2026-03-10T11:00:00Z"), ""),
        event("eve", "b", at("2026-03-10T11:59:59.999999Z"), ""),
        event("ada", "c", at("2026-03-10T09:30:00Z"), ""),
    ];
    run(fixture.account.ingest(events)).unwrap();
    fixture
}

#[test]
fn wire_3_5_a_bound_within_an_hour_takes_all_of_it() {
    let fixture = counted();
    let day = |start: &str, end: &str| {
        let text = |text: &str| format!("2026-03-10T{text}Z");
        walk(&fixture, between(&text(start), &text(end)))
    };
    let all = expected(&[("11", 2), ("10", 0), ("09", 1)]);
    assert_eq!(day("09:00:00", "12:00:00"), all);
    assert_eq!(day("09:59:59.999999", "11:00:00.000001"), all);
    assert_eq!(day("10:00:00", "11:00:00"), expected(&[("10", 0)]));
    assert_eq!(day("09:45:00", "09:45:00"), expected(&[("09", 1)]));
    assert_eq!(day("09:00:00", "09:00:00"), []);
}

#[test]
fn wire_3_5_without_an_end_it_is_now_and_the_cursor_stays_good() {
    let fixture = counted();
    let query = EventVolumeQuery::since(at("2026-03-10T09:00:00Z"));
    assert_eq!(walk(&fixture, query), expected(&[("11", 2), ("10", 0), ("09", 1)]));
    let first = PageRequest::first(1).unwrap();
    let page = block_on(fixture.account.event_volume(query, &first)).unwrap();
    assert_eq!((page.data[0].count, page.data.len()), (2, 1));
    fixture.set("2026-03-10T14:00:00Z");
    let next = PageRequest::first(100).unwrap().after(page.next_cursor.unwrap());
    let page = block_on(fixture.account.event_volume(query, &next)).unwrap();
    assert_eq!(page.data.iter().map(|hour| hour.count).collect::<Vec<_>>(), [0, 1]);
    assert!(!page.has_more());
}

#[test]
fn an_event_that_comes_late_counts_in_the_hour_of_its_timestamp() {
    let fixture = counted();
    fixture.set("2026-03-11T09:00:00Z");
    let late = event("new", "d", at("2026-03-10T09:59:00Z"), "");
    run(fixture.account.ingest([late])).unwrap();
    let nine = between("2026-03-10T09:00:00Z", "2026-03-10T10:00:00Z");
    assert_eq!(walk(&fixture, nine), expected(&[("09", 2)]));
}

#[test]
fn a_batch_that_is_refused_counts_nothing() {
    let fixture = counted();
    let old = event("ada", "d", at("2026-03-01T09:00:00Z"), "");
    let good = event("ada", "e", at("2026-03-10T11:30:00Z"), "");
    assert!(run(fixture.account.ingest([good, old])).is_err());
    let eleven = between("2026-03-10T11:00:00Z", "2026-03-10T12:00:00Z");
    assert_eq!(walk(&fixture, eleven), expected(&[("11", 2)]));
}

#[test]
fn the_events_of_another_account_are_not_counted() {
    let fixture = counted();
    let other = fixture.billing.account(AccountId::parse("acme-2").unwrap());
    let since = EventVolumeQuery::since(at("2026-03-10T11:00:00Z"));
    let page = block_on(other.event_volume(since, &PageRequest::default())).unwrap();
    assert_eq!(page.data.iter().map(|hour| hour.count).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_timeframe_as_long_as_time_is_answered_page_by_page() {
    let fixture = counted();
    let all = Timeframe::new(Timestamp::MIN, Timestamp::MAX).unwrap();
    let page = block_on(fixture.account.event_volume(all, &PageRequest::default())).unwrap();
    assert_eq!((page.data.len(), page.has_more()), (20, true));
    assert_eq!(
        page.data[0].timeframe,
        between("9998-12-31T23:00:00Z", "9998-12-31T23:59:59.999999Z")
    );
    let first = between("1970-01-01T00:00:00Z", "1970-01-01T02:00:00Z");
    assert_eq!(walk(&fixture, first).len(), 2);
}

#[test]
fn a_page_that_has_read_enough_ends_with_a_whole_hour() {
    let fixture = Fixture::new();
    let (newest, oldest) = (at("2026-03-10T11:30:00Z"), at("2026-03-10T09:30:00Z"));
    for n in 0..6 {
        let of = |at: Timestamp, c: u32| {
            let customer = format!("{n}-{c}");
            event(&customer, &format!("{customer}@{at}"), at, "")
        };
        for at in [newest, oldest] {
            run(fixture.account.ingest((0..1_000).map(|c| of(at, c)).collect::<Vec<_>>())).unwrap();
        }
    }
    let morning = between("2026-03-10T08:00:00Z", "2026-03-10T12:00:00Z");
    let pages = pages(&fixture, morning.into(), 100);
    let counts = pages.iter().map(|page| page.iter().map(|hour| hour.count).collect::<Vec<_>>());
    assert_eq!(counts.collect::<Vec<_>>(), [vec![6_000, 0], vec![6_000, 0]]);
}

#[test]
fn a_timeframe_that_ends_before_it_starts_is_refused() {
    let fixture = counted();
    let ask = |query: EventVolumeQuery| {
        block_on(fixture.account.event_volume(query, &PageRequest::default()))
    };
    let tomorrow = EventVolumeQuery::since(at("2026-03-11T00:00:00Z"));
    let error = ask(tomorrow).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestValidation);
    assert_eq!(error.violations()[0].field, "timeframe_end");
    let ahead = Some(at("2026-03-11T01:00:00Z"));
    let hours = ask(EventVolumeQuery { timeframe_end: ahead, ..tomorrow }).unwrap().data;
    assert_eq!(hours.iter().map(|hour| hour.count).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_cursor_is_good_for_its_timeframe_only() {
    let fixture = counted();
    let hours = between("2026-03-10T08:00:00Z", "2026-03-10T12:00:00Z");
    let first = PageRequest::first(1).unwrap();
    let cursor =
        block_on(fixture.account.event_volume(hours, &first)).unwrap().next_cursor.unwrap();
    let ask = |hours: Timeframe, cursor: Cursor| {
        block_on(fixture.account.event_volume(hours, &first.clone().after(cursor)))
    };
    assert!(ask(hours, cursor.clone()).is_ok());
    let other = between("2026-03-10T07:00:00Z", "2026-03-10T12:00:00Z");
    for (hours, cursor) in [(other, cursor), (hours, Cursor::from_text("01"))] {
        let error = ask(hours, cursor).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RequestValidation);
        assert_eq!(error.violations()[0].field, "cursor");
    }
    let long = PageRequest::first_of_ledger(101).unwrap();
    let error = block_on(fixture.account.event_volume(hours, &long)).unwrap_err();
    assert_eq!(error.violations()[0].field, "limit");
}
