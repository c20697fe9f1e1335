use accrue::{
    limits,
    store::{Batch, Change, Commit, Expected, Key, Precondition, StoreError, Version},
};

use super::{BrokenStore, Flaw, state::State};

pub(super) fn commit(store: &BrokenStore, batch: Batch) -> Result<Commit, StoreError> {
    let flaw = store.flaw;
    if flaw == Flaw::BoundsBytes && bytes(&batch) > limits::COMMIT_BYTES / 2 {
        return Err(StoreError::unavailable("transaction is too large"));
    }
    let mut state = store.state();
    state.calls = state.calls.wrapping_add(1);
    if let Some(key) = conflict(flaw, &mut state, &batch) {
        let before = batch.changes.iter().take_while(|change| *change.key() != key);
        match flaw {
            Flaw::AppliesOnConflict => _ = apply(flaw, &mut state, batch.changes),
            Flaw::AppliesUpToTakenInsert if taken(flaw, &state, &batch).contains(&&key) => {
                _ = apply(flaw, &mut state, before.cloned().collect());
            }
            _ => {}
        }
        return Ok(Commit::Conflict(key));
    }
    if batch.changes.is_empty() {
        if flaw == Flaw::MakesVersionsOnChecks {
            touch(&mut state, &batch.preconditions);
        }
        return Ok(Commit::Committed(state.current_version()));
    }
    match flaw {
        Flaw::JudgesThenApplies => {
            drop(state);
            store.let_others_in();
            Ok(Commit::Committed(apply(flaw, &mut store.state(), batch.changes)))
        }
        Flaw::AppliesOneByOne => {
            state.begin(flaw);
            let mut version = state.current_version();
            drop(state);
            for change in batch.changes {
                version = store.state().apply(flaw, change);
                store.let_others_in();
            }
            Ok(Commit::Committed(version))
        }
        _ => answered(flaw, &mut state, batch),
    }
}

/// Applies the changes and answers, or does one of them wrong every fifth time.
fn answered(flaw: Flaw, state: &mut State, batch: Batch) -> Result<Commit, StoreError> {
    state.commits = state.commits.wrapping_add(1);
    let fifth = state.commits.is_multiple_of(5);
    let changes = kept(flaw, state, batch);
    match flaw {
        Flaw::RefusesWhatItApplied if fifth => {
            apply(flaw, state, changes);
            Err(StoreError::unavailable("the connection was lost"))
        }
        Flaw::TearsUnknownCommits if fifth => {
            apply(flaw, state, first_half(changes));
            Err(StoreError::indeterminate("the connection was lost"))
        }
        Flaw::AcknowledgesNothing if fifth => Ok(Commit::Committed(state.current_version())),
        _ => Ok(Commit::Committed(apply(flaw, state, changes))),
    }
}

/// The changes that are not lost on the way.
fn kept(flaw: Flaw, state: &State, batch: Batch) -> Vec<Change> {
    let Batch { preconditions, mut changes } = batch;
    match flaw {
        Flaw::TearsBatches => first_half(changes),
        Flaw::BoundsChanges => {
            changes.truncate(32_766);
            changes
        }
        Flaw::ChangesOneTable => {
            let first = changes.first().map(|change| change.key().table());
            changes.retain(|change| Some(change.key().table()) == first);
            changes
        }
        Flaw::KeepsOldRows => {
            let is_guarded = |key: &Key| preconditions.iter().any(|found| found.key == *key);
            changes.retain(|change| match change {
                Change::Put(key, _) => is_guarded(key) || state.version(flaw, key).is_none(),
                Change::Insert(..) | Change::Delete(_) => true,
            });
            changes
        }
        Flaw::SkipsTakenInserts => {
            let taken = |key: &Key| state.version(flaw, key).is_some();
            changes.retain(|change| !matches!(change, Change::Insert(key, _) if taken(key)));
            changes
        }
        _ => changes,
    }
}

fn apply(flaw: Flaw, state: &mut State, changes: Vec<Change>) -> Version {
    state.begin(flaw);
    let mut version = state.current_version();
    for change in changes {
        version = state.apply(flaw, change);
    }
    if flaw == Flaw::MovesAllVersions {
        state.rows.values_mut().for_each(|row| row.version = version);
    }
    version
}

