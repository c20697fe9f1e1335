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
