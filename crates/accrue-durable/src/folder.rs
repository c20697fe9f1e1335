use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Makes a folder, and those above it that are missing, and makes their names durable: without
/// that a power cut can take a folder away, with all that is durable in it.
///
/// On Unix those that are made are their owner's alone (mode 0700). One that is there keeps its mode.
///
/// Returns its path without links.
///
/// # Errors
///
/// If it cannot be made or flushed.
pub fn make_folder(path: &Path) -> io::Result<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing = path.ancestors().take_while(is_missing).count();
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)?;
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

/// Options of a file that, where opening makes it, is its owner's alone on Unix (mode 0600).
#[must_use]
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a file durable with these bytes, or puts it in the place of the one of that name: whatever
/// ends the process, it is there as a whole, or it is as it was.
///
/// Until it is whole it is named like it, with the extension `new`.
///
/// # Errors
///
/// If it cannot be written or flushed.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = private_file().create(true).truncate(true).write(true).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(new, path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Makes the names in a folder durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(folder.path().join("file.new"), "what a killed process left, and long").unwrap();
        for text in ["first", "next"] {
            replace_file(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_made_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        make_folder(&folder.path().join("a/b")).unwrap();
        assert_eq!(["a", "a/b"].map(|name| mode(&folder.path().join(name))), [0o700; 2]);
        replace_file(&folder.path().join("file"), b"text").unwrap();
        assert_eq!(mode(&folder.path().join("file")), 0o600);
        make_folder(folder.path()).unwrap();
        assert_eq!(mode(folder.path()), 0o755, "of one that was there");
    }
}
