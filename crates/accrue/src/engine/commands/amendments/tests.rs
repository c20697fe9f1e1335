use std::sync::Arc;

use pollster::block_on;

use super::*;
use crate::{
    AccountId, Billing, Clock as _, Email, ErrorKind, EventName, ExternalId, ManualClock, Name,
    PropertyName, SeededEntropy,
    backfill::{Backfill, BackfillStatus},
    customer::NewCustomer,
    expression::Expression,
    item::NewItem,
    metric::{Metric, MetricQuery, NewMetric},
    schema::{OverlayEntry, Slot},
    store::{Batch, Change, MemoryStore, Store},
    usage::{
        BlockEvent, Day, Event, EventBlock, EventSearch, EventSlot, EventVolumeQuery, FoundEvent,
        Minute,
    },
};

/// A customer with the events `a` and `b`, of 1 and 2, and a backfill that is reflected for it.
struct Overlaid {
    store: Arc<MemoryStore>,
    clock: ManualClock,
    account: Account,
    customer_id: CustomerId,
    metric: Metric,
    backfill: Backfill,
}

fn key(text: &str) -> EventKey {
    EventKey::parse(text).unwrap()
}

impl Overlaid {
    /// The backfill replaces what a filter says.
    fn new(filter: &str) -> Self {
        let store = Arc::new(MemoryStore::new());
        let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
        let billing = Billing::new(Arc::clone(&store), clock.clone(), SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("acme").unwrap());
        let name = |text| Name::parse(text).unwrap();
        let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
        new.external_customer_id = Some(ExternalId::parse("ada").unwrap());
        let customer_id = block_on(account.create_customer(new).into_future()).unwrap().id;
        let item = block_on(account.create_item(NewItem::new(name("item"))).into_future()).unwrap();
        let query = MetricQuery::parse("SELECT sum(n) FROM events").unwrap();
        let metric = NewMetric::new(name("sum"), item.id, query);
        let metric = block_on(account.create_metric(metric).into_future()).unwrap();
        let hour = Hour::of(clock.now()).timeframe();
        let backfill = Backfill {
            id: BackfillId::generate(clock.now(), &SeededEntropy::new(2)),
            status: BackfillStatus::Reflected,
            created_at: clock.now(),
            timeframe: hour,
            events_ingested: 0,
            close_time: Some(clock.now()),
            reverted_at: None,
            customer_id: None,
            replace_existing_events: true,
            deprecation_filter: Some(Expression::parse(filter).unwrap()),
        };
        let overlaid = Self { store, clock, account, customer_id, metric, backfill };
        let events = [overlaid.event("a", 1), overlaid.event("b", 2)];
        block_on(overlaid.account.ingest(events).into_future()).unwrap();
        overlaid
    }

    fn event(&self, id: &str, n: u64) -> Event {
        Event {
            idempotency_key: key(id),
            event_name: EventName::parse("call").unwrap(),
            timestamp: self.clock.now(),
            properties: [(PropertyName::parse("n").unwrap(), n.into())].into_iter().collect(),
            customer: self.customer_id.into(),
        }
    }

    fn write<T: serde::Serialize, G>(&self, slot: &Slot<T, G>, value: &T) {
        let change = Change::Put(slot.key().clone(), slot.encode(value, &mut Vec::new()).unwrap());
        let batch = Batch { preconditions: Vec::new(), changes: vec![change] };
        block_on(self.store.commit(batch)).unwrap();
    }

    /// Writes that the backfill is reflected over both events.
    fn reflect(&self) {
        let (account, at) = (self.account.id(), self.clock.now());
        self.write(&schema::backfill(account, self.backfill.id), &self.backfill);
        let overlay = schema::overlay(account, self.customer_id, Day::of(at), self.backfill.id);
        self.write(&overlay, &OverlayEntry { accepted: 2 });
        let slot = schema::customer_head(account, self.customer_id);
        let row = block_on(self.store.get(&[slot.key().clone()])).unwrap().pop().flatten().unwrap();
        let head = slot.decode(&row.document).unwrap();
        self.write(&slot, &schema::CustomerHead { accepted: 3, is_corrected: true, ..head });
    }

    /// Writes that the backfill has brought an event, as the third one.
    fn bring(&self, id: &str, n: u64) {
        let (account, event) = (self.account.id(), self.event(id, n));
        let (at, by) = (event.timestamp, self.backfill.id);
        let slot = schema::event_key(account, &event.idempotency_key);
        let row = block_on(self.store.get(&[slot.key().clone()])).unwrap().pop().unwrap();
        let mut entry: EventKeyEntry =
            row.map(|row| slot.decode(&row.document).unwrap()).unwrap_or_default();
        entry.slots.push(EventSlot::new(Some(by), &event, self.customer_id));
        self.write(&slot, &entry.in_block(Some(by), 3));
        let row = schema::backfill_event(account, by, self.customer_id, Minute::of(at), 3);
        let one = BlockEvent::new(&event.idempotency_key, at, StoredEvent::new(&event, 3));
        self.write(&row, &EventBlock { events: vec![one] });
    }

