//! Costs, usage over any timeframe and alerts on costs, as a naive biller recomputes them from the
//! events.

use accrue_tests::{
    bill, cases,
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

fn beginning() -> impl Strategy<Value = &'static str> {
    prop::sample::select(BEGINNINGS)
}

proptest! {
    #![proptest_config(cases(200))]

    /// §5: "Cost over [a, b) is the cumulative cost at b less that at a, period by period"; usage
    /// over a timeframe is that of its events.
    #[test]
    fn costs_and_usage_equal_a_recomputation(
        beginning in beginning(),
        opening in bill::opening(),
        steps in bill::costs(),
        manner in script::manner(),
    ) {
        bill::run(beginning, &opening, &steps, &manner);
    }

    /// §5: "timeframes that adjoin add up".
    #[test]
    fn timeframes_that_adjoin_add_up(
        beginning in beginning(),
        opening in bill::opening(),
        steps in bill::costs(),
        asked in prop::collection::vec(bill::adding_up(), 1..6),
    ) {
        let bench = bill::run(beginning, &opening, &steps, &Manner::plain());
        for (life, ends) in asked {
            bench.check_adding_up(life, ends);
        }
    }

    /// §6: exactly one message per crossing and billing period, armed again in the next one, and the
    /// same however events are cut into batches and whenever `tick` runs.
    #[test]
    fn messages_equal_those_of_the_biller(
        beginning in beginning(),
        opening in bill::opening(),
        steps in bill::alerts(),
        manner in script::manner(),
    ) {
        let plain = bill::run(beginning, &opening, &steps, &Manner::plain());
        let single = Manner { batches: vec![1], ticks: vec![true] };
        for manner in [single, manner] {
            let other = bill::run(beginning, &opening, &steps, &manner);
            prop_assert_eq!(&other.messages, &plain.messages);
        }
    }
}
