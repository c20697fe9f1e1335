//! Opening: once at a time, again, and not what something else wrote.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use accrue::store::{Batch, Commit, Document, Key, Store, Table, Version};
use accrue_fjall::{FjallStore, OpenErrorKind};
use fjall::{Database, Keyspace, PersistMode};
use pollster::block_on;

const TABLE: Table = Table::new("item");

fn key() -> Key {
    Key::new(TABLE, *b"k")
}

fn put(store: &FjallStore) -> Version {
    let batch = Batch::new().put(key(), Document::parse(r#"{"v":1}"#).unwrap());
    match block_on(store.commit(batch)).unwrap() {
        Commit::Committed(version) => version,
        Commit::Conflict(key) => panic!("conflict on {key}"),
    }
}

/// Changes what lies in the store as no store does.
fn tamper(folder: &Path, change: impl FnOnce(&Keyspace)) {
    let db = Database::builder(folder.join("fjall")).open().unwrap();
    change(&db.keyspace("rows", Default::default).unwrap());
    db.persist(PersistMode::SyncAll).unwrap();
}

/// What lies in a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(contents(&entry));
            found.insert(entry, Vec::new());
        } else {
            found.insert(entry.clone(), fs::read(entry).unwrap());
        }
    }
    found
}

/// What is refused before fjall looks at it is left as it was.
fn check_untouched(folder: &Path, kind: OpenErrorKind, says: &str) {
    let before = contents(folder);
    check_refused(folder, kind, says);
    assert!(contents(folder) == before, "{folder:?} is no longer as it was");
}

fn check_refused(folder: &Path, kind: OpenErrorKind, says: &str) {
    let error = FjallStore::open(folder).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().ends_with(says), "{error}");
}

#[test]
fn versions_go_on_after_reopening_and_deletion() {
    let folder = tempfile::tempdir().unwrap();
    let mut given = HashSet::new();
    for _ in 0..5 {
        let store = FjallStore::open(folder.path()).unwrap();
        for _ in 0..3 {
            assert!(given.insert(put(&store)));
            block_on(store.commit(Batch::new().delete(key()))).unwrap();
        }
        let last = put(&store);
        assert!(given.insert(last));
        drop(store);
        let store = FjallStore::open(folder.path()).unwrap();
        let rows = block_on(store.get(&[key()])).unwrap();
        assert_eq!(rows[0].as_ref().unwrap().version, last);
    }
}

#[test]
fn a_folder_is_free_as_soon_as_its_store_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..50 {
        put(&FjallStore::open(folder.path()).unwrap());
    }
}

#[test]
fn a_folder_has_one_store_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = FjallStore::open(folder.path()).unwrap();
    check_refused(folder.path(), OpenErrorKind::Locked, "another store has it open");
    assert!(FjallStore::open(folder.path()).unwrap_err().is_locked());
    put(&store);
    drop(store);
    FjallStore::open(folder.path()).unwrap();
}

#[test]
fn a_folder_is_made_with_those_above_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/c");
    put(&FjallStore::open(&path).unwrap());
    put(&FjallStore::open(&path).unwrap());
}

#[test]
fn what_was_killed_while_it_was_made_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    fs::rename(folder.path().join("fjall"), folder.path().join("fjall.new")).unwrap();
    fs::remove_file(folder.path().join("fjall.new/version")).unwrap();
    fs::remove_file(folder.path().join("marker")).unwrap();
    let store = FjallStore::open(folder.path()).unwrap();
    assert_eq!(block_on(store.get(&[key()])).unwrap(), [None]);
    put(&store);
    assert!(!folder.path().join("fjall.new").exists());
}

#[test]
fn a_store_without_a_marker_gets_one() {
    let folder = tempfile::tempdir().unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    let marker = folder.path().join("marker");
    fs::remove_file(&marker).unwrap();
    drop(FjallStore::open(folder.path()).unwrap());
    assert_eq!(fs::read_to_string(marker).unwrap(), "accrue-fjall 1\nceiling 1048576\n");
}

#[test]
fn a_store_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("marker"), "accrue-sled 1\nceiling 0\n").unwrap();
    let says = r#"it has format "accrue-sled 1", expected "accrue-fjall 1""#;
    check_untouched(folder.path(), OpenErrorKind::Format, says);

    fs::write(folder.path().join("marker"), "acc").unwrap();
    let says = "its marker is not what was written";
    check_untouched(folder.path(), OpenErrorKind::Corrupt, says);
}

