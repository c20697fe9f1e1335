mod quiet;

use std::collections::BTreeMap;

use proptest::{prelude::*, sample::subsequence};

use super::*;
use crate::{
    Entropy, PricingUnit, SeededEntropy, Timestamp,
    alert::{NewBalanceAlert, Thresholds},
};

/// What becomes of a ledger and of the alerts on it.
#[derive(Clone, Debug)]
enum Step {
    /// The balance moves.
    To(i64),
    /// It moves while the account has no alerts.
    Unseen(i64),
    Enable(usize),
    Disable(usize),
    Thresholds(Vec<i64>),
}
use Step::{Disable, Enable, To, Unseen};

const DROPPED: usize = 0;
const DEPLETED: usize = 1;
const RECOVERED: usize = 2;

fn number(value: i64) -> Decimal {
    Decimal::parse(&value.to_string()).unwrap()
}

fn thresholds(values: &[i64]) -> Thresholds {
    Thresholds::new(values.iter().copied().map(number)).unwrap()
}

/// A ledger as the engine keeps it: what is saved is all that goes from one step to the next.
struct Ledger {
    alerts: [Alert; 3],
    saved: BTreeMap<AlertId, InAlert>,
    balance: Option<Decimal>,
}

impl Ledger {
    fn new(dropped: &[i64]) -> Self {
        let entropy = SeededEntropy::new(1);
        let unit = PricingUnit::parse("credits").unwrap();
        let new = [
            NewBalanceAlert::credit_balance_dropped(unit.clone(), thresholds(dropped)),
            NewBalanceAlert::credit_balance_depleted(unit.clone()),
            NewBalanceAlert::credit_balance_recovered(unit),
        ];
        let decide = |new: NewBalanceAlert| {
            let id = AlertId::generate(Timestamp::MIN, &entropy);
            new.decide(id, customer(&entropy), &[], Timestamp::MIN).unwrap()
        };
        Self { alerts: new.map(decide), saved: BTreeMap::new(), balance: None }
    }

    fn watch(&self) -> BalanceWatch {
        let saved = |alert: &Alert| self.saved.get(&alert.id).cloned().unwrap_or_default();
        // The order in which they are read is not that in which they fire.
        BalanceWatch::new(self.alerts.iter().rev().map(|alert| (alert.clone(), saved(alert))))
    }

    fn save(&mut self, watch: &BalanceWatch) {
        self.saved.extend(watch.moved().map(|(id, in_alert)| (id, in_alert.clone())));
    }

    /// Takes a step, and returns what fires.
    fn take(&mut self, step: &Step) -> Vec<BalanceCrossed> {
        match step {
            To(after) => self.go(*after, true),
            Unseen(after) => self.go(*after, false),
            Enable(alert) => self.change(*alert, |alert| alert.enabled = true),
            Disable(alert) => self.change(*alert, |alert| alert.enabled = false),
            Step::Thresholds(values) => {
                self.change(DROPPED, |alert| alert.thresholds = Some(thresholds(values)))
            }
        }
    }

    fn go(&mut self, after: i64, fires: bool) -> Vec<BalanceCrossed> {
        let (mut watch, after) = (self.watch(), number(after));
        let before = self.balance.replace(after.clone());
        let customer_id = customer(&SeededEntropy::new(1));
        let cause = Cause::Period { timestamp: Timestamp::MIN };
        let crossed = watch.judge(customer_id, before.as_ref(), &after, &cause, fires);
        self.save(&watch);
        crossed
    }

    fn change(&mut self, alert: usize, change: impl Fn(&mut Alert)) -> Vec<BalanceCrossed> {
        change(&mut self.alerts[alert]);
        let (mut watch, id) = (self.watch(), self.alerts[alert].id);
        let customer_id = customer(&SeededEntropy::new(1));
        let balance = self.balance.as_ref();
        let crossed = balance.and_then(|balance| watch.judge_at_once(customer_id, id, balance));
        self.save(&watch);
        crossed.into_iter().collect()
    }

    fn in_alert(&self, alert: usize) -> Vec<bool> {
        let mut shown = self.alerts[alert].clone();
        shown.show_status(&self.saved.get(&shown.id).cloned().unwrap_or_default());
        shown.balance_alert_status.iter().map(|status| status.in_alert).collect()
    }
}

fn customer(entropy: &dyn Entropy) -> CustomerId {
    CustomerId::generate(Timestamp::MIN, entropy)
}

