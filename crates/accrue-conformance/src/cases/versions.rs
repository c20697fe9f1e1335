//! The versions of rows (store 4).

use std::collections::HashSet;

use accrue::store::{Batch, Key, Version};

use crate::{
    Harness,
    fixtures::{document, key, numbered},
    subject::Subject,
};

/// Every row that a commit puts has the version that the commit answers.
pub fn rows_of_a_commit_have_its_version(harness: &dyn Harness) {
    let store = Subject::open(harness);
    store.committed(Batch::new().put(numbered(3), document(0)));
    let put = |batch: Batch, at| batch.put(numbered(at), document(at));
    let version = store.committed((0..50).fold(Batch::new(), put).delete(numbered(50)));
    for at in 0..50 {
        assert_eq!(store.present(&numbered(at)).version, version);
    }
}

/// Writing a row gives it another version, the same document too.
pub fn a_rewritten_row_has_a_new_version(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let a = key("a");
    let first = written(&store, &a);
    let second = written(&store, &a);
    assert_ne!(first, second, "the same document was written again");
}

/// However often a row is written, no version comes twice.
pub fn a_version_is_never_used_twice_for_a_key(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, b) = (key("a"), key("b"));
    let mut used = HashSet::new();
    for _ in 0..100 {
        assert!(used.insert(written(&store, &a)), "a version was used twice");
        written(&store, &b);
    }
}

/// A row that is made again after deletion has a version that it never had.
pub fn a_version_is_not_used_again_after_deletion(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let a = key("a");
    let mut used = HashSet::new();
    for _ in 0..10 {
        for _ in 0..3 {
            assert!(used.insert(written(&store, &a)), "a version was used twice");
        }
        store.committed(Batch::new().delete(a.clone()));
    }
}

/// A row that no change names keeps its version.
pub fn rows_that_a_commit_leaves_alone_keep_their_versions(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (a, b, c) = (key("a"), key("b"), key("c"));
    let first = written(&store, &a);
    let second = written(&store, &b);
    store.committed(Batch::new().put(c.clone(), document(1)));
    store.committed(Batch::new().delete(c));
    assert_eq!(store.present(&a).version, first);
    assert_eq!(store.present(&b).version, second);
}

/// Writes a row, and returns its version, which is that of the commit.
fn written(store: &Subject<'_>, key: &Key) -> Version {
    let version = store.committed(Batch::new().put(key.clone(), document(1)));
    assert_eq!(store.present(key).version, version);
    version
}
