//! Alerts on what a customer has of credits, while the balance moves.

use accrue::{
    alert::{Alert, NewBalanceAlert},
    credit::NewLedgerEntry,
    webhook::{Body, Message},
};

use crate::support::{
    credited::{
        CREDITS, amendment, block, credited, credited_with, decrement, depleted, dropped,
        extension, increment, recovered, void,
    },
    fixture::{NOON, at, block_on, event, number, refused, run, thresholds, usage_alert},
    priced::{NOTHING, Priced, cost_alert, priced, spend_alert, unit},
};

/// Something that moves a balance: usage of so much where it is below zero, and an increment where it
/// is above.
fn move_by(priced: &Priced, key: usize, amount: &str) {
    match amount.strip_prefix('-') {
        Some(used) => priced.use_now(&key.to_string(), used),
        None => drop(priced.give(amount)),
    }
}

/// Makes sure what an alert tells while a balance of 10 moves, without the causes.
fn check(new: NewBalanceAlert, moves: &[&str], expect: &[&str]) {
    let priced = credited_with("10");
    priced.watch(new);
    assert_eq!(priced.told(), NOTHING);
    for (key, amount) in moves.iter().enumerate() {
        move_by(&priced, key, amount);
    }
    let told: Vec<_> = priced.told();
    let told: Vec<_> = told.iter().map(|told| told.split(" by ").next().unwrap()).collect();
    assert_eq!(told, expect);
}

