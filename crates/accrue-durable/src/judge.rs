use std::collections::HashMap;

use accrue::store::{Batch, Change, Commit, Document, Key, StoreError, Version};
use foldhash::fast::RandomState;

use crate::{Engine, Group, versions::Versions};

/// Judges batches one after the other; the accepted ones become one group.
#[derive(Debug)]
pub(crate) struct Judge<'a, E> {
    engine: &'a E,
    versions: &'a mut Versions,
    rows: HashMap<Key, Option<(Version, Document)>, RandomState>,
    ceiling: Option<u64>,
}

impl<'a, E: Engine> Judge<'a, E> {
    pub(crate) fn new(engine: &'a E, versions: &'a mut Versions) -> Self {
        Self { engine, versions, rows: HashMap::default(), ceiling: None }
    }

    /// Judges one batch on the rows and the batches accepted before it.
    ///
    /// On an error nothing of it was accepted.
    pub(crate) fn admit(&mut self, batch: Batch) -> Result<Commit, StoreError> {
        for (key, expected) in batch.expectations() {
            if !expected.holds(self.version(key)?) {
                return Ok(Commit::Conflict(key.clone()));
            }
        }
        if batch.changes.is_empty() {
            return Ok(Commit::Committed(self.versions.last()));
        }
        self.accept(batch.changes).map(Commit::Committed)
    }

    /// Tells whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns what to write.
    pub(crate) fn into_group(self) -> Group {
        Group { rows: self.rows.into_iter().collect(), ceiling: self.ceiling }
    }

    fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        match self.rows.get(key) {
            Some(row) => Ok(row.as_ref().map(|(version, _)| *version)),
            None => self.engine.version(key),
        }
    }

    fn accept(&mut self, changes: Vec<Change>) -> Result<Version, StoreError> {
        let next = self
            .versions
            .next()
            .ok_or_else(|| StoreError::unavailable("all versions are used up"))?;
        if next.ceiling.is_some() {
            self.ceiling = next.ceiling;
        }
        for change in changes {
            let (key, document) = change.into_row();
            self.rows.insert(key, document.map(|document| (next.version, document)));
        }
        Ok(next.version)
    }
}
