mod processes;

pub use self::processes::{ProcessesCase, processes_cases};
use crate::Harness;

/// Makes one test of each case, for the harness that an expression makes anew each time.
///
/// ```text
/// accrue_conformance::suite!(MyHarness::default());
/// ```
///
/// A test crate with several backends names them, and each becomes a module:
///
/// ```text
/// accrue_conformance::suite!(plain, MyHarness::plain());
/// accrue_conformance::suite!(compressed, MyHarness::compressed());
/// ```
#[macro_export]
macro_rules! suite {
    ($name:ident, $harness:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::suite!($harness);
        }
    };
    ($harness:expr $(,)?) => {
        $crate::__each_case! { [$crate::__tests] $harness }
    };
}

/// One case of the suite. It panics where the store breaks the contract.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The module of [`cases`](mod@crate::cases) that it is in.
    pub group: &'static str,
    /// The name of its function.
    pub name: &'static str,
    /// Runs it on the empty store of a harness.
    pub run: fn(&dyn Harness),
}

/// Returns every case of the suite, in the order of the macro [`suite`](crate::suite).
#[must_use]
pub const fn cases() -> &'static [Case] {
    crate::__each_case! { [crate::__listing] }
}

// The only list of the cases: the tests and `cases` are both made from it.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_case {
    ([$($then:tt)*] $($context:tt)*) => {
        $($then)*! {
            [$($context)*]
            reads::get_of_no_keys_is_empty,
            reads::get_answers_nothing_for_absent_rows,
            reads::get_answers_in_the_order_asked,
            reads::get_answers_a_repeated_key_each_time,
            reads::get_takes_many_keys,
            reads::get_sees_the_last_commit,
            reads::get_tells_similar_keys_apart,
            preconditions::absent_holds_only_without_a_row,
            preconditions::a_version_holds_only_while_the_row_has_it,
            preconditions::a_version_does_not_hold_of_a_deleted_row,
            preconditions::a_conflict_names_the_first_failed_precondition,
            preconditions::a_conflict_applies_nothing,
            preconditions::preconditions_are_judged_before_the_changes,
            preconditions::preconditions_of_one_key_are_all_judged,
            preconditions::a_check_is_judged_like_a_commit,
            preconditions::a_check_makes_no_version,
            inserts::an_insert_writes_only_where_there_is_no_row,
            inserts::a_conflict_of_an_insert_applies_nothing,
            inserts::inserts_are_judged_behind_the_preconditions,
            inserts::an_insert_is_judged_beside_preconditions_of_its_key,
            inserts::inserts_outlive_reopening,
            versions::rows_of_a_commit_have_its_version,
            versions::a_rewritten_row_has_a_new_version,
            versions::a_version_is_never_used_twice_for_a_key,
            versions::a_version_is_not_used_again_after_deletion,
            versions::rows_that_a_commit_leaves_alone_keep_their_versions,
            batches::a_batch_is_applied_whole,
            batches::a_batch_mixes_puts_and_deletes,
            batches::a_batch_spans_tables,
            batches::deleting_an_absent_row_changes_nothing,
            batches::changes_need_no_preconditions,
            scans::scan_is_in_unsigned_byte_order,
            scans::scan_backwards_is_the_reverse,
            scans::scan_bounds_are_half_open,
            scans::scan_of_an_empty_range_is_empty,
            scans::scan_of_a_prefix_is_exact,
            scans::scan_gives_at_most_its_limit,
            scans::scan_backwards_gives_the_greatest_keys,
            scans::pages_forward_miss_and_repeat_nothing,
            scans::pages_backward_miss_and_repeat_nothing,
            scans::scan_sees_one_table,
            scans::scan_takes_the_longest_keys,
            scans::scan_gives_the_rows_that_get_gives,
            scans::scan_sees_the_last_commit,
            documents::documents_come_back_with_the_same_value,
            documents::the_greatest_integers_come_back,
            documents::text_comes_back_to_the_letter,
            documents::the_largest_document_comes_back,
            limits::a_commit_takes_the_most_changes_and_preconditions,
            limits::a_commit_takes_the_most_inserts,
            limits::a_commit_takes_the_most_bytes,
            reopening::rows_outlive_reopening,
            reopening::deletions_outlive_reopening,
            reopening::versions_outlive_reopening,
            reopening::a_version_is_not_used_again_after_reopening,
            parallel::one_of_many_inserts_wins,
            parallel::one_of_many_bare_inserts_wins,
            parallel::one_of_many_updates_wins,
            parallel::no_increment_is_lost,
            parallel::transfers_keep_the_sum,
            parallel::readers_never_see_half_a_commit,
            random::random_calls_agree_with_a_store_in_memory,
            failures::a_failed_commit_keeps_its_word,
            failures::random_commits_under_faults_keep_their_word,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ([$harness:expr] $($group:ident :: $case:ident,)*) => {
        $(
            #[test]
            fn $case() {
                $crate::cases::$group::$case(&$harness);
            }
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __listing {
    ([] $($group:ident :: $case:ident,)*) => {
        &[$($crate::Case {
            group: stringify!($group),
            name: stringify!($case),
            run: $crate::cases::$group::$case,
        },)*]
    };
}
