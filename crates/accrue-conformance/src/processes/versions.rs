//! Versions that several handles make (store 4).

use std::collections::HashSet;

use accrue::store::{Batch, Expected};

use crate::{
    Processes,
    fixtures::{document, key},
    races::{CALLERS, Handles, at_once},
    subject::Subject,
};

/// No two handles give a row the same version, one after the other or at once.
pub fn versions_of_several_handles_differ(processes: &dyn Processes) {
    let handles: [_; 4] = Subject::several(processes);
    let handles = Handles(&handles);
    let a = key("a");
    let write =
        |caller| handles.of(caller).committed(Batch::new().put(a.clone(), document(caller)));
    let mut used = HashSet::new();
    for caller in 0..40 {
        assert!(used.insert(write(caller)), "a version was used twice");
    }
    for version in at_once(CALLERS, |caller| (0..10).map(|_| write(caller)).collect::<Vec<_>>()) {
        for version in version {
            assert!(used.insert(version), "a version was used twice");
        }
    }
}

/// A handle that is opened where another was closed gives none of its versions again, also to a row that was
/// deleted in between; while a third one has the store open.
pub fn a_version_is_not_used_again_by_a_handle_that_is_opened(processes: &dyn Processes) {
    let [mut handle, other] = Subject::several(processes);
    let (kept, deleted) = (key("kept"), key("deleted"));
    let both = || Batch::new().put(kept.clone(), document(1)).put(deleted.clone(), document(1));
    let mut used = HashSet::new();
    for _ in 0..4 {
        for _ in 0..3 {
            assert!(used.insert(handle.committed(both())), "a version was used twice");
        }
        other.committed(Batch::new().delete(deleted.clone()));
        assert!(used.insert(other.committed(both())), "a version was used twice");
        handle = handle.reopen();
    }
}

/// A row that others have written since, with the same document too, is not taken for the one that was read.
pub fn a_row_that_others_rewrote_is_not_the_one_that_was_read(processes: &dyn Processes) {
    let [reader, writer, other] = Subject::several(processes);
    let a = key("a");
    let put = |number| Batch::new().put(a.clone(), document(number));
    reader.committed(put(1));
    for _ in 0..5 {
        let read = reader.present(&a).version;
        writer.committed(put(2));
        other.committed(Batch::new().delete(a.clone()));
        writer.committed(put(1));
        reader.conflicts_at(&a, put(3).expect(a.clone(), Expected::Version(read)));
    }
}
