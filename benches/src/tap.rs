use std::sync::{Mutex, MutexGuard, PoisonError};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;

/// A store that keeps a copy of every batch that is committed through it.
#[derive(Debug)]
pub struct Tap<S> {
    store: S,
    batches: Mutex<Vec<Batch>>,
}

impl<S> Tap<S> {
    /// Taps a store.
    pub fn new(store: S) -> Self {
        Self { store, batches: Mutex::default() }
    }

    /// Returns what went through since the last call, in order.
    #[must_use]
    pub fn take(&self) -> Vec<Batch> {
        std::mem::take(&mut *self.batches())
    }

    fn batches(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<S: Store> Store for Tap<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.batches().push(batch.clone());
        self.store.commit(batch).await
    }
}
