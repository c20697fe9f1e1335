//! What is judged at once, beside the same step by step.

use super::*;

proptest! {
    /// A balance that falls and comes to no level leaves the same at once as step by step, and fires nothing.
    #[test]
    fn where_it_is_quiet_steps_leave_what_one_leaves(
        dropped in some_thresholds(),
        before in prop::collection::vec(step(), 0..8),
        falls in prop::collection::vec(0_i64..4, 0..5),
    ) {
        let ledger = || {
            let mut ledger = Ledger::new(&dropped);
            before.iter().for_each(|step| drop(ledger.take(step)));
            ledger
        };
        let (mut one, mut other) = (ledger(), ledger());
        let start = before.iter().rev().find_map(|step| match step {
            To(balance) | Unseen(balance) => Some(*balance),
            _ => None,
        });
        let Some(start) = start else { return Ok(()) };
        let end = start - falls.iter().sum::<i64>();
        if one.watch().is_quiet_between(Some(&number(start)), Some(&number(end))) {
            let mut balance = start;
            for fall in &falls {
                balance -= fall;
                prop_assert!(one.go(balance, true).is_empty());
            }
            prop_assert!(other.go(end, true).is_empty());
            for alert in [DROPPED, DEPLETED, RECOVERED] {
                prop_assert_eq!(one.in_alert(alert), other.in_alert(alert));
            }
        }
    }
}

#[test]
fn it_is_quiet_between_two_levels_alone() {
    let check = |before: i64, after: i64, expect: bool| {
        let found = Ledger::new(&[5, 9]).watch();
        let found = found.is_quiet_between(Some(&number(before)), Some(&number(after)));
        assert_eq!(found, expect, "from {before} to {after}");
    };
    for (before, after, expect) in [
        (8, 6, true),
        (8, 5, false),
        (9, 6, false),
        (4, 1, true),
        (4, 0, false),
        (6, 8, false),
        (5, 5, true),
    ] {
        check(before, after, expect);
    }
    let watch = Ledger::new(&[5]).watch();
    assert!(watch.is_quiet_between(None, None));
    assert!(!watch.is_quiet_between(None, Some(&number(7))));
}
