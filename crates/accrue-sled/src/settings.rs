use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use accrue_durable::flush_names;

use crate::open::database;

/// What sled writes down of [its settings](crate::open::SEGMENT_BYTES), and their check sum.
const SETTINGS: &[u8] =
    b"segment_size: 8388608\nuse_compression: false\nversion: 0.34\n\x5e\xeb\xc1\xd7";

/// The file in which sled keeps its settings.
const FILE: &str = "conf";

/// Makes the file of the settings durable, whole, before there is a database beside it.
///
/// sled writes it in two steps and never flushes it. A half of it, as a process leaves it that ends
/// there, keeps the database from opening ever after.
pub(crate) fn make_settings(path: &Path) -> io::Result<()> {
    if database(path).exists() {
        return Ok(());
    }
    let new = path.join("conf.new");
    let mut file = File::create(&new)?;
    file.write_all(SETTINGS)?;
    file.sync_all()?;
    fs::rename(new, path.join(FILE))?;
    flush_names(path)
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
