//! With a cache far smaller than the rows, and more rows than fjall holds in memory, blocks of its
//! tables are read from the disk all the time, while its threads make tables and new journals.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use std::{collections::BTreeMap, thread};

use accrue::store::{Batch, Document, Key, Scan, Store, Table};
use accrue_fjall::FjallOptions;
use pollster::block_on;

const TABLE: Table = Table::new("item");
const OTHER: Table = Table::new("other");
const ROWS: u32 = 1_000;

fn key(table: Table, number: u32) -> Key {
    Key::new(table, number.to_be_bytes())
}

fn document(commit: u32, bytes: usize) -> Document {
    Document::parse(format!(r#"{{"v":1,"commit":{commit},"text":"{}"}}"#, "x".repeat(bytes)))
        .unwrap()
}

#[test]
fn rows_are_right_with_a_cache_smaller_than_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        FjallOptions::new().cache_bytes(0).row_cache_bytes(1 << 20).open(folder.path()).unwrap();
    let mut oracle = BTreeMap::new();
    for commit in 0..40 {
        let changed = (0..ROWS).filter(|number| number.wrapping_mul(7_919) % 11 == commit % 11);
        let batch = changed.fold(Batch::new(), |batch, number| {
            let row = document(commit, usize::try_from(number * 37 % 20_000).unwrap());
            oracle.insert(number, row.clone());
            batch.put(key(TABLE, number), row)
        });
        block_on(store.commit(batch)).unwrap();
    }
    assert_eq!(oracle.len(), usize::try_from(ROWS).unwrap());

    // Reads beside groups that fill the memory.
    thread::scope(|scope| {
        scope.spawn(|| {
            for commit in 0..10 {
                let batch = (0..200).fold(Batch::new(), |batch, number| {
                    batch.put(key(OTHER, number), document(commit, 60_000))
                });
                block_on(store.commit(batch)).unwrap();
            }
        });
        for reader in 0..3 {
            let (store, oracle) = (&store, &oracle);
            scope.spawn(move || {
                for number in (reader..ROWS).step_by(3) {
                    let found = block_on(store.get(&[key(TABLE, number)])).unwrap();
                    let found = found.first().and_then(Option::as_ref).map(|row| &row.document);
                    assert_eq!(found, oracle.get(&number));
                }
            });
        }
    });

    drop(store);
    let store =
        FjallOptions::new().cache_bytes(0).row_cache_bytes(1 << 20).open(folder.path()).unwrap();
    let rows = block_on(store.scan(&Scan::prefix(TABLE, b"", 1_000))).unwrap();
    assert!(rows.iter().map(|row| &row.document).eq(oracle.values()));
    let rows = block_on(store.scan(&Scan::prefix(OTHER, b"", 1_000))).unwrap();
    assert!(rows.iter().all(|row| row.document == document(9, 60_000)));
}
