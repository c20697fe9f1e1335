use accrue::store::{Batch, Commit, Expected, Scan, Store};
use pollster::block_on;

use super::support::{Gate, TABLE, Verdict, insert, key, poll, put};
use crate::FjallStore;

#[test]
fn a_commit_is_answered_after_its_flush_and_blocks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(folder.path());
    let mut commit = store.commit(put(b"a"));
    assert!(poll(&mut commit).is_none());
    gate.wait();
    assert!(poll(&mut commit).is_none());
    gate.decide(Verdict::Go);
    assert!(matches!(block_on(commit), Ok(Commit::Committed(_))));
}

#[test]
fn a_read_waits_for_no_flush_and_sees_what_is_durable() {
    let folder = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(folder.path());
    let mut commit = store.commit(put(b"a"));
    assert!(poll(&mut commit).is_none());
    gate.wait();

    let (keys, scan) = ([key(b"a")], Scan::prefix(TABLE, b"", 10));
    assert_eq!(poll(&mut store.get(&keys)).unwrap().unwrap(), [None]);
    assert_eq!(poll(&mut store.scan(&scan)).unwrap().unwrap(), []);

    gate.decide(Verdict::Go);
    let Ok(Commit::Committed(version)) = block_on(commit) else { panic!("not committed") };
    let found = poll(&mut store.get(&keys)).unwrap().unwrap();
    assert_eq!(found[0].as_ref().map(|row| row.version), Some(version));
    assert_eq!(poll(&mut store.scan(&scan)).unwrap().unwrap().len(), 1);
}

#[test]
fn a_conflict_waits_for_the_commit_that_it_lost_to() {
    let folder = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(folder.path());

    // The first commit keeps the writer busy, so that the next two share a group.
    let mut busy = store.commit(put(b"busy"));
    assert!(poll(&mut busy).is_none());
    gate.wait();
    let mut winner = store.commit(insert(b"a"));
    let mut loser = store.commit(insert(b"a"));
    assert!(poll(&mut winner).is_none());
    assert!(poll(&mut loser).is_none());

    gate.decide(Verdict::Go);
    gate.wait();
    assert!(poll(&mut winner).is_none());
    assert!(poll(&mut loser).is_none());
    gate.decide(Verdict::Go);
    assert!(matches!(block_on(winner), Ok(Commit::Committed(_))));
    assert_eq!(block_on(loser).unwrap(), Commit::Conflict(key(b"a")));
}

#[test]
fn a_check_starts_no_flush() {
    let folder = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(folder.path());
    let check = Batch::new().expect(key(b"a"), Expected::Absent);
    assert!(matches!(block_on(store.commit(check)), Ok(Commit::Committed(_))));
    assert_eq!(gate.count(), 0);
}

#[test]
fn commits_that_wait_share_one_flush() {
    const COMMITS: u8 = 200;
    let folder = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(folder.path());
    let mut busy = store.commit(put(b"busy"));
    assert!(poll(&mut busy).is_none());
    gate.wait();

    let mut commits: Vec<_> = (0..COMMITS).map(|n| store.commit(insert(&[n]))).collect();
    assert!(commits.iter_mut().all(|commit| poll(commit).is_none()));
    gate.decide(Verdict::Go);
    gate.decide(Verdict::Go);
    for commit in commits {
        assert!(matches!(block_on(commit), Ok(Commit::Committed(_))));
    }
    assert_eq!(gate.count(), 1, "one flush for all of them");
}

#[test]
fn a_commit_goes_on_without_its_caller() {
    let folder = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(folder.path());
    let mut busy = store.commit(put(b"busy"));
    assert!(poll(&mut busy).is_none());
    gate.wait();
    let mut queued = store.commit(put(b"queued"));
    assert!(poll(&mut queued).is_none());
    let unsent = store.commit(put(b"unsent"));
    drop((busy, queued, unsent));

    // The gate is open for good now, and dropping the store waits for what is queued.
    drop(gate);
    drop(store);
    let store = FjallStore::open(folder.path()).unwrap();
    let keys = [key(b"busy"), key(b"queued"), key(b"unsent")];
    let found = block_on(store.get(&keys)).unwrap();
    let found: Vec<_> = found.iter().map(Option::is_some).collect();
    assert_eq!(found, [true, true, false]);
}
