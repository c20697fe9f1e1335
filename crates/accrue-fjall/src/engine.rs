use accrue::store::{Key, StoreError, Version};
use accrue_durable::{Engine, Group, WriteError};

use crate::{
    rows::Rows,
    step::{self, Step},
};

/// What the writer thread owns.
#[derive(Debug)]
pub(crate) struct FjallEngine {
    // Dropped in this order: the last handle of the database waits for fjall's threads.
    pub(crate) step: Box<dyn Step>,
    pub(crate) rows: Rows,
}

impl Engine for FjallEngine {
    fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        self.rows.version(key)
    }

    fn write(&mut self, group: Group) -> Result<(), WriteError> {
        let batch = self.rows.batch_of(&group);
        self.step.commit(batch).map_err(|error| match error {
            // One of fjall's own threads failed before, to write a table for example. That is
            // found out before anything of the batch is written.
            fjall::Error::Poisoned => WriteError::refused("fjall has failed", error),
            _ => WriteError::unknown("a write failed", error),
        })
    }

    fn abandon(&mut self) {
        step::abandon(&self.rows);
    }

    fn close(self) {}
}
