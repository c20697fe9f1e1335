//! Opening: once at a time, again, and not what something else wrote.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

use std::{collections::HashSet, path::Path};

use accrue::store::{Batch, Commit, Document, Key, Store, Table, Version};
use accrue_sled::{OpenErrorKind, SledStore};
use pollster::block_on;

const TABLE: Table = Table::new("item");

fn key() -> Key {
    Key::new(TABLE, *b"k")
}

fn put(store: &SledStore) -> Version {
    let batch = Batch::new().put(key(), Document::parse(r#"{"v":1}"#).unwrap());
    match block_on(store.commit(batch)).unwrap() {
        Commit::Committed(version) => version,
        Commit::Conflict(key) => panic!("conflict on {key}"),
    }
}

fn raw(path: &Path) -> sled::Config {
    sled::Config::new().path(path).segment_size(8 << 20).flush_every_ms(None)
}

#[test]
fn versions_go_on_after_reopening_and_deletion() {
    let directory = tempfile::tempdir().unwrap();
    let mut given = HashSet::new();
    for _ in 0..5 {
        let store = SledStore::open(directory.path()).unwrap();
        for _ in 0..3 {
            assert!(given.insert(put(&store)));
            block_on(store.commit(Batch::new().delete(key()))).unwrap();
        }
        let last = put(&store);
        assert!(given.insert(last));
        drop(store);
        let store = SledStore::open(directory.path()).unwrap();
        let rows = block_on(store.get(&[key()])).unwrap();
        assert_eq!(rows[0].as_ref().unwrap().version, last);
    }
}

#[test]
fn a_directory_is_free_as_soon_as_its_store_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..50 {
        put(&SledStore::open(directory.path()).unwrap());
    }
}

#[test]
fn a_directory_has_one_store_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let store = SledStore::open(directory.path()).unwrap();
    let error = SledStore::open(directory.path()).unwrap_err();
    assert!(error.is_locked());
    assert!(error.to_string().ends_with("cannot be opened: another store has it open"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
    put(&store);
    drop(store);
    SledStore::open(directory.path()).unwrap();
}

/// A process may end while it makes the database: sled writes its settings first.
#[test]
fn settings_that_are_not_whole_are_written_again() {
    let whole = tempfile::tempdir().unwrap();
    put(&SledStore::open(whole.path()).unwrap());
    let settings = std::fs::read(whole.path().join("conf")).unwrap();
    for written in 0..settings.len() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("blobs")).unwrap();
        std::fs::write(directory.path().join("conf"), &settings[..written]).unwrap();
        put(&SledStore::open(directory.path()).unwrap());
        assert_eq!(std::fs::read(directory.path().join("conf")).unwrap(), settings);
    }
}

#[test]
fn an_unknown_format_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    put(&SledStore::open(directory.path()).unwrap());
    let db = raw(directory.path()).open().unwrap();
    db.insert(b"\0format", b"accrue-sled 9").unwrap();
    close(db, directory.path());

    let error = SledStore::open(directory.path()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Format);
    assert!(
        error.to_string().ends_with(r#"it has format "accrue-sled 9", expected "accrue-sled 1""#),
        "{error}"
    );
}

#[test]
fn a_database_of_something_else_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let db = raw(directory.path()).open().unwrap();
    db.insert(b"theirs", b"1").unwrap();
    close(db, directory.path());
    let error = SledStore::open(directory.path()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Format);

    let directory = tempfile::tempdir().unwrap();
    close(sled::open(directory.path()).unwrap(), directory.path());
    let error = SledStore::open(directory.path()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Format);
}

#[test]
fn a_broken_ceiling_is_corrupt() {
    let directory = tempfile::tempdir().unwrap();
    put(&SledStore::open(directory.path()).unwrap());
    let db = raw(directory.path()).open().unwrap();
    db.insert(b"\0ceiling", b"1234567").unwrap();
    close(db, directory.path());
    let error = SledStore::open(directory.path()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Corrupt);
}

#[test]
fn a_path_that_is_no_directory_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = SledStore::open(file.path()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Io);
}

#[test]
fn debug_shows_no_rows() {
    let directory = tempfile::tempdir().unwrap();
    let store = SledStore::open(directory.path()).unwrap();
    put(&store);
    assert!(format!("{store:?}").len() < 1_000);
}

/// A thread of sled's pool may hold the lock for a moment longer than the database lives.
fn close(db: sled::Db, path: &Path) {
    db.flush().unwrap();
    drop(db);
    let file = std::fs::File::open(path.join("db")).unwrap();
    file.lock().unwrap();
}