    fn amend(&self, id: &str, n: u64) -> Result<EventKey, Error> {
        let Event { event_name, timestamp, properties, customer, .. } = self.event(id, n);
        let amendment = Amendment { event_name, timestamp, properties, customer };
        block_on(self.account.amend_event(key(id), amendment).into_future())
    }

    fn deprecate(&self, id: &str) -> Result<EventKey, Error> {
        block_on(self.account.deprecate_event(key(id)).into_future())
    }

    fn sum(&self) -> String {
        let (hour, metric_id) = (self.backfill.timeframe, self.metric.id);
        let sum = block_on(self.account.usage_between(self.customer_id, metric_id, hour));
        sum.unwrap().unwrap().to_string()
    }

    fn count(&self) -> u64 {
        let hours = EventVolumeQuery::from(self.backfill.timeframe);
        let page = crate::PageRequest::default();
        block_on(self.account.event_volume(hours, &page)).unwrap().data[0].count
    }

    fn found(&self, id: &str) -> Option<FoundEvent> {
        let mut search = EventSearch::new([key(id)]);
        search.timeframe_end = Some(self.backfill.timeframe.end());
        block_on(self.account.search_events(search)).unwrap().pop()
    }

    fn n(&self, id: &str) -> (u64, bool) {
        let found = self.found(id).unwrap();
        let n = found.properties.get("n").unwrap();
        let small = (0..20_u64).find(|small| *n == (*small).into());
        (small.unwrap(), found.deprecated)
    }
}

fn is_refused(result: Result<EventKey, Error>, by: BackfillId) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
    assert!(error.to_string().ends_with(&format!("was replaced by backfill {by}")), "{error}");
}

#[test]
fn wire_3_5_what_a_backfill_has_replaced_is_neither_amended_nor_deprecated() {
    let overlaid = Overlaid::new("n > 1");
    overlaid.reflect();
    assert_eq!((overlaid.n("a"), overlaid.n("b")), ((1, false), (2, true)));
    is_refused(overlaid.amend("b", 1), overlaid.backfill.id);
    is_refused(overlaid.deprecate("b"), overlaid.backfill.id);
}

#[test]
fn an_event_can_be_amended_into_what_a_backfill_replaces() {
    let overlaid = Overlaid::new("n > 4");
    overlaid.reflect();
    overlaid.amend("a", 4).unwrap();
    assert_eq!((overlaid.sum(), overlaid.count()), ("6".to_owned(), 2));
    overlaid.amend("a", 5).unwrap();
    assert_eq!((overlaid.sum(), overlaid.count()), ("2".to_owned(), 1));
    assert_eq!(overlaid.n("a"), (5, true));
    is_refused(overlaid.amend("a", 1), overlaid.backfill.id);
}

#[test]
fn the_event_that_counts_is_amended_whoever_brought_it() {
    let overlaid = Overlaid::new("n = 1");
    overlaid.bring("a", 7);
    overlaid.reflect();
    assert_eq!(overlaid.n("a"), (7, false));
    overlaid.amend("a", 8).unwrap();
    assert_eq!((overlaid.n("a"), overlaid.sum()), ((8, false), "10".to_owned()));
    overlaid.deprecate("a").unwrap();
    assert_eq!(overlaid.sum(), "2");
    assert_eq!(overlaid.n("a"), (1, true), "the first one is shown where none counts");
    assert_eq!(overlaid.deprecate("a").unwrap(), key("a"));
    assert_eq!(overlaid.amend("a", 1).unwrap_err().to_string(), "the event a was deprecated");
}

#[test]
fn where_one_is_deprecated_the_other_of_its_place_counts() {
    let overlaid = Overlaid::new("n > 100");
    overlaid.bring("a", 7);
    overlaid.reflect();
    assert_eq!(overlaid.n("a"), (1, false), "the first accepted counts");
    overlaid.deprecate("a").unwrap();
    assert_eq!((overlaid.n("a"), overlaid.sum()), ((7, false), "9".to_owned()));
    assert_eq!(overlaid.count(), 2, "one counts in place of the other");
}

#[test]
fn what_only_a_pending_backfill_has_brought_is_not_there() {
    let overlaid = Overlaid::new("n > 1");
    overlaid.bring("new", 7);
    assert_eq!(overlaid.found("new"), None);
    assert!(overlaid.amend("new", 8).unwrap_err().is_not_found());
    assert!(overlaid.deprecate("new").unwrap_err().is_not_found());
    overlaid.reflect();
    assert_eq!(overlaid.n("new"), (7, false));
}
