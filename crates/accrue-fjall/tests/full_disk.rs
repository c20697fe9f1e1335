//! A disk that takes no more: what was answered is there, and the commit that failed is there as a
//! whole or not at all.
//!
//! The process that fills the disk is this test again, in a shell that limits the size of files.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on says so")]

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use accrue::store::{Batch, Commit, Document, Expected, Key, Scan, Store, StoreError, Table};
use accrue_fjall::FjallStore;
use pollster::block_on;

const TABLE: Table = Table::new("item");
/// Where the process that is limited finds the store.
const FOLDER: &str = "ACCRUE_FJALL_FULL_DISK";
/// What a file of it has at most, in blocks of 512 bytes.
const BLOCKS: u32 = 512;
const ROWS: u16 = 10;

/// The rows of one commit, which are more than fjall holds back before it writes.
fn batch(commit: u16) -> Batch {
    let text = "x".repeat(2_000);
    (0..ROWS).fold(Batch::new(), |batch, row| {
        let key = Key::new(TABLE, [commit.to_be_bytes(), row.to_be_bytes()].concat());
        let document = format!(r#"{{"v":1,"text":"{text}"}}"#);
        batch.put(key, Document::parse(document).unwrap())
    })
}

/// Commits until the disk is full, and prints how many were answered.
fn fill(folder: &Path) {
    let store = FjallStore::open(folder).unwrap();
    let answered = (0..).find(|commit| block_on(store.commit(batch(*commit))).is_err()).unwrap();
    println!("answered={answered}");
}

/// What those are told who come when the disk is full.
fn check_refuses(folder: &Path) {
    let store = FjallStore::open(folder).unwrap();
    let error = (0..).find_map(|commit| block_on(store.commit(batch(commit))).err()).unwrap();
    assert!(matches!(error, StoreError::Indeterminate { .. }), "{error:?}");
    let key = Key::new(TABLE, *b"k");
    let check = Batch::new().expect(key.clone(), Expected::Absent);
    let unavailable = |error: StoreError| matches!(error, StoreError::Unavailable { .. });
    assert!(unavailable(block_on(store.commit(batch(0))).unwrap_err()));
    assert!(unavailable(block_on(store.commit(check)).unwrap_err()));
    assert!(unavailable(block_on(store.get(&[key])).unwrap_err()));
    // The folder stays locked until this process has ended.
    drop(store);
    assert!(FjallStore::open(folder).unwrap_err().is_locked());
}

#[test]
fn a_full_disk_loses_nothing_that_was_answered() {
    if let Some(folder) = env::var_os(FOLDER) {
        return fill(&PathBuf::from(folder));
    }
    let folder = tempfile::tempdir().unwrap();
    // The journal of a new store is longer than the limit, until it is opened again.
    drop(FjallStore::open(folder.path()).unwrap());
    let printed = limited("a_full_disk_loses_nothing_that_was_answered", folder.path());
    let answered = printed.lines().find_map(|line| line.split_once("answered="));
    let answered: u16 = answered.unwrap().1.trim().parse().unwrap();
    assert!(answered > 0);

    let store = FjallStore::open(folder.path()).unwrap();
    let rows = block_on(store.scan(&Scan::prefix(TABLE, b"", 10_000))).unwrap();
    let commits = rows.len() / usize::from(ROWS);
    assert_eq!(rows.len() % usize::from(ROWS), 0, "a commit is there as a whole or not at all");
    assert!([answered, answered + 1].map(usize::from).contains(&commits), "{commits} {answered}");
    assert!(matches!(block_on(store.commit(batch(0))), Ok(Commit::Committed(_))));
}

#[test]
fn a_full_disk_is_an_unknown_outcome_and_the_end_of_the_store() {
    if let Some(folder) = env::var_os(FOLDER) {
        return check_refuses(&PathBuf::from(folder));
    }
    let folder = tempfile::tempdir().unwrap();
    drop(FjallStore::open(folder.path()).unwrap());
    limited("a_full_disk_is_an_unknown_outcome_and_the_end_of_the_store", folder.path());
    FjallStore::open(folder.path()).unwrap();
}

/// Runs one test of this program under the limit, and returns what it prints.
fn limited(test: &str, folder: &Path) -> String {
    let program = env::current_exe().unwrap();
    let script =
        format!("trap '' XFSZ; ulimit -f {BLOCKS}; exec \"$0\" --exact {test} --nocapture");
    let output = Command::new("sh")
        .args(["-c".as_ref(), script.as_ref(), program.as_os_str()])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{said}");
    printed
}
