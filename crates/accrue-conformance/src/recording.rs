use std::sync::{Mutex, MutexGuard, PoisonError};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;

/// A store that remembers every call and its answer, and forwards it.
///
/// ```
/// use accrue::store::{Key, MemoryStore, Store, Table};
/// use accrue_conformance::{Recorded, RecordingStore};
///
/// let store = RecordingStore::new(MemoryStore::new());
/// let keys = [Key::new(Table::new("row"), *b"a")];
/// pollster::block_on(store.get(&keys))?;
/// assert_eq!(store.log(), [Recorded::Get { keys: keys.into(), answer: Ok(vec![None]) }]);
/// # Ok::<(), accrue::store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct RecordingStore<S> {
    inner: S,
    log: Mutex<Vec<Recorded>>,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recorded {
    /// A call of [`Store::get`].
    Get {
        /// What was asked for.
        keys: Vec<Key>,
        /// What was answered.
        answer: Result<Vec<Option<Row>>, Failure>,
    },
    /// A call of [`Store::scan`].
    Scan {
        /// What was asked for.
        scan: Scan,
        /// What was answered.
        answer: Result<Vec<Row>, Failure>,
    },
    /// A call of [`Store::commit`].
    Commit {
        /// What was to be committed.
        batch: Batch,
        /// What was answered.
        answer: Result<Commit, Failure>,
    },
}

/// Which [`StoreError`] a call ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// [`StoreError::Unavailable`].
    Unavailable,
    /// [`StoreError::Indeterminate`].
    Indeterminate,
    /// [`StoreError::Corrupt`].
    Corrupt,
    /// One that this crate does not know.
    Other,
}

impl<S> RecordingStore<S> {
    /// Wraps a store.
    pub const fn new(inner: S) -> Self {
        Self { inner, log: Mutex::new(Vec::new()) }
    }

    /// Returns the calls, in the order in which they were answered.
    pub fn log(&self) -> Vec<Recorded> {
        self.entries().clone()
    }

    /// Returns the calls since the last time, and forgets them.
    pub fn take_log(&self) -> Vec<Recorded> {
        std::mem::take(&mut *self.entries())
    }

    /// Returns the wrapped store, whose calls are not recorded.
    pub const fn inner(&self) -> &S {
        &self.inner
    }

    fn record(&self, call: Recorded) {
        self.entries().push(call);
    }

    // A log is whole between any two statements, so that a panic elsewhere spoils nothing.
    fn entries(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<S: Store> Store for RecordingStore<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let answer = self.inner.get(keys).await;
        self.record(Recorded::Get { keys: keys.to_vec(), answer: recorded(&answer) });
        answer
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let answer = self.inner.scan(scan).await;
        self.record(Recorded::Scan { scan: scan.clone(), answer: recorded(&answer) });
        answer
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let answer = self.inner.commit(batch.clone()).await;
        self.record(Recorded::Commit { batch, answer: recorded(&answer) });
        answer
    }
}

fn recorded<T: Clone>(answer: &Result<T, StoreError>) -> Result<T, Failure> {
    match answer {
        Ok(answer) => Ok(answer.clone()),
        Err(StoreError::Unavailable { .. }) => Err(Failure::Unavailable),
        Err(StoreError::Indeterminate { .. }) => Err(Failure::Indeterminate),
        Err(StoreError::Corrupt { .. }) => Err(Failure::Corrupt),
        Err(_) => Err(Failure::Other),
    }
}