#[test]
fn a_store_that_was_filled_and_is_empty_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    fs::remove_file(folder.path().join("lock")).unwrap();
    fs::rename(folder.path().join("fjall"), folder.path().join("away")).unwrap();
    let says = "its marker says that there was a database, which is missing or empty";
    check_untouched(folder.path(), OpenErrorKind::Corrupt, says);
    fs::rename(folder.path().join("away"), folder.path().join("fjall")).unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    tamper(folder.path(), |rows| rows.remove("\0format").unwrap());
    check_refused(folder.path(), OpenErrorKind::Corrupt, says);
}

#[test]
fn a_database_without_a_part_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    fs::remove_file(folder.path().join("lock")).unwrap();
    for (part, says) in [
        ("version", "its database has no version"),
        ("0.jnl", "its database has no journal"),
        ("keyspaces", "its database has no list of tables"),
        ("keyspaces/0/current", "its database has no list of tables"),
        ("keyspaces/1/current", "its database has no list of tables"),
    ] {
        let (path, away) = (folder.path().join("fjall").join(part), folder.path().join("away"));
        fs::rename(&path, &away).unwrap();
        check_untouched(folder.path(), OpenErrorKind::Corrupt, says);
        fs::rename(away, path).unwrap();
    }
    put(&FjallStore::open(folder.path()).unwrap());
}

#[test]
fn a_database_that_is_older_than_its_marker_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    fs::write(folder.path().join("marker"), "accrue-fjall 1\nceiling 2097152\n").unwrap();
    let says = "it has lost commits: its marker knows the ceiling 2097152 of versions, its \
                database 1048576";
    check_refused(folder.path(), OpenErrorKind::Corrupt, says);
    // Whoever knows that, and wants what is there, removes the marker.
    fs::remove_file(folder.path().join("marker")).unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
}

#[cfg(unix)]
#[test]
fn a_store_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    put(&FjallStore::open(&path).unwrap());
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("fjall")), 0o700);
    assert_eq!(["lock", "marker"].map(|name| mode(&path.join(name))), [0o600; 2]);
}

#[test]
fn an_unknown_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    tamper(folder.path(), |rows| rows.insert("\0format", "accrue-fjall 9").unwrap());
    let says = r#"it has format "accrue-fjall 9", expected "accrue-fjall 1""#;
    check_refused(folder.path(), OpenErrorKind::Format, says);

    tamper(folder.path(), |rows| rows.remove("\0format").unwrap());
    fs::remove_file(folder.path().join("marker")).unwrap();
    let says = r#"it holds a database without a format, expected "accrue-fjall 1""#;
    check_refused(folder.path(), OpenErrorKind::Format, says);
}

#[test]
fn a_database_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::builder(folder.path().join("fjall")).open().unwrap();
    let theirs = db.keyspace("theirs", Default::default).unwrap();
    theirs.insert("a", "1").unwrap();
    drop((theirs, db));
    check_refused(folder.path(), OpenErrorKind::Format, r#"expected "accrue-fjall 1""#);

    let folder = tempfile::tempdir().unwrap();
    drop(Database::builder(folder.path()).open().unwrap());
    check_untouched(folder.path(), OpenErrorKind::Format, "which is no part of a store");
}

#[test]
fn a_folder_with_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lost+found")).unwrap();
    fs::write(folder.path().join("db"), "theirs").unwrap();
    let says = r#"it holds "db", which is no part of a store"#;
    check_untouched(folder.path(), OpenErrorKind::Format, says);
    fs::remove_file(folder.path().join("db")).unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
}

#[test]
fn another_version_of_fjall_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    let version = folder.path().join("fjall/version");
    fs::write(&version, b"FJL\x02").unwrap();
    let says = "it holds a database of another version of fjall";
    check_refused(folder.path(), OpenErrorKind::Format, says);

    fs::remove_file(&version).unwrap();
    check_refused(folder.path(), OpenErrorKind::Corrupt, "its database has no version");
}

#[test]
fn a_broken_ceiling_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    put(&FjallStore::open(folder.path()).unwrap());
    tamper(folder.path(), |rows| rows.insert("\0ceiling", "1234567").unwrap());
    let says = "the ceiling of versions has 7 bytes, expected 8";
    check_refused(folder.path(), OpenErrorKind::Corrupt, says);
}

#[test]
fn a_path_that_is_no_folder_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = FjallStore::open(file.path()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Io);
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn debug_shows_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let store = FjallStore::open(folder.path()).unwrap();
    put(&store);
    assert!(format!("{store:?}").len() < 1_000);
}
