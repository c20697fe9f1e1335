//! Every case of the suite fails on a store that breaks what it is about, and every way to break a
//! store is seen by a case.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use accrue_conformance::{BrokenHarness, Case, Flaw, cases};

// The store that the broken ones are made of is sound.
accrue_conformance::suite!(sound, BrokenHarness::new(Flaw::None));

/// For each flaw, cases that must see it.
const SEEN_BY: &[(Flaw, &[&str])] = &[
    (Flaw::RefusesEmptyGet, &["get_of_no_keys_is_empty"]),
    (Flaw::SortsGet, &["get_answers_in_the_order_asked"]),
    (Flaw::DeduplicatesGet, &["get_answers_a_repeated_key_each_time"]),
    (Flaw::OmitsAbsentRows, &["get_answers_nothing_for_absent_rows"]),
    (Flaw::BoundsGet, &["get_takes_many_keys"]),
    (Flaw::StaleGet, &["get_sees_the_last_commit"]),
    (Flaw::GetsOneByOne, &["readers_never_see_half_a_commit"]),
    (Flaw::JoinsTableAndKey, &["get_tells_similar_keys_apart", "scan_sees_one_table"]),
    (Flaw::CutsKeysAtZero, &["get_tells_similar_keys_apart", "scan_is_in_unsigned_byte_order"]),
    (Flaw::FoldsCase, &["get_tells_similar_keys_apart"]),
    (Flaw::CutsLongKeys, &["get_tells_similar_keys_apart", "scan_takes_the_longest_keys"]),
    (
        Flaw::IgnoresVersions,
        &["a_version_holds_only_while_the_row_has_it", "one_of_many_updates_wins"],
    ),
    (Flaw::IgnoresAbsence, &["absent_holds_only_without_a_row", "one_of_many_inserts_wins"]),
    (Flaw::MatchesDeletedRows, &["a_version_does_not_hold_of_a_deleted_row"]),
    (Flaw::NamesLastConflict, &["a_conflict_names_the_first_failed_precondition"]),
    (Flaw::NamesSmallestConflict, &["a_conflict_names_the_first_failed_precondition"]),
    (Flaw::JudgesVersionsFirst, &["a_conflict_names_the_first_failed_precondition"]),
    (Flaw::AppliesOnConflict, &["a_conflict_applies_nothing"]),
    (Flaw::JudgesAfterChanges, &["preconditions_are_judged_before_the_changes"]),
    (Flaw::JudgesOnePerKey, &["preconditions_of_one_key_are_all_judged"]),
    (Flaw::SkipsChecks, &["a_check_is_judged_like_a_commit"]),
    (Flaw::MakesVersionsOnChecks, &["a_check_makes_no_version"]),
    (
        Flaw::JudgesThenApplies,
        &["one_of_many_inserts_wins", "one_of_many_updates_wins", "no_increment_is_lost"],
    ),
    (
        Flaw::InsertsOverRows,
        &["an_insert_writes_only_where_there_is_no_row", "one_of_many_bare_inserts_wins"],
    ),
    (Flaw::SkipsTakenInserts, &["a_conflict_of_an_insert_applies_nothing"]),
    (Flaw::AppliesUpToTakenInsert, &["a_conflict_of_an_insert_applies_nothing"]),
    (Flaw::InsertsOnceOnly, &["an_insert_writes_only_where_there_is_no_row"]),
    (Flaw::JudgesInsertsFirst, &["inserts_are_judged_behind_the_preconditions"]),
    (Flaw::NamesLastInsert, &["inserts_are_judged_behind_the_preconditions"]),
    (Flaw::TrustsPreconditions, &["an_insert_is_judged_beside_preconditions_of_its_key"]),
    (Flaw::BoundsInserts, &["a_commit_takes_the_most_inserts"]),
    (Flaw::ForgetsInserts, &["inserts_outlive_reopening"]),
    (Flaw::VersionsPerChange, &["rows_of_a_commit_have_its_version"]),
    (Flaw::KeepsVersions, &["a_rewritten_row_has_a_new_version"]),
    (Flaw::VersionsByContent, &["a_rewritten_row_has_a_new_version"]),
    (Flaw::WrapsVersions, &["a_version_is_never_used_twice_for_a_key"]),
    (Flaw::VersionsPerRow, &["a_version_is_not_used_again_after_deletion"]),
    (Flaw::MovesAllVersions, &["rows_that_a_commit_leaves_alone_keep_their_versions"]),
    (
        Flaw::TearsBatches,
        &["a_batch_is_applied_whole", "random_commits_under_faults_keep_their_word"],
    ),
    (Flaw::AppliesOneByOne, &["readers_never_see_half_a_commit", "transfers_keep_the_sum"]),
    (Flaw::ForgetsDeletes, &["a_batch_mixes_puts_and_deletes", "scan_sees_the_last_commit"]),
    (Flaw::RefusesAbsentDeletes, &["deleting_an_absent_row_changes_nothing"]),
    (Flaw::ChangesOneTable, &["a_batch_spans_tables"]),
    (Flaw::KeepsOldRows, &["changes_need_no_preconditions"]),
    (Flaw::BoundsChanges, &["a_commit_takes_the_most_changes_and_preconditions"]),
    (Flaw::BoundsBytes, &["a_commit_takes_the_most_bytes"]),
    (Flaw::OrdersSigned, &["scan_is_in_unsigned_byte_order"]),
    (Flaw::OrdersByLength, &["scan_is_in_unsigned_byte_order"]),
    (Flaw::IgnoresOrder, &["scan_backwards_is_the_reverse"]),
    (Flaw::ReversesAfterLimit, &["scan_backwards_gives_the_greatest_keys"]),
    (Flaw::ExcludesFirst, &["scan_bounds_are_half_open", "pages_forward_miss_and_repeat_nothing"]),
    (Flaw::IncludesEnd, &["scan_bounds_are_half_open", "pages_backward_miss_and_repeat_nothing"]),
    (Flaw::SwapsBounds, &["scan_of_an_empty_range_is_empty"]),
    (Flaw::RefusesEmptyRange, &["scan_of_an_empty_range_is_empty"]),
    (Flaw::EndsAtFf, &["scan_of_a_prefix_is_exact"]),
    (Flaw::CutsBounds, &["scan_takes_the_longest_keys"]),
    (Flaw::IgnoresLimit, &["scan_gives_at_most_its_limit"]),
    (Flaw::TakesZeroForNoLimit, &["scan_gives_at_most_its_limit"]),
    (Flaw::CapsPages, &["scan_gives_at_most_its_limit"]),
    (Flaw::LeaksTables, &["scan_sees_one_table"]),
    (Flaw::StaleScan, &["scan_sees_the_last_commit"]),
    (Flaw::ForgetsVersionsOnScan, &["scan_gives_the_rows_that_get_gives"]),
    (Flaw::DropsNulls, &["documents_come_back_with_the_same_value"]),
    (Flaw::RoundsIntegers, &["the_greatest_integers_come_back"]),
    (Flaw::LosesLetters, &["text_comes_back_to_the_letter"]),
    (Flaw::GuessesNumbers, &["documents_come_back_with_the_same_value"]),
    (Flaw::EmptiesLargeDocuments, &["the_largest_document_comes_back"]),
    (Flaw::LosesRows, &["rows_outlive_reopening", "random_calls_agree_with_a_store_in_memory"]),
    (Flaw::ResurrectsRows, &["deletions_outlive_reopening"]),
    (Flaw::LosesLastCommit, &["rows_outlive_reopening"]),
    (Flaw::RenumbersVersions, &["versions_outlive_reopening"]),
    (Flaw::RestartsVersions, &["a_version_is_not_used_again_after_reopening"]),
    (Flaw::RefusesWhatItApplied, &["a_failed_commit_keeps_its_word"]),
    (Flaw::TearsUnknownCommits, &["a_failed_commit_keeps_its_word"]),
    (Flaw::AcknowledgesNothing, &["get_sees_the_last_commit"]),
];

