//! A storage backend in about a hundred lines: a log of commits in one file, and its rows in memory.
//!
//! Each batch that changes something is one line of JSON. It is appended and synced before anyone
//! sees what it did, so that every answer shows durable state only; one lock orders everything, so
//! that commits are atomic and isolated. [`FileStore::open`] plays the lines back. The number of a
//! line is the version of the rows that it put, so that no version is used twice: lines are only
//! ever added.
//!
//! It is written to be read. What a store for daily use would add is in the README beside it.

mod line;
mod log;

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use accrue::store::{Batch, Commit, Document, Key, Order, Row, Scan, Store, StoreError, Version};
use async_trait::async_trait;

use crate::{line::Applied, log::Log};

/// A store in one file.
#[derive(Debug)]
pub struct FileStore {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    log: Log,
    tables: BTreeMap<String, Rows>,
    /// How many lines there are.
    commits: u64,
    /// Whether a write or a sync failed: what the file holds then is unknown until it is read anew.
    failed: bool,
}

type Rows = BTreeMap<Vec<u8>, (Document, Version)>;

impl FileStore {
    /// Opens the store in a file, which is made if there is none.
    ///
    /// A last line without its end was being written when the process died. Nobody was told that
    /// it was committed, so it is cut off.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the file cannot be read or cut, [`StoreError::Corrupt`] if a
    /// whole line is not what this store writes.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let unavailable = |error: io::Error| {
            StoreError::unavailable(format!("cannot open {}", path.display())).with_source(error)
        };
        let (log, lines) = Log::open(path).map_err(unavailable)?;
        let mut state = State { log, tables: BTreeMap::new(), commits: 0, failed: false };
        for (at, line) in lines.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let changes = line::decode(line).map_err(|error| {
                let reason = format!("line {} of {}", at + 1, path.display());
                StoreError::corrupt(reason).with_source(error)
            })?;
            state.apply(changes);
        }
        Ok(Self { state: Mutex::new(state) })
    }

    // Nothing panics while the lock is held, short of running out of memory; if it did between the
    // sync and the rows, the rows would be behind the file, so that the lock stays poisoned.
    fn state(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let failed = |_: PoisonError<_>| StoreError::unavailable("a call panicked");
        let state = self.state.lock().map_err(failed)?;
        match state.failed {
            true => Err(StoreError::unavailable("a write failed, open the store again")),
            false => Ok(state),
        }
    }
}

#[async_trait]
impl Store for FileStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let state = self.state()?;
        Ok(keys.iter().map(|key| state.row(key)).collect())
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let state = self.state()?;
        let (Some(rows), Some(bounds)) = (state.tables.get(scan.table.name()), scan.bounds())
        else {
            return Ok(Vec::new());
        };
        let rows = rows.range::<[u8], _>(bounds).map(|(bytes, (document, version))| Row {
            key: Key::new(scan.table, bytes.as_slice()),
            document: document.clone(),
            version: *version,
        });
        Ok(match scan.order {
            Order::Ascending => rows.take(scan.limit).collect(),
            Order::Descending => rows.rev().take(scan.limit).collect(),
        })
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let mut state = self.state()?;
        for (key, expected) in batch.expectations() {
            if !expected.holds(state.row(key).map(|row| row.version)) {
                return Ok(Commit::Conflict(key.clone()));
            }
        }
        if batch.changes.is_empty() {
            return Ok(Commit::Committed(Version::new(state.commits)));
        }
        // Nothing is written yet: a refusal here has no effect.
        let line = line::encode(&batch.changes).map_err(|error| {
            StoreError::unavailable("cannot encode the batch").with_source(error)
        })?;
        if let Err(error) = state.log.append(&line) {
            state.failed = true;
            return Err(StoreError::indeterminate("cannot append to the log").with_source(error));
        }
        Ok(Commit::Committed(state.apply(batch.changes.into_iter().map(Applied::from))))
    }
}

impl State {
    fn row(&self, key: &Key) -> Option<Row> {
        let (document, version) = self.tables.get(key.table().name())?.get(key.bytes())?;
        Some(Row { key: key.clone(), document: document.clone(), version: *version })
    }

    fn apply(&mut self, changes: impl IntoIterator<Item = Applied>) -> Version {
        self.commits = self.commits.saturating_add(1);
        let version = Version::new(self.commits);
        for Applied { table, key, document } in changes {
            let rows = self.tables.entry(table).or_default();
            match document {
                Some(document) => rows.insert(key, (document, version)),
                None => rows.remove(&key),
            };
        }
        version
    }
}

#[cfg(test)]
mod tests {
    use accrue::store::Table;
    use pollster::block_on;

    use super::*;

    #[test]
    fn after_a_failed_write_nothing_is_answered_until_the_store_is_opened_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.jsonl");
        let key = Key::new(Table::new("row"), *b"a");
        let batch = || Batch::new().put(key.clone(), Document::parse("{}").unwrap());

        let store = FileStore::open(&path).unwrap();
        store.state.lock().unwrap().log = Log::unwritable(&path);
        let answer = block_on(store.commit(batch()));
        assert!(matches!(answer, Err(StoreError::Indeterminate { .. })));
        let answer = block_on(store.get(std::slice::from_ref(&key)));
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })));
        let answer = block_on(store.commit(Batch::new()));
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })));

        drop(store);
        let store = FileStore::open(&path).unwrap();
        assert!(matches!(block_on(store.commit(batch())), Ok(Commit::Committed(_))));
    }
}
