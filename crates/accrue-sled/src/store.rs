use std::{
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;
use futures_channel::oneshot;

use crate::{
    error::{Cause, OpenError},
    open::{Opened, SledOptions},
    progress::Progress,
    queue::{Job, Queue},
    rows::Rows,
    sync::Sync,
    writer::{Writer, WriterThread},
};

/// A durable store in a directory, on sled.
///
/// Every answer shows what the disk holds: see the [crate's documentation](crate). Dropping the
/// store waits for the flush that is under way; then the directory can be opened again.
///
/// A commit whose future is dropped goes on, or never began: all of it or nothing.
#[derive(Debug)]
pub struct SledStore {
    // Dropped in this order: the thread ends when nobody can send any more, and it must be the last
    // to let go of the rows.
    rows: Rows,
    progress: Arc<Progress>,
    jobs: Sender<Job>,
    _writer: WriterThread,
}

impl SledStore {
    /// Opens the store in a directory, which is made if there is none.
    ///
    /// This blocks: it reads what was written since the directory was last opened.
    ///
    /// # Errors
    ///
    /// If another store has the directory open, if something else wrote it, or if it cannot be read
    /// or written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        SledOptions::new().open(path)
    }

    pub(crate) fn start(opened: Opened, sync: Box<dyn Sync>) -> Result<Self, OpenError> {
        let Opened { path, rows, versions } = opened;
        let progress = Arc::new(Progress::default());
        let (jobs, waiting) = mpsc::channel();
        let writer = Writer {
            path: path.clone(),
            rows: rows.clone(),
            versions,
            sync,
            progress: Arc::clone(&progress),
        };
        let writer = writer.start(Queue::new(waiting)).map_err(|source| {
            OpenError::new(&path, Cause::Io { what: "the writer thread cannot be started", source })
        })?;
        Ok(Self { rows, progress, jobs, _writer: writer })
    }

    async fn read<T>(
        &self,
        read: impl FnOnce(&Rows) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.progress.check()?;
        let (found, seen) = self.progress.look(|| read(&self.rows));
        if !self.progress.is_durable(seen) {
            let (answer, answered) = oneshot::channel();
            self.send(Job::Barrier { answer })?;
            answered.await.unwrap_or_else(|_| Err(ended()))?;
        }
        self.progress.check()?;
        found
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.send(job).map_err(|_| ended())
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
        self.progress.check()?;
        let (answer, answered) = oneshot::channel();
        self.send(Job::Commit { batch, answer })?;
        answered
            .await
            .unwrap_or_else(|_| Err(StoreError::indeterminate("the writer gave no answer")))
    }
}

fn ended() -> StoreError {
    StoreError::unavailable("the writer has ended")
}
