//! The greatest commits that a store is asked for (store 9).

use accrue::{
    limits,
    store::{Batch, Expected, Key, Scan},
};

use crate::{
    Harness,
    fixtures::{TABLE, document, document_of_size, number, numbered, numbered_keys},
    subject::Subject,
};

/// A commit takes 65,536 preconditions and 65,536 changes, and is judged to its last precondition.
pub fn a_commit_takes_the_most_changes_and_preconditions(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let count = limits::COMMIT_CHANGES.min(limits::COMMIT_PRECONDITIONS);
    let batch = |expected, number| {
        (0..count).fold(Batch::new(), |batch, at| {
            batch.expect(numbered(at), expected).put(numbered(at), document(number))
        })
    };

    let version = store.committed(batch(Expected::Absent, 1));
    store.conflicts_at(&numbered(0), batch(Expected::Absent, 2));
    let changed = store.committed(Batch::new().put(numbered(count - 1), document(3)));
    store.conflicts_at(&numbered(count - 1), batch(Expected::Version(version), 2));
    store.committed(Batch::new().delete(numbered(count - 1)));
    let keys = numbered_keys(count);
    let (last, others) = keys.split_last().expect("there are many keys");
    for row in store.get(others) {
        assert_eq!(row.map(|row| (number(&row), row.version)), Some((1, version)));
    }
    store.conflicts_at(last, Batch::new().expect(last.clone(), Expected::Version(changed)));
    assert_eq!(scanned(&store), others);

    store.committed((0..count).fold(Batch::new(), |batch, at| batch.delete(numbered(at))));
    assert_eq!(scanned(&store), []);
}

/// A commit takes 65,536 inserts, and judges all of them.
pub fn a_commit_takes_the_most_inserts(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let count = limits::COMMIT_CHANGES;
    let insert = || (0..count).fold(Batch::new(), |all, at| all.insert(numbered(at), document(at)));
    store.committed(Batch::new().put(numbered(count - 1), document(0)));
    store.conflicts_at(&numbered(count - 1), insert());
    assert_eq!(scanned(&store), [numbered(count - 1)]);
    store.committed(Batch::new().delete(numbered(count - 1)));
    store.committed(insert());
    assert_eq!(scanned(&store), numbered_keys(count));
    store.conflicts_at(&numbered(0), insert());
}

/// A commit takes 32 MiB of keys and documents.
pub fn a_commit_takes_the_most_bytes(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let (mut batch, mut documents) = (Batch::new(), Vec::new());
    let mut room = limits::COMMIT_BYTES;
    while let Some(left) = room.checked_sub(100) {
        let key = numbered(documents.len());
        let size = (left + 100 - key.bytes().len()).min(limits::DOCUMENT_BYTES);
        let document = document_of_size(size, documents.len());
        room = room.saturating_sub(key.bytes().len() + size);
        batch = batch.put(key, document.clone());
        documents.push(document);
    }
    assert_eq!(room, 0, "the batch has the most bytes that a batch can have");

    store.committed(batch);
    for (at, document) in documents.iter().enumerate() {
        let found = store.present(&numbered(at)).document;
        assert!(found.same_value(document), "document {at} came back as another");
    }
}

fn scanned(store: &Subject<'_>) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut scan = Scan::prefix(TABLE, b"", limits::SCAN_ROWS);
    loop {
        let page = store.scan_keys(&scan);
        let Some(last) = page.last() else { return keys };
        scan = scan.after(last.bytes());
        keys.extend(page);
    }
}
