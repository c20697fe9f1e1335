use std::{
    fs::{self, File},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use accrue_durable::{
    Marker, RowCache, flush_names, make_folder,
    row::{CEILING_KEY, FORMAT_KEY},
};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::{
    encode::FORMAT,
    error::{Cause, OpenError},
    folder::{DATABASE, LOCK, UNFINISHED, check_empty, check_parts, lock},
    journal,
    rows::Rows,
    step::{Step, ToDisk},
    store::FjallStore,
};

/// The one keyspace.
const KEYSPACE: &str = "rows";
/// The threads that write tables and merge them: of several, fjall has one turn in a loop while another
/// merges (`docs/decisions/fjall-one-worker.md`).
const WORKERS: usize = 1;

/// How to open a [`FjallStore`].
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let store = accrue_fjall::FjallOptions::new().cache_bytes(64 << 20).open(folder.path())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FjallOptions {
    cache_bytes: u64,
    row_cache_bytes: u64,
}

impl Default for FjallOptions {
    fn default() -> Self {
        Self { cache_bytes: 256 * 1024 * 1024, row_cache_bytes: 64 * 1024 * 1024 }
    }
}

impl FjallOptions {
    /// The options that [`FjallStore::open`] takes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bytes of tables fjall keeps in memory: 256 MiB if not set.
    ///
    /// A fifth of the memory is a good share. New rows are in memory besides that.
    #[must_use]
    pub fn cache_bytes(self, cache_bytes: u64) -> Self {
        Self { cache_bytes, ..self }
    }

    /// Sets how many bytes of rows are kept ready beside that, as they were read last: 64 MiB if not
    /// set, none at 0.
    #[must_use]
    pub fn row_cache_bytes(self, row_cache_bytes: u64) -> Self {
        Self { row_cache_bytes, ..self }
    }

    /// Opens the store in a folder, which is made if there is none.
    ///
    /// # Errors
    ///
    /// See [`FjallStore::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<FjallStore, OpenError> {
        let (opened, step) = self.prepare(path.as_ref())?;
        FjallStore::start(opened, Box::new(step))
    }

    /// Opens the folder, and leaves it to the caller to start a store on it.
    pub(crate) fn prepare(&self, path: &Path) -> Result<(Opened, impl Step + 'static), OpenError> {
        self.try_prepare(path).map_err(|cause| OpenError::new(path, cause))
    }

    fn try_prepare(&self, path: &Path) -> Result<(Opened, ToDisk), Cause> {
        let path = make_folder(path).map_err(io("the folder cannot be made"))?;
        let marker = Marker::read(&path, FORMAT)?;
        if !path.join(DATABASE).exists() {
            marker.check_new()?;
            check_empty(&path)?;
        }
        let lock_file = path.join(LOCK);
        let was_locked_before = lock_file.exists();
        let lock = lock(&lock_file)?;
        let opened = self.open_locked(path, marker, lock);
        if opened.is_err() && !was_locked_before {
            // What is refused is left as it was.
            drop(fs::remove_file(lock_file));
        }
        opened
    }

    fn open_locked(
        &self,
        path: PathBuf,
        mut marker: Marker,
        lock: File,
    ) -> Result<(Opened, ToDisk), Cause> {
        let database = path.join(DATABASE);
        if !database.exists() {
            self.create(&path)?;
        }
        check_parts(&database)?;
        if !journal::mend(&database).map_err(io("the journal cannot be read or cut"))? {
            return Err(Cause::Journal);
        }
        // fjall flushes its journal before it looks for anything in it.
        let db = self.open_database(&database)?;
        let keyspace = open_keyspace(&db)?;
        let ceiling = recover(&keyspace, &marker)?;
        marker.note(ceiling)?;
        let rows = Rows::new(db, keyspace, RowCache::new(self.row_cache_bytes), lock);
        let step = ToDisk::new(rows.clone());
        Ok((Opened { path, rows, ceiling }, step))
    }

    /// Makes the database in a folder of another name, which then takes its own: it is there as a
    /// whole or not at all. fjall by itself does not open what it was killed over.
    fn create(&self, path: &Path) -> Result<(), Cause> {
        let unfinished = path.join(UNFINISHED);
        match fs::remove_dir_all(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io("what was left unfinished cannot be removed")(error));
            }
            _ => {}
        }
        // fjall would let everybody in.
        make_folder(&unfinished).map_err(io("the folder of the database cannot be made"))?;
        let db = self.open_database(&unfinished)?;
        let keyspace = db.keyspace(KEYSPACE, KeyspaceCreateOptions::default)?;
        keyspace.insert(FORMAT_KEY, FORMAT)?;
        db.persist(PersistMode::SyncAll)?;
        drop((keyspace, db));
        // fjall does not flush the folder in which it makes those of its keyspaces.
        flush_names(&unfinished).map_err(io("the names of the database cannot be flushed"))?;
        fs::rename(&unfinished, path.join(DATABASE))
            .and_then(|()| make_folder(path))
            .map_err(io("the database cannot be given its name"))?;
        Ok(())
    }

    fn open_database(&self, path: &Path) -> Result<Database, Cause> {
        let builder = Database::builder(path).cache_size(self.cache_bytes).worker_threads(WORKERS);
        // fjall panics where its files are damaged in some ways.
        let opened = catch_unwind(AssertUnwindSafe(|| builder.open()));
        opened.map_err(|_| Cause::Panic)?.map_err(Cause::from)
    }
}

/// A folder that is open, and durable as it is.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) rows: Rows,
    /// The ceiling of versions that is stored.
    pub(crate) ceiling: u64,
}

fn open_keyspace(db: &Database) -> Result<Keyspace, Cause> {
    if !db.keyspace_exists(KEYSPACE) {
        return Err(Cause::NoFormat);
    }
    Ok(db.keyspace(KEYSPACE, KeyspaceCreateOptions::default)?)
}

/// Checks the format, and returns the ceiling of versions.
fn recover(keyspace: &Keyspace, marker: &Marker) -> Result<u64, Cause> {
    match keyspace.get(FORMAT_KEY)? {
        Some(found) if *found == *FORMAT.as_bytes() => {}
        Some(found) => {
            let found = String::from_utf8_lossy(&found).into_owned();
            return Err(Cause::UnknownFormat { found });
        }
        None => {
            marker.check_new()?;
            return Err(Cause::NoFormat);
        }
    }
    let ceiling = stored_ceiling(keyspace)?;
    marker.check(ceiling)?;
    Ok(ceiling)
}

fn stored_ceiling(keyspace: &Keyspace) -> Result<u64, Cause> {
    let Some(stored) = keyspace.get(CEILING_KEY)? else { return Ok(0) };
    let ceiling = <[u8; 8]>::try_from(&*stored);
    ceiling.map(u64::from_be_bytes).map_err(|_| Cause::Ceiling { bytes: stored.len() })
}

pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Cause {
    move |source| Cause::Io { what, source }
}
