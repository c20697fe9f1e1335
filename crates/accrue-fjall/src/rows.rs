use std::{fmt, fs::File, io, sync::Arc};

use accrue::store::{Key, Order, Row, Scan, StoreError, Version};
use accrue_durable::{
    Group,
    row::{CEILING_KEY, DecodeError, decode_row, decode_version, encode_row},
};
use fjall::{Database, Guard, Keyspace, OwnedWriteBatch, PersistMode, Readable};

use crate::encode::{decode_key, encode_bounds, encode_key};

/// The rows of all tables, in one keyspace: `docs/decisions/fjall-one-keyspace.md` says why.
///
/// What is seen here is durable: fjall shows a batch after its `fsync`.
#[derive(Clone)]
pub(crate) struct Rows {
    // Dropped in this order: the lock goes last.
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
    pub(crate) fn new(db: Database, keyspace: Keyspace, lock: File) -> Self {
        Self { keyspace, db, _lock: Arc::new(lock) }
    }

    pub(crate) fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        // A snapshot has no half of a batch, and all of what was answered before.
        let snapshot = self.db.snapshot();
        let row = |key: &Key| match snapshot.get(&self.keyspace, encode_key(key)).map_err(failed)? {
            None => Ok(None),
            Some(stored) => match decode_row(key.clone(), &stored) {
                Ok(row) => Ok(Some(row)),
                Err(error) => Err(corrupt(key, error)),
            },
        };
        keys.iter().map(row).collect()
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
        let range = self.db.snapshot().range(&self.keyspace, from..until);
        match scan.order {
            Order::Ascending => range.take(scan.limit).map(row).collect(),
            Order::Descending => range.rev().take(scan.limit).map(row).collect(),
        }
    }

    pub(crate) fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        // The writer asks, beside whom nobody writes: it needs no snapshot.
        match self.keyspace.get(encode_key(key)).map_err(failed)? {
            None => Ok(None),
            Some(row) => decode_version(&row).map(Some).map_err(|error| corrupt(key, error)),
        }
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
