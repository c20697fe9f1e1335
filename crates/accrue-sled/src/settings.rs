use std::{
    fs, io,
    path::{Path, PathBuf},
};

use accrue_durable::replace_file;

use crate::{error::Cause, open};

/// What sled writes down of [its settings](crate::open::SEGMENT_BYTES), and their check sum.
const SETTINGS: &[u8] =
    b"segment_size: 8388608\nuse_compression: false\nversion: 0.34\n\x5e\xeb\xc1\xd7";

/// The file in which sled keeps its settings.
pub(crate) const FILE: &str = "conf";
/// The same while it is made.
pub(crate) const UNFINISHED: &str = "conf.new";

/// Makes the file of the settings durable, whole, before there is a database beside it.
///
/// sled writes it in two steps and never flushes it. A half of it, as a process leaves it that ends
/// there, keeps the database from opening ever after.
pub(crate) fn make_settings(path: &Path) -> io::Result<()> {
    replace_file(&file(path), SETTINGS)
}

/// Refuses a database with other settings, before sled does, which makes a folder first.
pub(crate) fn check_settings(path: &Path) -> Result<(), Cause> {
    let found = fs::read(file(path)).map_err(open::io("the settings cannot be read"))?;
    if found == SETTINGS { Ok(()) } else { Err(Cause::Settings) }
}

/// Tells whether a file is what a process leaves of the settings that ends while it makes them.
pub(crate) fn is_begun(file: &Path) -> bool {
    fs::read(file).is_ok_and(|found| SETTINGS.starts_with(&found))
}

fn file(path: &Path) -> PathBuf {
    path.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::SEGMENT_BYTES;

    #[test]
    fn the_settings_are_those_that_sled_writes() {
        let directory = tempfile::tempdir().unwrap();
        let config = sled::Config::new().path(directory.path()).segment_size(SEGMENT_BYTES);
        drop(config.open().unwrap());
        assert_eq!(fs::read(directory.path().join(FILE)).unwrap(), SETTINGS);
    }
}
