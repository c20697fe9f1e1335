//! Nothing goes to `blobs/`, which sled writes without any fsync.
//! See `docs/decisions/sled-segment-size.md`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use std::path::Path;

use accrue::{
    limits,
    store::{Batch, Document, Key, Scan, Store, Table},
};
use accrue_sled::SledStore;
use pollster::block_on;

/// The longest name that a table can have.
const TABLE: Table = Table::new("abcdefghijklmnopqrstuvwxyz_abcde");

/// A key of the largest size, which is the largest also as stored: every byte of it is escaped.
fn key(number: u16) -> Key {
    let mut bytes = vec![0xFE; limits::KEY_BYTES];
    let digits =
        number.to_be_bytes().map(|byte| std::array::from_fn::<_, 8, _>(|n| byte >> (7 - n)));
    for (place, bit) in bytes.iter_mut().rev().zip(digits.as_flattened().iter().rev()) {
        *place |= bit & 1;
    }
    Key::new(TABLE, bytes)
}

/// A document of the largest size, another one for each `seed`.
fn document(seed: usize) -> Document {
    let head = format!(r#"{{"v":1,"seed":{seed},"text":""#);
    let text = "x".repeat(limits::DOCUMENT_BYTES - head.len() - 2);
    Document::parse(format!(r#"{head}{text}"}}"#)).unwrap()
}

fn check_no_blobs(directory: &Path) {
    let blobs: Vec<_> = std::fs::read_dir(directory.join("blobs")).unwrap().collect();
    assert!(blobs.is_empty(), "{} files in blobs/", blobs.len());
}

#[test]
fn leaves_full_of_the_largest_rows_are_no_blobs() {
    const ROWS: u16 = 90;
    let directory = tempfile::tempdir().unwrap();
    let store = SledStore::open(directory.path()).unwrap();
    // sled splits a leaf of more than 16 rows when it is next visited, so that it has 17 at most; in
    // ascending order the last leaf gets there every nine rows. It writes a leaf as a whole at every
    // tenth change since the last time: with one further change in nine, that is the 17th row.
    for number in 0..ROWS {
        block_on(store.commit(Batch::new().put(key(number), document(0)))).unwrap();
        if number % 9 == 4 {
            block_on(store.commit(Batch::new().put(key(number), document(1)))).unwrap();
        }
    }
    check_no_blobs(directory.path());
    drop(store);
    check_no_blobs(directory.path());

    let store = SledStore::open(directory.path()).unwrap();
    let rows = block_on(store.scan(&Scan::prefix(TABLE, b"", 100))).unwrap();
    assert_eq!(rows.len(), usize::from(ROWS));
    check_no_blobs(directory.path());
}

#[test]
fn the_largest_commits_and_what_they_leave_when_leaves_merge_are_no_blobs() {
    const ROWS: u16 = 480;
    let directory = tempfile::tempdir().unwrap();
    let store = SledStore::open(directory.path()).unwrap();
    let all = (0..ROWS).fold(Batch::new(), |batch, number| batch.put(key(number), document(0)));
    block_on(store.commit(all)).unwrap();
    check_no_blobs(directory.path());

    // Leaves with fewer than four rows merge with the one before them: two thirds are deleted, in
    // runs that leave rows in every leaf, and then all leaves are visited in both directions.
    let kept = |number: u16| number % 9 < 3;
    let thin = (0..ROWS).filter(|number| !kept(*number)).map(key).fold(Batch::new(), Batch::delete);
    block_on(store.commit(thin)).unwrap();
    for number in (0..ROWS).chain((0..ROWS).rev()) {
        let found = block_on(store.get(&[key(number)])).unwrap();
        assert_eq!(found[0].is_some(), kept(number));
    }
    for number in (0..ROWS).filter(|number| kept(*number)) {
        block_on(store.commit(Batch::new().put(key(number), document(1)))).unwrap();
    }
    check_no_blobs(directory.path());
}
