use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use accrue_durable::{
    RowCache, flush_names, make_folder,
    row::{CEILING_KEY, FORMAT_KEY},
};
use sled::Db;

use crate::{
    encode::FORMAT,
    error::{Cause, OpenError},
    rows::Rows,
    settings::make_settings,
    store::SledStore,
    sync::{DiskSync, Sync},
};

/// The size of sled's segments, in bytes; `docs/decisions/sled-segment-size.md` says why.
pub(crate) const SEGMENT_BYTES: usize = 8 * 1024 * 1024;

/// sled panics below 256 bytes.
const LEAST_CACHE_BYTES: u64 = 1024 * 1024;

/// How to open a [`SledStore`].
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// let store = accrue_sled::SledOptions::new().cache_bytes(64 << 20).open(directory.path())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SledOptions {
    cache_bytes: u64,
    row_cache_bytes: u64,
}

impl Default for SledOptions {
    fn default() -> Self {
        Self { cache_bytes: 256 * 1024 * 1024, row_cache_bytes: 64 * 1024 * 1024 }
    }
}

impl SledOptions {
    /// The options that [`SledStore::open`] takes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bytes of pages sled keeps in memory: 256 MiB if not set, 1 MiB at least.
    #[must_use]
    pub fn cache_bytes(self, cache_bytes: u64) -> Self {
        Self { cache_bytes: cache_bytes.max(LEAST_CACHE_BYTES), ..self }
    }

    /// Sets how many bytes of rows are kept ready beside that, as they were read last: 64 MiB if not
    /// set, none at 0.
    #[must_use]
    pub fn row_cache_bytes(self, row_cache_bytes: u64) -> Self {
        Self { row_cache_bytes, ..self }
    }

    /// Opens the store in a directory, which is made if there is none.
    ///
    /// # Errors
    ///
    /// See [`SledStore::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SledStore, OpenError> {
        let (opened, sync) = self.prepare(path.as_ref())?;
        SledStore::start(opened, Box::new(sync))
    }

    /// Opens the directory, and leaves it to the caller to start a store on it.
    pub(crate) fn prepare(&self, path: &Path) -> Result<(Opened, DiskSync), OpenError> {
        self.try_prepare(path).map_err(|cause| OpenError::new(path, cause))
    }

    fn try_prepare(&self, path: &Path) -> Result<(Opened, DiskSync), Cause> {
        let path = make_folder(path).map_err(io("the directory cannot be made"))?;
        make_settings(&path).map_err(io("the settings of the database cannot be written"))?;
        // What sled is going to recover from, and to sum up in a durable snapshot, may have been
        // left in the cache of the operating system by a process that was killed.
        sync_file_if_any(&database(&path))?;
        let config = sled::Config::new()
            .path(&path)
            .segment_size(SEGMENT_BYTES)
            .cache_capacity(self.cache_bytes)
            // The writer alone flushes: a flush behind its back could fail behind its back.
            .flush_every_ms(None);
        // sled panics where its log is damaged in some ways.
        let db = catch_unwind(AssertUnwindSafe(|| config.open())).map_err(|_| Cause::Panic)??;
        let ceiling = recover(&db)?;
        let file = open_database(&path).map_err(io("the database file cannot be opened"))?;
        let rows = Rows::new(db, RowCache::new(self.row_cache_bytes));
        let mut sync = DiskSync::new(rows.clone(), file);
        sync.sync().map_err(io("the database file cannot be flushed"))?;
        flush_names(&path).map_err(io("the directory cannot be flushed"))?;
        Ok((Opened { path, rows, ceiling }, sync))
    }
}

/// A directory that is open, and durable as it is.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) rows: Rows,
    /// The ceiling of versions that is stored.
    pub(crate) ceiling: u64,
}

/// Checks the format, or writes it where the database is new. Returns the ceiling of versions.
fn recover(db: &Db) -> Result<u64, Cause> {
    match db.get(FORMAT_KEY)? {
        Some(found) if found == FORMAT => {}
        Some(found) => {
            let found = String::from_utf8_lossy(&found).into_owned();
            return Err(Cause::UnknownFormat { found });
        }
        None if db.is_empty() => drop(db.insert(FORMAT_KEY, FORMAT)?),
        None => return Err(Cause::NoFormat),
    }
    let Some(stored) = db.get(CEILING_KEY)? else { return Ok(0) };
    let ceiling = <[u8; 8]>::try_from(&*stored);
    ceiling.map(u64::from_be_bytes).map_err(|_| Cause::Ceiling { bytes: stored.len() })
}

fn sync_file_if_any(path: &Path) -> Result<(), Cause> {
    match OpenOptions::new().write(true).open(path).and_then(|file| file.sync_all()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io("a file of the database cannot be flushed")(error))
        }
        _ => Ok(()),
    }
}

/// Waits until sled has let go of the directory, after the last handle of it is dropped.
///
/// A thread of sled's pool may still hold the file for a moment, and with it the lock.
pub(crate) fn wait_until_unlocked(path: &Path) {
    const TRIES: u32 = 1_000;
    const PAUSE: Duration = Duration::from_millis(1);
    let Ok(file) = open_database(path) else { return };
    for _ in 0..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            // The lock goes with the handle.
            Ok(()) | Err(TryLockError::Error(_)) => return,
        }
    }
}

fn open_database(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(database(path))
}

/// The file of sled's log.
pub(crate) fn database(path: &Path) -> PathBuf {
    path.join("db")
}

fn io(what: &'static str) -> impl FnOnce(io::Error) -> Cause {
    move |source| Cause::Io { what, source }
}
