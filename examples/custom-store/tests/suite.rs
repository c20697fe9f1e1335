//! The file store passes the suite, and tells what it finds in a damaged file.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
    sync::Arc,
};

use accrue::store::{Batch, Commit, Document, Key, Store, StoreError, Table};
use accrue_conformance::{Durability, Harness};
use custom_store::FileStore;
use pollster::block_on;
use tempfile::TempDir;

struct InDirectory(TempDir);

impl InDirectory {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("there is room for a directory"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("store.jsonl")
    }
}

impl Harness for InDirectory {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(FileStore::open(&self.file()).expect("a closed store opens again"))
    }

    fn durability(&self) -> Durability {
        Durability::Durable
    }
}

accrue_conformance::suite!(InDirectory::new());

fn key(name: &str) -> Key {
    Key::new(Table::new("row"), name.as_bytes())
}

/// Commits one row.
fn put(store: &dyn Store, name: &str) {
    let document = Document::parse(r#"{"v":1}"#).expect("it is an object");
    let answer = block_on(store.commit(Batch::new().put(key(name), document)));
    assert!(matches!(answer, Ok(Commit::Committed(_))));
}

/// Which of the rows are there.
fn present(store: &dyn Store, names: [&str; 2]) -> Vec<bool> {
    let rows = block_on(store.get(&names.map(key))).expect("the store answers");
    rows.iter().map(Option::is_some).collect()
}

#[test]
fn a_torn_last_line_is_cut_off_and_the_log_goes_on_behind_the_others() {
    let place = InDirectory::new();
    put(&*place.open(), "kept");
    put(&*place.open(), "torn");
    let text = fs::read(place.file()).unwrap();
    let whole = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in whole..text.len() {
        fs::write(place.file(), &text[..end]).unwrap();
        assert_eq!(present(&*place.open(), ["kept", "torn"]), [true, false], "cut at {end}");
        put(&*place.open(), "next");
        assert_eq!(present(&*place.open(), ["kept", "next"]), [true, true], "cut at {end}");
    }
}

#[test]
fn a_line_that_is_not_what_was_written_is_corrupt() {
    for damage in
        ["{}\n", "[{}]\n", "\n", "[{\"table\":\"row\",\"key\":[1],\"document\":\"[]\"}]\n"]
    {
        let place = InDirectory::new();
        put(&*place.open(), "before");
        let mut file = OpenOptions::new().append(true).open(place.file()).unwrap();
        file.write_all(damage.as_bytes()).unwrap();
        let opened = FileStore::open(&place.file());
        assert!(matches!(opened, Err(StoreError::Corrupt { .. })), "{damage:?} gave {opened:?}");
    }
}

#[test]
fn a_file_has_one_store() {
    let place = InDirectory::new();
    let first = place.open();
    let second = FileStore::open(&place.file());
    assert!(matches!(second, Err(StoreError::Unavailable { .. })));
    drop(first);
    place.open();
}
