//! Outcomes that one handle does not know, and another finds out (store 6).

use std::slice;

use accrue::store::{Batch, Commit, Expected, StoreError};

use crate::{
    FaultyStore, Odds, Processes,
    fixtures::{document, key, number, numbered},
    subject::Subject,
};

const COMMITS: usize = 60;

/// A commit that failed through one handle keeps its word to the others: what another one commits on the same state
/// tells whether it was made, and once its own handle has answered again nothing more comes of it.
///
/// The failures are those that [`begin_failing`](Processes::begin_failing) makes, and answers that are lost on the way.
pub fn a_failed_commit_is_settled_by_another_handle(processes: &dyn Processes) {
    let odds = Odds { refused: 100, lost: 250, dropped: 250, corrupt: 0 };
    let [troubled, other] = Subject::several(processes);
    let troubled = troubled.wrapped(|store| FaultyStore::seeded(store, 9, odds));
    let a = key("a");
    let mut version = other.committed(Batch::new().put(a.clone(), document(0)));
    let mut made = Vec::new();
    for attempt in 0..COMMITS {
        let on_the_same = || Batch::new().expect(a.clone(), Expected::Version(version));
        let failing = on_the_same().put(a.clone(), document(attempt));
        processes.begin_failing();
        let answer = troubled.try_commit(failing.insert(numbered(attempt), document(attempt)));
        processes.end_failing();

        let contest = other.commit(on_the_same().put(a.clone(), document(COMMITS)));
        while troubled.try_get(slice::from_ref(&a)).is_err() {}
        let is_made = matches!(contest, Commit::Conflict(_));
        let kept = match &answer {
            Ok(Commit::Committed(_)) => is_made,
            Err(StoreError::Indeterminate { .. }) => true,
            Ok(Commit::Conflict(_)) | Err(_) => !is_made,
        };
        assert!(kept, "answered {answer:?}, then another handle was answered {contest:?}");
        made.push(is_made);
        let row = other.present(&a);
        assert_eq!(number(&row), if is_made { attempt } else { COMMITS });
        version = row.version;
        for (attempt, is_made) in made.iter().enumerate() {
            assert_eq!(other.row(&numbered(attempt)).is_some(), *is_made, "commit {attempt}");
        }
    }
}
