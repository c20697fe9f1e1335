//! What the engine asks its store for: rows, bytes, and calls that wait for each other.

use std::{
    future::poll_fn,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;

/// A store that counts what is asked of it.
///
/// Each call lets others have their turn once before it goes on, as if it had to wait for a disk: calls
/// that are joined have all begun before the first is answered.
#[derive(Debug)]
pub(crate) struct CountedStore<S> {
    store: S,
    counts: Mutex<Counts>,
}

/// What was asked of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Rows put and deleted by commits that took place.
    pub(crate) rows_written: u64,
    /// Their keys and documents.
    pub(crate) bytes_written: u64,
    /// Keys asked for, whether or not there is a row, and rows that scans returned.
    pub(crate) rows_read: u64,
    /// The longest row of calls of which each began after the one before was answered.
    pub(crate) sequential: u64,
    /// The place in such a row of the last call that was answered.
    answered: u64,
}

impl<S> CountedStore<S> {
    pub(crate) fn new(store: S) -> Self {
        Self { store, counts: Mutex::default() }
    }

    /// Returns what was asked since the last time.
    pub(crate) fn take(&self) -> Counts {
        std::mem::take(&mut *self.counts())
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn counted<T>(&self, call: impl Future<Output = T>) -> T {
        let place = {
            let mut counts = self.counts();
            let place = counts.answered + 1;
            counts.sequential = counts.sequential.max(place);
            place
        };
        yield_once().await;
        let answer = call.await;
        let mut counts = self.counts();
        counts.answered = counts.answered.max(place);
        answer
    }
}

#[async_trait]
impl<S: Store> Store for CountedStore<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.counts().rows_read += count(keys.len());
        self.counted(self.store.get(keys)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let rows = self.counted(self.store.scan(scan)).await?;
        self.counts().rows_read += count(rows.len());
        Ok(rows)
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let rows = count(batch.changes.len());
        let bytes = batch.changes.iter().map(|change| count(change.bytes())).sum::<u64>();
        let commit = self.counted(self.store.commit(batch)).await?;
        if matches!(commit, Commit::Committed(_)) {
            let mut counts = self.counts();
            counts.rows_written += rows;
            counts.bytes_written += bytes;
        }
        Ok(commit)
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Lets whoever else is ready have their turn.
async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use accrue::store::{Batch, Document, Expected, Key, MemoryStore, Scan, Store, Table};
    use futures_util::future::{join, join3};
    use pollster::block_on;

    use super::{CountedStore, Counts};

    const TABLE: Table = Table::new("row");

    fn store() -> CountedStore<MemoryStore> {
        CountedStore::new(MemoryStore::new())
    }

    fn key(name: &str) -> Key {
        Key::new(TABLE, name.as_bytes())
    }

    fn document() -> Document {
        Document::parse(r#"{"a":1}"#).unwrap()
    }

    fn put(name: &str) -> Batch {
        Batch::new().put(key(name), document())
    }

    #[test]
    fn joined_calls_count_one() {
        let store = store();
        let keys = [key("a")];
        let get = || store.get(&keys);
        let _ = block_on(join3(get(), get(), get()));
        assert_eq!(store.take().sequential, 1);
    }

    #[test]
    fn calls_awaited_in_turn_count_each() {
        let store = store();
        let keys = [key("a")];
        block_on(async {
            store.get(&keys).await.unwrap();
            store.get(&keys).await.unwrap();
        });
        assert_eq!(store.take().sequential, 2);
        assert_eq!(store.take(), Counts::default());
    }

    #[test]
    fn of_joined_rows_of_calls_the_longest_counts() {
        let store = store();
        let keys = [key("a")];
        let two = || async {
            store.get(&keys).await.unwrap();
            store.get(&keys).await.unwrap();
        };
        block_on(async {
            join(two(), two()).await;
            let _ = store.commit(put("a")).await;
        });
        assert_eq!(store.take().sequential, 3);
    }

    #[test]
    fn rows_and_bytes_are_counted() {
        let store = store();
        block_on(store.commit(put("a"))).unwrap();
        block_on(store.commit(put("bcd").delete(key("a")))).unwrap();
        let found = store.take();
        assert_eq!((found.rows_written, found.bytes_written), (3, 8 + 10 + 1));
        block_on(store.get(&[key("a"), key("bcd")])).unwrap();
        block_on(store.scan(&Scan::prefix(TABLE, b"", 10))).unwrap();
        assert_eq!(store.take().rows_read, 2 + 1);
    }

    #[test]
    fn what_conflicts_writes_nothing() {
        let store = store();
        block_on(store.commit(put("a"))).unwrap();
        store.take();
        block_on(store.commit(put("b").expect(key("a"), Expected::Absent))).unwrap();
        let found = store.take();
        assert_eq!((found.rows_written, found.bytes_written, found.sequential), (0, 0, 1));
    }
}
