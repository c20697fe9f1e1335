//! What a power cut leaves of the last group is all of it or nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use std::{
    fs::{self, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use accrue::store::{Batch, Document, Key, Row, Scan, Store, Table};
use accrue_sled::SledStore;
use pollster::block_on;

const TABLE: Table = Table::new("item");

fn document(commit: u8, bytes: usize) -> Document {
    Document::parse(format!(r#"{{"v":1,"commit":{commit},"text":"{}"}}"#, "x".repeat(bytes)))
        .unwrap()
}

/// Puts and deletes; written over several segments where the documents are large.
fn batch(commit: u8, rows: u16, bytes: usize) -> Batch {
    let key = |commit: u8, row: u16| Key::new(TABLE, [&[commit][..], &row.to_be_bytes()].concat());
    let puts = (0..rows)
        .fold(Batch::new(), |batch, row| batch.put(key(commit, row), document(commit, bytes)));
    (0..rows).filter(|row| row % 2 == 0).fold(puts, |batch, row| batch.delete(key(commit - 1, row)))
}

fn scan(store: &SledStore) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut scan = Scan::prefix(TABLE, b"", 1_000);
    loop {
        let page = block_on(store.scan(&scan)).unwrap();
        let Some(last) = page.last() else { return rows };
        scan = scan.after(last.key.bytes());
        rows.extend(page);
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Writes one group behind durable ones, then takes from it what `damages` say, one at a time.
fn check(rows: u16, bytes: usize, damages: impl Fn(u64, u64) -> Vec<(u64, u64)>) {
    let directory = tempfile::tempdir().unwrap();
    let store = SledStore::open(directory.path()).unwrap();
    block_on(store.commit(batch(1, 300, 100))).unwrap();
    block_on(store.commit(batch(2, 300, 100))).unwrap();
    let before = scan(&store);
    let database = directory.path().join("db");
    let start = fs::metadata(&database).unwrap().len();
    block_on(store.commit(batch(3, rows, bytes))).unwrap();
    let after = scan(&store);
    let end = fs::metadata(&database).unwrap().len();

    let mut lost = 0;
    for (from, until) in damages(start, end) {
        let torn = tempfile::tempdir().unwrap();
        copy(directory.path(), torn.path());
        let mut file = OpenOptions::new().write(true).open(torn.path().join("db")).unwrap();
        if until == end {
            file.set_len(from).unwrap();
        } else {
            file.seek(SeekFrom::Start(from)).unwrap();
            file.write_all(&vec![0; usize::try_from(until - from).unwrap()]).unwrap();
        }
        drop(file);

        let store = SledStore::open(torn.path()).unwrap();
        let found = scan(&store);
        assert!(
            found == before || found == after,
            "{} rows after losing {from}..{until} of {start}..{end}, expected {} or {}",
            found.len(),
            before.len(),
            after.len(),
        );
        lost += usize::from(found == before);
        block_on(store.commit(batch(4, 20, 10))).unwrap();
        drop(store);
        let again = scan(&SledStore::open(torn.path()).unwrap());
        assert!(again.iter().any(|row| row.key.bytes().first() == Some(&4)));
    }
    assert!(lost > 0, "some damage must matter");
}

#[test]
fn a_cut_end_loses_the_group_as_a_whole() {
    check(400, 1_000, |start, end| {
        (0..12).map(|n| (start + (end - start) * n / 12, end)).collect()
    });
}

#[test]
fn a_cut_end_loses_a_group_of_several_segments_as_a_whole() {
    check(400, 60_000, |start, end| {
        assert!(end - start > 24 << 20, "{start} {end}");
        (0..8).map(|n| (start + (end - start) * n / 8, end)).collect()
    });
}

#[test]
fn a_hole_loses_the_group_as_a_whole() {
    check(400, 60_000, |start, end| {
        let page = |at: u64| (at / 4096 * 4096).max(start);
        (0..8)
            .map(|n| page(start + (end - start) * n / 8))
            .map(|from| (from, (from + 4096) / 4096 * 4096))
            .collect()
    });
}
