//! Figures, costs, credits and alerts follow backfills, amendments and deprecations, as a naive
//! recomputation from the events that count.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by a panic")]

use accrue_tests::{cases, corrected, script};
use proptest::prelude::*;

/// Before clocks change, at the end of a short month, and at odd instants.
const BEGINNINGS: &[&str] = &[
    "2026-03-10T09:07:31.000001Z",
    "2028-03-01T00:20:00Z",
    "2025-01-31T00:00:00Z",
    "2026-04-01T18:29:59.999999Z",
];

proptest! {
    #![proptest_config(cases(60))]

    /// Every figure equals a recomputation from the events that count, after every step.
    #[test]
    fn figures_equal_a_recomputation_from_what_counts(
        beginning in prop::sample::select(BEGINNINGS),
        opening in corrected::opening(),
        steps in corrected::script(),
    ) {
        corrected::run(beginning, &opening, &steps, None);
    }

    /// No outcome depends on when `tick` runs, or on how events are cut into batches.
    #[test]
    fn outcomes_do_not_depend_on_when_corrections_are_done(
        beginning in prop::sample::select(BEGINNINGS),
        opening in corrected::opening(),
        steps in corrected::script(),
        manner in script::manner(),
    ) {
        corrected::run(beginning, &opening, &steps, Some(&script::Manner::plain()));
        corrected::run(beginning, &opening, &steps, Some(&manner));
    }

    /// A revert restores the stored aggregates byte for byte where nothing came in between.
    #[test]
    fn a_revert_restores_what_is_stored(
        beginning in prop::sample::select(BEGINNINGS),
        opening in corrected::opening(),
        steps in corrected::script(),
        fills in prop::collection::vec(corrected::backfill_and_fills(), 1..3),
    ) {
        let mut bench = corrected::run(beginning, &opening, &steps, Some(&script::Manner::plain()));
        for (backfill, fills) in &fills {
            bench.check_restoring(backfill, fills);
        }
    }
}