fn conflict(flaw: Flaw, state: &mut State, batch: &Batch) -> Option<Key> {
    if flaw == Flaw::SkipsChecks && batch.changes.is_empty() {
        return None;
    }
    if flaw == Flaw::JudgesAfterChanges {
        let before = state.rows.clone();
        apply(flaw, state, batch.changes.clone());
        let failed = first_failed(flaw, state, &batch.preconditions);
        state.rows = before;
        return failed;
    }
    let absent = |key: &Key| state.version(flaw, key).is_none();
    let refused = batch.changes.iter().find(|change| match change {
        Change::Delete(key) => flaw == Flaw::RefusesAbsentDeletes && absent(key),
        Change::Put(..) | Change::Insert(..) => false,
    });
    let refused = refused.map(|change| change.key().clone());
    let taken = taken(flaw, state, batch);
    let taken = match flaw {
        Flaw::NamesLastInsert => taken.last(),
        _ => taken.first(),
    };
    let taken = taken.copied().cloned();
    let failed = first_failed(flaw, state, &batch.preconditions);
    if flaw == Flaw::JudgesInsertsFirst {
        return taken.or(failed);
    }
    failed.or(taken).or(refused)
}

/// The keys of inserts that find a row.
fn taken<'b>(flaw: Flaw, state: &State, batch: &'b Batch) -> Vec<&'b Key> {
    let is_expected = |key: &Key| batch.preconditions.iter().any(|found| found.key == *key);
    let is_taken = |key: &&Key| match flaw {
        Flaw::InsertsOverRows | Flaw::SkipsTakenInserts => false,
        Flaw::TrustsPreconditions if is_expected(key) => false,
        Flaw::InsertsOnceOnly => state.version(flaw, key).is_some() || state.was_deleted(key),
        Flaw::ForgetsInserts => {
            state.version(flaw, key).is_some_and(|version| state.is_since_opening(version))
        }
        _ => state.version(flaw, key).is_some(),
    };
    let inserts = batch.changes.iter().filter(|change| matches!(change, Change::Insert(..)));
    let most = if flaw == Flaw::BoundsInserts { 1_000 } else { usize::MAX };
    inserts.map(Change::key).take(most).filter(is_taken).collect()
}

fn first_failed(flaw: Flaw, state: &State, preconditions: &[Precondition]) -> Option<Key> {
    let mut failed: Vec<&Precondition> =
        preconditions.iter().filter(|precondition| !holds(flaw, state, precondition)).collect();
    match flaw {
        Flaw::JudgesOnePerKey => failed.retain(|failed| {
            let last = preconditions.iter().rfind(|other| other.key == failed.key);
            last == Some(failed)
        }),
        Flaw::NamesLastConflict => failed.reverse(),
        Flaw::NamesSmallestConflict => failed.sort_by(|left, right| left.key.cmp(&right.key)),
        Flaw::JudgesVersionsFirst => {
            failed.sort_by_key(|failed| failed.expected == Expected::Absent)
        }
        _ => {}
    }
    failed.first().map(|precondition| precondition.key.clone())
}

fn holds(flaw: Flaw, state: &State, precondition: &Precondition) -> bool {
    let found = state.version(flaw, &precondition.key);
    match (flaw, precondition.expected) {
        (Flaw::IgnoresVersions, Expected::Version(_)) => found.is_some(),
        (Flaw::IgnoresAbsence, Expected::Absent) => true,
        (Flaw::MatchesDeletedRows, Expected::Version(_)) if found.is_none() => true,
        (_, expected) => expected.holds(found),
    }
}

/// Gives the rows of these preconditions a new version.
fn touch(state: &mut State, preconditions: &[Precondition]) {
    state.begin(Flaw::None);
    let version = state.current_version();
    for precondition in preconditions {
        if let Some(row) = state.rows.get_mut(&precondition.key) {
            row.version = version;
        }
    }
}

fn first_half(mut changes: Vec<Change>) -> Vec<Change> {
    changes.truncate(changes.len() / 2);
    changes
}

fn bytes(batch: &Batch) -> usize {
    batch.changes.iter().map(Change::bytes).sum()
}
