//! What is committed through one handle, as the others see it (store 1, 3).

use std::sync::atomic::{AtomicUsize, Ordering};

use accrue::store::{Batch, Expected, Key, Scan};

use crate::{
    Processes,
    fixtures::{TABLE, document, key, number, numbered, numbered_keys},
    races::{Handles, at_once},
    subject::Subject,
};

/// Each handle reads what any of them has committed, also where it has read the row before.
pub fn a_commit_is_read_through_every_handle(processes: &dyn Processes) {
    let handles = Handles(&three(processes));
    let a = key("a");
    for round in 0..12 {
        let writer = handles.of(round);
        let version = writer.committed(put(&a, round));
        for handle in handles.0 {
            let row = handle.present(&a);
            assert_eq!((number(&row), row.version), (round, version));
        }
    }
}

/// A row that a handle did not find is there once another handle has made it.
pub fn a_row_that_was_absent_is_found(processes: &dyn Processes) {
    let [writer, reader, other] = three(processes);
    for round in 0..5 {
        let made = numbered(round);
        for handle in [&reader, &other] {
            assert_eq!(handle.row(&made), None);
        }
        writer.committed(Batch::new().insert(made.clone(), document(round)));
        for handle in [&reader, &other] {
            assert_eq!(number(&handle.present(&made)), round);
        }
    }
}

/// A row that a handle has read is gone once another handle has deleted it.
pub fn a_row_that_another_handle_deleted_is_gone(processes: &dyn Processes) {
    let [writer, reader, other] = three(processes);
    let a = key("a");
    for round in 0..3 {
        writer.committed(put(&a, round));
        for handle in [&reader, &other] {
            handle.present(&a);
        }
        writer.committed(Batch::new().delete(a.clone()));
        for handle in [&reader, &other] {
            assert_eq!(handle.row(&a), None);
        }
    }
}

/// A scan sees the rows that other handles have made, and none that they have deleted.
pub fn a_scan_sees_the_commits_of_every_handle(processes: &dyn Processes) {
    let handles = Handles(&three(processes));
    let scan = Scan::prefix(TABLE, b"", 100);
    let mut expected = Vec::new();
    for round in 0..9 {
        let writer = handles.of(round);
        writer.committed(put(&numbered(round), round));
        expected.push(numbered(round));
        if round % 4 == 3 {
            let gone: Key = expected.remove(0);
            writer.committed(Batch::new().delete(gone));
        }
        for handle in handles.0 {
            assert_eq!(handle.scan_keys(&scan), expected);
        }
    }
}

/// A handle sees what was committed since it was opened, though it was not used until now; and one
/// that is opened later sees what was committed before.
pub fn a_handle_sees_what_came_before_it_and_after_it(processes: &dyn Processes) {
    let [writer, early] = Subject::several(processes);
    let keys = numbered_keys(10);
    let all = keys.iter().cloned().fold(Batch::new(), |batch, key| batch.put(key, document(1)));
    let version = writer.committed(all);
    let late = Subject::shared(processes);
    for handle in [&early, &late] {
        let found = handle.get(&keys);
        let version_of = |row: &Option<accrue::store::Row>| row.as_ref().map(|row| row.version);
        assert!(found.iter().all(|row| version_of(row) == Some(version)), "{found:?}");
    }
}

/// What one handle is done with is there for the others after it was closed.
pub fn commits_outlive_the_handle_that_made_them(processes: &dyn Processes) {
    let [writer, reader] = Subject::several(processes);
    let a = key("a");
    let version = writer.committed(put(&a, 1));
    drop(writer);
    assert_eq!(reader.present(&a).version, version);
    let next = Subject::shared(processes);
    next.committed(put(&a, 2).expect(a.clone(), Expected::Version(version)));
    drop(next);
    assert_eq!(number(&reader.present(&a)), 2);
}

/// A version that one handle has read or made is a precondition through any other, for as long as
/// the row has it.
pub fn a_version_is_a_precondition_through_every_handle(processes: &dyn Processes) {
    let handles = Handles(&three(processes));
    let a = key("a");
    let mut version = handles.of(0).committed(put(&a, 0));
    for round in 1..10 {
        let expect = |version| put(&a, round).expect(a.clone(), Expected::Version(version));
        let next = handles.of(round).committed(expect(version));
        for handle in handles.0 {
            handle.conflicts_at(&a, expect(version));
            handle.committed(Batch::new().expect(a.clone(), Expected::Version(next)));
        }
        version = next;
    }
}

/// Absence is judged on the rows of all handles: of inserts, of preconditions, and of checks.
pub fn absence_is_judged_on_the_rows_of_every_handle(processes: &dyn Processes) {
    let handles = Handles(&three(processes));
    for round in 0..9 {
        let a = numbered(round);
        let insert = || Batch::new().insert(a.clone(), document(round));
        let absent = || Batch::new().expect(a.clone(), Expected::Absent);
        for handle in handles.0 {
            handle.committed(absent());
        }
        handles.of(round).committed(insert());
        for handle in handles.0 {
            handle.conflicts_at(&a, insert());
            handle.conflicts_at(&a, absent());
            handle.conflicts_at(&a, absent().put(a.clone(), document(100)));
            assert_eq!(number(&handle.present(&a)), round);
        }
    }
}

/// A read that begins after a commit was answered is not older than it, while others read and write.
pub fn a_read_is_never_older_than_an_answered_commit(processes: &dyn Processes) {
    let (commits, handles) = (100, Handles(&three(processes)));
    let [counter, answered] = [key("counter"), key("other")];
    let begin = put(&counter, 0).put(answered, document(0));
    handles.of(0).committed(begin);
    let done = AtomicUsize::new(0);
    at_once(handles.0.len(), |caller| {
        let handle = handles.of(caller);
        if caller == 0 {
            for round in 1..=commits {
                let answer = handle.try_commit(put(&counter, round));
                // Readers wait for it, however it ends.
                done.store(if answer.is_ok() { round } else { commits }, Ordering::SeqCst);
                answer.expect("a store at rest answers a commit");
            }
            return;
        }
        let mut before = 0;
        while before < commits {
            let least = done.load(Ordering::SeqCst).max(before);
            before = number(&handle.present(&counter));
            assert!(before >= least, "read {before} when {least} had been answered");
        }
    });
}

fn three(processes: &dyn Processes) -> [Subject<'_>; 3] {
    Subject::several(processes)
}

fn put(key: &Key, number: usize) -> Batch {
    Batch::new().put(key.clone(), document(number))
}
