//! What a worker asks of the store, and what it loses.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use accrue::{
    Billing, ErrorKind, ManualClock, SeededEntropy,
    store::{Batch, Change, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
};
use accrue_webhooks::{TokioTimer, Worker};

use crate::host::{Host, Types, key};

/// A store whose commits take a while, in which others make theirs.
#[derive(Debug)]
struct Counted {
    store: Arc<MemoryStore>,
    clock: ManualClock,
    /// How long each tenth commit takes: others take a millisecond.
    tenth: Duration,
    commits: AtomicUsize,
    /// Commits that somebody else was first for.
    conflicts: AtomicUsize,
    /// Messages that were read as waiting for an endpoint.
    waiting: AtomicUsize,
    /// Rows that were deleted, as many stores keep for a while.
    deleted: Mutex<BTreeSet<Key>>,
    /// How often a scan has gone over one of them.
    gone_over: AtomicUsize,
    /// Whether it takes no reports.
    takes_no_report: AtomicBool,
}

fn is_due(key: &Key) -> bool {
    key.table().name() == "due_delivery"
}

#[async_trait::async_trait]
impl Store for Counted {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let rows = self.store.scan(scan).await?;
        let waiting = rows.iter().filter(|row| is_due(&row.key)).count();
        self.waiting.fetch_add(waiting, SeqCst);
        let last = rows.last().filter(|_| rows.len() >= scan.limit).map(|row| &row.key);
        let is_gone_over = |key: &&Key| {
            let is_within = key.table() == scan.table && scan.contains(key.bytes());
            is_within && last.is_none_or(|last| *key <= last)
        };
        let gone_over = self.deleted.lock().unwrap().iter().filter(is_gone_over).count();
        self.gone_over.fetch_add(gone_over, SeqCst);
        Ok(rows)
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let is_tenth = self.commits.fetch_add(1, SeqCst) % 10 == 9;
        self.clock.advance(if is_tenth { self.tenth } else { Duration::from_millis(1) });
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        let is_sent = |of: &Change| matches!(of, Change::Delete(key) if is_due(key));
        if self.takes_no_report.load(SeqCst) && batch.changes.iter().any(is_sent) {
            return Err(StoreError::unavailable("the disk is full"));
        }
        let deleted = batch.changes.iter().filter_map(|of| match of {
            Change::Delete(key) => Some(key.clone()),
            _ => None,
        });
        let deleted: Vec<_> = deleted.collect();
        let committed = self.store.commit(batch).await?;
        match committed {
            Commit::Committed(_) => self.deleted.lock().unwrap().extend(deleted),
            Commit::Conflict(_) => drop(self.conflicts.fetch_add(1, SeqCst)),
        }
        Ok(committed)
    }
}

impl Counted {
    fn of(host: &Host) -> Arc<Self> {
        Self::with_pauses_of(host, Duration::from_millis(1))
    }

    fn with_pauses_of(host: &Host, tenth: Duration) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(&host.store),
            clock: host.clock.clone(),
            tenth,
            commits: AtomicUsize::default(),
            conflicts: AtomicUsize::default(),
            waiting: AtomicUsize::default(),
            deleted: Mutex::default(),
            gone_over: AtomicUsize::default(),
            takes_no_report: AtomicBool::default(),
        })
    }

    fn worker(self: &Arc<Self>, host: &Host) -> Worker {
        let (store, entropy) = (Arc::clone(self), SeededEntropy::new(2));
        let billing = Billing::new(store, host.clock.clone(), entropy);
        Worker::new(billing, Types, host.endpoints.clone(), key())
    }
}

/// Hosts with 1,201 messages for an endpoint: of as many customers, and of one.
async fn hosts() -> [Host; 2] {
    let (many, one) = (Host::new(), Host::new());
    many.endpoint("ok").await;
    for n in 0..=1_200 {
        many.customer(&format!("customer {n}")).await;
    }
    one.endpoint("ok").await;
    one.customer("ada").await;
    one.edit("ada", 1_200).await;
    [many, one]
}

#[tokio::test]
async fn webhooks_what_is_added_and_what_was_sent_lose_no_race() {
    for host in hosts().await {
        let store = Counted::of(&host);
        store.worker(&host).deliver_due().await.unwrap();
        let ids: BTreeSet<_> = host.endpoints.received().into_iter().map(|of| of.id).collect();
        assert_eq!((host.endpoints.received().len(), ids.len()), (1_201, 1_201));
        assert_eq!(store.conflicts.load(SeqCst), 0);
    }
}

/// How many messages wait for others of their customers makes no difference.
#[tokio::test]
async fn webhooks_what_waits_is_read_a_few_times_at_most() {
    for host in hosts().await {
        let store = Counted::of(&host);
        store.worker(&host).deliver_due().await.unwrap();
        let read = store.waiting.load(SeqCst);
        assert!(read < 6 * 1_201, "{read} rows of 1,201 messages");
    }
}

/// Beside those of the fan-out that is being sent, which are due at the same instant.
#[tokio::test]
async fn webhooks_what_was_sent_is_not_gone_over_again() {
    let [host, _] = hosts().await;
    let store = Counted::of(&host);
    store.worker(&host).deliver_due().await.unwrap();
    let gone_over = store.gone_over.load(SeqCst);
    assert!(gone_over < 10 * 1_201, "{gone_over} rows that were deleted");
}

/// Half of its time is over, or all of it, each time that the process was stopped for a while: it is kept while a report is
/// under way, which has what that needs.
#[tokio::test]
async fn webhooks_an_endpoint_is_kept_beside_what_is_reported() {
    for seconds in [35, 45, 61] {
        for host in hosts().await {
            let pause = Duration::from_secs(seconds);
            let worker = Counted::with_pauses_of(&host, pause).worker(&host);
            let delivering = worker.deliver_due();
            tokio::time::timeout(Duration::from_secs(30), delivering).await.unwrap().unwrap();
            let ids: BTreeSet<_> = host.endpoints.received().into_iter().map(|of| of.id).collect();
            assert_eq!(ids.len(), 1_201);
        }
    }
}

#[tokio::test]
async fn webhooks_a_worker_that_stops_waits_for_no_more_messages() {
    for host in hosts().await {
        let worker = Counted::of(&host).worker(&host);
        let stopped = worker.run_until(TokioTimer, std::future::ready(()));
        tokio::time::timeout(Duration::from_secs(10), stopped).await.unwrap();
        // Others go on at once.
        host.worker(3).deliver_due().await.unwrap();
        assert_eq!(host.endpoints.received().len(), 1_201);
    }
}

/// Messages are still fanned out then.
#[tokio::test]
async fn webhooks_what_fails_while_others_are_served_is_returned() {
    for host in hosts().await {
        let store = Counted::of(&host);
        store.takes_no_report.store(true, SeqCst);
        let error = store.worker(&host).deliver_due().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
}