/// A message as `kind threshold [thresholds] before -> after`.
fn describe(crossed: &BalanceCrossed) -> String {
    let kind = crossed.alert.condition.alert_type().trim_start_matches("credit_balance_");
    let before = crossed.value_before.as_ref().map_or("none".to_owned(), Decimal::to_string);
    let all: Vec<_> = crossed.thresholds.iter().map(Decimal::to_string).collect();
    let of = match &crossed.threshold {
        Some(threshold) => format!("{kind} {threshold} of {}", all.join(" ")),
        None => kind.to_owned(),
    };
    format!("{of}: {before} -> {}", crossed.value_after)
}

/// Holds what fires in a walk with thresholds of 10 and 5 against what is expected, step by step.
fn check(walk: &[(Step, &[&str])]) {
    let mut ledger = Ledger::new(&[5, 10]);
    for (index, (step, expect)) in walk.iter().enumerate() {
        let found: Vec<_> = ledger.take(step).iter().map(describe).collect();
        assert_eq!(found, *expect, "step {index}: {step:?}");
    }
}

#[test]
fn s2_1_dropped_fires_at_or_below_its_threshold_and_once() {
    check(&[
        (To(11), &[]),
        (To(10), &["dropped 10 of 10: 11 -> 10"]),
        (To(9), &[]),
        (To(10), &[]),
        (To(9), &[]),
    ]);
}

#[test]
fn several_thresholds_crossed_at_once_are_one_message_for_the_smallest() {
    check(&[(To(20), &[]), (To(3), &["dropped 5 of 10 5: 20 -> 3"])]);
}

#[test]
fn from_no_balance_every_threshold_is_crossed() {
    check(&[(To(7), &["dropped 10 of 10: none -> 7"])]);
    check(&[(To(-1), &["dropped 5 of 10 5: none -> -1", "depleted: none -> -1"])]);
}

#[test]
fn a_threshold_is_armed_again_strictly_above_it() {
    check(&[
        (To(10), &["dropped 10 of 10: none -> 10"]),
        (To(11), &[]),
        (To(10), &["dropped 10 of 10: 11 -> 10"]),
    ]);
}

#[test]
fn depleted_fires_at_zero_and_recovered_above_it() {
    check(&[
        (To(20), &[]),
        (To(0), &["dropped 5 of 10 5: 20 -> 0", "depleted: 20 -> 0"]),
        (To(-3), &[]),
        (To(0), &[]),
        (To(20), &["recovered: 0 -> 20"]),
        (To(21), &[]),
        (To(-1), &["dropped 5 of 10 5: 21 -> -1", "depleted: 21 -> -1"]),
        (To(1), &["recovered: -1 -> 1"]),
    ]);
}

#[test]
fn recovered_needs_a_depletion() {
    check(&[(To(20), &[]), (To(11), &[]), (To(30), &[])]);
}

#[test]
fn disabled_it_never_fires_and_saves_nothing_up() {
    check(&[
        (To(20), &[]),
        (Disable(DROPPED), &[]),
        (To(7), &[]),
        (To(20), &[]),
        (Enable(DROPPED), &[]),
        (To(19), &[]),
    ]);
}

#[test]
fn enabled_it_is_judged_at_once_on_what_is_not_in_alert() {
    check(&[
        (To(20), &[]),
        (To(7), &["dropped 10 of 10: 20 -> 7"]),
        (Disable(DROPPED), &[]),
        (To(5), &[]),
        (Enable(DROPPED), &["dropped 5 of 5: 5 -> 5"]),
        (Disable(DEPLETED), &[]),
        (To(0), &[]),
        (Enable(DEPLETED), &["depleted: 0 -> 0"]),
        (Enable(DEPLETED), &[]),
    ]);
}

#[test]
fn a_threshold_is_armed_again_while_the_alert_is_disabled() {
    check(&[
        (To(10), &["dropped 10 of 10: none -> 10"]),
        (Disable(DROPPED), &[]),
        (To(11), &[]),
        (Enable(DROPPED), &[]),
        (To(10), &["dropped 10 of 10: 11 -> 10"]),
    ]);
}

#[test]
fn what_is_in_alert_survives_edits() {
    let away = Step::Thresholds(vec![1]);
    let back = Step::Thresholds(vec![10, 8, 1]);
    check(&[
        (To(9), &["dropped 10 of 10: none -> 9"]),
        (away.clone(), &[]),
        (To(8), &[]),
        (back.clone(), &["dropped 8 of 8: 8 -> 8"]),
        (away, &[]),
        (To(11), &[]),
        (To(10), &[]),
        (back, &["dropped 10 of 10: 10 -> 10"]),
    ]);
}

