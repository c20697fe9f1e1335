//! Usage draws credits down while it is ingested.

use crate::credited::{credited, credited_with, depleted, dropped, recovered};

#[test]
fn usage_takes_from_the_balance_into_one_entry_a_day() {
    let priced = credited_with("5");
    priced.use_now("a", "1");
    priced.use_now("b", "1.5");
    assert_eq!(priced.balance().as_deref(), Some("2.5"));
    assert_eq!(priced.ledger(), ["increment 5 = 5", "decrement -2.5 = 2.5"]);
    priced.fixture.set("2026-03-11T00:00:00Z");
    priced.use_now("c", "4");
    let expect =
        ["increment 5 = 5", "decrement -2.5 = 2.5", "decrement -2.5 = 0", "decrement -1.5 = -1.5"];
    assert_eq!(priced.ledger(), expect);
    assert_eq!(priced.all_blocks(), ["0 of 5", "-1.5 overdrawn"]);
}

#[test]
fn without_a_ledger_nothing_is_drawn() {
    let priced = credited();
    priced.use_now("a", "3");
    assert_eq!(priced.balance(), None);
    priced.give("5");
    assert_eq!(priced.balance().as_deref(), Some("5"));
    priced.use_now("b", "1");
    assert_eq!(priced.balance().as_deref(), Some("4"));
}

#[test]
fn s6_usage_then_dropped_then_depleted_then_recovered() {
    let priced = credited_with("5");
    priced.watch(recovered());
    priced.watch(depleted());
    priced.watch(dropped(&["2.5", "1"]));
    assert!(priced.told().is_empty());
    priced.use_now("a", "2.5");
    priced.use_now("b", "2.5");
    priced.give("1.5");
    priced.give("1.5");
    let told = priced.told();
    let expect = [
        "dropped 2.5: 5 -> 2.5 by event a",
        "dropped 1: 2.5 -> 0 by event b",
        "depleted: 2.5 -> 0 by event b",
        "recovered: 0 -> 1.5 by credit",
    ];
    assert_eq!(told, expect);
    priced.use_now("c", "5");
    let expect = ["dropped 2.5 1: 3 -> -2 by event c", "depleted: 3 -> -2 by event c"];
    assert_eq!(priced.told(), expect);
}
