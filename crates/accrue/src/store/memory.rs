use std::{
    collections::{BTreeMap, HashMap, btree_map::Entry},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use async_trait::async_trait;
use foldhash::fast::RandomState;

use super::{
    Batch, Change, Commit, Document, Key, Order, Row, Scan, Store, StoreError, Table, Version,
};

/// Store in memory: everything is gone with it.
///
/// ```
/// use accrue::store::{Key, MemoryStore, Store, Table};
///
/// let store = MemoryStore::new();
/// let rows = pollster::block_on(store.get(&[Key::new(Table::new("item"), *b"x")]))?;
/// assert_eq!(rows, [None]);
/// # Ok::<(), accrue::store::StoreError>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    tables: HashMap<Table, Rows, RandomState>,
    commits: u64,
}

type Rows = BTreeMap<Arc<[u8]>, (Document, Version)>;

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    // A panic while the lock is held is impossible short of running out of memory.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let state = self.read();
        Ok(keys.iter().map(|key| state.row(key)).collect())
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let state = self.read();
        let (Some(table), Some(bounds)) = (state.tables.get(&scan.table), scan.bounds()) else {
            return Ok(Vec::new());
        };
        let range = table.range::<[u8], _>(bounds).map(|(bytes, (document, version))| Row {
            key: Key::new(scan.table, Arc::clone(bytes)),
            document: document.clone(),
            version: *version,
        });
        Ok(match scan.order {
            Order::Ascending => range.take(scan.limit).collect(),
            Order::Descending => range.rev().take(scan.limit).collect(),
        })
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let mut state = self.write();
        let mut judged = batch.preconditions.iter();
        if let Some(failed) = judged.find(|of| !of.expected.holds(state.version(&of.key))) {
            return Ok(Commit::Conflict(failed.key.clone()));
        }
        Ok(match state.apply(batch.changes) {
            Ok(version) => Commit::Committed(version),
            Err(taken) => Commit::Conflict(taken),
        })
    }
}

impl State {
    fn row(&self, key: &Key) -> Option<Row> {
        let (document, version) = self.tables.get(&key.table())?.get(key.bytes())?;
        Some(Row { key: key.clone(), document: document.clone(), version: *version })
    }

    fn version(&self, key: &Key) -> Option<Version> {
        self.tables.get(&key.table())?.get(key.bytes()).map(|(_, version)| *version)
    }

    /// Applies all changes, or none where there is a row under the key of an insert. A key is looked for
    /// once: what was written before such a key is taken back.
    fn apply(&mut self, changes: Vec<Change>) -> Result<Version, Key> {
        let version = Version::new(self.commits.saturating_add(u64::from(!changes.is_empty())));
        let mut inserted = Vec::new();
        let (inserts, others): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| matches!(change, Change::Insert(..)));
        for change in inserts {
            let (key, document) = change.into_row();
            let Some(document) = document else { continue };
            match self.tables.entry(key.table()).or_default().entry(key.shared_bytes()) {
                Entry::Vacant(vacant) => {
                    vacant.insert((document, version));
                    inserted.push(key);
                }
                Entry::Occupied(_) => {
                    inserted.iter().for_each(|key| self.remove(key));
                    return Err(key);
                }
            }
        }
        for change in others {
            let (key, document) = change.into_row();
            match document {
                Some(document) => {
                    let table = self.tables.entry(key.table()).or_default();
                    table.insert(key.shared_bytes(), (document, version));
                }
                None => self.remove(&key),
            }
        }
        self.commits = version.number();
        Ok(version)
    }

    fn remove(&mut self, key: &Key) {
        if let Some(table) = self.tables.get_mut(&key.table()) {
            table.remove(key.bytes());
        }
    }
}
