//! A dump of a database, restored on another server (`docs/operating.md#backup-and-restore`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod support;

use accrue::store::{Batch, Commit, Expected, Row, Scan, Store, Version};
use accrue_postgres::{PostgresOptions, PostgresStore};
use pollster::block_on;
use support::{Server, TABLE, document, is_installed, key, number};

fn put(store: &PostgresStore, name: &str, expected: Expected) -> Option<Version> {
    let batch = Batch::new().expect(key(name), expected).put(key(name), document("{}"));
    match block_on(store.commit(batch)).unwrap() {
        Commit::Committed(version) => Some(version),
        Commit::Conflict(_) => None,
    }
}

fn rows(store: &PostgresStore) -> Vec<Row> {
    block_on(store.scan(&Scan::prefix(TABLE, b"", 100))).unwrap()
}

#[test]
fn a_dump_has_every_commit_before_it_and_none_after() {
    if !is_installed() {
        return;
    }
    let (old, new) = (Server::start(&[]), Server::start(&[]));
    let options = PostgresOptions::new(old.connection());
    block_on(options.clone().migrate(&[TABLE])).unwrap();
    let store = block_on(options.open()).unwrap();
    let versions = ["a", "b"].map(|name| put(&store, name, Expected::Absent).unwrap());
    let before = rows(&store);
    old.dump_to(&new);
    put(&store, "b", Expected::Version(versions[1])).unwrap();
    put(&store, "c", Expected::Absent).unwrap();
    // The old one is never beside the new one.
    drop(store);

    let options = PostgresOptions::new(new.connection());
    let store = block_on(options.clone().open()).unwrap();
    assert_eq!(rows(&store), before);
    assert!(put(&store, "a", Expected::Absent).is_none());
    assert!(put(&store, "b", Expected::Version(versions[1])).is_some());
    assert!(put(&store, "c", Expected::Absent).is_some());
    assert_eq!(number(options.connection(), "SELECT count(*) FROM accrue_views.item"), 3);
    block_on(options.migrate(&[TABLE])).unwrap();
}
