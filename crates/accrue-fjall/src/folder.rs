//! What lies in the folder of a store before fjall opens it.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, ReadDir, TryLockError},
    path::Path,
};

use accrue_durable::private_file;

use crate::{error::Cause, journal::is_journal, open::io as failed};

/// What holds the lock of a store.
pub(crate) const LOCK: &str = "lock";
/// The folder of fjall in that of a store.
pub(crate) const DATABASE: &str = "fjall";
/// The same while it is made.
pub(crate) const UNFINISHED: &str = "fjall.new";
/// What file systems put at their root.
const OF_THE_FILE_SYSTEM: &str = "lost+found";
/// What fjall writes last when it makes a database: its format.
pub(crate) const VERSION: &str = "version";
/// The folders of fjall's keyspaces, in its own.
const KEYSPACES: &str = "keyspaces";
/// What says in each of them which tables it has.
const TABLES: &str = "current";

/// Takes the lock of a folder, for as long as the file is open.
pub(crate) fn lock(path: &Path) -> Result<File, Cause> {
    let file = private_file().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(failed("the lock cannot be made"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Cause::Locked),
        Err(TryLockError::Error(error)) => Err(failed("the lock cannot be taken")(error)),
    }
}

/// Refuses to make a store among what something else wrote, a store of another kind for example.
pub(crate) fn check_empty(path: &Path) -> Result<(), Cause> {
    let is_known =
        |name: &OsStr| [LOCK, UNFINISHED, OF_THE_FILE_SYSTEM].map(OsStr::new).contains(&name);
    match names_in(path)?.into_iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(Cause::Foreign { found: name.to_string_lossy().into_owned() }),
    }
}

/// Refuses a database of which a part is missing. fjall would make it anew, or remove what it is a
/// part of.
pub(crate) fn check_parts(database: &Path) -> Result<(), Cause> {
    let missing = |part| Err(Cause::Missing { part });
    if !database.join(VERSION).exists() {
        return missing("version");
    }
    if !names_in(database)?.iter().any(|name| is_journal(Path::new(name))) {
        return missing("journal");
    }
    let keyspaces = database.join(KEYSPACES);
    let has_list = |name: &OsString| {
        let keyspace = keyspaces.join(name);
        !keyspace.is_dir() || keyspace.join(TABLES).exists()
    };
    if !keyspaces.exists() || !names_in(&keyspaces)?.iter().all(has_list) {
        return missing("list of tables");
    }
    Ok(())
}

fn names_in(folder: &Path) -> Result<Vec<OsString>, Cause> {
    let names = |entries: ReadDir| entries.map(|entry| Ok(entry?.file_name())).collect();
    fs::read_dir(folder).and_then(names).map_err(failed("the folder cannot be read"))
}
