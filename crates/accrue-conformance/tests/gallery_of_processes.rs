//! Every case for several processes fails where they break what it is about, and every way to break it is seen by a case.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use accrue_conformance::{BrokenProcesses, ProcessesCase, ProcessesFlaw as Flaw, processes_cases};

// The place that the broken ones are made of is sound.
accrue_conformance::processes!(sound, BrokenProcesses::new(Flaw::None));

/// For each flaw, cases that must see it.
const SEEN_BY: &[(Flaw, &[&str])] = &[
    (
        Flaw::KeepsRows,
        &[
            "a_commit_is_read_through_every_handle",
            "a_row_that_another_handle_deleted_is_gone",
            "ticks_of_several_processes_apply_all_once",
        ],
    ),
    (Flaw::KeepsAbsence, &["a_row_that_was_absent_is_found"]),
    (
        Flaw::KeepsScans,
        &[
            "a_scan_sees_the_commits_of_every_handle",
            "messages_are_read_alike_by_every_process",
            "what_is_due_is_applied_once_whoever_is_ahead",
        ],
    ),
    (
        Flaw::SeesItsOpening,
        &["a_handle_sees_what_came_before_it_and_after_it", "ticks_beside_requests_apply_all_once"],
    ),
    (Flaw::ShowsCommitsLate, &["a_read_is_never_older_than_an_answered_commit"]),
    (Flaw::LosesCommitsOfClosed, &["commits_outlive_the_handle_that_made_them"]),
    (Flaw::GetsOneByOne, &["readers_never_see_half_a_commit"]),
    (
        Flaw::JudgesByItsOwn,
        &[
            "a_version_is_a_precondition_through_every_handle",
            "an_unknown_outcome_is_found_out_by_another_process",
            "single_events_are_counted_once_each",
            "alerts_that_several_processes_reach_fire_once",
            "batches_of_several_customers_are_counted_once_each",
            "figures_are_those_of_one_process",
            "alerts_of_other_processes_fire",
            "plans_and_prices_of_other_processes_hold",
            "what_other_processes_have_configured_holds",
            "customers_that_other_processes_delete_are_gone",
            "periods_that_other_processes_turn_are_turned",
            "random_steps_agree_with_one_process",
            "events_at_the_edges_are_taken_by_the_clock_of_the_process",
            "events_at_a_boundary_count_in_their_own_periods",
            "records_end_by_the_clock_of_the_process",
            "of_a_crowd_on_one_customer_nobody_starves",
        ],
    ),
    (
        Flaw::InsertsByItsOwn,
        &[
            "absence_is_judged_on_the_rows_of_every_handle",
            "one_of_many_bare_inserts_wins",
            "one_key_in_all_processes_has_one_effect",
            "an_answer_is_replayed_by_every_process",
            "a_key_that_another_process_used_is_taken",
            "an_event_that_comes_through_all_processes_counts_once",
            "records_are_found_across_the_end_of_an_epoch",
        ],
    ),
    (
        Flaw::JudgesThenApplies,
        &["one_of_many_inserts_wins", "one_of_many_updates_wins", "no_increment_is_lost"],
    ),
    (Flaw::AppliesOneByOne, &["transfers_keep_the_sum"]),
    (Flaw::SharesVersions, &["versions_of_several_handles_differ"]),
    (Flaw::ReusesVersions, &["a_version_is_not_used_again_by_a_handle_that_is_opened"]),
    (Flaw::VersionsByContent, &["a_row_that_others_rewrote_is_not_the_one_that_was_read"]),
    (Flaw::AppliesLate, &["a_failed_commit_is_settled_by_another_handle"]),
    (Flaw::RefusesWhatItApplied, &["a_failed_commit_is_settled_by_another_handle"]),
    (Flaw::GivesTurnsToAll, &["a_turn_is_one_processes_at_a_time", "turns_of_many_never_overlap"]),
    (Flaw::KeepsTurns, &["a_turn_is_one_processes_at_a_time"]),
    (Flaw::ServesTheLastFirst, &["whoever_waits_is_not_overtaken_for_ever"]),
    (Flaw::KeepsWaits, &["a_wait_that_is_given_up_holds_nobody_up"]),
    (Flaw::KeepsTurnsOfTheGone, &["a_turn_ends_with_its_process"]),
    (Flaw::HasOnePlace, &["turns_at_several_places_are_apart"]),
];

/// Cases that no flaw here fails: a worker reads again whatever it has missed.
const SEEING_NONE: &[&str] = &["messages_of_several_workers_are_all_handed_out"];

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
    let all: BTreeSet<_> = processes_cases().iter().map(|case| case.name).collect();
    let seeing = SEEN_BY.iter().flat_map(|(_, names)| *names).chain(SEEING_NONE);
    let seeing: BTreeSet<_> = seeing.copied().collect();
    assert_eq!(seeing, all);
}

fn case(name: &str) -> ProcessesCase {
    let case = processes_cases().iter().find(|case| case.name == name);
    *case.expect("the table names cases of the suite")
}

fn passes(flaw: Flaw, case: ProcessesCase) -> bool {
    let place = BrokenProcesses::new(flaw);
    catch_unwind(AssertUnwindSafe(|| (case.run)(&place))).is_ok()
}
