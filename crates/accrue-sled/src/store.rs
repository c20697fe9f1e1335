use std::{path::Path, sync::Arc};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use accrue_durable::Writer;
use async_trait::async_trait;

use crate::{
    engine::SledEngine,
    error::{Cause, OpenError},
    open::{Opened, SledOptions},
    progress::Progress,
    rows::Rows,
    sync::Sync,
};

/// A durable store in a directory, on sled.
///
/// Every answer shows what the disk holds: see the [crate's documentation](crate). Dropping the
/// store waits for the flush that is under way; then the directory can be opened again.
///
/// A commit whose future is dropped goes on, or never began: all of it or nothing.
#[derive(Debug)]
pub struct SledStore {
    // Dropped in this order: the writer must be the last to let go of the rows.
    rows: Rows,
    progress: Arc<Progress>,
    writer: Writer,
}

impl SledStore {
    /// Opens the store in a directory, which is made if there is none.
    ///
    /// This blocks: it reads what was written since the directory was last opened.
    ///
    /// # Errors
    ///
    /// If another store has the directory open, if something else is in it, if what it had is lost or
    /// damaged, or if it cannot be read or written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        SledOptions::new().open(path)
    }

    pub(crate) fn start(opened: Opened, sync: Box<dyn Sync>) -> Result<Self, OpenError> {
        let Opened { path, rows, ceiling } = opened;
        let progress = Arc::new(Progress::default());
        let engine = SledEngine {
            path: path.clone(),
            rows: rows.clone(),
            sync,
            progress: Arc::clone(&progress),
        };
        let writer = Writer::start("accrue-sled-writer", engine, ceiling).map_err(|source| {
            OpenError::new(&path, Cause::Io { what: "the writer thread cannot be started", source })
        })?;
        Ok(Self { rows, progress, writer })
    }

    async fn read<T>(
        &self,
        read: impl FnOnce(&Rows) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.writer.check()?;
        let (found, seen) = self.progress.look(|| read(&self.rows));
        if !self.progress.is_durable(seen) {
            self.writer.settled().await?;
        }
        self.writer.check()?;
        found
    }
}

#[async_trait]
impl Store for SledStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.read(|rows| rows.get(keys)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.read(|rows| rows.scan(scan)).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.writer.commit(batch).await
    }
}
