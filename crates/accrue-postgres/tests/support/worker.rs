use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use accrue::store::{Batch, Commit, Expected, Key, Row, Store, StoreError, Version};
use accrue_postgres::PostgresStore;
use pollster::block_on;

use super::{document, key};

/// What workers were told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) committed: AtomicU32,
    pub(crate) unavailable: AtomicU32,
    pub(crate) indeterminate: AtomicU32,
}

/// The rows of a worker: one that counts its commits, and one that the next commit deletes.
struct Rows {
    count: u32,
    version: Option<Version>,
}

/// Commits one batch after the other, holds each answer against the rows that are there after it, and ends when
/// it is told to: then everything that it was told is there.
pub(crate) fn work(store: &PostgresStore, worker: u32, stop: &AtomicBool, told: &Told) {
    let mut rows = Rows { count: 0, version: None };
    while !stop.load(Ordering::SeqCst) {
        let next = rows.count + 1;
        match block_on(store.commit(batch(worker, &rows))) {
            Ok(Commit::Committed(version)) => {
                told.committed.fetch_add(1, Ordering::SeqCst);
                rows = Rows { count: next, version: Some(version) };
            }
            Ok(Commit::Conflict(key)) => panic!("nobody else writes {key}"),
            Err(StoreError::Unavailable { .. }) => {
                told.unavailable.fetch_add(1, Ordering::SeqCst);
            }
            Err(StoreError::Indeterminate { .. }) => {
                told.indeterminate.fetch_add(1, Ordering::SeqCst);
                let found = read(store, worker, &rows);
                let is_applied = found.as_ref().map(|row| row.version) != rows.version;
                if is_applied {
                    rows = Rows { count: next, version: found.map(|row| row.version) };
                }
            }
            Err(error) => panic!("{error:?}"),
        }
        check(store, worker, &rows);
    }
    check(store, worker, &rows);
}

fn counter(worker: u32) -> Key {
    key(format!("counter {worker}"))
}

fn item(worker: u32, count: u32) -> Key {
    key(format!("item {worker} {count}"))
}

fn batch(worker: u32, rows: &Rows) -> Batch {
    let expected = rows.version.map_or(Expected::Absent, Expected::Version);
    let next = rows.count + 1;
    Batch::new()
        .expect(counter(worker), expected)
        .put(counter(worker), document(&format!(r#"{{"count":{next}}}"#)))
        .insert(item(worker, next), document("{}"))
        .delete(item(worker, rows.count))
}

/// Reads until there is an answer.
fn read(store: &PostgresStore, worker: u32, rows: &Rows) -> Option<Row> {
    all(store, worker, rows).into_iter().next().flatten()
}

fn all(store: &PostgresStore, worker: u32, rows: &Rows) -> Vec<Option<Row>> {
    let others = [rows.count, rows.count + 1].map(|count| item(worker, count));
    let keys = [&[counter(worker)][..], &others].concat();
    loop {
        match block_on(store.get(&keys)) {
            Ok(found) => return found,
            Err(StoreError::Unavailable { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn check(store: &PostgresStore, worker: u32, rows: &Rows) {
    let found = all(store, worker, rows);
    let version = |at: usize| found[at].as_ref().map(|row| row.version);
    let expected = (rows.version, (rows.count > 0).then_some(rows.version).flatten(), None);
    assert_eq!((version(0), version(1), version(2)), expected, "worker {worker}");
    let text = found[0].as_ref().map(|row| row.document.as_str().to_owned());
    let count = format!(r#"{{"count":{}}}"#, rows.count);
    assert_eq!(text, rows.version.map(|_| count), "worker {worker}");
}
