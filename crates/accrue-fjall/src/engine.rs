use accrue::store::{Key, StoreError, Version};
use accrue_durable::{Engine, Group, WriteError};

use crate::{
    absences::Absences,
    encode::hash_key,
    rows::Rows,
    step::{self, Step},
};

/// What the writer thread owns.
#[derive(Debug)]
pub(crate) struct FjallEngine {
    // Dropped in this order: the last handle of the database waits for fjall's threads.
    pub(crate) step: Box<dyn Step>,
    pub(crate) absences: Absences,
    pub(crate) rows: Rows,
}

impl Engine for FjallEngine {
    fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        if self.absences.include(hash_key(key)) {
            return Ok(None);
        }
        let version = self.rows.version(key)?;
        if version.is_none() {
            self.absences.count_vain();
        }
        Ok(version)
    }

    fn write(&mut self, group: Group) -> Result<(), WriteError> {
        let written = group.rows.iter().filter(|(_, row)| row.is_some());
        self.absences.before_write(&self.rows, written.map(|(key, _)| hash_key(key)));
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
