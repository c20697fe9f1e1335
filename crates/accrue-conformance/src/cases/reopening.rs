//! What outlives a clean close. These cases do not apply to a volatile store.

use std::collections::HashSet;

use accrue::{
    limits,
    store::{Batch, Expected, Scan},
};

use crate::{
    Durability, Harness,
    fixtures::{TABLE, document, document_of_size, key, number, numbered, numbered_keys},
    subject::Subject,
};

/// Every row is there again, with its document.
pub fn rows_outlive_reopening(harness: &dyn Harness) {
    let Durability::Durable = harness.durability() else { return };
    let mut store = Subject::open(harness);
    for round in 0..4 {
        let rewrite = |batch: Batch, at| batch.put(numbered(at), document(at + round));
        store.committed((0..100).fold(Batch::new(), rewrite));
        let large = document_of_size(limits::DOCUMENT_BYTES, round);
        store.committed(Batch::new().put(key("large"), large.clone()));
        store = store.reopen();
        for (at, row) in store.get(&numbered_keys(100)).into_iter().enumerate() {
            assert_eq!(row.as_ref().map(number), Some(at + round));
        }
        assert!(store.present(&key("large")).document.same_value(&large));
        assert_eq!(store.scan(&Scan::prefix(TABLE, b"", 1_000)).len(), 101);
    }
}

/// What was deleted stays deleted.
pub fn deletions_outlive_reopening(harness: &dyn Harness) {
    let Durability::Durable = harness.durability() else { return };
    let store = Subject::open(harness);
    let put = |batch: Batch, at| batch.put(numbered(at), document(at));
    store.committed((0..10).fold(Batch::new(), put));
    let store = store.reopen();
    store.committed(Batch::new().delete(numbered(3)).delete(numbered(4)));
    store.committed(Batch::new().put(numbered(4), document(44)));
    let store = store.reopen().reopen();

    assert_eq!(store.row(&numbered(3)), None);
    assert_eq!(number(&store.present(&numbered(4))), 44);
    assert_eq!(store.scan(&Scan::prefix(TABLE, b"", 1_000)).len(), 9);
    store.committed(Batch::new().expect(numbered(3), Expected::Absent));
}

/// A row has the version that it had: what was read before the close is still a precondition.
pub fn versions_outlive_reopening(harness: &dyn Harness) {
    let Durability::Durable = harness.durability() else { return };
    let store = Subject::open(harness);
    let (a, b) = (key("a"), key("b"));
    let old = store.committed(Batch::new().put(a.clone(), document(1)).put(b.clone(), document(1)));
    let new = store.committed(Batch::new().put(a.clone(), document(2)));
    let store = store.reopen();

    assert_eq!(store.present(&a).version, new);
    assert_eq!(store.present(&b).version, old);
    let expect = |version| Batch::new().expect(a.clone(), Expected::Version(version));
    store.conflicts_at(&a, expect(old).delete(a.clone()));
    store.committed(expect(new).expect(b.clone(), Expected::Version(old)).delete(a.clone()));
}

/// Versions go on where they were, also those of rows that were deleted before the close.
pub fn a_version_is_not_used_again_after_reopening(harness: &dyn Harness) {
    let Durability::Durable = harness.durability() else { return };
    let mut store = Subject::open(harness);
    let (kept, deleted) = (key("kept"), key("deleted"));
    let mut used = HashSet::new();
    for _ in 0..4 {
        for _ in 0..3 {
            let batch =
                Batch::new().put(kept.clone(), document(1)).put(deleted.clone(), document(1));
            assert!(used.insert(store.committed(batch)), "a version was used twice");
        }
        store.committed(Batch::new().delete(deleted.clone()).delete(kept.clone()));
        store = store.reopen();
    }
}
