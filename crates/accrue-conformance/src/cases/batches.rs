//! The changes of one commit: all of them or none (store 1).

use accrue::store::{Batch, Key, Table};

use crate::{
    Harness,
    fixtures::{document, key, number, numbered, numbered_keys},
    subject::Subject,
};

/// Each of a thousand changes is applied.
pub fn a_batch_is_applied_whole(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let count = 1_000;
    let put = |batch: Batch, at| batch.put(numbered(at), document(at));
    store.committed((0..count).fold(Batch::new(), put));
    let found = store.get(&numbered_keys(count));
    assert_eq!(
        found.iter().flatten().map(number).collect::<Vec<_>>(),
        (0..count).collect::<Vec<_>>()
    );

    let delete = |batch: Batch, at| batch.delete(numbered(at));
    store.committed((0..count).fold(Batch::new(), delete));
    assert!(store.get(&numbered_keys(count)).iter().all(Option::is_none));
}

/// Rows are made, rewritten and deleted in one batch, in whatever order it names them.
pub fn a_batch_mixes_puts_and_deletes(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let keys = ["a", "b", "c", "d"].map(key);
    let [a, b, c, d] = keys.clone();
    store.committed(Batch::new().put(d.clone(), document(1)).put(b.clone(), document(2)));
    store.committed(
        Batch::new().delete(d).put(c, document(3)).put(b, document(4)).put(a, document(5)),
    );

    let numbers: Vec<_> = store.get(&keys).iter().map(|row| row.as_ref().map(number)).collect();
    assert_eq!(numbers, [Some(5), Some(4), Some(3), None]);
}

/// A batch changes rows of several tables, which may have the same bytes for a key.
pub fn a_batch_spans_tables(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let [x, y, z] = ["x", "y", "z"].map(|name| Key::new(Table::new(name), *b"same"));
    store.committed(Batch::new().put(x.clone(), document(1)).put(z.clone(), document(2)));
    store.committed(Batch::new().delete(x.clone()).put(y.clone(), document(3)));

    let numbers: Vec<_> =
        store.get(&[x, y, z]).iter().map(|row| row.as_ref().map(number)).collect();
    assert_eq!(numbers, [None, Some(3), Some(2)]);
}

/// A row that is not there can be deleted; the other changes are applied.
pub fn deleting_an_absent_row_changes_nothing(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, never) = (key("a"), key("never"));
    store.committed(Batch::new().delete(never.clone()));
    store.committed(Batch::new().delete(never.clone()).put(a.clone(), document(1)));
    assert_eq!(number(&store.present(&a)), 1);
    assert_eq!(store.row(&never), None);
}

/// A put without a precondition writes whether or not there is a row.
pub fn changes_need_no_preconditions(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let a = key("a");
    for round in 0..3 {
        store.committed(Batch::new().put(a.clone(), document(round)));
        assert_eq!(number(&store.present(&a)), round);
    }
}
