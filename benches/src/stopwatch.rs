use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;

use crate::now;

/// A store that measures how long its calls take.
#[derive(Debug)]
pub struct Stopwatch<S> {
    store: S,
    spent: Mutex<Duration>,
}

impl<S> Stopwatch<S> {
    /// Measures a store.
    pub fn new(store: S) -> Self {
        Self { store, spent: Mutex::default() }
    }

    /// Returns how long all calls took since the last time.
    #[must_use]
    pub fn take(&self) -> Duration {
        std::mem::take(&mut *self.spent())
    }

    fn spent(&self) -> MutexGuard<'_, Duration> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn timed<T>(&self, call: impl Future<Output = T>) -> T {
        let start = now();
        let answer = call.await;
        *self.spent() += start.elapsed();
        answer
    }
}

#[async_trait]
impl<S: Store> Store for Stopwatch<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.timed(self.store.get(keys)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.timed(self.store.scan(scan)).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.timed(self.store.commit(batch)).await
    }
}
