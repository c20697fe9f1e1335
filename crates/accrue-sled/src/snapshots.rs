//! sled's snapshots: files that say where each page lies in the log up to some place, so that opening
//! need not read all of it.
//!
//! sled writes one while it opens: under a name that ends in `.generating`, flushed, then renamed,
//! and only then are those before it removed. But it takes the greatest name for the newest one,
//! and that is the one which is not whole where its process was killed or the disk was full: it does not
//! open again. The one before is still there then, or there was none, and the log has all that follows.
//!
//! A snapshot that has its name is no mere summary. Segments that it does not need are overwritten
//! after that, and some of them may be those at which a search of the log would begin without it. So
//! where such a one is damaged the store does not open, and nothing here removes it.

use std::{fs, io, path::Path};

const PREFIX: &str = "snap.";
const UNFINISHED: &str = ".generating";

/// Removes snapshots that sled has not finished. For whoever holds the lock of the database.
pub(crate) fn remove_unfinished(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_unfinished) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns the place in the log up to which the newest snapshot sums it up, and 0 where there is none.
pub(crate) fn newest(path: &Path) -> io::Result<u64> {
    let mut entries = fs::read_dir(path)?;
    entries.try_fold(0, |newest, entry| {
        Ok(entry?.file_name().to_str().and_then(place_of).map_or(newest, |place| newest.max(place)))
    })
}

fn place_of(name: &str) -> Option<u64> {
    u64::from_str_radix(name.strip_prefix(PREFIX)?, 16).ok()
}

fn is_unfinished(name: &str) -> bool {
    let place = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(UNFINISHED));
    place.is_some_and(|place| {
        place.len() == 16 && place.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_place_is_that_of_the_newest() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(newest(directory.path()).unwrap(), 0);
        for name in ["snap.000000000000001F", "snap.000000000000000A", "db", "snap.old"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        assert_eq!(newest(directory.path()).unwrap(), 0x1F);
    }

    #[test]
    fn only_what_sled_was_writing_is_unfinished() {
        assert!(is_unfinished("snap.00000000000A51C3.generating"));
        for name in [
            "snap.00000000000A51C3",
            "snap.generating",
            "snap.my-own.generating",
            "snap.00000000000A51C3.generating.old",
            "db.00000000000A51C3.generating",
        ] {
            assert!(!is_unfinished(name), "{name}");
        }
    }
}
