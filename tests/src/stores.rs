//! Stores that watch or hinder the engine, and what tests ask of any store.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::Pin,
    task::{Context, Poll},
};

use accrue::{
    limits,
    schema::TABLES,
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
};
use async_trait::async_trait;

/// A store that panics where it is asked for more than the core allows itself.
#[derive(Debug)]
pub struct BoundedStore<S>(pub S);

fn check_key(key: &Key) {
    assert!(key.bytes().len() <= limits::KEY_BYTES, "a key of {} bytes", key.bytes().len());
    assert!(TABLES.contains(&key.table()), "a key of the unknown table {}", key.table());
}

fn check_batch(batch: &Batch) {
    assert!(batch.preconditions.len() <= limits::COMMIT_PRECONDITIONS);
    assert!(batch.changes.len() <= limits::COMMIT_CHANGES);
    batch.preconditions.iter().for_each(|precondition| check_key(&precondition.key));
    let (mut changed, mut bytes) = (BTreeSet::new(), 0);
    for change in &batch.changes {
        check_key(change.key());
        assert!(changed.insert(change.key()), "{} is changed twice in one batch", change.key());
        bytes += change.bytes();
        if let Some(document) = change.document() {
            let (key, size) = (change.key(), document.as_str().len());
            assert!(size <= limits::DOCUMENT_BYTES, "a document of {size} bytes for {key}");
            let value = serde_json::from_str::<serde_json::Value>(document.as_str()).unwrap();
            assert!(value.get("v").is_some_and(serde_json::Value::is_u64), "no version in {key}");
        }
    }
    assert!(bytes <= limits::COMMIT_BYTES, "a commit of {bytes} bytes");
}

#[async_trait]
impl<S: Store> Store for BoundedStore<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        keys.iter().for_each(check_key);
        self.0.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        assert!(scan.limit <= limits::SCAN_ROWS, "a scan for {} rows", scan.limit);
        assert!(TABLES.contains(&scan.table), "a scan of the unknown table {}", scan.table);
        self.0.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        check_batch(&batch);
        self.0.commit(batch).await
    }
}

/// A store whose every call is pending once before it begins and once after it is done, so that a
/// caller can go away at each of those points.
#[derive(Debug)]
pub struct PendingStore<S>(pub S);

#[async_trait]
impl<S: Store> Store for PendingStore<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        pause().await;
        let answer = self.0.get(keys).await;
        pause().await;
        answer
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        pause().await;
        let answer = self.0.scan(scan).await;
        pause().await;
        answer
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        pause().await;
        let answer = self.0.commit(batch).await;
        pause().await;
        answer
    }
}

/// Is pending once, and asks to be polled again.
fn pause() -> impl Future<Output = ()> + Send {
    struct Pause(bool);

    impl Future for Pause {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            if std::mem::replace(&mut self.0, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }

    Pause(false)
}

/// Every row of a store: its key, and what its document says.
pub type Dump = BTreeMap<String, String>;

/// Reads every row of every table.
#[must_use]
pub fn rows(store: &dyn Store) -> Vec<Row> {
    let mut all = Vec::new();
    for table in TABLES {
        let mut scan = Scan::prefix(*table, b"", limits::SCAN_ROWS);
        loop {
            let rows = pollster::block_on(store.scan(&scan)).unwrap();
            let Some(last) = rows.last() else { break };
            scan = scan.after(last.key.bytes());
            all.extend(rows);
        }
    }
    all
}

/// Reads what every row of every table says.
#[must_use]
pub fn dump(store: &dyn Store) -> Dump {
    let row = |row: Row| (row.key.to_string(), row.document.as_str().to_owned());
    rows(store).into_iter().map(row).collect()
}

/// Copies every row of a store.
#[must_use]
pub fn copied(store: &dyn Store) -> MemoryStore {
    let copied = MemoryStore::new();
    let put = |batch: Batch, row: Row| batch.put(row.key, row.document);
    pollster::block_on(copied.commit(rows(store).into_iter().fold(Batch::new(), put))).unwrap();
    copied
}
