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
        // It also fails after one of fjall's own threads did, to write a table for example. Nothing
        // of the batch is written then, but fjall does not promise to tell that apart.
        self.step.commit(batch).map_err(|error| WriteError::new("a write failed", error))?;
        self.rows.publish(group);
        Ok(())
    }

    fn abandon(&mut self) {
        step::abandon(&self.rows);
    }

    fn close(self) {}
}
