use std::collections::HashMap;

use accrue::store::{Batch, Change, Commit, Key, StoreError, Version};

use crate::{
    encode::{CEILING_KEY, encode_key, encode_row},
    rows::Rows,
    versions::Versions,
};

/// Batches judged one after the other, of which the accepted ones become one batch of sled.
///
/// One, and not one each: `docs/decisions/sled-one-batch-per-sync.md` says why.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    rows: &'a Rows,
    versions: &'a mut Versions,
    // What the accepted batches make of the rows that they change.
    overlay: HashMap<Vec<u8>, Option<Version>>,
    writes: sled::Batch,
}

impl<'a> Group<'a> {
    pub(crate) fn new(rows: &'a Rows, versions: &'a mut Versions) -> Self {
        Self { rows, versions, overlay: HashMap::new(), writes: sled::Batch::default() }
    }

    /// Judges one batch on the rows and the batches accepted before it.
    ///
    /// On an error nothing of it was accepted.
    pub(crate) fn admit(&mut self, batch: Batch) -> Result<Commit, StoreError> {
        for precondition in batch.preconditions {
            let found = self.version(&precondition.key)?;
            if !precondition.expected.holds(found) {
                return Ok(Commit::Conflict(precondition.key));
            }
        }
        if batch.changes.is_empty() {
            return Ok(Commit::Committed(self.versions.last()));
        }
        self.accept(batch.changes).map(Commit::Committed)
    }

    /// Tells whether there is nothing to apply.
    pub(crate) fn is_empty(&self) -> bool {
        self.overlay.is_empty()
    }

    /// Returns what to apply.
    pub(crate) fn into_writes(self) -> sled::Batch {
        self.writes
    }

    fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        let stored = encode_key(key);
        match self.overlay.get(&stored) {
            Some(version) => Ok(*version),
            None => self.rows.version(key, &stored),
        }
    }

    fn accept(&mut self, changes: Vec<Change>) -> Result<Version, StoreError> {
        let next = self
            .versions
            .next()
            .ok_or_else(|| StoreError::unavailable("all versions are used up"))?;
        if let Some(ceiling) = next.ceiling {
            self.writes.insert(CEILING_KEY, &ceiling.to_be_bytes());
        }
        for change in changes {
            let stored = encode_key(change.key());
            let version = match change {
                Change::Put(_, document) => {
                    self.writes.insert(stored.as_slice(), encode_row(next.version, &document));
                    Some(next.version)
                }
                Change::Delete(_) => {
                    self.writes.remove(stored.as_slice());
                    None
                }
            };
            self.overlay.insert(stored, version);
        }
        Ok(next.version)
    }
}