#[test]
fn recovered_never_fires_by_configuration() {
    check(&[
        (To(-1), &["dropped 5 of 10 5: none -> -1", "depleted: none -> -1"]),
        (Disable(RECOVERED), &[]),
        (To(20), &[]),
        (Enable(RECOVERED), &[]),
    ]);
}

#[test]
fn without_a_ledger_nothing_fires_by_configuration() {
    check(&[(Disable(DROPPED), &[]), (Enable(DROPPED), &[]), (Enable(DEPLETED), &[])]);
}

#[test]
fn without_the_feature_nothing_fires_and_thresholds_are_armed_again() {
    check(&[
        (To(20), &[]),
        (Unseen(0), &[]),
        (To(-1), &[]),
        (Unseen(20), &[]),
        (To(10), &["dropped 10 of 10: 20 -> 10"]),
        (Unseen(11), &[]),
        (To(10), &["dropped 10 of 10: 11 -> 10"]),
    ]);
}

#[test]
fn negative_and_fractional_thresholds_are_compared_exactly() {
    let mut ledger = Ledger::new(&[-2]);
    let half = Decimal::parse("-1.999999999999999999999999999").unwrap();
    ledger.alerts[DROPPED].thresholds = Some(Thresholds::new([half.clone(), number(-2)]).unwrap());
    ledger.take(&To(0));
    assert_eq!(ledger.take(&To(-1)), []);
    let [dropped] = ledger.take(&To(-2)).try_into().unwrap();
    assert_eq!(dropped.thresholds, [half, number(-2)]);
}

#[test]
fn configuration_is_named_as_the_cause() {
    let mut ledger = Ledger::new(&[10]);
    ledger.take(&To(20));
    let [dropped] = ledger.take(&Step::Thresholds(vec![30])).try_into().unwrap();
    let alert_id = ledger.alerts[DROPPED].id;
    assert_eq!(dropped.cause, Cause::Configuration { alert_id });
    assert_eq!(dropped.alert.thresholds, Some(thresholds(&[30])));
    let [status] = &*dropped.alert.balance_alert_status else { panic!("{dropped:?}") };
    assert!(status.in_alert, "it is by what it tells");
}

#[test]
fn the_status_shows_each_threshold() {
    let mut ledger = Ledger::new(&[5, 10]);
    let status = |ledger: &Ledger| [DROPPED, DEPLETED, RECOVERED].map(|of| ledger.in_alert(of));
    assert_eq!(status(&ledger), [vec![false, false], vec![false], vec![false]]);
    ledger.take(&To(7));
    assert_eq!(status(&ledger), [vec![false, true], vec![false], vec![false]]);
    ledger.take(&To(0));
    assert_eq!(status(&ledger), [vec![true, true], vec![true], vec![false]]);
    ledger.take(&To(20));
    assert_eq!(status(&ledger), [vec![false, false], vec![false], vec![true]]);
    ledger.take(&To(0));
    assert_eq!(status(&ledger), [vec![true, true], vec![true], vec![false]]);
}

