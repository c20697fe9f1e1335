//! What is known of keys without a row, beside what is read and written meanwhile.

use std::{io, iter, sync::mpsc};

use accrue::store::{Batch, Commit, Document, Store, Version};
use accrue_durable::{Engine, Group};
use pollster::block_on;

use super::support::{insert, key, put};
use crate::{
    FjallOptions, FjallStore, absences::Absences, encode::hash_key, engine::FjallEngine,
    open::Opened, rows::Rows,
};

const ROOM: u64 = 1_000;

fn hash(number: u32) -> u64 {
    hash_key(&key(&number.to_be_bytes()))
}

/// How many of a thousand keys that were never written are known to have no row.
fn known(absences: &Absences) -> usize {
    (1_000_000..1_001_000).filter(|number| absences.include(hash(*number))).count()
}

/// Writes rows of these numbers behind the back of a store.
fn write(rows: &Rows, numbers: impl Iterator<Item = u32>) {
    let document = Document::parse("{}").unwrap();
    let version = Version::new(1);
    let row = |number: u32| (key(&number.to_be_bytes()), Some((version, document.clone())));
    rows.batch_of(&Group { rows: numbers.map(row).collect(), ceiling: None }).commit().unwrap();
}

#[test]
fn what_is_written_before_a_filter_beside_it_and_after_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (opened, _step) = FjallOptions::new().prepare(folder.path()).unwrap();
    let rows = &opened.rows;
    write(rows, 0..100);
    let mut absences = Absences::default();
    // The thread reads no further while the gate is shut, so the next rows are written beside it.
    let (gate, shut) = mpsc::channel::<()>();
    absences.begin_filter(rows.hashes().inspect(move |_| _ = shut.recv()), ROOM);
    absences.before_write(rows, (100..200).map(hash));
    write(rows, 100..200);
    assert_eq!(known(&absences), 0, "not all is read yet");
    drop(gate);
    absences.finish_filter();
    absences.before_write(rows, (200..300).map(hash));

    assert!(!(0..300).any(|number| absences.include(hash(number))));
    assert!(known(&absences) > 980);
}

#[test]
fn rows_that_cannot_be_read_leave_nothing_known() {
    let damaged = || iter::once(Err(io::Error::other("injected").into()));
    let panics = || iter::once_with(|| panic!("injected"));
    let hashes = || (0..100).map(|number| Ok(hash(number)));
    let mut absences = Absences::default();
    absences.begin_filter(hashes(), ROOM);
    absences.finish_filter();
    assert!(known(&absences) > 980);
    absences.begin_filter(hashes().chain(damaged()).chain(hashes()), ROOM);
    absences.finish_filter();
    assert_eq!(known(&absences), 0);
    absences.begin_filter(hashes().chain(panics()), ROOM);
    absences.finish_filter();
    assert_eq!(known(&absences), 0);
}

#[test]
fn all_rows_are_read_once_looks_in_vain_have_cost_as_much() {
    let folder = tempfile::tempdir().unwrap();
    let (opened, _step) = FjallOptions::new().prepare(folder.path()).unwrap();
    // And one of the format.
    write(&opened.rows, 0..399);
    let mut absences = Absences::default();
    for looks in 0..100 {
        absences.before_write(&opened.rows, iter::empty());
        absences.finish_filter();
        assert_eq!(known(&absences), 0, "after {looks} looks");
        absences.count_vain();
    }
    absences.before_write(&opened.rows, iter::empty());
    absences.finish_filter();
    assert!(known(&absences) > 980);
}

#[test]
fn a_filter_that_is_full_gets_a_successor() {
    let folder = tempfile::tempdir().unwrap();
    let (opened, _step) = FjallOptions::new().prepare(folder.path()).unwrap();
    let mut absences = Absences::default();
    absences.begin_filter(iter::empty(), 0);
    absences.finish_filter();
    write(&opened.rows, 0..10_000);
    absences.before_write(&opened.rows, (0..10_000).map(hash));
    assert_eq!(known(&absences), 0, "it has room for none");
    absences.finish_filter();
    assert!(!(0..10_000).any(|number| absences.include(hash(number))));
    assert!(known(&absences) > 980);
}

#[test]
fn a_store_that_is_closed_waits_for_no_filter() {
    let mut absences = Absences::default();
    absences.begin_filter(iter::repeat_with(|| Ok(1)), ROOM);
    drop(absences);
}

#[test]
fn the_engine_finds_what_is_there_and_asks_for_little_else() {
    let folder = tempfile::tempdir().unwrap();
    let (Opened { rows, .. }, step) = FjallOptions::new().prepare(folder.path()).unwrap();
    write(&rows, 0..100);
    let mut absences = Absences::default();
    absences.begin_filter(rows.hashes(), ROOM);
    absences.finish_filter();
    let mut engine = FjallEngine { step: Box::new(step), absences, rows };
    let document = Document::parse("{}").unwrap();
    let version = Version::new(2);
    let group = vec![(key(b"new"), Some((version, document)))];
    engine.write(Group { rows: group, ceiling: None }).unwrap();

    assert_eq!(engine.version(&key(b"new")).unwrap(), Some(version));
    assert!((0_u32..100).all(|n| engine.version(&key(&n.to_be_bytes())).unwrap().is_some()));
    assert_eq!(engine.version(&key(b"other")).unwrap(), None);
}

#[test]
fn an_insert_of_a_row_that_is_there_conflicts_also_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = 0_u32;
    for _ in 0..3 {
        let store = FjallStore::open(folder.path()).unwrap();
        for number in 0..first {
            let bytes = number.to_be_bytes();
            let found = block_on(store.commit(insert(&bytes))).unwrap();
            assert_eq!(found, Commit::Conflict(key(&bytes)));
        }
        for number in first..first + 300 {
            let inserted = block_on(store.commit(insert(&number.to_be_bytes()))).unwrap();
            assert!(matches!(inserted, Commit::Committed(_)), "{number}");
        }
        first += 300;
        let deleted = Batch::new().delete(key(&0_u32.to_be_bytes()));
        block_on(store.commit(deleted)).unwrap();
        assert!(matches!(block_on(store.commit(insert(&[0; 4]))), Ok(Commit::Committed(_))));
        block_on(store.commit(put(&[0; 4]))).unwrap();
    }
}
