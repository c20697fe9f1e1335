//! A correction is done in many commits, of which any may fail, and counts at one instant.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use accrue::{backfill::BackfillStatus, store::MemoryStore, webhook::Message};
use accrue_conformance::{Calls, Fault, FaultyStore};
use accrue_tests::{
    corrected::{Story, aggregates},
    host::Host,
    stores::dump,
};
use pollster::block_on;

/// What is asked of a backfill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Close,
    Revert,
}

impl Turn {
    const fn done(self) -> BackfillStatus {
        match self {
            Self::Close => BackfillStatus::Reflected,
            Self::Revert => BackfillStatus::Reverted,
        }
    }

    /// Asks for it, unless that was done, and settles everything; stops at the first failure.
    fn take(self, story: &Story) -> Result<(), accrue::Error> {
        let account = &story.host.account;
        let asked = block_on(match self {
            Self::Close => account.close_backfill(story.backfill).into_future(),
            Self::Revert => account.revert_backfill(story.backfill).into_future(),
        });
        match asked {
            Err(error) if error.kind() != accrue::ErrorKind::ConstraintViolation => {
                return Err(error);
            }
            _ => {}
        }
        while block_on(story.host.billing.tick(1))?.more {}
        Ok(())
    }
}

/// What messages say, without ids and instants.
fn said(messages: &[Message]) -> BTreeMap<String, usize> {
    let mut said = BTreeMap::new();
    for message in messages {
        *said.entry(message.message_type().to_owned()).or_default() += 1;
    }
    said
}

fn all(story: &Story) -> [String; 2] {
    [0, 1].map(|customer| story.figures(customer))
}

type Faulty = Arc<FaultyStore<MemoryStore>>;

fn faulty(story: &Story, seed: u64) -> (Faulty, Story) {
    let mut wrapped = None;
    let story = story.copied(
        |store| {
            let store = Arc::new(FaultyStore::new(store));
            wrapped = Some(Arc::clone(&store));
            Host::on(store)
        },
        seed,
    );
    (wrapped.unwrap(), story)
}

/// Fails every commit of a turn in every way; figures are the old or the new ones of each customer,
/// and once somebody else goes on, the state is the same.
fn check(before: &Story, turn: Turn) -> Story {
    let (store, smooth) = faulty(before, 100);
    let old = all(&smooth);
    let earlier = store.calls(Calls::Commits);
    turn.take(&smooth).unwrap();
    let commits = store.calls(Calls::Commits) - earlier;
    assert!(commits > 8, "{turn:?} takes {commits} commits");
    assert_eq!(smooth.fetched().status, turn.done());
    let new = all(&smooth);
    assert!(old.iter().zip(&new).all(|(old, new)| old != new), "{turn:?} changes nothing");
    let expected = (aggregates(&dump(&*smooth.host.store)), said(&smooth.host.waiting()));
    for nth in 0..commits {
        for fault in [Fault::Refused, Fault::Lost, Fault::Dropped] {
            let (store, mut story) = faulty(before, 100 + nth);
            store.fail_nth(Calls::Commits, nth, fault);
            let failed = turn.take(&story).is_err();
            assert!(failed || fault != Fault::Refused, "commit {nth} of {turn:?}, {fault:?}");
            for (found, (old, new)) in all(&story).iter().zip(old.iter().zip(&new)) {
                let is_whole = found == old || found == new;
                assert!(is_whole, "commit {nth} of {turn:?}, {fault:?}: {found}\n\n{old}\n\n{new}");
            }
            // Whoever comes next goes on.
            story.host = story.host.another(10_000 + nth);
            turn.take(&story).unwrap();
            assert_eq!(all(&story), new, "commit {nth} of {turn:?}, {fault:?}");
            assert_eq!(story.fetched(), smooth.fetched(), "commit {nth} of {turn:?}, {fault:?}");
            let found = (aggregates(&dump(&*story.host.store)), said(&story.host.waiting()));
            assert!(found == expected, "commit {nth} of {turn:?}, {fault:?}: {found:#?}");
        }
    }
    smooth
}

/// "A crash between any two commits, then `tick`, ends in the same state", and a correction is
/// visible at one instant per customer.
#[test]
fn a_correction_counts_at_one_instant_and_survives_any_crash() {
    let pending = Story::told(MemoryStore::new(), 300, 2_500);
    let untouched = aggregates(&dump(&*pending.host.store));
    let reflected = check(&pending, Turn::Close);
    let reverted = check(&reflected, Turn::Revert);
    let found = aggregates(&dump(&*reverted.host.store));
    let differ = |key: &&String| found.get(*key) != untouched.get(*key);
    let rows: BTreeSet<_> = found.keys().chain(untouched.keys()).filter(differ).collect();
    assert!(rows.is_empty(), "a revert restores what is stored, but not {rows:#?}");
}
