use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;

/// A store that keeps a copy of every batch that is committed through it, and the time that its
/// calls take.
#[derive(Debug)]
pub struct Tap<S> {
    store: S,
    log: Mutex<Log>,
}

/// What went through a tap.
#[derive(Debug, Default)]
pub struct Log {
    /// The batches, in order.
    pub batches: Vec<Batch>,
    /// How long the store took for all calls.
    pub in_store: Duration,
}

impl<S> Tap<S> {
    /// Taps a store.
    pub fn new(store: S) -> Self {
        Self { store, log: Mutex::default() }
    }

    /// Returns what went through since the last call.
    #[must_use]
    pub fn take(&self) -> Log {
        std::mem::take(&mut *self.log())
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn timed<T>(&self, call: impl Future<Output = T>) -> T {
        let start = now();
        let answer = call.await;
        self.log().in_store += start.elapsed();
        answer
    }
}

/// Reads the clock, which a bench may.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
#[must_use]
pub fn now() -> Instant {
    Instant::now()
}

#[async_trait]
impl<S: Store> Store for Tap<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.timed(self.store.get(keys)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.timed(self.store.scan(scan)).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.log().batches.push(batch.clone());
        self.timed(self.store.commit(batch)).await
    }
}
