//! What a power cut leaves of the last group is all of it or nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use std::{
    fs::{self, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use accrue::store::{Batch, Document, Key, Row, Scan, Store, Table};
use accrue_fjall::{FjallStore, OpenErrorKind};
use pollster::block_on;

const TABLE: Table = Table::new("item");
const JOURNAL: &str = "fjall/0.jnl";

/// A document that fjall cannot compress.
fn document(commit: u8, bytes: usize) -> Document {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'0' + u8::try_from(state >> 58).unwrap())
    };
    let text: String = std::iter::repeat_with(letter).take(bytes).collect();
    let text = text.replace('\\', "|");
    Document::parse(format!(r#"{{"v":1,"commit":{commit},"text":"{text}"}}"#)).unwrap()
}

/// Puts and deletes.
fn batch(commit: u8, rows: u16, bytes: usize) -> Batch {
    let key = |commit: u8, row: u16| Key::new(TABLE, [&[commit][..], &row.to_be_bytes()].concat());
    let puts = (0..rows)
        .fold(Batch::new(), |batch, row| batch.put(key(commit, row), document(commit, bytes)));
    (0..rows).filter(|row| row % 2 == 0).fold(puts, |batch, row| batch.delete(key(commit - 1, row)))
}

fn scan(store: &FjallStore) -> Vec<Row> {
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

/// A copy of a store, as it is on the disk at this moment, of whose journal a part is lost.
fn torn(store: &Path, lost: impl FnOnce(&mut fs::File)) -> tempfile::TempDir {
    let torn = tempfile::tempdir().unwrap();
    copy(store, torn.path());
    let mut file = OpenOptions::new().write(true).open(torn.path().join(JOURNAL)).unwrap();
    lost(&mut file);
    torn
}

fn fill_with_zeroes(file: &mut fs::File, from: u64, until: u64) {
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0; usize::try_from(until - from).unwrap()]).unwrap();
}

/// Where the journal ends. fjall makes it longer than what is in it.
fn end(store: &Path) -> u64 {
    let journal = fs::read(store.join(JOURNAL)).unwrap();
    let last = journal.iter().rposition(|byte| *byte != 0).unwrap();
    u64::try_from(last + 1).unwrap()
}

/// Writes one group behind durable ones, then takes from it what `damages` say, one at a time. The
/// journal is as a new store has it, with zeroes behind its end, or ends with its last batch.
fn check(rows: u16, bytes: usize, damages: impl Fn(u64, u64) -> Vec<(u64, u64)>) {
    for is_reopened in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut store = FjallStore::open(folder.path()).unwrap();
        block_on(store.commit(batch(1, 300, 100))).unwrap();
        if is_reopened {
            drop(store);
            store = FjallStore::open(folder.path()).unwrap();
        }
        block_on(store.commit(batch(2, 300, 100))).unwrap();
        let before = scan(&store);
        let start = end(folder.path());
        block_on(store.commit(batch(3, rows, bytes))).unwrap();
        let after = scan(&store);
        let end = end(folder.path());

        let mut lost = 0;
        for (from, until) in damages(start, end) {
            let torn = torn(folder.path(), |file| match until == end {
                true => file.set_len(from).unwrap(),
                false => fill_with_zeroes(file, from, until),
            });
            let store = FjallStore::open(torn.path()).unwrap();
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
            let again = scan(&FjallStore::open(torn.path()).unwrap());
            assert!(again.iter().any(|row| row.key.bytes().first() == Some(&4)));
        }
        assert!(lost > 0, "some damage must matter");
    }
}

#[test]
fn a_cut_end_loses_the_group_as_a_whole() {
    check(400, 1_000, |start, end| {
        (0..12).map(|n| (start + (end - start) * n / 12, end)).collect()
    });
}

#[test]
fn the_last_bytes_decide() {
    check(3, 10, |_, end| (1..40).map(|bytes| (end - bytes, end)).collect());
}

#[test]
fn a_hole_loses_the_group_as_a_whole() {
    check(400, 3_000, |start, end| {
        let page = |at: u64| (at / 4096 * 4096).max(start);
        (0..24)
            .map(|n| page(start + (end - start) * n / 24))
            .map(|from| (from, (from + 4096) / 4096 * 4096))
            .collect()
    });
}

// Most of these holes are within a document: all of the batch is there but for its content, and
// fjall alone would not open.
#[test]
fn a_hole_loses_a_group_of_large_documents_as_a_whole() {
    check(100, 60_000, |start, end| {
        let page = |at: u64| (at / 4096 * 4096).max(start);
        (0..8)
            .map(|n| page(start + (end - start) * n / 8))
            .map(|from| (from, (from + 4096) / 4096 * 4096))
            .collect()
    });
}

// A disk that loses what it has confirmed. fjall alone would open without the batches behind it.
#[test]
fn damage_before_durable_groups_is_no_power_cut() {
    let folder = tempfile::tempdir().unwrap();
    let store = FjallStore::open(folder.path()).unwrap();
    let start = end(folder.path());
    block_on(store.commit(batch(1, 300, 100))).unwrap();
    block_on(store.commit(batch(2, 300, 100))).unwrap();
    for from in [start + 100, start + 5_000] {
        let torn = torn(folder.path(), |file| fill_with_zeroes(file, from, from + 512));
        let error = FjallStore::open(torn.path()).unwrap_err();
        assert_eq!(error.kind(), OpenErrorKind::Corrupt);
        assert!(error.to_string().contains("its journal is damaged"), "{error}");
    }
}
