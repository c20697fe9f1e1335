use std::{
    fmt,
    fs::File,
    io,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use accrue::store::{Key, Order, Row, Scan, StoreError, Version};
use accrue_durable::{
    Group, RowCache,
    row::{CEILING_KEY, DecodeError, decode_row, decode_version, encode_row},
};
use fjall::{Database, Guard, Keyspace, OwnedWriteBatch, PersistMode, Readable, Snapshot};

use crate::encode::{decode_key, encode_bounds, encode_key, hash_stored};

/// The rows of all tables, in one keyspace: `docs/decisions/fjall-one-keyspace.md` says why.
///
/// What is seen here is durable: fjall shows a batch after its `fsync`, and what readers look at is
/// published after that.
#[derive(Clone)]
pub(crate) struct Rows {
    // Dropped in this order: the lock goes last.
    published: Arc<RwLock<Arc<Snapshot>>>,
    cache: Arc<RowCache>,
    keyspace: Keyspace,
    db: Database,
    _lock: Arc<File>,
}

// fjall's own types print what is no business of a log.
impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}

impl Rows {
    pub(crate) fn new(db: Database, keyspace: Keyspace, cache: RowCache, lock: File) -> Self {
        let published = Arc::new(RwLock::new(Arc::new(db.snapshot())));
        Self { published, cache: Arc::new(cache), keyspace, db, _lock: Arc::new(lock) }
    }

    /// Reads one instant: it has no half of a batch, and all of what was answered before.
    pub(crate) fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let (known, snapshot) = {
            let published = self.published();
            let known: Vec<_> = keys.iter().map(|key| self.cache.get(key)).collect();
            (known, Arc::clone(&published))
        };
        let mut read = Vec::new();
        let mut rows = Vec::with_capacity(keys.len());
        for (key, known) in keys.iter().zip(known) {
            if known.is_none() {
                read.push(rows.len());
            }
            rows.push(known.map_or_else(|| self.row(&snapshot, key), Ok)?);
        }
        if !read.is_empty() {
            let published = self.published();
            if Arc::ptr_eq(&published, &snapshot) {
                let read = read.into_iter().filter_map(|at| keys.get(at).zip(rows.get(at)));
                read.for_each(|(key, row)| self.cache.keep(key, row.as_ref()));
            }
        }
        Ok(rows)
    }

    fn row(&self, snapshot: &Snapshot, key: &Key) -> Result<Option<Row>, StoreError> {
        match snapshot.get(&self.keyspace, encode_key(key)).map_err(failed)? {
            None => Ok(None),
            Some(stored) => match decode_row(key.clone(), &stored) {
                Ok(row) => Ok(Some(row)),
                Err(error) => Err(corrupt(key, error)),
            },
        }
    }

    // Where its holder panics the writer has failed, and whoever reads next is refused.
    fn published(&self) -> RwLockReadGuard<'_, Arc<Snapshot>> {
        self.published.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows a group that is durable, to all who read from now on.
    pub(crate) fn publish(&self, group: Group) {
        let snapshot = Arc::new(self.db.snapshot());
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        self.cache.publish(group);
        *published = snapshot;
    }

    pub(crate) fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let Some((from, until)) = encode_bounds(scan) else { return Ok(Vec::new()) };
        let row = |pair: Guard| {
            let (key, stored) = pair.into_inner().map_err(failed)?;
            let key = decode_key(scan.table, &key).map_err(|error| {
                StoreError::corrupt("stored key is unreadable").with_source(error)
            })?;
            decode_row(key.clone(), &stored).map_err(|error| corrupt(&key, error))
        };
        let snapshot = Arc::clone(&self.published());
        let range = snapshot.range(&self.keyspace, from..until);
        match scan.order {
            Order::Ascending => range.take(scan.limit).map(row).collect(),
            Order::Descending => range.rev().take(scan.limit).map(row).collect(),
        }
    }

    pub(crate) fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        // The writer asks, beside whom nobody writes: it needs no snapshot.
        if let Some(version) = self.cache.version(key) {
            return Ok(version);
        }
        match self.keyspace.get(encode_key(key)).map_err(failed)? {
            None => Ok(None),
            Some(row) => decode_version(&row).map(Some).map_err(|error| corrupt(key, error)),
        }
    }

    /// The number of rows, where each that was written again or deleted lately counts more than once.
    pub(crate) fn approximate_count(&self) -> u64 {
        u64::try_from(self.keyspace.approximate_len()).unwrap_or(u64::MAX)
    }

    /// The hashes of the keys of all rows that were written before.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = fjall::Result<u64>> + Send + use<> {
        let all = self.db.snapshot().iter(&self.keyspace);
        all.map(|pair| pair.key().map(|key| hash_stored(&key)))
    }

    /// An empty batch, whose commit returns after the `fsync`.
    pub(crate) fn batch(&self) -> OwnedWriteBatch {
        self.db.batch().durability(Some(PersistMode::SyncAll))
    }

    /// The batch that writes a group.
    pub(crate) fn batch_of(&self, group: &Group) -> OwnedWriteBatch {
        let mut batch = self.batch();
        if let Some(ceiling) = group.ceiling {
            batch.insert(&self.keyspace, CEILING_KEY, ceiling.to_be_bytes());
        }
        for (key, row) in &group.rows {
            match row {
                Some((version, document)) => {
                    batch.insert(&self.keyspace, encode_key(key), encode_row(*version, document));
                }
                None => batch.remove(&self.keyspace, encode_key(key)),
            }
        }
        batch
    }

    #[cfg(test)]
    pub(crate) fn keyspace(&self) -> &Keyspace {
        &self.keyspace
    }
}

/// Where fjall names no failure of the operating system, it found what it did not write.
fn failed(error: fjall::Error) -> StoreError {
    let failed = if is_io(&error) {
        StoreError::unavailable("fjall could not read")
    } else {
        StoreError::corrupt("table is unreadable")
    };
    failed.with_source(error)
}

/// Tells whether the operating system failed. That a file ends too early is not its failure.
pub(crate) fn is_io(error: &fjall::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(found) = cause {
        if let Some(io) = found.downcast_ref::<io::Error>() {
            return !matches!(io.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData);
        }
        cause = found.source();
    }
    false
}

fn corrupt(key: &Key, error: DecodeError) -> StoreError {
    StoreError::corrupt(format!("row {key} is unreadable")).with_source(error)
}
