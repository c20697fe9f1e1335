//! A correction is done in many commits, of which any may fail, and counts at one instant.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use accrue::{backfill::BackfillStatus, limits, store::MemoryStore, webhook::Message};
use accrue_conformance::{Calls, Fault, FaultyStore};
use accrue_tests::{
    corrected::{GRANTED, Story, aggregates},
    host::Host,
    stores::{Dump, dump},
};
use pollster::block_on;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Close,
    Revert,
    /// Nothing: there is a metric already that earlier events are to be measured by.
    Measure,
}

impl Turn {
    const fn done(self) -> BackfillStatus {
        match self {
            Self::Close => BackfillStatus::Reflected,
            Self::Revert => BackfillStatus::Reverted,
            Self::Measure => BackfillStatus::Pending,
        }
    }

    /// Asks for it, unless that was done, and applies everything; stops at the first failure. Tells
    /// whether there was none.
    fn take(self, story: &Story) -> bool {
        let account = &story.host.account;
        loop {
            let asked = match self {
                Self::Close => account.close_backfill(story.backfill),
                Self::Revert => account.revert_backfill(story.backfill),
                Self::Measure => break,
            };
            match block_on(asked.into_future()) {
                // A part of a correction was done that comes first.
                Err(error) if error.is_conflict() && error.can_be_retried() => {}
                Err(error) if error.kind() != accrue::ErrorKind::ConstraintViolation => {
                    return false;
                }
                _ => break,
            }
        }
        loop {
            match block_on(story.host.billing.tick(1)) {
                Ok(tick) if tick.failed == 0 && tick.more => {}
                ended => return ended.is_ok_and(|tick| tick.failed == 0),
            }
        }
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
/// and once somebody else goes on, the state is the same. Returns what there is where nothing fails.
///
/// The turn changes the figures of those customers, in more commits than `few`.
fn check(before: &Story, turn: Turn, changed: &[usize], few: u64) -> Story {
    let is_whole = |story: &Story, [old, new]: [&[String; 2]; 2]| {
        for (found, (old, new)) in all(story).iter().zip(old.iter().zip(new)) {
            assert!(found == old || found == new, "{found}\n\n{old}\n\n{new}");
        }
    };
    check_with(before, turn, changed, few, is_whole)
}

/// The same with another check of what is there when a commit has failed, beside what there was and
/// what there will be.
fn check_with(
    before: &Story,
    turn: Turn,
    changed: &[usize],
    few: u64,
    holds: impl Fn(&Story, [&[String; 2]; 2]),
) -> Story {
    let (store, smooth) = faulty(before, 100);
    let old = all(&smooth);
    let earlier = store.calls(Calls::Commits);
    assert!(turn.take(&smooth), "{turn:?} fails");
    let commits = store.calls(Calls::Commits) - earlier;
    assert!(commits > few, "{turn:?} takes {commits} commits");
    assert_eq!(smooth.fetched().status, turn.done());
    let new = all(&smooth);
    for (customer, (old, new)) in old.iter().zip(&new).enumerate() {
        assert_eq!(old != new, changed.contains(&customer), "{turn:?} of customer {customer}");
    }
    let expected = (aggregates(&dump(&*smooth.host.store)), said(&smooth.host.waiting()));
    for nth in 0..commits {
        for fault in [Fault::Refused, Fault::Lost, Fault::Dropped] {
            let (store, mut story) = faulty(before, 100 + nth);
            store.fail_nth(Calls::Commits, nth, fault);
            let failed = !turn.take(&story);
            assert!(failed || fault != Fault::Refused, "commit {nth} of {turn:?}, {fault:?}");
            holds(&story, [&old, &new]);
            // Whoever comes next goes on.
            story.host = story.host.another(10_000 + nth);
            assert!(turn.take(&story), "commit {nth} of {turn:?}, {fault:?}");
            assert_eq!(all(&story), new, "commit {nth} of {turn:?}, {fault:?}");
            assert_eq!(story.fetched(), smooth.fetched(), "commit {nth} of {turn:?}, {fault:?}");
            let found = (aggregates(&dump(&*story.host.store)), said(&story.host.waiting()));
            assert!(found == expected, "commit {nth} of {turn:?}, {fault:?}: {found:#?}");
        }
    }
    smooth
}

/// A revert leaves what was stored before, all in all.
fn check_restored(untouched: &Dump, reverted: &Story) {
    let found = aggregates(&dump(&*reverted.host.store));
    let differ = |key: &&String| found.get(*key) != untouched.get(*key);
    let rows: BTreeSet<_> = found.keys().chain(untouched.keys()).filter(differ).collect();
    assert!(rows.is_empty(), "a revert restores what is stored, but not {rows:#?}");
}

/// "A crash between any two commits, then `tick`, ends in the same state", and a correction is
/// visible at one instant per customer.
#[test]
fn a_correction_counts_at_one_instant_and_survives_any_crash() {
    let pending = Story::told(MemoryStore::new(), 300, 2_500);
    let untouched = aggregates(&dump(&*pending.host.store));
    let reflected = check(&pending, Turn::Close, &[0, 1], 8);
    check_restored(&untouched, &check(&reflected, Turn::Revert, &[0, 1], 8));
}

#[test]
fn a_correction_of_one_customer_does_so_too_and_concerns_nobody_else() {
    let pending = Story::told_of(MemoryStore::new(), 300, 2_100, Some(1));
    let untouched = aggregates(&dump(&*pending.host.store));
    let reflected = check(&pending, Turn::Close, &[1], 4);
    check_restored(&untouched, &check(&reflected, Turn::Revert, &[1], 4));
}

/// More billing periods than one commit takes are corrected some days at a time, of which each is
/// whole: usage, cost and credits agree after every commit.
#[test]
fn many_billing_periods_are_corrected_by_days() {
    let is_balanced = |story: &Story, _: [&[String; 2]; 2]| {
        for customer in [0, 1] {
            assert_eq!(story.granted(customer), GRANTED.into(), "of customer {customer}");
        }
    };
    let daily = limits::STEP_PERIODS / 4 + 1;
    let pending = Story::told_to(MemoryStore::new(), 40, 60, Some(1), daily);
    let untouched = aggregates(&dump(&*pending.host.store));
    is_balanced(&pending, [&all(&pending); 2]);
    let reflected = check_with(&pending, Turn::Close, &[1], 4, is_balanced);
    let reverted = check_with(&reflected, Turn::Revert, &[1], 4, is_balanced);
    check_restored(&untouched, &reverted);
}

/// Figures are read from the events until they are measured, so that nobody sees a difference.
#[test]
fn measuring_earlier_events_by_a_new_metric_survives_any_crash() {
    let mut story = Story::told(MemoryStore::new(), 2_100, 0);
    let metric = story.host.metric("SELECT count(DISTINCT n) FROM events WHERE n > 5");
    story.metrics.push(metric.id);
    let unmeasured = aggregates(&dump(&*story.host.store));
    let measured = check(&story, Turn::Measure, &[], 6);
    let measured = aggregates(&dump(&*measured.host.store));
    let more = |table: &str| {
        let count = |rows: &Dump| rows.keys().filter(|key| key.starts_with(table)).count();
        count(&measured).checked_sub(count(&unmeasured))
    };
    assert!(more("bucket:").is_some_and(|more| more > 0), "it writes no buckets");
    assert!(more("distinct_value:").is_some_and(|more| more > 0), "it notes no values");
}
