use std::sync::Arc;

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError, Version};

use crate::{Harness, Processes, place::Place};

/// The store under test, as a case talks to it: calls block, and fail the case where the store
/// gives no answer, or one that breaks the contract by its shape alone.
pub(crate) struct Subject<'a> {
    place: Place<'a>,
    store: Arc<dyn Store>,
}

impl<'a> Subject<'a> {
    pub(crate) fn open(harness: &'a dyn Harness) -> Self {
        Self::at(Place::Alone(harness))
    }

    /// Opens one more handle on a store that several processes share.
    pub(crate) fn shared(processes: &'a dyn Processes) -> Self {
        Self::at(Place::Shared(processes))
    }

    /// Opens several handles on a store that several processes share.
    pub(crate) fn several<const N: usize>(processes: &'a dyn Processes) -> [Self; N] {
        [(); N].map(|()| Self::shared(processes))
    }

    fn at(place: Place<'a>) -> Self {
        Self { place, store: place.open() }
    }

    /// Talks to a handle that was opened.
    pub(crate) fn shared_through(processes: &'a dyn Processes, store: Arc<dyn Store>) -> Self {
        Self { place: Place::Shared(processes), store }
    }

    /// Talks to another store through the same harness.
    pub(crate) fn through(harness: &'a dyn Harness, store: Arc<dyn Store>) -> Self {
        Self { place: Place::Alone(harness), store }
    }

    /// Talks to the same place through a store that wraps this one.
    pub(crate) fn wrapped<S: Store>(self, wrap: impl FnOnce(Arc<dyn Store>) -> S) -> Self {
        let Self { place, store } = self;
        Self { place, store: Arc::new(wrap(store)) }
    }

    /// Closes the store, and opens it again.
    pub(crate) fn reopen(self) -> Self {
        let Self { place, store } = self;
        drop(store);
        Self::at(place)
    }

    pub(crate) fn get(&self, keys: &[Key]) -> Vec<Option<Row>> {
        self.try_get(keys).expect("a store at rest answers a get")
    }

    pub(crate) fn row(&self, key: &Key) -> Option<Row> {
        self.get(std::slice::from_ref(key)).pop().flatten()
    }

    /// The row of a key that was written.
    pub(crate) fn present(&self, key: &Key) -> Row {
        self.row(key).expect("a row that was committed is there")
    }

    pub(crate) fn scan(&self, scan: &Scan) -> Vec<Row> {
        let rows = self.answer(self.store.scan(scan)).expect("a store at rest answers a scan");
        assert!(
            rows.iter().all(|row| row.key.table() == scan.table),
            "a row of another table in {scan:?}"
        );
        rows
    }

    /// The keys of a scan, which must be the keys that its rows have.
    pub(crate) fn scan_keys(&self, scan: &Scan) -> Vec<Key> {
        self.scan(scan).into_iter().map(|row| row.key).collect()
    }

    pub(crate) fn commit(&self, batch: Batch) -> Commit {
        self.try_commit(batch).expect("a store at rest answers a commit")
    }

    /// Commits a batch whose preconditions all hold.
    pub(crate) fn committed(&self, batch: Batch) -> Version {
        let answer = match self.commit(batch) {
            Commit::Committed(version) => Ok(version),
            Commit::Conflict(key) => Err(key),
        };
        answer.expect("every precondition holds")
    }

    /// Commits a batch of which `key` is the first failed precondition.
    pub(crate) fn conflicts_at(&self, key: &Key, batch: Batch) {
        assert_eq!(self.commit(batch), Commit::Conflict(key.clone()));
    }

    pub(crate) fn try_get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let rows = self.answer(self.store.get(keys))?;
        assert_eq!(rows.len(), keys.len(), "one result per key");
        for (row, key) in rows.iter().zip(keys) {
            assert!(
                row.as_ref().is_none_or(|row| row.key == *key),
                "the row in the place of {key} is that of another key: {row:?}"
            );
        }
        Ok(rows)
    }

    pub(crate) fn try_commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.answer(self.store.commit(batch))
    }

    fn answer<T: Send>(&self, future: impl Future<Output = T> + Send) -> T {
        self.place.answer(future)
    }
}
