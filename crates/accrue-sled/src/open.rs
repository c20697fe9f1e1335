use std::{
    fs::{File, TryLockError},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use accrue_durable::{
    Marker, RowCache, flush_names, make_folder,
    row::{CEILING_KEY, FORMAT_KEY},
};
use sled::Db;

use crate::{
    encode::FORMAT,
    error::{Cause, OpenError},
    folder, log,
    rows::Rows,
    settings::check_settings,
    snapshots::{newest, remove_unfinished},
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
        let mut marker = Marker::read(&path, FORMAT)?;
        if folder::has_database(&path).map_err(io("the directory cannot be read"))? {
            check_settings(&path)?;
        } else {
            marker.check_new()?;
            folder::make(&path)?;
        }
        make_ready(&path)?;
        // What sled has opened is let go of before the directory is refused.
        self.open_sled(&path, &mut marker).inspect_err(|_| wait_until_unlocked(&path))
    }

    fn open_sled(&self, path: &Path, marker: &mut Marker) -> Result<(Opened, DiskSync), Cause> {
        let config = sled::Config::new()
            .path(path)
            .segment_size(SEGMENT_BYTES)
            .cache_capacity(self.cache_bytes)
            // The writer alone flushes: a flush behind its back could fail behind its back.
            .flush_every_ms(None);
        // sled panics where its log is damaged in some ways.
        let db = catch_unwind(AssertUnwindSafe(|| config.open())).map_err(|_| Cause::Panic)??;
        let ceiling = recover(&db, marker)?;
        let file = folder::open_database(path).map_err(io("the database file cannot be opened"))?;
        let rows = Rows::new(db, RowCache::new(self.row_cache_bytes));
        let mut sync = DiskSync::new(rows.clone(), file);
        // The name of the new snapshot first: sled has freed what only the one before it needs.
        flush_names(path).map_err(io("the directory cannot be flushed"))?;
        sync.sync().map_err(io("the database file cannot be flushed"))?;
        marker.note(ceiling)?;
        Ok((Opened { path: path.to_path_buf(), rows, ceiling }, sync))
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

/// Makes a directory ready for sled, which reads it without a question.
fn make_ready(path: &Path) -> Result<(), Cause> {
    let database = folder::open_database(path).map_err(io("the database file cannot be opened"))?;
    // sled takes this lock itself. Until then it keeps another process from writing a snapshot.
    locked(&database, || make_ready_locked(path, &database))
}

/// Does something while this process has the lock of the database file.
pub(crate) fn locked(
    database: &File,
    run: impl FnOnce() -> Result<(), Cause>,
) -> Result<(), Cause> {
    match database.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Cause::Locked),
        Err(TryLockError::Error(error)) => return Err(io("the lock cannot be taken")(error)),
    }
    let done = run();
    // Closing is not enough: a process that another thread has just started has the file open too,
    // until it runs its program.
    database.unlock().map_err(io("the lock cannot be given back"))?;
    done
}

fn make_ready_locked(path: &Path, database: &File) -> Result<(), Cause> {
    remove_unfinished(path).map_err(io("an unfinished snapshot cannot be removed"))?;
    let snapshot = newest(path).map_err(io("the directory cannot be read"))?;
    if !log::is_whole(&mut &*database, snapshot).map_err(io("the database file cannot be read"))? {
        return Err(Cause::Log);
    }
    // What sled is going to recover from, and to sum up in a durable snapshot, may have been left in
    // the cache of the operating system by a process that was killed.
    database.sync_all().map_err(io("the database file cannot be flushed"))?;
    flush_names(path).map_err(io("the directory cannot be flushed"))
}

/// Checks the format, or writes it where the database is new. Returns the ceiling of versions.
fn recover(db: &Db, marker: &Marker) -> Result<u64, Cause> {
    match db.get(FORMAT_KEY)? {
        Some(found) if *found == *FORMAT.as_bytes() => {}
        Some(found) => {
            let found = String::from_utf8_lossy(&found).into_owned();
            return Err(Cause::UnknownFormat { found });
        }
        None => {
            marker.check_new()?;
            if !db.is_empty() {
                return Err(Cause::NoFormat);
            }
            drop(db.insert(FORMAT_KEY, FORMAT)?);
        }
    }
    let ceiling = stored_ceiling(db)?;
    marker.check(ceiling)?;
    Ok(ceiling)
}

fn stored_ceiling(db: &Db) -> Result<u64, Cause> {
    let Some(stored) = db.get(CEILING_KEY)? else { return Ok(0) };
    let ceiling = <[u8; 8]>::try_from(&*stored);
    ceiling.map(u64::from_be_bytes).map_err(|_| Cause::Ceiling { bytes: stored.len() })
}

/// Waits until sled has let go of the directory, after the last handle of it is dropped.
///
/// A thread of sled's pool may still hold the file for a moment, and with it the lock.
pub(crate) fn wait_until_unlocked(path: &Path) {
    const TRIES: u32 = 10_000;
    const PAUSE: Duration = Duration::from_millis(1);
    let Ok(file) = folder::open_database(path) else { return };
    for _ in 0..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(_)) => return,
            // As above, closing is not enough.
            Ok(()) => {
                let _ = file.unlock();
                return;
            }
        }
    }
}

pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Cause {
    move |source| Cause::Io { what, source }
}
