use accrue::store::{Batch, Commit, Expected, Scan, Store};
use pollster::block_on;

use super::support::{Gate, TABLE, Verdict, insert, key, poll, put};
use crate::SledStore;

#[test]
fn a_commit_is_answered_after_its_sync_and_blocks_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(directory.path());
    let mut commit = store.commit(put(b"a"));
    assert!(poll(&mut commit).is_none());
    gate.wait();
    assert!(poll(&mut commit).is_none());
    gate.decide(Verdict::Go);
    assert!(matches!(block_on(commit), Ok(Commit::Committed(_))));
}

#[test]
fn what_was_read_is_answered_after_its_sync() {
    let directory = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(directory.path());
    let mut commit = store.commit(put(b"a"));
    assert!(poll(&mut commit).is_none());
    gate.wait();

    let keys = [key(b"a"), key(b"missing")];
    let scan = Scan::prefix(TABLE, b"", 10);
    let mut get = store.get(&keys);
    let mut rows = store.scan(&scan);
    assert!(poll(&mut get).is_none());
    assert!(poll(&mut rows).is_none());

    gate.decide(Verdict::Go);
    let Ok(Commit::Committed(version)) = block_on(commit) else { panic!("not committed") };
    let found = block_on(get).unwrap();
    assert_eq!(found[0].as_ref().map(|row| row.version), Some(version));
    assert_eq!(found[1], None);
    assert_eq!(block_on(rows).unwrap().len(), 1);
}

#[test]
fn a_read_of_durable_rows_is_answered_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(directory.path());
    gate.decide(Verdict::Go);
    block_on(store.commit(put(b"a"))).unwrap();
    let keys = [key(b"a")];
    assert!(matches!(poll(&mut store.get(&keys)), Some(Ok(_))));
}

#[test]
fn a_conflict_waits_for_the_commit_that_it_lost_to() {
    let directory = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(directory.path());

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
fn a_check_starts_no_sync_and_waits_for_those_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(directory.path());
    let check = || Batch::new().expect(key(b"a"), Expected::Absent);
    assert!(matches!(block_on(store.commit(check())), Ok(Commit::Committed(_))));
    assert_eq!(gate.count(), 0);

    let mut commit = store.commit(put(b"a"));
    assert!(poll(&mut commit).is_none());
    gate.wait();
    let mut late = store.commit(check());
    assert!(poll(&mut late).is_none());
    gate.decide(Verdict::Go);
    assert_eq!(block_on(late).unwrap(), Commit::Conflict(key(b"a")));
    assert_eq!(gate.count(), 0);
}

#[test]
fn commits_that_wait_share_one_sync() {
    const COMMITS: u8 = 200;
    let directory = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(directory.path());
    let mut busy = store.commit(put(b"busy"));
    assert!(poll(&mut busy).is_none());
    gate.wait();

    let mut commits: Vec<_> = (0..COMMITS).map(|n| store.commit(insert(&[n]))).collect();
    assert!(commits.iter_mut().all(|commit| poll(commit).is_none()));
    gate.decide(Verdict::Go);
    gate.decide(Verdict::Go);

    let answers: Vec<_> = commits.into_iter().map(|commit| block_on(commit).unwrap()).collect();
    let mut numbers: Vec<_> = answers
        .iter()
        .map(|answer| match answer {
            Commit::Committed(version) => version.number(),
            Commit::Conflict(key) => panic!("conflict on {key}"),
        })
        .collect();
    numbers.dedup();
    assert_eq!(numbers.len(), usize::from(COMMITS));
    assert_eq!(gate.count(), 1, "one sync for all of them");
}

#[test]
fn a_commit_goes_on_without_its_caller() {
    let directory = tempfile::tempdir().unwrap();
    let (store, gate) = Gate::open(directory.path());
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
    let store = SledStore::open(directory.path()).unwrap();
    let keys = [key(b"busy"), key(b"queued"), key(b"unsent")];
    let found = block_on(store.get(&keys)).unwrap();
    let found: Vec<_> = found.iter().map(Option::is_some).collect();
    assert_eq!(found, [true, true, false]);
}