/// Flaws that a run of random calls does not meet: they are about sizes, text or races.
const BEYOND_RANDOM_CALLS: &[Flaw] = &[
    Flaw::BoundsGet,
    Flaw::GetsOneByOne,
    Flaw::FoldsCase,
    Flaw::CutsLongKeys,
    Flaw::JudgesThenApplies,
    Flaw::BoundsInserts,
    Flaw::AppliesOneByOne,
    Flaw::BoundsChanges,
    Flaw::BoundsBytes,
    Flaw::CutsBounds,
    Flaw::CapsPages,
    Flaw::DropsNulls,
    Flaw::RoundsIntegers,
    Flaw::LosesLetters,
    Flaw::GuessesNumbers,
    Flaw::EmptiesLargeDocuments,
];

#[test]
fn each_flaw_is_seen_by_its_cases() {
    let missed: Vec<_> = SEEN_BY
        .iter()
        .flat_map(|(flaw, names)| names.iter().map(|name| (*flaw, *name)))
        .filter(|(flaw, name)| passes(*flaw, case(name)))
        .collect();
    assert!(missed.is_empty(), "not seen: {missed:?}");
}

#[test]
fn every_flaw_is_in_the_table() {
    let listed: Vec<Flaw> = SEEN_BY.iter().map(|(flaw, _)| *flaw).collect();
    assert_eq!(listed, Flaw::ALL);
}

#[test]
fn every_case_sees_a_flaw() {
    let all: BTreeSet<_> = cases().iter().map(|case| case.name).collect();
    let seeing: BTreeSet<_> = SEEN_BY.iter().flat_map(|(_, names)| *names).copied().collect();
    assert_eq!(seeing, all);
}

#[test]
fn random_calls_see_every_flaw_but_these() {
    let random = case("random_calls_agree_with_a_store_in_memory");
    let missed: Vec<Flaw> =
        Flaw::ALL.iter().copied().filter(|flaw| passes(*flaw, random)).collect();
    assert_eq!(missed, BEYOND_RANDOM_CALLS);
}

fn case(name: &str) -> Case {
    *cases().iter().find(|case| case.name == name).expect("the table names cases of the suite")
}

fn passes(flaw: Flaw, case: Case) -> bool {
    let harness = BrokenHarness::new(flaw);
    catch_unwind(AssertUnwindSafe(|| (case.run)(&harness))).is_ok()
}
