use crate::Processes;

/// Makes one test of each case for several processes, for what an expression makes anew each time.
///
/// ```text
/// accrue_conformance::processes!(MyDatabase::default());
/// ```
///
/// A test crate with several backends names them, and each becomes a module:
///
/// ```text
/// accrue_conformance::processes!(plain_processes, MyDatabase::plain());
/// ```
#[macro_export]
macro_rules! processes {
    ($name:ident, $processes:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::processes!($processes);
        }
    };
    ($processes:expr $(,)?) => {
        $crate::__each_case_of_processes! { [$crate::__tests_of_processes] $processes }
    };
}

/// One case of the suite for several processes. It panics where what they see does not hold together.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProcessesCase {
    /// The module of [`processes`](mod@crate::processes) that it is in.
    pub group: &'static str,
    /// The name of its function.
    pub name: &'static str,
    /// Runs it on the empty store of a place.
    pub run: fn(&dyn Processes),
}

/// Returns every case for several processes, in the order of the macro
/// [`processes`](crate::processes!).
#[must_use]
pub const fn processes_cases() -> &'static [ProcessesCase] {
    crate::__each_case_of_processes! { [crate::__listing_of_processes] }
}

// The only list of the cases: the tests and `processes_cases` are both made from it.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_case_of_processes {
    ([$($then:tt)*] $($context:tt)*) => {
        $($then)*! {
            [$($context)*]
            commits::a_commit_is_read_through_every_handle,
            commits::a_row_that_was_absent_is_found,
            commits::a_row_that_another_handle_deleted_is_gone,
            commits::a_scan_sees_the_commits_of_every_handle,
            commits::a_handle_sees_what_came_before_it_and_after_it,
            commits::commits_outlive_the_handle_that_made_them,
            commits::a_version_is_a_precondition_through_every_handle,
            commits::absence_is_judged_on_the_rows_of_every_handle,
            commits::a_read_is_never_older_than_an_answered_commit,
            races::one_of_many_inserts_wins,
            races::one_of_many_bare_inserts_wins,
            races::one_of_many_updates_wins,
            races::no_increment_is_lost,
            races::transfers_keep_the_sum,
            races::readers_never_see_half_a_commit,
            versions::versions_of_several_handles_differ,
            versions::a_version_is_not_used_again_by_a_handle_that_is_opened,
            versions::a_row_that_others_rewrote_is_not_the_one_that_was_read,
            outcomes::a_failed_commit_is_settled_by_another_handle,
            turns::a_turn_is_one_processes_at_a_time,
            turns::turns_of_many_never_overlap,
            turns::whoever_waits_is_not_overtaken_for_ever,
            turns::a_wait_that_is_given_up_holds_nobody_up,
            turns::a_turn_ends_with_its_process,
            turns::turns_at_several_places_are_apart,
            keys::one_key_in_all_processes_has_one_effect,
            keys::an_answer_is_replayed_by_every_process,
            keys::a_key_that_another_process_used_is_taken,
            keys::an_unknown_outcome_is_found_out_by_another_process,
            events::single_events_are_counted_once_each,
            events::an_event_that_comes_through_all_processes_counts_once,
            events::alerts_that_several_processes_reach_fire_once,
            events::batches_of_several_customers_are_counted_once_each,
            copies::figures_are_those_of_one_process,
            copies::alerts_of_other_processes_fire,
            copies::plans_and_prices_of_other_processes_hold,
            copies::what_other_processes_have_configured_holds,
            copies::customers_that_other_processes_delete_are_gone,
            copies::periods_that_other_processes_turn_are_turned,
            stories::random_steps_agree_with_one_process,
            clocks::events_at_the_edges_are_taken_by_the_clock_of_the_process,
            clocks::records_are_found_across_the_end_of_an_epoch,
            clocks::records_end_by_the_clock_of_the_process,
            clocks::events_at_a_boundary_count_in_their_own_periods,
            clocks::what_is_due_is_applied_once_whoever_is_ahead,
            ticks::ticks_of_several_processes_apply_all_once,
            ticks::ticks_beside_requests_apply_all_once,
            messages::messages_of_several_workers_are_all_handed_out,
            messages::messages_are_read_alike_by_every_process,
            crowds::of_a_crowd_on_one_customer_nobody_starves,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests_of_processes {
    ([$processes:expr] $($group:ident :: $case:ident,)*) => {
        $(
            #[test]
            fn $case() {
                $crate::processes::$group::$case(&$processes);
            }
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __listing_of_processes {
    ([] $($group:ident :: $case:ident,)*) => {
        &[$($crate::ProcessesCase {
            group: stringify!($group),
            name: stringify!($case),
            run: $crate::processes::$group::$case,
        },)*]
    };
}
