use std::{
    fmt,
    fs::File,
    io,
    sync::{PoisonError, RwLock},
};

use crate::rows::Rows;

/// The step that makes what was applied durable. A trait, so that tests can pause it and fail it.
pub(crate) trait Sync: fmt::Debug + Send {
    /// Returns once everything applied before is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// Flushes sled, then asks the disk.
///
/// sled's own flush ends in `sync_file_range`, which waits for the pages and neither for the disk's
/// cache nor for the metadata without which new pages are not found after a power cut.
#[derive(Debug)]
pub(crate) struct DiskSync {
    rows: Rows,
    // An own handle: an error of a write-back is reported to each handle once, and what sled's
    // handle has swallowed still arrives here.
    file: File,
}

impl DiskSync {
    pub(crate) const fn new(rows: Rows, file: File) -> Self {
        Self { rows, file }
    }
}

impl Sync for DiskSync {
    fn sync(&mut self) -> io::Result<()> {
        while_flushing(|| self.rows.flush())?;
        self.file.sync_data()
    }
}

/// Readers of every sled database in a process share one lock of sled: a flush holds it for
/// reading, a batch waits for it for writing, and a waiting batch holds back all readers. Within a
/// store one thread does both, so no batch waits for a flush. Between stores this lock sees to it:
/// the writer of one waits here, where no reader is behind it, for the flush of another.
static TURN: RwLock<()> = RwLock::new(());

/// Runs `flush` while no store of this process applies.
pub(crate) fn while_flushing<T>(flush: impl FnOnce() -> T) -> T {
    let _turn = TURN.read().unwrap_or_else(PoisonError::into_inner);
    flush()
}

/// Runs `apply` while no store of this process flushes.
pub(crate) fn while_applying<T>(apply: impl FnOnce() -> T) -> T {
    let _turn = TURN.write().unwrap_or_else(PoisonError::into_inner);
    apply()
}
