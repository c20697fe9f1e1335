//! Alerts on balances that are created, changed, disabled and enabled over a balance.

use accrue::alert::NewBalanceAlert;

use crate::support::{
    credited::{credited, credited_with, decrement, depleted, dropped, recovered},
    fixture::run,
    priced::NOTHING,
};

#[test]
fn disabled_it_never_fires_and_saves_nothing_up() {
    let priced = credited_with("10");
    let alert = priced.watch(dropped(&["5"]));
    priced.fixture.disable(alert.id);
    priced.use_now("a", "6");
    priced.give("6");
    assert_eq!(priced.told(), NOTHING);
    priced.fixture.enable(alert.id);
    assert_eq!(priced.told(), NOTHING, "nothing holds now");
    priced.use_now("b", "5");
    assert_eq!(priced.told(), ["dropped 5: 10 -> 5 by event b"]);
}

#[test]
fn enabled_it_fires_at_once_for_what_holds_and_is_not_in_alert() {
    let priced = credited_with("10");
    let alert = priced.watch(dropped(&["8", "5", "2"]));
    priced.use_now("a", "3");
    priced.told();
    priced.fixture.disable(alert.id);
    priced.use_now("b", "3");
    assert_eq!(priced.status(&alert), "8! 5 2");
    priced.fixture.enable(alert.id);
    assert_eq!(priced.told(), ["dropped 5: 4 -> 4 by configuration"]);
    assert_eq!(priced.status(&alert), "8! 5! 2");
    priced.fixture.enable(alert.id);
    priced.fixture.disable(alert.id);
    priced.fixture.enable(alert.id);
    assert_eq!(priced.told(), NOTHING, "once");
}

#[test]
fn disabled_it_is_armed_again() {
    let priced = credited_with("10");
    let alert = priced.watch(dropped(&["5"]));
    priced.use_now("a", "6");
    priced.fixture.disable(alert.id);
    priced.give("3");
    assert_eq!(priced.status(&alert), "5");
    priced.use_now("b", "3");
    priced.told();
    priced.fixture.enable(alert.id);
    assert_eq!(priced.told(), ["dropped 5: 4 -> 4 by configuration"]);
}

#[test]
fn depleted_enabled_over_an_empty_balance_fires_and_recovered_does_not() {
    let priced = credited_with("1");
    let [depleted, recovered] = [depleted(), recovered()].map(|new| priced.watch(new));
    for alert in [&depleted, &recovered] {
        priced.fixture.disable(alert.id);
    }
    priced.use_now("a", "1");
    priced.fixture.enable(depleted.id);
    priced.fixture.enable(recovered.id);
    assert_eq!(priced.told(), ["depleted: 0 -> 0 by configuration"]);
    priced.give("1");
    assert_eq!(priced.told(), ["recovered: 0 -> 1 by credit"]);
}

#[test]
fn recovered_enabled_above_zero_does_not_fire() {
    let priced = credited_with("1");
    let alert = priced.watch(recovered());
    priced.use_now("a", "1");
    priced.fixture.disable(alert.id);
    priced.give("1");
    priced.fixture.enable(alert.id);
    priced.give("1");
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn recovered_needs_no_alert_on_depletion() {
    let priced = credited_with("1");
    priced.use_now("a", "1");
    priced.watch(recovered());
    assert_eq!(priced.told(), NOTHING);
    priced.give("1");
    assert_eq!(priced.told(), ["recovered: 0 -> 1 by credit"]);
}

#[test]
fn other_thresholds_are_judged_at_once() {
    let priced = credited_with("10");
    let alert = priced.watch(dropped(&["5"]));
    priced.use_now("a", "6");
    priced.told();
    priced.fixture.rethreshold(alert.id, &["8", "5", "4", "3"]);
    assert_eq!(priced.told(), ["dropped 8 4: 4 -> 4 by configuration"]);
    priced.fixture.rethreshold(alert.id, &["5"]);
    priced.fixture.rethreshold(alert.id, &["8"]);
    assert_eq!(priced.told(), NOTHING, "what is in alert is kept by value");
    priced.give("10");
    priced.use_now("b", "7");
    assert_eq!(priced.told(), ["dropped 8: 14 -> 7 by event b"]);
}

#[test]
fn deleted_it_is_silent_and_a_new_one_starts_afresh() {
    let priced = credited_with("10");
    let alert = priced.watch(dropped(&["5"]));
    priced.use_now("a", "6");
    run(priced.fixture.account.delete_alert(alert.id)).unwrap();
    priced.told();
    priced.give("5");
    priced.use_now("b", "5");
    assert_eq!(priced.told(), NOTHING);
    priced.watch(dropped(&["5"]));
    assert_eq!(priced.told(), ["dropped 5: 4 -> 4 by configuration"]);
}

#[test]
fn deleted_it_leaves_the_ledger_as_it_was() {
    let priced = credited_with("10");
    let alert = priced.watch(depleted());
    run(priced.fixture.account.delete_alert(alert.id)).unwrap();
    priced.use_now("a", "4");
    assert_eq!(priced.balance().as_deref(), Some("6"));
}

#[test]
fn created_over_a_balance_it_fires_at_once() {
    let check = |new: NewBalanceAlert, balance: &str, expect: &[&str]| {
        let priced = credited();
        match balance.strip_prefix('-') {
            Some(below) => drop(priced.book(decrement(below)).unwrap()),
            None => drop(priced.give(balance)),
        }
        let alert = priced.watch(new.clone());
        assert_eq!(priced.told(), expect);
        priced.use_now("a", "0.5");
        assert_eq!(priced.told(), NOTHING, "{} has fired", priced.status(&alert));
    };
    check(dropped(&["5", "3", "1"]), "3", &["dropped 5 3: 3 -> 3 by configuration"]);
    check(dropped(&["5"]), "9", &[]);
    check(depleted(), "9", &[]);
    check(depleted(), "-1", &["depleted: -1 -> -1 by configuration"]);
    check(recovered(), "-1", &[]);
    check(recovered(), "9", &[]);
}

#[test]
fn where_alerts_are_off_none_fires_and_nothing_is_saved_up() {
    let priced = credited_with("10");
    let alert = priced.watch(dropped(&["8", "5"]));
    priced.use_now("a", "2");
    priced.told();
    priced.alerts_feature(false);
    priced.use_now("b", "4");
    assert_eq!(priced.told(), NOTHING);
    priced.alerts_feature(true);
    assert_eq!(priced.status(&alert), "8! 5");
    priced.use_now("c", "1");
    assert_eq!(priced.told(), NOTHING, "5 was crossed while they were off");
    priced.give("7");
    priced.use_now("d", "5");
    assert_eq!(priced.told(), ["dropped 8 5: 10 -> 5 by event d"]);
}

#[test]
fn where_alerts_are_off_credits_go_on() {
    let priced = credited_with("10");
    priced.watch(depleted());
    priced.alerts_feature(false);
    priced.use_now("a", "3");
    priced.book(decrement("1")).unwrap();
    assert_eq!(priced.standing(), "6: 6, 0");
}
