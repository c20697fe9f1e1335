//! What lies in the directory of a store before sled opens it.

use std::{
    fs::{self, DirEntry, File},
    io,
    path::{Path, PathBuf},
};

use accrue_durable::{make_folder, private_file};

use crate::{
    error::Cause,
    open,
    settings::{self, is_begun, make_settings},
};

/// The file of sled's log.
const DATABASE: &str = "db";
/// Where sled puts pages that are too long for its log: `docs/decisions/sled-segment-size.md` says
/// why there are none.
const BLOBS: &str = "blobs";
/// What file systems put at their root.
const OF_THE_FILE_SYSTEM: &str = "lost+found";

/// Tells whether there is a database. One that nothing was ever written to is none.
pub(crate) fn has_database(path: &Path) -> io::Result<bool> {
    let length = match fs::metadata(database(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        found => found?.len(),
    };
    Ok(length > 0 && path.join(settings::FILE).exists())
}

/// Makes what sled finds where there is a database that nothing was written to, for the owner alone.
///
/// Refuses to do so among what something else wrote, a store of another kind for example.
pub(crate) fn make(path: &Path) -> Result<(), Cause> {
    let unreadable = || open::io("the directory cannot be read");
    for entry in fs::read_dir(path).map_err(unreadable())? {
        let entry = entry.map_err(unreadable())?;
        if !is_begun_by_a_store(&entry).map_err(unreadable())? {
            let found = entry.file_name().to_string_lossy().into_owned();
            return Err(Cause::Foreign { found });
        }
    }
    let file = private_file().create(true).truncate(false).write(true).open(database(path));
    let file = file.map_err(open::io("the database file cannot be made"))?;
    // Another process may be making it too.
    open::locked(&file, || {
        let settings = make_settings(path);
        settings.map_err(open::io("the settings of the database cannot be written"))?;
        let blobs = make_folder(&path.join(BLOBS));
        blobs.map(drop).map_err(open::io("a folder of the database cannot be made"))
    })
}

/// Tells whether something may be what a process has left that ended while it made a store.
fn is_begun_by_a_store(entry: &DirEntry) -> io::Result<bool> {
    Ok(match entry.file_name().to_str() {
        Some(OF_THE_FILE_SYSTEM) => true,
        Some(DATABASE) => entry.metadata()?.len() == 0,
        Some(BLOBS) => fs::read_dir(entry.path()).is_ok_and(|mut blobs| blobs.next().is_none()),
        Some(settings::FILE | settings::UNFINISHED) => is_begun(&entry.path()),
        _ => false,
    })
}

/// Opens the file of sled's log, which is there.
pub(crate) fn open_database(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(database(path))
}

fn database(path: &Path) -> PathBuf {
    path.join(DATABASE)
}
