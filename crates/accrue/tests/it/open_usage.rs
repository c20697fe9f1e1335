//! Usage that is open lies in the head of its customer. Stores from before that have rows instead.

use std::sync::{Arc, Mutex};

use accrue::{
    AccountId, Billing, Clock as _, EventKey, ManualClock, SeededEntropy, Timeframe, Timestamp,
    store::{Batch, Change, Commit, Document, Key, MemoryStore, Row, Scan, Store, StoreError},
    usage::{Amendment, Event, EventVolumeQuery, Properties},
};
use proptest::prelude::*;

use crate::support::{
    figures::figures,
    fixture::{COUNT, Fixture, SUM, at, block_on, event, run, usage_alert},
};

impl Fixture {
    /// Gives everything that is open rows of its own, as if nothing could be open.
    fn unfold(&self) {
        let tables = accrue::schema::TABLES;
        let rows = tables.iter().flat_map(|table| {
            block_on(self.store.scan(&Scan::prefix(*table, b"", usize::MAX))).unwrap()
        });
        let rows: Vec<_> = rows.collect();
        let texts: Vec<_> =
            rows.iter().map(|row| (row.key.to_string(), row.document.as_str())).collect();
        let unfolded = figures(texts.iter().map(|(key, document)| (key.as_str(), *document)));
        let mut changes = Vec::new();
        for (key, document) in unfolded {
            let (table, bytes) = key.split_once(':').unwrap();
            let table = *tables.iter().find(|of| of.name() == table).unwrap();
            let byte = |at: usize| u8::from_str_radix(&bytes[at..at + 2], 16).unwrap();
            let bytes: Vec<_> = (0..bytes.len()).step_by(2).map(byte).collect();
            changes.push(Change::Put(Key::new(table, bytes), Document::parse(document).unwrap()));
        }
        for row in rows.iter().filter(|row| row.key.table().name() == "customer_head") {
            let mut head: serde_json::Value = serde_json::from_str(row.document.as_str()).unwrap();
            head.as_object_mut().unwrap().remove("usage");
            let head = Document::parse(head.to_string()).unwrap();
            changes.push(Change::Put(row.key.clone(), head));
        }
        block_on(self.store.commit(Batch { preconditions: Vec::new(), changes })).unwrap();
    }
}

/// A step: minutes that pass, and an event so many minutes before. One of which half a minute is over
/// unfolds what is open before.
type Step = (u64, u64, bool);

/// What is kept and told after some steps.
fn told(steps: &[Step], unfolds: bool) -> (Vec<String>, Vec<String>, Vec<u64>) {
    let fixture = Fixture::new();
    let (count, sum) = (fixture.metric(COUNT), fixture.metric(SUM));
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe(ada.id, &fixture.plan());
    let alert = usage_alert(count.id, &["2", "5"]);
    run(fixture.account.create_subscription_alert(subscription.id, alert)).unwrap();
    for (number, (passes, ago, is_before)) in steps.iter().enumerate() {
        fixture.clock.advance(std::time::Duration::from_secs(passes * 60));
        if unfolds && *is_before {
            fixture.unfold();
        }
        let then = fixture.clock.now().saturating_sub(std::time::Duration::from_secs(ago * 60));
        let then = then.max(at("2026-03-10T12:00:00Z"));
        run(fixture.account.ingest([event("ada", &number.to_string(), then, "1.5")])).unwrap();
    }
    let usage = [&count, &sum].map(|metric| fixture.usage(&subscription, metric).unwrap());
    let messages = fixture.fired();
    let all = EventVolumeQuery {
        timeframe_start: at("2026-03-10T00:00:00Z"),
        timeframe_end: Some(at("2026-03-14T00:00:00Z")),
    };
    let page = accrue::PageRequest::first(100).unwrap();
    let volume = block_on(fixture.account.event_volume(all, &page)).unwrap();
    let volume = volume.data.iter().map(|hour| hour.count).collect();
    (usage.into_iter().chain(messages).collect(), fixture.figures(&[]), volume)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was kept in rows before goes on from there.
    #[test]
    fn figures_go_on_from_rows_of_a_store_from_before(
        steps in prop::collection::vec((0_u64..40, 0_u64..90, prop::bool::weighted(0.3)), 1..14),
    ) {
        prop_assert_eq!(told(&steps, true), told(&steps, false));
    }
}

