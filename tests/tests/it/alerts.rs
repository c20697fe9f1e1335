//! Alerts fire as a naive model says, whatever the batches, and whenever time is applied.

use accrue_tests::{
    cases,
    script::{self, Manner},
    world,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(300))]

    /// §6: exactly one message per crossing, never missed, never doubled, and the same however
    /// events are cut into batches and whenever `tick` runs.
    #[test]
    fn messages_equal_those_of_the_model(
        beginning in prop::sample::select(
            &["2026-03-10T09:07:31.000001Z", "2028-02-28T23:50:00Z", "2025-01-31T00:00:00Z"][..],
        ),
        script in script::alerts(),
        manner in script::manner(),
    ) {
        world::run(beginning, &script, &Manner::plain());
        let single = Manner { batches: vec![1], ticks: vec![true] };
        world::run(beginning, &script, &single);
        world::run(beginning, &script, &manner);
    }
}
