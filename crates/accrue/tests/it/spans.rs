//! Spans of operations, with the feature `tracing`.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    pin::pin,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
};

use accrue::{
    Account, AccountId, Billing, CustomerId, IdempotencyKey, SeededEntropy,
    price::Cadence,
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
};
use async_trait::async_trait;
use tracing::{
    Event, Metadata, Subscriber,
    callsite::rebuild_interest_cache,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::set_global_default,
};

use crate::support::fixture::{Fixture, NOON, UNKNOWN, at, block_on, event, run};

/// A subscriber that keeps the spans of each thread, while it does what they are kept of.
///
/// It is one for the whole process: whether a span is on is kept for all threads, and one that came to
/// it without a subscriber would turn it off for the others.
struct Recorder;

static GLOBAL: LazyLock<()> = LazyLock::new(|| set_global_default(Recorder).unwrap());

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

#[derive(Default)]
struct Kept {
    spans: Vec<Span>,
    entered: Vec<Id>,
}

#[derive(Clone, Debug, Default)]
struct Span {
    /// What it is within.
    within: Option<Id>,
    fields: BTreeMap<&'static str, String>,
}

/// Changes what is kept, where anything is.
fn keep<T: Default>(change: impl FnOnce(&mut Kept) -> T) -> T {
    KEPT.with_borrow_mut(|kept| kept.as_mut().map(change)).unwrap_or_default()
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "accrue"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut span = Span::default();
        attributes.record(&mut span);
        let count = keep(|kept| {
            span.within = kept.entered.last().cloned();
            kept.spans.push(span);
            kept.spans.len()
        });
        Id::from_u64(u64::try_from(count).unwrap().max(1))
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let index = usize::try_from(id.into_u64()).unwrap() - 1;
        keep(|kept| values.record(&mut kept.spans[index]));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &Id) {
        keep(|kept| kept.entered.push(id.clone()));
    }

    fn exit(&self, id: &Id) {
        keep(|kept| assert_eq!(kept.entered.pop().as_ref(), Some(id)));
    }
}

impl Visit for Span {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// A store that counts, and on which somebody else is first at the next few commits.
#[derive(Debug)]
struct Counting {
    store: Arc<MemoryStore>,
    races: AtomicUsize,
    read: AtomicUsize,
    written: AtomicUsize,
}

#[async_trait]
impl Store for Counting {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.read.fetch_add(keys.len(), Ordering::SeqCst);
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let rows = self.store.scan(scan).await?;
        self.read.fetch_add(rows.len(), Ordering::SeqCst);
        Ok(rows)
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.races.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok() {
            return Ok(Commit::Conflict(batch.preconditions.last().unwrap().key.clone()));
        }
        self.written.fetch_add(batch.changes.len(), Ordering::SeqCst);
        self.store.commit(batch).await
    }
}

/// Another engine on the store of a fixture, whose first commits lose so many races.
fn counting(fixture: &Fixture, races: usize) -> (Arc<Counting>, Account) {
    let (read, written) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let store = Arc::clone(&fixture.store);
    let store = Arc::new(Counting { store, races: AtomicUsize::new(races), read, written });
    let billing = Billing::new(Arc::clone(&store), fixture.clock.clone(), SeededEntropy::new(7));
    (store, billing.account(AccountId::parse("acme").unwrap()))
}

/// The spans of what is done, in the order in which they began.
fn spans(work: impl FnOnce()) -> Vec<Span> {
    // Of a thread that came to a span before there was a subscriber it may be known that it is off.
    *GLOBAL;
    Fixture::new().item();
    rebuild_interest_cache();
    KEPT.set(Some(Kept::default()));
    work();
    let kept = KEPT.take().unwrap();
    assert_eq!(kept.entered, []);
    kept.spans
}

/// The one span of what is done.
fn span(work: impl FnOnce()) -> BTreeMap<&'static str, String> {
    let found = spans(work);
    let [Span { within: None, fields }] = &found[..] else {
        panic!("there is one span: {found:?}")
    };
    fields.clone()
}

/// Ingests an event under an idempotency key: its span has so many attempts and conflicts, and the rows
/// that the store has counted.
fn check_ingest(races: usize, attempts: &str, conflicts: &str) {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let (store, account) = counting(&fixture, races);
    let ingest = || {
        let key = IdempotencyKey::parse("once").unwrap();
        let call = account.ingest([event("ada", "1", at(NOON), "1")]).keyed(key);
        block_on(call.into_future()).unwrap();
    };
    let fields = span(ingest);
    let read = store.read.load(Ordering::SeqCst).to_string();
    let written = store.written.load(Ordering::SeqCst).to_string();
    let expect = [
        ("operation", "ingest"),
        ("account", "acme"),
        ("attempts", attempts),
        ("conflicts", conflicts),
        ("rows_read", &read),
        ("rows_written", &written),
    ];
    let expect = expect.map(|(name, value)| (name, value.to_owned()));
    assert_eq!(fields, BTreeMap::from(expect));
    // The commit of a replay finds the record.
    let fields = span(ingest);
    assert_eq!((&*fields["attempts"], &*fields["conflicts"]), ("1", "1"));
    assert_eq!(fields["rows_written"], "0");
}

#[test]
fn a_keyed_ingest_has_one_span() {
    check_ingest(0, "1", "0");
}

#[test]
fn conflicts_are_counted() {
    check_ingest(2, "3", "2");
}

#[test]
fn an_operation_that_is_refused_has_a_span() {
    let fixture = Fixture::new();
    let id: CustomerId = UNKNOWN.parse().unwrap();
    let fields = span(|| drop(run(fixture.account.delete_customer(id)).unwrap_err()));
    assert_eq!((&*fields["operation"], &*fields["attempts"]), ("delete_customer", "1"));
    assert_eq!(fields["rows_written"], "0");
}

#[test]
fn a_dropped_operation_has_a_span() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let (store, account) = counting(&fixture, 0);
    let events = (0..500).map(|n| event("ada", &n.to_string(), at(NOON), "1"));
    let fields = span(|| {
        let mut ingest = pin!(account.ingest(events).into_future());
        let mut context = Context::from_waker(Waker::noop());
        assert!(ingest.as_mut().poll(&mut context).is_pending(), "others get a turn within a run");
    });
    let read = store.read.load(Ordering::SeqCst);
    assert_ne!(read, 0);
    assert_eq!((&*fields["attempts"], &fields["rows_read"]), ("1", &read.to_string()));
    assert_eq!(fields["rows_written"], "0");
}

#[test]
fn what_comes_before_an_operation_is_within_its_span() {
    let fixture = Fixture::new();
    let customer = fixture.customer("ada");
    let plan = fixture.priced_plan([fixture.fee(Cadence::Monthly).into()]);
    fixture.subscribe(customer.id, &plan);
    fixture.advance_days(40);
    let spans = spans(|| fixture.use_now("ada", "1", "1"));
    let first = Id::from_u64(1);
    let found: Vec<_> = spans
        .iter()
        .map(|span| (&*span.fields["operation"], span.within.as_ref() == Some(&first)))
        .collect();
    assert_eq!(found, [("ingest", false), ("correct", true), ("apply_transitions", true)]);
}
