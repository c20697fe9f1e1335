use std::path::Path;

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use accrue_durable::Writer;
use async_trait::async_trait;

use crate::{
    absences::Absences,
    engine::FjallEngine,
    error::{Cause, OpenError},
    open::{FjallOptions, Opened},
    rows::Rows,
    step::Step,
};

/// A durable store in a folder, on fjall.
///
/// Every answer shows what the disk holds: see the [crate's documentation](crate). Dropping the
/// store waits for the flush that is under way and for fjall's threads; then the folder can be
/// opened again.
///
/// A commit whose future is dropped goes on, or never began: all of it or nothing.
#[derive(Debug)]
pub struct FjallStore {
    // Dropped in this order: the writer must be the last to let go of the rows.
    rows: Rows,
    writer: Writer,
}

impl FjallStore {
    /// Opens the store in a folder, which is made if there is none.
    ///
    /// This blocks: it reads what was written since fjall last made tables of it.
    ///
    /// # Errors
    ///
    /// If another store has the folder open, if something else is in it, if what it had is lost or
    /// damaged, or if it cannot be read or written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        FjallOptions::new().open(path)
    }

    pub(crate) fn start(opened: Opened, step: Box<dyn Step>) -> Result<Self, OpenError> {
        let Opened { path, rows, ceiling } = opened;
        let engine = FjallEngine { step, absences: Absences::default(), rows: rows.clone() };
        let writer = Writer::start("accrue-fjall-writer", engine, ceiling).map_err(|source| {
            OpenError::new(&path, Cause::Io { what: "the writer thread cannot be started", source })
        })?;
        Ok(Self { rows, writer })
    }
}

#[async_trait]
impl Store for FjallStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.writer.check()?;
        self.rows.get(keys)
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.writer.check()?;
        self.rows.scan(scan)
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.writer.commit(batch).await
    }
}
