//! Opening: once at a time, again, and not what something else wrote.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

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

/// What lies in a directory.
fn contents(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(contents(&entry));
            found.insert(entry, Vec::new());
        } else {
            found.insert(entry.clone(), fs::read(entry).unwrap());
        }
    }
    found
}

/// A directory that is refused is left as it was.
fn check_refused(path: &Path, kind: OpenErrorKind, says: &str) {
    let before = contents(path);
    let error = SledStore::open(path).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().ends_with(says), "{error}");
    assert!(contents(path) == before, "{path:?} is no longer as it was");
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
    put(&store);
    drop(store);
    SledStore::open(directory.path()).unwrap();
}

/// A process may end while it makes the database: sled writes its settings first.
#[test]
fn settings_that_are_not_whole_are_written_again() {
    let whole = tempfile::tempdir().unwrap();
    put(&SledStore::open(whole.path()).unwrap());
    let settings = fs::read(whole.path().join("conf")).unwrap();
    for written in 0..settings.len() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("blobs")).unwrap();
        fs::write(directory.path().join("conf"), &settings[..written]).unwrap();
        put(&SledStore::open(directory.path()).unwrap());
        assert_eq!(fs::read(directory.path().join("conf")).unwrap(), settings);
    }
}

#[test]
fn a_directory_with_something_else_is_refused() {
    let theirs = |name: &str, text: &str| {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("lost+found")).unwrap();
        fs::write(directory.path().join(name), text).unwrap();
        let says = format!("it holds {name:?}, which is no part of a store");
        check_refused(directory.path(), OpenErrorKind::Format, &says);
        fs::remove_file(directory.path().join(name)).unwrap();
        put(&SledStore::open(directory.path()).unwrap());
    };
    theirs("lock", "");
    theirs("notes.txt", "theirs");
    // As sled calls its own, which it would overwrite.
    theirs("db", "theirs");
    theirs("conf", "theirs");
    theirs("blobs", "theirs");

    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("blobs")).unwrap();
    fs::write(directory.path().join("blobs/7"), "theirs").unwrap();
    check_refused(directory.path(), OpenErrorKind::Format, "which is no part of a store");
}

#[test]
fn a_store_with_a_file_beside_it_opens() {
    let directory = tempfile::tempdir().unwrap();
    put(&SledStore::open(directory.path()).unwrap());
    fs::write(directory.path().join("notes.txt"), "theirs").unwrap();
    put(&SledStore::open(directory.path()).unwrap());
}

#[test]
fn a_store_without_a_marker_gets_one() {
    let directory = tempfile::tempdir().unwrap();
    put(&SledStore::open(directory.path()).unwrap());
    let marker = directory.path().join("marker");
    fs::remove_file(&marker).unwrap();
    drop(SledStore::open(directory.path()).unwrap());
    assert_eq!(fs::read_to_string(marker).unwrap(), "accrue-sled 1\nceiling 1048576\n");
}

#[test]
fn a_store_of_another_kind_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("marker"), "accrue-fjall 1\nceiling 0\n").unwrap();
    let says = r#"it has format "accrue-fjall 1", expected "accrue-sled 1""#;
    check_refused(directory.path(), OpenErrorKind::Format, says);

    fs::write(directory.path().join("marker"), "acc").unwrap();
    let says = "its marker is not what was written";
    check_refused(directory.path(), OpenErrorKind::Corrupt, says);
}

#[test]
fn a_store_that_was_filled_and_is_empty_is_refused() {
    let says = "its marker says that there was a database, which is missing or empty";
    let directory = tempfile::tempdir().unwrap();
    put(&SledStore::open(directory.path()).unwrap());
    for lost in ["conf", "db"] {
        let path = directory.path().join(lost);
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        check_refused(directory.path(), OpenErrorKind::Corrupt, says);
        fs::write(&path, whole).unwrap();
    }
    fs::write(directory.path().join("db"), "").unwrap();
    check_refused(directory.path(), OpenErrorKind::Corrupt, says);

    // sled looks at these, takes them for a new database, and writes to them.
    for length in [10, 20, 40, 1_000_000] {
        for entry in fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.to_string_lossy().contains("snap.") {
                fs::remove_file(entry).unwrap();
            }
        }
        fs::write(directory.path().join("db"), vec![0; length]).unwrap();
        let error = SledStore::open(directory.path()).unwrap_err();
        assert_eq!(error.kind(), OpenErrorKind::Corrupt, "{error}");
        assert!(error.to_string().ends_with(says), "{error}");
    }
}

#[test]
fn a_database_that_is_older_than_its_marker_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    put(&SledStore::open(directory.path()).unwrap());
    let copied = contents(directory.path());
    put(&SledStore::open(directory.path()).unwrap());
    drop(SledStore::open(directory.path()).unwrap());
    let marker = directory.path().join("marker");
    let is_database = |path: &PathBuf| path.is_file() && *path != marker;
    contents(directory.path())
        .into_keys()
        .filter(is_database)
        .for_each(|path| fs::remove_file(path).unwrap());
    for (path, bytes) in copied.iter().filter(|(path, _)| !path.is_dir() && **path != marker) {
        fs::write(path, bytes).unwrap();
    }
    let error = SledStore::open(directory.path()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Corrupt);
    let says = "it has lost commits: its marker knows the ceiling 2097152 of versions, its \
                database 1048576";
    assert!(error.to_string().ends_with(says), "{error}");
    // Whoever knows that, and wants what is there, removes the marker.
    fs::remove_file(marker).unwrap();
    put(&SledStore::open(directory.path()).unwrap());
}

/// A process may end while sled writes a snapshot, which it does while it opens.
#[test]
fn a_snapshot_that_is_not_finished_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    put(&SledStore::open(directory.path()).unwrap());
    drop(SledStore::open(directory.path()).unwrap());
    let is_snapshot = |path: &PathBuf| path.to_string_lossy().contains("snap.");
    let names = || contents(directory.path()).into_keys().filter(is_snapshot).collect::<Vec<_>>();
    let [name] = names().try_into().unwrap();
    let whole = fs::read(name).unwrap();
    for length in 0..whole.len() {
        let unfinished = directory.path().join("snap.00000000000A51C3.generating");
        fs::write(&unfinished, &whole[..length]).unwrap();
        let store = SledStore::open(directory.path()).unwrap();
        assert!(block_on(store.get(&[key()])).unwrap()[0].is_some());
        put(&store);
        assert_eq!(names().len(), 1);
        assert!(!unfinished.exists());
    }
}

/// What sled needs it for cannot always be found again in the log.
#[test]
fn a_snapshot_that_is_damaged_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    put(&SledStore::open(directory.path()).unwrap());
    drop(SledStore::open(directory.path()).unwrap());
    let is_snapshot = |path: &PathBuf| path.to_string_lossy().contains("snap.");
    let name = contents(directory.path()).into_keys().find(is_snapshot).unwrap();
    let whole = fs::read(&name).unwrap();
    for length in [0, 5, whole.len() / 2, whole.len() - 1] {
        fs::write(&name, &whole[..length]).unwrap();
        check_refused(directory.path(), OpenErrorKind::Corrupt, "the database cannot be recovered");
    }
}

#[cfg(unix)]
#[test]
fn a_store_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    put(&SledStore::open(&path).unwrap());
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("blobs")), 0o700);
    assert_eq!(["conf", "db", "marker"].map(|name| mode(&path.join(name))), [0o600; 3]);
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
    let file = fs::File::open(path.join("db")).unwrap();
    file.lock().unwrap();
    file.unlock().unwrap();
}
