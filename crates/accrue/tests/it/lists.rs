use accrue::{
    Cursor, ErrorKind, InstantRange, ListFilter, PageRequest, item::Item, metric::MetricFilter,
};

use crate::support::fixture::{Fixture, at, block_on};

fn items(count: usize) -> (Fixture, Vec<Item>) {
    let fixture = Fixture::new();
    let mut items: Vec<_> = (0..count)
        .map(|_| {
            fixture.clock.advance(std::time::Duration::from_secs(1));
            fixture.item()
        })
        .collect();
    items.reverse();
    (fixture, items)
}

fn walk(fixture: &Fixture, filter: ListFilter, limit: usize) -> Vec<Item> {
    let mut page = PageRequest::first(limit).unwrap();
    let mut all = Vec::new();
    loop {
        let found = block_on(fixture.account.list_items(&filter, &page)).unwrap();
        assert_eq!(found.has_more(), found.next_cursor.is_some());
        assert!(found.data.len() <= limit);
        assert!(!found.has_more() || !found.data.is_empty(), "a page with more is never empty");
        assert!(all.is_empty() || !found.data.is_empty(), "nor is the one that follows it");
        all.extend(found.data);
        match found.next_cursor {
            Some(cursor) => page = page.after(cursor),
            None => return all,
        }
    }
}

#[test]
fn s4_1_a_walk_sees_every_row_once_newest_first() {
    for count in [0, 1, 2, 3, 7] {
        let (fixture, expect) = items(count);
        for limit in [1, 2, 3, 7, 100] {
            assert_eq!(walk(&fixture, ListFilter::default(), limit), expect);
        }
    }
}

#[test]
fn rows_of_one_instant_are_walked_by_id() {
    let fixture = Fixture::new();
    let mut expect: Vec<_> = (0..5).map(|_| fixture.item()).collect();
    expect.sort_by_key(|item| std::cmp::Reverse(item.id));
    assert_eq!(walk(&fixture, ListFilter::default(), 2), expect);
}

#[test]
fn a_bound_on_the_time_of_creation_is_met_to_the_instant() {
    let (fixture, items) = items(4);
    let check = |created: InstantRange, expect: &[Item]| {
        assert_eq!(walk(&fixture, ListFilter { created }, 1), expect);
    };
    let second = items[2].created_at;
    check(InstantRange::default().at_or_after(second), &items[..3]);
    check(InstantRange::default().after(second), &items[..2]);
    check(InstantRange::default().before(second), &items[3..]);
    check(InstantRange::default().at_or_before(second), &items[2..]);
    check(InstantRange::default().after(second).before(at("2020-01-01T00:00:00Z")), &[]);
}

#[test]
fn a_bad_cursor_is_a_request_error() {
    let (fixture, _) = items(3);
    let first = PageRequest::first(1).unwrap();
    let page = block_on(fixture.account.list_items(&ListFilter::default(), &first)).unwrap();
    let cursor = page.next_cursor.unwrap();
    let check = |filter: ListFilter, cursor: Cursor| {
        let page = first.clone().after(cursor);
        let refused = block_on(fixture.account.list_items(&filter, &page)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::RequestValidation);
        assert_eq!(refused.violations()[0].field, "cursor");
    };
    check(ListFilter::default(), Cursor::from_text("nonsense"));
    let other = ListFilter { created: InstantRange::default().before(at("2030-01-01T00:00:00Z")) };
    check(other, cursor.clone());
    let metrics = first.clone().after(cursor);
    let refused = block_on(fixture.account.list_metrics(&MetricFilter::default(), &metrics));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::RequestValidation);
}

#[test]
fn s8_a_page_has_1_to_100_rows_and_20_by_default() {
    assert!(PageRequest::first(0).is_err());
    assert!(PageRequest::first(1).is_ok());
    assert!(PageRequest::first(100).is_ok());
    assert!(PageRequest::first(101).is_err());
    assert_eq!(PageRequest::default().limit(), 20);
}