#[test]
fn only_what_moved_is_saved() {
    let ledger = Ledger::new(&[10]);
    let mut watch = ledger.watch();
    let cause = Cause::Period { timestamp: Timestamp::MIN };
    let mut judge = |before, after| {
        let customer_id = customer(&SeededEntropy::new(1));
        watch.judge(customer_id, Some(&number(before)), &number(after), &cause, true);
        watch.moved().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(judge(20, 19), []);
    assert_eq!(judge(19, 9), [ledger.alerts[DROPPED].id]);
}

/// Every threshold that an alert may ever have, armed or in alert, and nothing else.
struct Oracle {
    in_alert: BTreeMap<(usize, i64), bool>,
    enabled: [bool; 3],
    thresholds: Vec<i64>,
    balance: Option<i64>,
}

impl Oracle {
    fn new(thresholds: Vec<i64>) -> Self {
        Self { in_alert: BTreeMap::new(), enabled: [true; 3], thresholds, balance: None }
    }

    fn take(&mut self, step: &Step) -> Vec<(usize, Vec<i64>, Option<i64>, i64)> {
        match step {
            To(after) => self.go(*after, true),
            Unseen(after) => self.go(*after, false),
            Enable(alert) => {
                self.enabled[*alert] = true;
                self.at_once(*alert)
            }
            Disable(alert) => {
                self.enabled[*alert] = false;
                Vec::new()
            }
            Step::Thresholds(values) => {
                self.thresholds.clone_from(values);
                self.at_once(DROPPED)
            }
        }
    }

    fn go(&mut self, after: i64, fires: bool) -> Vec<(usize, Vec<i64>, Option<i64>, i64)> {
        let before = self.balance.replace(after);
        for ((alert, level), in_alert) in &mut self.in_alert {
            let is_back = if *alert == RECOVERED { after <= 0 } else { after > *level };
            *in_alert &= !is_back;
        }
        let mut fired = Vec::new();
        for alert in [DROPPED, DEPLETED] {
            let levels = self.reached(alert, after);
            let is_crossed = |level: &i64| before.is_none_or(|before| before > *level);
            let levels: Vec<_> = levels.into_iter().filter(is_crossed).collect();
            if fires && self.keep(alert, &levels) {
                fired.push((alert, levels, before, after));
            }
        }
        let has_recovered = before.is_some_and(|before| before <= 0) && after > 0;
        if fires && has_recovered && self.keep(RECOVERED, &[0]) {
            fired.push((RECOVERED, vec![0], before, after));
        }
        fired
    }

    fn at_once(&mut self, alert: usize) -> Vec<(usize, Vec<i64>, Option<i64>, i64)> {
        let Some(balance) = self.balance.filter(|_| alert != RECOVERED) else { return Vec::new() };
        let levels = self.reached(alert, balance);
        let fires = self.keep(alert, &levels);
        fires.then_some((alert, levels, Some(balance), balance)).into_iter().collect()
    }

    /// The levels at or above a balance that are not in alert, greatest first.
    fn reached(&self, alert: usize, balance: i64) -> Vec<i64> {
        let zero = vec![0];
        let levels = if alert == DROPPED { &self.thresholds } else { &zero };
        let is_armed = |level: &&i64| !self.in_alert.get(&(alert, **level)).is_some_and(|is| *is);
        let reached = levels.iter().filter(|level| balance <= **level).filter(is_armed);
        let mut reached: Vec<_> = reached.copied().collect();
        reached.sort_by_key(|level| -level);
        reached
    }

    fn keep(&mut self, alert: usize, levels: &[i64]) -> bool {
        let fires = self.enabled[alert] && !levels.is_empty();
        if fires {
            self.in_alert.extend(levels.iter().map(|level| ((alert, *level), true)));
        }
        fires
    }
}

fn some_thresholds() -> impl Strategy<Value = Vec<i64>> {
    subsequence((-3..=3).collect::<Vec<_>>(), 1..=5).prop_shuffle()
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (-4_i64..=4).prop_map(To),
        1 => (-4_i64..=4).prop_map(Unseen),
        1 => (0_usize..3).prop_map(Enable),
        1 => (0_usize..3).prop_map(Disable),
        1 => some_thresholds().prop_map(Step::Thresholds),
    ]
}

proptest! {
    #[test]
    fn it_fires_what_a_naive_oracle_fires(
        first in some_thresholds(),
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let mut ledger = Ledger::new(&first);
        let mut oracle = Oracle::new(first);
        for step in &steps {
            let found = ledger.take(step);
            let expect = oracle.take(step);
            let describe = |(alert, levels, before, after): (usize, Vec<i64>, Option<i64>, i64)| {
                let thresholds = if alert == DROPPED { levels } else { Vec::new() };
                let threshold = thresholds.last().copied().map(number);
                let thresholds = thresholds.into_iter().map(number).collect::<Vec<_>>();
                let id = ledger.alerts[alert].id;
                (id, threshold, thresholds, before.map(number), number(after))
            };
            let expect: Vec<_> = expect.into_iter().map(describe).collect();
            let found = found.into_iter().map(|crossed| {
                let BalanceCrossed { alert, threshold, thresholds, .. } = crossed;
                (alert.id, threshold, thresholds, crossed.value_before, crossed.value_after)
            });
            prop_assert_eq!(found.collect::<Vec<_>>(), expect, "{:?}", step);
            for alert in [DROPPED, DEPLETED, RECOVERED] {
                let levels = if alert == DROPPED { oracle.thresholds.clone() } else { vec![0] };
                let levels = levels.into_iter().map(|level| oracle.in_alert.get(&(alert, level)));
                let kept: Vec<_> = levels.map(|is| is.copied().unwrap_or_default()).collect();
                prop_assert_eq!(ledger.in_alert(alert), kept);
            }
        }
    }
}
