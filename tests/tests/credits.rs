//! Balances, blocks, entries and alerts on balances, as a naive bank recomputes them from what was
//! accepted.

use accrue_tests::{
    cases, credit,
    script::{self, Manner},
};
use proptest::prelude::*;

/// Before clocks change, near the end of a short month, and near the end of a year.
const BEGINNINGS: &[&str] = &[
    "2026-03-10T09:07:31.000001Z",
    "2028-02-28T23:50:00Z",
    "2025-01-31T00:00:00Z",
    "2026-10-24T22:30:00Z",
    "2025-12-31T18:29:59.999999Z",
];

proptest! {
    #![proptest_config(cases(300))]

    /// §7: the balance is the sum of the entries and of the blocks, and all three are those of the
    /// operations that were accepted; a committed entry never changes; what is refused writes
    /// nothing. None of it depends on how events are cut into batches, or on when `tick` runs.
    #[test]
    fn ledgers_and_messages_equal_those_of_the_bank(
        beginning in prop::sample::select(BEGINNINGS),
        opening in credit::opening(),
        steps in credit::script(),
        manner in script::manner(),
    ) {
        let single = Manner { batches: vec![1], ticks: vec![true] };
        for manner in [Manner::plain(), single, manner] {
            credit::run(beginning, &opening, &steps, &manner);
        }
    }
}
