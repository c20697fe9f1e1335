use std::{mem, path::PathBuf, sync::Arc};

use accrue::store::{Key, StoreError, Version};
use accrue_durable::{Engine, Group, WriteError};

use crate::{
    open,
    progress::Progress,
    rows::{Rows, writes_of},
    sync::{Sync, while_applying, while_flushing},
};

/// What the writer thread owns: alone it applies and makes durable.
#[derive(Debug)]
pub(crate) struct SledEngine {
    pub(crate) path: PathBuf,
    pub(crate) rows: Rows,
    pub(crate) sync: Box<dyn Sync>,
    pub(crate) progress: Arc<Progress>,
}

impl Engine for SledEngine {
    fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        self.rows.version(key)
    }

    /// The group becomes one batch of sled, and not several:
    /// `docs/decisions/sled-one-batch-per-sync.md` says why.
    fn write(&mut self, group: Group) -> Result<(), WriteError> {
        let writes = writes_of(&group);
        let apply = || self.progress.apply(|| self.rows.apply(writes, group));
        if let Err(error) = while_applying(apply) {
            self.abandon();
            return Err(WriteError::new("a group could not be applied", error));
        }
        self.sync.sync().map_err(|error| WriteError::new("a flush failed", error))?;
        self.progress.all_durable();
        Ok(())
    }

    /// sled would write the half of a group when it is dropped, so it never is: the directory
    /// stays locked until the process ends.
    fn abandon(&mut self) {
        mem::forget(self.rows.clone());
    }

    fn close(self) {
        let Self { path, rows, sync, .. } = self;
        drop(sync);
        // The last handle flushes.
        while_flushing(|| drop(rows));
        open::wait_until_unlocked(&path);
    }
}