#[test]
fn a_busy_customer_has_rows_of_windows_that_are_closed_alone() {
    let fixture = Fixture::new();
    fixture.metric(SUM);
    let ada = fixture.customer("ada");
    fixture.subscribe(ada.id, &fixture.plan());
    let rows = |table: &str| {
        let rows = fixture.dump();
        rows.iter().filter(|row| row.contains(&format!(" {table}:"))).count()
    };
    for number in 0..8 {
        fixture.use_now("ada", &number.to_string(), "1");
        fixture.clock.advance(std::time::Duration::from_secs(15 * 60));
    }
    assert_eq!((rows("bucket"), rows("total"), rows("alert_state")), (6, 0, 0));
    assert_eq!(rows("event_volume"), 2, "an hour that is open has a row that says it");
}

/// What an event says of a number, or that it says none.
fn said(key: &str, then: Timestamp, n: Option<&str>) -> Event {
    let mut event = event("ada", key, then, "1");
    if n.is_none() {
        event.properties = Properties::default();
    }
    event
}

/// The window has rows from the amendment on, though nothing was in it when the event came.
#[test]
fn an_event_that_counts_by_its_amendment_is_added_to_by_the_next_one() {
    let fixture = Fixture::new();
    let sum = fixture.metric("SELECT sum(n) FROM events");
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe(ada.id, &fixture.plan());
    run(fixture.account.ingest([said("before", at("2026-03-10T12:00:00Z"), Some("1"))])).unwrap();
    let then = at("2026-03-10T12:20:00Z");
    fixture.clock.set(then);
    run(fixture.account.ingest([said("a", then, None)])).unwrap();
    let amend = |key: &str| {
        let Event { event_name, properties, customer, .. } = event("ada", key, then, "5");
        let amendment = Amendment { event_name, timestamp: then, properties, customer };
        run(fixture.account.amend_event(EventKey::parse(key).unwrap(), amendment)).unwrap();
    };
    amend("a");
    run(fixture.account.ingest([said("b", then, Some("1"))])).unwrap();
    amend("b");
    assert_eq!(fixture.usage(&subscription, &sum).as_deref(), Some("11"));
    let window = Timeframe::new(at("2026-03-10T12:15:00Z"), at("2026-03-10T12:30:00Z")).unwrap();
    let between = block_on(fixture.account.usage_between(ada.id, sum.id, window)).unwrap();
    assert_eq!(between.map(|sum| sum.to_string()).as_deref(), Some("10"));
}

/// Store on which something happens once somebody has scanned the volumes of hours.
#[derive(Debug)]
struct Interrupted {
    inner: Arc<MemoryStore>,
    then: Mutex<Vec<Event>>,
}

#[async_trait::async_trait]
impl Store for Interrupted {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.inner.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let rows = self.inner.scan(scan).await?;
        let events = std::mem::take(&mut *self.then.lock().unwrap());
        if !events.is_empty() {
            let clock = ManualClock::at(at("2026-03-10T18:00:00Z"));
            let other = Billing::new(Arc::clone(&self.inner), clock, SeededEntropy::new(9));
            let account = other.account(AccountId::parse("acme").unwrap());
            run(account.ingest(events)).unwrap();
        }
        Ok(rows)
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.inner.commit(batch).await
    }
}

#[test]
fn an_hour_that_is_closed_while_hours_are_counted_is_counted() {
    let fixture = Fixture::new();
    fixture.metric(SUM);
    fixture.customer("ada");
    fixture.use_now("ada", "a", "1");
    let later = |hour: u32| {
        let then = at(&format!("2026-03-10T{hour}:00:00Z"));
        event("ada", &hour.to_string(), then, "1")
    };
    let then = Mutex::new(vec![later(13), later(14), later(15)]);
    let store = Interrupted { inner: Arc::clone(&fixture.store), then };
    let clock = ManualClock::at(at("2026-03-10T13:00:00Z"));
    let billing = Billing::new(store, clock, SeededEntropy::new(3));
    let account = billing.account(AccountId::parse("acme").unwrap());
    let query = EventVolumeQuery::since(at("2026-03-10T12:00:00Z"));
    let hours = block_on(account.event_volume(query, &accrue::PageRequest::default())).unwrap();
    let counts: Vec<_> = hours.data.iter().map(|hour| hour.count).collect();
    assert_eq!(counts, [1]);
}
