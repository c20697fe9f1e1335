//! What a failed commit says of itself must be true (store 6).

use std::sync::Arc;

use accrue::store::{Batch, Change, Commit, Expected, Key, Row, StoreError};

use crate::{
    Durability, FaultyStore, Harness, Odds,
    fixtures::{assert_same, document, number, number_in, numbered_keys, same},
    split_mix::SplitMix,
    subject::Subject,
};

const COMMITS: usize = 400;
const KEYS: usize = 6;

/// A commit that fails keeps its word: `Unavailable` applied nothing, `Indeterminate` all or
/// nothing, also after reopening.
///
/// The failures are those that the store has by itself, and those that
/// [`begin_failing`](Harness::begin_failing) makes.
pub fn a_failed_commit_keeps_its_word(harness: &dyn Harness) {
    let keys = numbered_keys(KEYS);
    let mut store = Subject::open(harness);
    let mut random = SplitMix::new(6);
    for number in 0..COMMITS {
        let attempt = Attempt::random(&mut random, store.get(&keys), number);
        harness.begin_failing();
        let answer = store.try_commit(attempt.batch());
        harness.end_failing();
        if store.try_get(&keys).is_err() && harness.durability() == Durability::Durable {
            store = store.reopen();
        }
        attempt.judge(&answer, &store.get(&keys));
    }
    if harness.durability() == Durability::Durable {
        let last = store.get(&keys);
        assert_same(&store.reopen().get(&keys), &last);
    }
}

/// The same for random commits through a [`FaultyStore`], whose faults are real and false ones.
pub fn random_commits_under_faults_keep_their_word(harness: &dyn Harness) {
    let odds = Odds { refused: 100, lost: 100, dropped: 100, corrupt: 20 };
    let keys = numbered_keys(KEYS);
    let inner = harness.open();
    let faulty = Arc::new(FaultyStore::seeded(Arc::clone(&inner), 7, odds));
    let (calm, troubled) = (Subject::through(harness, inner), Subject::through(harness, faulty));
    let mut random = SplitMix::new(8);
    for number in 0..COMMITS {
        let before = calm.get(&keys);
        if let Ok(seen) = troubled.try_get(&keys) {
            assert_same(&seen, &before);
        }
        let attempt = Attempt::random(&mut random, before, number);
        let answer = troubled.try_commit(attempt.batch());
        attempt.judge(&answer, &calm.get(&keys));
    }
}

/// A commit that may fail, and the rows of all keys before it.
struct Attempt {
    before: Vec<Option<Row>>,
    expected: Vec<(Key, Expected)>,
    changes: Vec<Change>,
}

impl Attempt {
    fn random(random: &mut SplitMix, before: Vec<Option<Row>>, number: usize) -> Self {
        let mut attempt = Self { before, expected: Vec::new(), changes: Vec::new() };
        for (key, row) in numbered_keys(KEYS).into_iter().zip(&attempt.before) {
            let right = row.as_ref().map_or(Expected::Absent, |row| Expected::Version(row.version));
            match random.below(12) {
                0 => attempt.expected.push((key.clone(), Expected::Absent)),
                1..6 => attempt.expected.push((key.clone(), right)),
                _ => {}
            }
            match random.below(4) {
                0 => attempt.changes.push(Change::Delete(key)),
                1 => attempt.changes.push(Change::Put(key, document(number))),
                // One that finds a row ends the commit: rather one that finds none.
                2 if row.is_some() && random.below(8) > 0 => {
                    attempt.changes.push(Change::Put(key, document(number)));
                }
                2 => attempt.changes.push(Change::Insert(key, document(number))),
                _ => {}
            }
        }
        attempt
    }

    fn batch(&self) -> Batch {
        let expect =
            |batch: Batch, (key, expected): &(Key, Expected)| batch.expect(key.clone(), *expected);
        let batch = self.expected.iter().fold(Batch::new(), expect);
        Batch { changes: self.changes.clone(), ..batch }
    }

    /// Holds the answer against the rows that there are after it.
    fn judge(&self, answer: &Result<Commit, StoreError>, after: &[Option<Row>]) {
        let nothing = same(after, &self.before);
        let numbers = |row: &Option<Row>| row.as_ref().map(number);
        let all = after.iter().map(numbers).eq(self.applied());
        let failed = self.first_failed();
        let kept = match answer {
            Ok(Commit::Committed(_)) => failed.is_none() && all,
            Ok(Commit::Conflict(key)) => failed == Some(key) && nothing,
            Err(StoreError::Indeterminate { .. }) => nothing || (failed.is_none() && all),
            Err(_) => nothing,
        };
        let Self { before, expected, changes } = self;
        assert!(
            kept,
            "answered {answer:?} to {expected:?} {changes:?} on {before:?}, then had {after:?}"
        );
    }

    fn first_failed(&self) -> Option<&Key> {
        let version = |key: &Key| self.before.iter().flatten().find(|row| row.key == *key);
        let failed = |(key, expected): &(Key, Expected)| {
            !expected.holds(version(key).map(|row| row.version))
        };
        let inserted = self.changes.iter().find(|change| {
            matches!(change, Change::Insert(key, _) if failed(&(key.clone(), Expected::Absent)))
        });
        let expected = self.expected.iter().find(|expected| failed(expected));
        expected.map(|(key, _)| key).or(inserted.map(Change::key))
    }

    /// The number that each row holds once all is applied.
    fn applied(&self) -> impl Iterator<Item = Option<usize>> {
        numbered_keys(KEYS).into_iter().zip(&self.before).map(|(key, before)| {
            match self.changes.iter().find(|change| *change.key() == key) {
                Some(change) => change.document().map(number_in),
                None => before.as_ref().map(number),
            }
        })
    }
}
