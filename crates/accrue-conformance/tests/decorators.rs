//! The decorators do what they say, and nothing else.

use accrue::store::{
    Batch, Commit, Document, Expected, Key, MemoryStore, Scan, Store, StoreError, Table, Version,
};
use accrue_conformance::{Calls, Failure, Fault, FaultyStore, Odds, Recorded, RecordingStore};
use pollster::block_on;

const TABLE: Table = Table::new("row");

fn key() -> Key {
    Key::new(TABLE, *b"a")
}

fn put() -> Batch {
    Batch::new().put(key(), Document::parse(r#"{"v":1}"#).expect("it is an object"))
}

fn is_there<S: Store>(store: &FaultyStore<S>) -> bool {
    block_on(store.inner().get(&[key()])).expect("a store in memory answers") != [None]
}

#[test]
fn a_refused_commit_is_not_applied() {
    let store = FaultyStore::new(MemoryStore::new());
    store.fail_nth(Calls::Commits, 0, Fault::Refused);
    let answer = block_on(store.commit(put()));
    assert!(matches!(answer, Err(StoreError::Unavailable { .. })));
    assert!(!is_there(&store));
}

#[test]
fn a_lost_commit_is_applied_and_a_dropped_one_is_not() {
    for (fault, applied) in [(Fault::Lost, true), (Fault::Dropped, false)] {
        let store = FaultyStore::new(MemoryStore::new());
        store.fail_nth(Calls::Commits, 0, fault);
        let answer = block_on(store.commit(put()));
        assert!(matches!(answer, Err(StoreError::Indeterminate { .. })));
        assert_eq!(is_there(&store), applied);
    }
}

#[test]
fn a_lost_commit_is_still_judged() {
    let store = FaultyStore::new(MemoryStore::new());
    store.fail_nth(Calls::Commits, 0, Fault::Lost);
    let batch = put().expect(key(), Expected::Version(Version::new(7)));
    assert!(matches!(block_on(store.commit(batch)), Err(StoreError::Indeterminate { .. })));
    assert!(!is_there(&store));
}

#[test]
fn a_read_is_refused_or_finds_corruption() {
    for fault in [Fault::Refused, Fault::Lost, Fault::Dropped] {
        let store = FaultyStore::new(MemoryStore::new());
        store.fail_nth(Calls::Gets, 0, fault);
        store.fail_nth(Calls::Scans, 0, fault);
        assert!(matches!(block_on(store.get(&[])), Err(StoreError::Unavailable { .. })));
        let scan = Scan::prefix(TABLE, b"", 1);
        assert!(matches!(block_on(store.scan(&scan)), Err(StoreError::Unavailable { .. })));
    }
    let store = FaultyStore::new(MemoryStore::new());
    store.fail_nth(Calls::All, 0, Fault::Corrupt);
    assert!(matches!(block_on(store.get(&[])), Err(StoreError::Corrupt { .. })));
}

#[test]
fn calls_are_counted_by_kind_and_together() {
    let store = FaultyStore::new(MemoryStore::new());
    store.fail_nth(Calls::Commits, 1, Fault::Refused);
    store.fail_nth(Calls::All, 3, Fault::Refused);
    block_on(async {
        store.get(&[]).await.unwrap();
        store.commit(put()).await.unwrap();
        store.commit(put()).await.unwrap_err();
        store.get(&[]).await.unwrap_err();
        store.scan(&Scan::prefix(TABLE, b"", 1)).await.unwrap();
        store.commit(put()).await.unwrap();
    });
    let counts = [Calls::All, Calls::Gets, Calls::Scans, Calls::Commits];
    assert_eq!(counts.map(|calls| store.calls(calls)), [6, 2, 1, 3]);
}

#[test]
fn the_same_seed_gives_the_same_faults() {
    let odds = Odds { refused: 200, lost: 200, dropped: 200, corrupt: 100 };
    let run = |seed| {
        let store = FaultyStore::seeded(MemoryStore::new(), seed, odds);
        let answers = (0..200).map(|_| match block_on(store.commit(put())) {
            Ok(_) => "applied",
            Err(StoreError::Unavailable { .. }) => "refused",
            Err(StoreError::Indeterminate { .. }) => "unknown",
            Err(_) => "corrupt",
        });
        answers.collect::<Vec<_>>()
    };
    let first = run(1);
    assert_eq!(first, run(1));
    assert_ne!(first, run(2));
    for answer in ["applied", "refused", "unknown", "corrupt"] {
        assert!(first.contains(&answer), "none of 200 was {answer}");
    }
}

#[test]
fn odds_can_be_changed() {
    let always = Odds { refused: 1_000, ..Odds::NONE };
    let store = FaultyStore::seeded(MemoryStore::new(), 1, always);
    block_on(store.commit(put())).unwrap_err();
    store.set_odds(Odds::NONE);
    block_on(store.commit(put())).unwrap();
}

#[test]
fn a_recording_has_calls_and_answers_in_order() {
    let faulty = FaultyStore::new(MemoryStore::new());
    faulty.fail_nth(Calls::Commits, 1, Fault::Dropped);
    let store = RecordingStore::new(faulty);
    let scan = Scan::prefix(TABLE, b"", 1);
    let (answer, rows) = block_on(async {
        let answer = store.commit(put()).await.unwrap();
        store.commit(put()).await.unwrap_err();
        (answer, store.scan(&scan).await.unwrap())
    });
    assert!(matches!(answer, Commit::Committed(_)));
    let expected = [
        Recorded::Commit { batch: put(), answer: Ok(answer) },
        Recorded::Commit { batch: put(), answer: Err(Failure::Indeterminate) },
        Recorded::Scan { scan, answer: Ok(rows) },
    ];
    assert_eq!(store.log(), expected);
    assert_eq!(store.take_log(), expected);
    assert_eq!(store.log(), []);
}
