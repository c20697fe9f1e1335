use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use accrue::store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError};
use async_trait::async_trait;

/// Counts how often a store is asked.
#[derive(Debug)]
pub(crate) struct Counting {
    store: Arc<MemoryStore>,
    calls: AtomicUsize,
    keys: AtomicUsize,
}

impl Counting {
    pub(crate) fn on(store: Arc<MemoryStore>) -> Self {
        Self { store, calls: AtomicUsize::new(0), keys: AtomicUsize::new(0) }
    }

    pub(crate) fn reset(&self) {
        self.calls.store(0, Ordering::SeqCst);
        self.keys.store(0, Ordering::SeqCst);
    }

    /// How often it was asked.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// How many rows it was asked for by their keys.
    pub(crate) fn keys(&self) -> usize {
        self.keys.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Store for Counting {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.keys.fetch_add(keys.len(), Ordering::SeqCst);
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.store.commit(batch).await
    }
}
