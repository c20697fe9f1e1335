//! Events of one minute that a customer gets in one commit share a row.

use std::time::Duration;

use accrue::{
    EventKey, PropertyName, limits,
    store::{Row, Scan, Store as _},
    usage::{Amendment, Event, EventSearch, FoundEvent, PropertyValue},
};

use crate::support::{
    fixture::{Fixture, SUM, at, block_on, event, external, run},
    priced::between,
};

const NOW: &str = "2026-03-10T12:00:59Z";

impl Fixture {
    /// The rows of events.
    fn packs(&self) -> Vec<Row> {
        let table = accrue::schema::TABLES.iter().find(|table| table.name() == "event").unwrap();
        block_on(self.store.scan(&Scan::prefix(*table, b"", usize::MAX))).unwrap()
    }

    fn found(&self, ids: impl IntoIterator<Item = String>) -> Vec<FoundEvent> {
        let ids = ids.into_iter().map(|id| EventKey::parse(id).unwrap());
        let mut search = EventSearch::new(ids);
        search.timeframe_end = Some(at("2026-03-11T00:00:00Z"));
        block_on(self.account.search_events(search)).unwrap()
    }
}

/// Makes an event as long as this, in bytes of a text, at most 15,000.
fn lengthened(mut event: Event, bytes: usize) -> Event {
    for (number, bytes) in [bytes / 4; 4].into_iter().enumerate() {
        let name = PropertyName::parse(format!("text{number}")).unwrap();
        let text = PropertyValue::from("x".repeat(bytes).as_str());
        event.properties = event
            .properties
            .iter()
            .map(|(n, v)| (n.clone(), v.clone()))
            .chain([(name, text)])
            .collect();
    }
    event
}

#[test]
fn a_row_has_the_events_of_one_customer_one_minute_and_one_commit() {
    let fixture = Fixture::new();
    fixture.set(NOW);
    let batch = [
        event("ada", "a", at("2026-03-10T12:00:00Z"), "1"),
        event("ada", "b", at("2026-03-10T12:00:59.999999Z"), "1"),
        event("ada", "c", at("2026-03-10T11:59:59.999999Z"), "1"),
        event("bob", "d", at("2026-03-10T12:00:00Z"), "1"),
        event("ada", "e", at("2026-03-10T12:00:30Z"), "1"),
    ];
    run(fixture.account.ingest(batch)).unwrap();
    assert_eq!(fixture.packs().len(), 3);
    run(fixture.account.ingest([event("ada", "f", at(NOW), "1")])).unwrap();
    assert_eq!(fixture.packs().len(), 4);
    let found = fixture.found(["a", "b", "c", "d", "e", "f"].map(str::to_owned));
    let at: Vec<_> = found.iter().map(|event| event.timestamp.to_string()).collect();
    assert_eq!(
        at[..3],
        [
            "2026-03-10T12:00:00.000000Z",
            "2026-03-10T12:00:59.999999Z",
            "2026-03-10T11:59:59.999999Z",
        ]
    );
    assert_eq!(
        at[3..],
        [at[0].clone(), "2026-03-10T12:00:30.000000Z".into(), "2026-03-10T12:00:59.000000Z".into()]
    );
}

#[test]
fn a_row_of_events_is_not_too_long_for_a_store() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada").id;
    let metric = fixture.metric(SUM);
    fixture.set(NOW);
    let long = |n: u32| lengthened(event("ada", &n.to_string(), at(NOW), "1"), 15_000);
    run(fixture.account.ingest((0..20).map(long))).unwrap();
    let rows = fixture.packs();
    assert!((7..=20).contains(&rows.len()), "{} rows", rows.len());
    let longest = rows.iter().map(|row| row.document.as_str().len()).max().unwrap();
    assert!((15_000..=limits::DOCUMENT_BYTES).contains(&longest), "{longest} bytes");
    let found = fixture.found((0..20).map(|n| n.to_string()));
    assert_eq!(found.len(), 20);
    fixture.clock.advance(Duration::from_secs(1));
    let minute = between("2026-03-10T12:00:00Z", "2026-03-10T12:01:00Z");
    let used = block_on(fixture.account.usage_between(ada, metric.id, minute)).unwrap();
    assert_eq!(used.unwrap().to_string(), "20");
}

/// Some events of a row are amended until they do not fit it any more.
#[test]
fn an_event_that_outgrows_its_row_gets_another() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada").id;
    let metric = fixture.metric(SUM);
    fixture.set(NOW);
    let short = |n: u32| event("ada", &n.to_string(), at(NOW), "1");
    run(fixture.account.ingest((0..12).map(short))).unwrap();
    assert_eq!(fixture.packs().len(), 1);
    let amend = |n: u32, value: &str, bytes: usize| {
        let Event { event_name, timestamp, properties, .. } =
            lengthened(event("ada", &n.to_string(), at(NOW), value), bytes);
        let customer = external("ada").into();
        let amendment = Amendment { event_name, timestamp, properties, customer };
        let id = EventKey::parse(n.to_string()).unwrap();
        run(fixture.account.amend_event(id, amendment)).unwrap();
    };
    for n in 0..12 {
        amend(n, "2", 15_000);
    }
    assert!((4..=12).contains(&fixture.packs().len()), "{} rows", fixture.packs().len());
    // One that has moved is amended and deprecated where it is now.
    amend(11, "5", 4);
    run(fixture.account.deprecate_event(EventKey::parse("10").unwrap())).unwrap();
    let found = fixture.found((0..12).map(|n| n.to_string()));
    let n = |event: &FoundEvent| match event.properties.get("n") {
        Some(PropertyValue::Number(n)) => n.to_string(),
        other => format!("{other:?}"),
    };
    let said: Vec<_> = found.iter().map(|event| (n(event), event.deprecated)).collect();
    let mut expect = vec![("2".to_owned(), false); 12];
    (expect[10].1, expect[11].0) = (true, "5".to_owned());
    assert_eq!(said, expect);
    let used = || {
        let minute = between("2026-03-10T12:00:00Z", "2026-03-10T12:01:00Z");
        block_on(fixture.account.usage_between(ada, metric.id, minute)).unwrap().unwrap()
    };
    assert_eq!(used().to_string(), "25");
    // What comes next is numbered behind all of them.
    run(fixture.account.ingest([short(12), short(13)])).unwrap();
    assert_eq!(used().to_string(), "27");
    assert_eq!(fixture.found((0..14).map(|n| n.to_string())).len(), 14);
}

/// More rows than one scan asks for, of events that come in the other order than they happened.
#[test]
fn a_minute_with_many_rows_is_read_whole_and_in_order() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada").id;
    let metrics = [SUM, "SELECT latest(n) FROM events"].map(|sql| fixture.metric(sql));
    fixture.set(NOW);
    let count = limits::SCAN_EVENT_BLOCKS + 8;
    for n in (0..count).rev() {
        let at = at(&format!("2026-03-10T12:00:{n:02}Z"));
        run(fixture.account.ingest([event("ada", &format!("e{n}"), at, &n.to_string())])).unwrap();
    }
    assert_eq!(fixture.packs().len(), count);
    let most = between("2026-03-10T12:00:00Z", "2026-03-10T12:00:39Z");
    let used = |at: usize| block_on(fixture.account.usage_between(ada, metrics[at].id, most));
    assert_eq!(used(0).unwrap().unwrap().to_string(), (0..39).sum::<u32>().to_string());
    assert_eq!(used(1).unwrap().unwrap().to_string(), "38");
}
