use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Makes a folder, and those above it that are missing, and makes their names durable: without
/// that a power cut can take a folder away, with all that is durable in it.
///
/// Returns its path without links.
///
/// # Errors
///
/// If it cannot be made or flushed.
pub fn make_folder(path: &Path) -> io::Result<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing = path.ancestors().take_while(is_missing).count();
    fs::create_dir_all(path)?;
    let path = path.canonicalize()?;
    // The name of a folder lies in the one above. One that was there is flushed too: who made it
    // may have been killed before that.
    let named = missing.max(1).saturating_add(1);
    path.ancestors().take(named).try_for_each(sync_folder)?;
    Ok(path)
}

/// Makes the names in a folder durable, and those in all folders within it.
///
/// # Errors
///
/// If one cannot be read or flushed.
pub fn flush_names(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            flush_names(&entry.path())?;
        }
    }
    sync_folder(path)
}

/// Makes the names in a folder durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
