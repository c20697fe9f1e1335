use std::{fmt, mem};

use fjall::OwnedWriteBatch;

use crate::rows::Rows;

/// The step that makes a group durable. A trait, so that tests can pause it and fail it.
pub(crate) trait Step: fmt::Debug + Send {
    /// Writes the batch, and returns once it is on the disk.
    fn commit(&mut self, batch: OwnedWriteBatch) -> fjall::Result<()>;
}

/// Lets fjall write it.
#[derive(Debug)]
pub(crate) struct ToDisk(Rows);

impl ToDisk {
    pub(crate) const fn new(rows: Rows) -> Self {
        Self(rows)
    }
}

impl Step for ToDisk {
    fn commit(&mut self, batch: OwnedWriteBatch) -> fjall::Result<()> {
        batch.commit().inspect_err(|_| abandon(&self.0))
    }
}

/// Keeps the database open, and the folder locked, until the process ends.
///
/// What fjall's journal still holds of a write that failed is tried again when the journal is
/// dropped. That is done by whichever of fjall's threads is the last to let go of it, at a moment
/// that cannot be known; a store that was opened again would find it among its own writes.
pub(crate) fn abandon(rows: &Rows) {
    mem::forget(rows.clone());
}
