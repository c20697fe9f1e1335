//! Each store refuses the folder of the other, and leaves it as it was.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use std::{collections::BTreeMap, fs, path::Path, path::PathBuf};

use accrue_fjall::FjallStore;
use accrue_sled::SledStore;

fn contents(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(contents(&entry));
        }
        found.insert(entry.clone(), fs::read(entry).ok());
    }
    found
}

/// Also the folders of versions that left no marker.
fn check(folder: &Path, open: impl Fn(&Path) -> String) {
    for _ in 0..2 {
        let before = contents(folder);
        let said = open(folder);
        assert!(said.contains("it has format") || said.contains("no part of a store"), "{said}");
        assert!(contents(folder) == before, "{folder:?} is no longer as it was");
        let _ = fs::remove_file(folder.join("marker"));
    }
}

#[test]
fn sled_refuses_the_folder_of_fjall() {
    let folder = tempfile::tempdir().unwrap();
    drop(FjallStore::open(folder.path()).unwrap());
    check(folder.path(), |folder| SledStore::open(folder).unwrap_err().to_string());
    FjallStore::open(folder.path()).unwrap();
}

#[test]
fn fjall_refuses_the_folder_of_sled() {
    let folder = tempfile::tempdir().unwrap();
    drop(SledStore::open(folder.path()).unwrap());
    check(folder.path(), |folder| FjallStore::open(folder).unwrap_err().to_string());
    SledStore::open(folder.path()).unwrap();
}