impl Priced {
    /// Which thresholds of an alert are in alert, as `threshold!`; the others as `threshold`.
    pub(crate) fn status(&self, alert: &Alert) -> String {
        let alert = block_on(self.fixture.account.fetch_alert(alert.id)).unwrap();
        let mark = |in_alert| if in_alert { "!" } else { "" };
        let statuses = alert.balance_alert_status.iter();
        let statuses = statuses.map(|of| format!("{}{}", of.threshold_value, mark(of.in_alert)));
        statuses.collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn alerts_feature(&self, alerts: bool) {
        let mut configuration = block_on(self.fixture.account.configuration()).unwrap();
        configuration.features.alerts = alerts;
        run(self.fixture.account.configure(configuration)).unwrap();
    }
}

#[test]
fn dropped_fires_at_or_below_its_threshold() {
    check(dropped(&["5"]), &["-4.999999"], &[]);
    check(dropped(&["5"]), &["-5"], &["dropped 5: 10 -> 5"]);
    check(dropped(&["5"]), &["-5.000001"], &["dropped 5: 10 -> 4.999999"]);
}

#[test]
fn dropped_fires_once_until_the_balance_is_strictly_above_again() {
    check(dropped(&["5"]), &["-6", "-1", "-1"], &["dropped 5: 10 -> 4"]);
    check(dropped(&["5"]), &["-6", "1", "-1"], &["dropped 5: 10 -> 4"]);
    let expect = ["dropped 5: 10 -> 4", "dropped 5: 5.000001 -> 5"];
    check(dropped(&["5"]), &["-6", "1.000001", "-0.000001"], &expect);
    let expect = ["dropped 5: 10 -> 5", "dropped 5: 6 -> 5"];
    check(dropped(&["5"]), &["-5", "1", "-1"], &expect);
}

#[test]
fn depleted_fires_from_above_zero_to_zero_or_below() {
    check(depleted(), &["-9.999999"], &[]);
    check(depleted(), &["-10"], &["depleted: 10 -> 0"]);
    check(depleted(), &["-12"], &["depleted: 10 -> -2"]);
    check(depleted(), &["-10", "-1", "-1"], &["depleted: 10 -> 0"]);
    check(depleted(), &["-12", "2", "-1"], &["depleted: 10 -> -2"]);
    let expect = ["depleted: 10 -> -2", "depleted: 0.5 -> -0.5"];
    check(depleted(), &["-12", "2.5", "-1"], &expect);
}

#[test]
fn recovered_fires_from_zero_or_below_to_above_zero() {
    check(recovered(), &["5"], &[]);
    check(recovered(), &["-5", "5"], &[]);
    check(recovered(), &["-10", "0.000001"], &["recovered: 0 -> 0.000001"]);
    check(recovered(), &["-12", "2", "1"], &["recovered: 0 -> 1"]);
    check(recovered(), &["-12", "5", "5"], &["recovered: -2 -> 3"]);
    let expect = ["recovered: 0 -> 5", "recovered: 0 -> 1"];
    check(recovered(), &["-10", "5", "-5", "1"], &expect);
}

#[test]
fn several_thresholds_crossed_at_once_are_one_message() {
    check(dropped(&["8", "2", "5"]), &["-9"], &["dropped 8 5 2: 10 -> 1"]);
    check(dropped(&["8", "2", "5"]), &["-5", "-4"], &["dropped 8 5: 10 -> 5", "dropped 2: 5 -> 1"]);
    let expect = ["dropped 8 5 2: 10 -> 1", "dropped 5 2: 7 -> 1"];
    check(dropped(&["8", "5", "2"]), &["-9", "6", "-6"], &expect);
}

#[test]
fn the_most_advanced_threshold_is_the_smallest_one_crossed() {
    let priced = credited_with("10");
    priced.watch(dropped(&["2", "5", "8"]));
    priced.use_now("a", "6");
    let messages = priced.fixture.messages();
    let crossed = messages.iter().find_map(|message: &Message| match &message.body {
        Body::CreditBalanceDropped(crossed) => Some(crossed),
        _ => None,
    });
    let crossed = crossed.unwrap();
    assert_eq!(crossed.threshold, Some(number("5")));
    assert_eq!(crossed.thresholds, [number("8"), number("5")]);
    assert_eq!(crossed.customer_id, priced.customer);
    assert_eq!((&crossed.value_before, &crossed.value_after), (&Some(number("10")), &number("4")));
}

#[test]
fn zero_negative_and_fractional_thresholds_are_compared_exactly() {
    check(dropped(&["0"]), &["-9.999", "-0.001"], &["dropped 0: 0.001 -> 0"]);
    check(dropped(&["-5"]), &["-14.9999", "-0.0001"], &["dropped -5: -4.9999 -> -5"]);
    let many = "0.3333333333333333333333333333";
    check(dropped(&[many]), &["-9.6666666666666666666666666"], &[]);
    let expect = format!("dropped {many}: 10 -> 0.3");
    check(dropped(&[many]), &["-9.7"], &[&expect]);
}

#[test]
fn entries_of_the_caller_are_judged_as_usage_is() {
    let priced = credited_with("10");
    let id = priced.blocks()[0].id;
    priced.watch(dropped(&["5"]));
    priced.watch(depleted());
    priced.watch(recovered());
    priced.book(decrement("5")).unwrap();
    assert_eq!(priced.told(), ["dropped 5: 10 -> 5 by credit"]);
    priced.book(amendment("1", id)).unwrap();
    priced.book(void("2", id)).unwrap();
    assert_eq!(priced.told(), ["dropped 5: 6 -> 4 by credit"], "an amendment arms it again");
    priced.book(extension(id, "2026-05-01T00:00:00Z")).unwrap();
    assert_eq!(priced.told(), NOTHING, "the balance stays");
    priced.book(decrement("7")).unwrap();
    assert_eq!(priced.told(), ["depleted: 4 -> -3 by credit"]);
    priced.give("4");
    assert_eq!(priced.told(), ["recovered: -3 -> 1 by credit"]);
}

#[test]
fn a_decrement_from_several_blocks_is_judged_once() {
    let priced = credited_with("5");
    priced.give("5");
    priced.watch(dropped(&["7", "5", "3"]));
    priced.book(decrement("8")).unwrap();
    assert_eq!(priced.told(), ["dropped 7 5 3: 10 -> 2 by credit"]);
}

#[test]
fn the_cause_is_the_entry_or_the_block() {
    let priced = credited();
    let given = priced.give_until("5", "2026-03-20T00:00:00Z");
    priced.watch(dropped(&["3", "0"]));
    priced.fixture.drain();
    let taken = priced.book(decrement("2")).unwrap();
    priced.fixture.set("2026-03-20T00:00:00Z");
    priced.fixture.tick();
    let causes = priced.fixture.drain().into_iter().filter_map(|message| match message.body {
        Body::CreditBalanceDropped(crossed) => Some(crossed.cause),
        _ => None,
    });
    let expect = [
        accrue::alert::Cause::Credit { entry_id: taken.id },
        accrue::alert::Cause::Expiry { block_id: given.credit_block.id },
    ];
    assert_eq!(causes.collect::<Vec<_>>(), expect);
}

#[test]
fn an_expiry_fires_at_its_own_instant() {
    let priced = credited();
    priced.give_until("5", "2026-03-20T00:00:00Z");
    priced.watch(dropped(&["3"]));
    priced.watch(depleted());
    priced.fixture.tick();
    priced.fixture.drain();
    priced.fixture.set("2026-03-25T00:00:00Z");
    priced.fixture.tick();
    let expect = [
        "2026-03-20T00:00:00Z customer.credit_balance_dropped",
        "2026-03-20T00:00:00Z customer.credit_balance_depleted",
    ];
    assert_eq!(priced.fixture.dated(), expect);
}

#[test]
fn usage_that_is_taken_back_can_recover_a_balance() {
    let priced = credited_with("10");
    priced.watch(depleted());
    priced.watch(recovered());
    priced.use_now("a", "10");
    priced.use_now("b", "-4");
    assert_eq!(priced.told(), ["depleted: 10 -> 0 by event a", "recovered: 0 -> 4 by event b"]);
}

#[test]
fn dropped_comes_before_depleted_whatever_was_created_first() {
    let priced = credited_with("10");
    priced.watch(depleted());
    priced.watch(dropped(&["5"]));
    priced.use_now("a", "10");
    assert_eq!(priced.told(), ["dropped 5: 10 -> 0 by event a", "depleted: 10 -> 0 by event a"]);
}

#[test]
fn within_an_event_usage_and_cost_come_before_credits() {
    let priced = priced(|fixture, metric| {
        let mut credits = fixture.usage_at("1", metric);
        credits.currency = unit(CREDITS);
        [credits, fixture.usage_at("2", metric)]
    });
    priced.give("5");
    priced.watch(depleted());
    priced.watch(dropped(&["2"]));
    priced.alert(cost_alert(&["10"]));
    priced.alert(usage_alert(priced.metric.id, &["5"]));
    priced.fixture.drain();
    priced.use_now("a", "5");
    let told = priced.told();
    let kinds: Vec<_> = told.iter().map(|told| told.split([' ', ':']).next().unwrap()).collect();
    assert_eq!(kinds, ["usage", "cost", "dropped", "depleted"]);
    assert!(told.iter().all(|told| told.ends_with("by event a")), "{told:?}");
}

#[test]
fn cost_is_judged_before_credits() {
    let priced = priced(|fixture, metric| [fixture.usage_at("1", metric)]);
    let new = NewLedgerEntry::increment(unit("USD"), number("100"));
    run(priced.fixture.account.create_ledger_entry(priced.customer, new)).unwrap();
    priced.alert(cost_alert(&["10"]));
    priced.alert(spend_alert("USD", &["10"]));
    priced.fixture.drain();
    priced.use_now("a", "10");
    assert_eq!(
        priced.told(),
        ["cost 10: none -> 10 by event a", "spend 10: none -> 10 by event a"]
    );
    assert_eq!(priced.cost().total, number("10"), "what credits pay is not taken off");
}

#[test]
fn every_event_of_a_batch_is_judged_in_its_order() {
    let priced = credited_with("10");
    priced.watch(dropped(&["5"]));
    priced.watch(depleted());
    priced.watch(recovered());
    let batch = ["6", "-3", "3", "5"].iter().enumerate();
    let batch = batch.map(|(key, n)| event("ada", &key.to_string(), at(NOON), n));
    run(priced.fixture.account.ingest(batch)).unwrap();
    let expect = [
        "dropped 5: 10 -> 4 by event 0",
        "dropped 5: 7 -> 4 by event 2",
        "depleted: 4 -> -1 by event 3",
    ];
    assert_eq!(priced.told(), expect);
}

#[test]
fn an_event_is_judged_over_all_subscriptions_once() {
    let priced = credited_with("10");
    priced.fixture.subscribe(priced.customer, &priced.plan);
    priced.watch(dropped(&["7", "4"]));
    priced.fixture.drain();
    priced.use_now("a", "3");
    assert_eq!(priced.told(), ["dropped 7 4: 10 -> 4 by event a"]);
}

#[test]
fn before_the_first_entry_there_is_no_balance() {
    let priced = credited();
    let alerts = [dropped(&["5", "0"]), depleted(), recovered()].map(|new| priced.watch(new));
    priced.use_now("a", "3");
    assert_eq!(priced.told(), NOTHING, "nothing is drawn");
    assert_eq!(alerts.each_ref().map(|alert| priced.status(alert)), ["5 0", "0", "0"]);
    priced.give("9");
    assert_eq!(priced.told(), NOTHING);
    priced.use_now("b", "4");
    assert_eq!(priced.told(), ["dropped 5: 9 -> 5 by event b"]);
}

#[test]
fn no_value_is_safe_for_every_threshold() {
    let priced = credited();
    priced.watch(dropped(&["5", "20"]));
    priced.watch(recovered());
    priced.give("9");
    assert_eq!(priced.told(), ["dropped 20: none -> 9 by credit"]);
}

#[test]
fn the_first_entry_may_deplete_the_balance() {
    let priced = credited();
    priced.watch(depleted());
    priced.watch(dropped(&["5", "-3"]));
    priced.book(decrement("2")).unwrap();
    let expect = ["dropped 5: none -> -2 by credit", "depleted: none -> -2 by credit"];
    assert_eq!(priced.told(), expect);
}

#[test]
fn an_alert_on_another_unit_is_not_moved() {
    let priced = credited_with("10");
    let new = NewLedgerEntry::increment(unit("USD"), number("10"));
    run(priced.fixture.account.create_ledger_entry(priced.customer, new)).unwrap();
    for currency in ["USD", "Credits", "EUR"] {
        let (low, unit) = (thresholds(&["5"]), unit(currency));
        priced.watch(NewBalanceAlert::credit_balance_dropped(unit.clone(), low));
        priced.watch(NewBalanceAlert::credit_balance_depleted(unit));
    }
    priced.use_now("a", "20");
    priced.give("20");
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn an_alert_on_another_customer_is_not_moved() {
    let priced = credited_with("10");
    let eve = priced.fixture.customer("eve").id;
    run(priced.fixture.account.create_ledger_entry(eve, increment("10"))).unwrap();
    run(priced.fixture.account.create_customer_alert(eve, depleted())).unwrap();
    priced.use_now("a", "20");
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn a_block_that_is_not_effective_yet_keeps_an_alert_silent() {
    let priced = credited_with("5");
    priced.book(block("10", "2026-03-12T00:00:00Z", "", "")).unwrap();
    priced.watch(depleted());
    priced.watch(dropped(&["5"]));
    priced.use_now("a", "7");
    assert_eq!(priced.standing(), "8: 0, 2");
    assert_eq!(priced.told(), NOTHING, "alerts watch the balance");
}

#[test]
fn the_status_follows_the_balance() {
    let priced = credited_with("10");
    let low = priced.watch(dropped(&["8", "5"]));
    let [out, back] = [depleted(), recovered()].map(|new| priced.watch(new));
    let check = |amount: &str, expect: [&str; 3]| {
        let key = priced.entries().len();
        move_by(&priced, key, amount);
        let found = [&low, &out, &back].map(|alert| priced.status(alert));
        assert_eq!(found, expect, "after {amount}");
    };
    check("-2", ["8! 5", "0", "0"]);
    check("1", ["8 5", "0", "0"]);
    check("-4", ["8! 5!", "0", "0"]);
    check("-5", ["8! 5!", "0!", "0"]);
    check("1", ["8! 5!", "0", "0!"]);
    check("5", ["8! 5", "0", "0!"]);
    check("-7", ["8! 5!", "0!", "0"]);
    assert_eq!(priced.balance(), Some("-1".to_owned()));
}

#[test]
fn an_entry_that_is_refused_tells_nothing() {
    let priced = credited_with("10");
    priced.watch(depleted());
    let id = priced.blocks()[0].id;
    let call = priced.fixture.account.create_ledger_entry(priced.customer, void("11", id));
    refused(&priced.fixture, call);
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn the_message_of_an_increment_comes_before_those_of_its_alerts() {
    let priced = credited();
    priced.book(decrement("1")).unwrap();
    priced.watch(recovered());
    priced.give("5");
    let expect = ["customer.credit_ledger_incremented", "customer.credit_balance_recovered"];
    assert_eq!(priced.fixture.message_types(), expect);
}
