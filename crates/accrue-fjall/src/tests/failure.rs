use accrue::store::{Batch, Commit, Expected, Scan, Store, StoreError};
use accrue_durable::Group;
use pollster::block_on;

use super::support::{Gate, TABLE, Verdict, insert, key, poll, put};
use crate::{FjallOptions, FjallStore};

#[test]
fn a_failed_write_leaves_its_commits_unknown_and_refuses_all_later_calls() {
    let folder = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(folder.path());
    let mut busy = store.commit(put(b"busy"));
    assert!(poll(&mut busy).is_none());
    gate.wait();
    let mut winner = store.commit(insert(b"a"));
    let mut loser = store.commit(insert(b"a"));
    assert!(poll(&mut winner).is_none());
    assert!(poll(&mut loser).is_none());
    gate.decide(Verdict::Go);
    gate.wait();
    gate.decide(Verdict::Fail);
    assert!(matches!(block_on(busy), Ok(Commit::Committed(_))));
    assert!(matches!(block_on(winner), Err(StoreError::Indeterminate { .. })));
    // Nothing of this one was applied, for certain.
    assert!(matches!(block_on(loser), Err(StoreError::Unavailable { .. })));
    check_refuses_everything(&store);
    assert_eq!(gate.count(), 0);

    drop(store);
    let store = FjallStore::open(folder.path()).unwrap();
    let rows = block_on(store.scan(&Scan::prefix(TABLE, b"", 10))).unwrap();
    assert!(rows.iter().any(|row| row.key == key(b"busy")));
    assert!(matches!(block_on(store.commit(put(b"later"))), Ok(Commit::Committed(_))));
}

#[test]
fn a_panic_of_the_writer_leaves_its_commits_unknown_and_hangs_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(folder.path());
    let mut commit = store.commit(put(b"a"));
    assert!(poll(&mut commit).is_none());
    gate.wait();
    let mut next = store.commit(put(b"b"));
    assert!(poll(&mut next).is_none());

    gate.decide(Verdict::Panic);
    assert!(matches!(block_on(commit), Err(StoreError::Indeterminate { .. })));
    assert!(matches!(block_on(next), Err(StoreError::Unavailable { .. })));
    check_refuses_everything(&store);

    // What may be half written is never written on, so the folder stays locked.
    drop(store);
    assert!(FjallStore::open(folder.path()).unwrap_err().is_locked());
}

#[test]
fn an_unreadable_row_fails_only_those_who_ask_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (opened, step) = FjallOptions::new().prepare(folder.path()).unwrap();
    let mut writes = opened.rows.batch();
    writes.insert(opened.rows.keyspace(), "item\0short", "1234567");
    writes.insert(opened.rows.keyspace(), "item\0text", *b"12345678\xC3");
    writes.commit().unwrap();
    opened.rows.publish(Group::default());
    let store = FjallStore::start(opened, Box::new(step)).unwrap();

    for unreadable in [&b"short"[..], b"text"] {
        let found = block_on(store.get(&[key(unreadable)]));
        assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
        let found = block_on(store.scan(&Scan::prefix(TABLE, unreadable, 1)));
        assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
    }
    let judged = block_on(store.commit(insert(b"short")));
    assert!(matches!(judged, Err(StoreError::Corrupt { .. })), "{judged:?}");
    assert!(matches!(block_on(store.commit(insert(b"fine"))), Ok(Commit::Committed(_))));
    assert!(block_on(store.get(&[key(b"fine")])).unwrap()[0].is_some());
}

fn check_refuses_everything(store: &FjallStore) {
    let check = Batch::new().expect(key(b"x"), Expected::Absent);
    let unavailable = |error| matches!(error, StoreError::Unavailable { .. });
    assert!(unavailable(block_on(store.get(&[key(b"x")])).unwrap_err()));
    assert!(unavailable(block_on(store.get(&[])).unwrap_err()));
    assert!(unavailable(block_on(store.scan(&Scan::prefix(TABLE, b"", 1))).unwrap_err()));
    assert!(unavailable(block_on(store.commit(put(b"x"))).unwrap_err()));
    assert!(unavailable(block_on(store.commit(check)).unwrap_err()));
}
