use std::{fmt, sync::Arc};

use accrue::store::{Key, Order, Row, Scan, StoreError, Version};
use accrue_durable::{
    Group, RowCache,
    row::{CEILING_KEY, DecodeError, decode_row, decode_version, encode_row},
};
use sled::{Batch, Db};

use crate::encode::{decode_key, encode_bounds, encode_key};

/// The rows of all tables, in one tree of sled.
///
/// One tree, because sled's batches are atomic within a tree. Nothing here knows what is durable.
#[derive(Clone)]
pub(crate) struct Rows {
    db: Db,
    cache: Arc<RowCache>,
}

// sled would print every row.
impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}

impl Rows {
    pub(crate) fn new(db: Db, cache: RowCache) -> Self {
        Self { db, cache: Arc::new(cache) }
    }

    /// Reads rows, while no group is applied.
    pub(crate) fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        keys.iter().map(|key| self.row(key)).collect()
    }

    fn row(&self, key: &Key) -> Result<Option<Row>, StoreError> {
        if let Some(row) = self.cache.get(key) {
            return Ok(row);
        }
        let row = match self.db.get(encode_key(key)).map_err(failed)? {
            None => None,
            Some(stored) => {
                Some(decode_row(key.clone(), &stored).map_err(|error| corrupt(key, error))?)
            }
        };
        self.cache.keep(key, row.as_ref());
        Ok(row)
    }

    pub(crate) fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let Some((from, until)) = encode_bounds(scan) else { return Ok(Vec::new()) };
        let row = |pair: sled::Result<(sled::IVec, sled::IVec)>| {
            let (key, stored) = pair.map_err(failed)?;
            let key = decode_key(scan.table, &key).map_err(|error| {
                StoreError::corrupt("stored key is unreadable").with_source(error)
            })?;
            decode_row(key.clone(), &stored).map_err(|error| corrupt(&key, error))
        };
        let range = self.db.range(from..until);
        match scan.order {
            Order::Ascending => range.take(scan.limit).map(row).collect(),
            Order::Descending => range.rev().take(scan.limit).map(row).collect(),
        }
    }

    pub(crate) fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        if let Some(version) = self.cache.version(key) {
            return Ok(version);
        }
        match self.db.get(encode_key(key)).map_err(failed)? {
            None => Ok(None),
            Some(row) => decode_version(&row).map(Some).map_err(|error| corrupt(key, error)),
        }
    }

    /// Applies a group at once: to those who read, and to recovery after a crash. `writes` are those
    /// [of it](writes_of).
    ///
    /// After an error nobody knows which of them were applied.
    pub(crate) fn apply(&self, writes: Batch, group: Group) -> sled::Result<()> {
        self.db.apply_batch(writes)?;
        self.cache.publish(group);
        Ok(())
    }

    /// Hands everything applied to the operating system. That is not durable yet.
    pub(crate) fn flush(&self) -> sled::Result<()> {
        self.db.flush().map(|_bytes| ())
    }
}

/// What a group makes of the rows.
pub(crate) fn writes_of(group: &Group) -> Batch {
    let mut writes = Batch::default();
    if let Some(ceiling) = group.ceiling {
        writes.insert(CEILING_KEY, &ceiling.to_be_bytes());
    }
    for (key, row) in &group.rows {
        match row {
            Some((version, document)) => {
                writes.insert(encode_key(key), encode_row(*version, document));
            }
            None => writes.remove(encode_key(key)),
        }
    }
    writes
}

fn failed(error: sled::Error) -> StoreError {
    match error {
        sled::Error::Corruption { .. } => StoreError::corrupt("page is unreadable"),
        _ => StoreError::unavailable("sled could not read"),
    }
    .with_source(error)
}

fn corrupt(key: &Key, error: DecodeError) -> StoreError {
    StoreError::corrupt(format!("row {key} is unreadable")).with_source(error)
}
