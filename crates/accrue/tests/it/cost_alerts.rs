use std::time::Duration;

use accrue::{
    account::Configuration,
    alert::{Cause, Condition},
    price::{Adjustments, Cadence, Cycle},
    webhook::Body,
};

use crate::support::{
    fixture::{Fixture, at, block_on, event, number, run, usage_alert},
    priced::{NOTHING, Priced, cost_alert, exceeded, metered, priced},
};

#[test]
fn s2_1_cost_fires_at_or_above_its_threshold_once_and_names_the_event() {
    let priced = metered();
    let alert = priced.alert(cost_alert(&["100", "500"]));
    priced.use_now("a", "99.5");
    assert_eq!(priced.told(), NOTHING);
    priced.use_now("b", "0.5");
    let messages = priced.fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message.message_type(), "subscription.cost_exceeded");
    let Body::CostExceeded(exceeded) = &message.body else { panic!("{message:?}") };
    assert_eq!(exceeded.value_before, Some(number("99.5")));
    assert_eq!(exceeded.value_after, number("100"));
    assert_eq!((&exceeded.threshold, exceeded.thresholds.len()), (&number("100"), 1));
    assert_eq!((&exceeded.alert, exceeded.subscription_id), (&alert, priced.subscription.id));
    assert_eq!(exceeded.timeframe.start(), at("2026-03-10T12:00:00Z"));
    assert_eq!(exceeded.timeframe.end(), at("2026-04-10T12:00:00Z"));
    let Cause::Event { idempotency_key, timestamp } = &exceeded.cause else { panic!() };
    assert_eq!((idempotency_key.as_str(), *timestamp), ("b", at("2026-03-10T12:00:00Z")));
}

#[test]
fn cost_is_watched_in_the_currency_of_the_plan_unless_another_is_named() {
    let priced = metered();
    let alert = priced.alert(cost_alert(&["100"]));
    let Condition::CostExceeded { currency } = alert.condition else { panic!() };
    assert_eq!(currency.as_str(), "USD");
}

#[test]
fn several_thresholds_of_cost_crossed_by_one_event_are_one_message() {
    let priced = metered();
    priced.alert(cost_alert(&["400", "100", "250"]));
    priced.use_now("a", "300");
    let messages = priced.fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let exceeded = exceeded(message).unwrap();
    assert_eq!(exceeded.threshold, number("250"), "the most advanced");
    assert_eq!(exceeded.thresholds, [number("100"), number("250")]);
}

#[test]
fn a_threshold_of_cost_fires_once_in_a_period_whatever_corrections_do() {
    let priced = metered();
    priced.alert(cost_alert(&["10"]));
    priced.use_now("a", "10");
    priced.use_now("b", "-5");
    priced.use_now("c", "20");
    assert_eq!(priced.told(), ["cost 10: none -> 10 by event a"]);
}

#[test]
fn a_new_period_arms_cost_again() {
    let priced = metered();
    priced.alert(cost_alert(&["10"]));
    priced.use_now("a", "10");
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.use_now("b", "9");
    priced.use_now("c", "1");
    let expect = ["cost 10: none -> 10 by event a", "cost 10: 9 -> 10 by event c"];
    assert_eq!(priced.told(), expect);
}

#[test]
fn usage_that_costs_nothing_is_a_value_of_zero() {
    let priced = metered();
    priced.alert(cost_alert(&["0"]));
    assert_eq!(priced.told(), NOTHING, "no event, no value");
    priced.use_now("a", "0");
    assert_eq!(priced.told(), ["cost 0: none -> 0 by event a"]);
}

#[test]
fn cost_below_zero_of_usage_is_none() {
    let priced = metered();
    priced.alert(cost_alert(&["-5", "0"]));
    priced.use_now("a", "-3");
    assert_eq!(priced.told(), ["cost -5 0: none -> 0 by event a"]);
}

#[test]
fn cost_is_judged_after_a_discount_and_a_maximum() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments = Adjustments {
            discounts: vec![accrue::price::Discount::Percentage(
                accrue::Fraction::parse("0.5").unwrap(),
            )],
            minimum: None,
            maximum: Some(number("30")),
        };
        [usage]
    });
    priced.alert(cost_alert(&["20", "31"]));
    priced.use_now("a", "39");
    assert_eq!(priced.told(), NOTHING);
    priced.use_now("b", "1");
    assert_eq!(priced.told(), ["cost 20: 19.5 -> 20 by event b"]);
    priced.use_now("c", "1000");
    assert_eq!(priced.told(), NOTHING, "the maximum is 30");
}

#[test]
fn units_that_a_discount_gives_cost_nothing() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("2", metric);
        usage.adjustments.discounts = vec![accrue::price::Discount::Usage(number("10"))];
        [usage]
    });
    priced.alert(cost_alert(&["2"]));
    priced.use_now("a", "10");
    assert_eq!(priced.told(), NOTHING);
    priced.use_now("b", "1");
    assert_eq!(priced.told(), ["cost 2: 0 -> 2 by event b"]);
}

#[test]
fn cost_of_all_prices_counts_together() {
    let priced = priced(|fixture, metric| {
        let events = fixture.metric("SELECT count(*) FROM events");
        let (sum, count) = (fixture.usage_at("1", metric), fixture.usage_at("0.5", &events));
        [sum, count, fixture.advance_fee("10")]
    });
    priced.alert(cost_alert(&["15"]));
    priced.use_now("a", "4");
    assert_eq!(priced.told(), NOTHING);
    priced.use_now("b", "0");
    assert_eq!(priced.told(), ["cost 15: 14.5 -> 15 by event b"]);
}

#[test]
fn a_late_event_is_judged_in_its_own_period_with_what_its_end_brought() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments.minimum = Some(number("6"));
        [usage, fixture.arrear_fee("10")]
    });
    priced.alert(cost_alert(&["18"]));
    priced.use_now("a", "7");
    priced.fixture.set("2026-04-11T11:59:59Z");
    let late = event("ada", "b", at("2026-04-10T11:59:59Z"), "1");
    run(priced.fixture.account.ingest([late])).unwrap();
    let messages = priced.fixture.drain();
    let exceeded: Vec<_> = messages.iter().filter_map(exceeded).collect();
    let [exceeded] = exceeded.as_slice() else { panic!("{messages:?}") };
    assert_eq!(exceeded.value_before, Some(number("17")), "7 of usage and the fee of 10");
    assert_eq!(exceeded.value_after, number("18"));
    assert_eq!(exceeded.timeframe.start(), at("2026-03-10T12:00:00Z"));
}

#[test]
fn a_late_event_takes_the_place_of_what_a_minimum_added() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments.minimum = Some(number("10"));
        [usage]
    });
    priced.alert(cost_alert(&["10", "11"]));
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.told(), ["cost 10: none -> 10 by period 2026-04-10T12:00:00Z"]);
    let late = |key, n| {
        let late = event("ada", key, at("2026-04-10T11:59:59Z"), n);
        run(priced.fixture.account.ingest([late])).unwrap();
    };
    late("a", "9");
    assert_eq!(priced.told(), NOTHING, "9 of usage and 1 of the minimum are 10 as before");
    late("b", "2");
    assert_eq!(priced.told(), ["cost 11: 10 -> 11 by event b"]);
}

#[test]
fn an_event_beyond_the_grace_period_is_refused_and_costs_nothing() {
    let priced = metered();
    priced.alert(cost_alert(&["1"]));
    priced.fixture.set("2026-04-11T12:00:01Z");
    let late = event("ada", "a", at("2026-04-10T11:59:59Z"), "5");
    let before = priced.fixture.dump();
    assert!(run(priced.fixture.account.ingest([late])).is_err());
    assert_eq!(priced.fixture.dump(), before);
    let cost = priced.cost_between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z");
    assert!(cost.total.is_zero());
}

#[test]
fn usage_is_told_before_cost_within_one_event() {
    let priced = metered();
    priced.alert(cost_alert(&["10", "30"]));
    priced.alert(usage_alert(priced.metric.id, &["10", "30"]));
    let now = at("2026-03-10T12:00:00Z");
    let events = [event("ada", "a", now, "10"), event("ada", "b", now, "20")];
    run(priced.fixture.account.ingest(events)).unwrap();
    let expect = [
        "usage 10: none -> 10 by event a",
        "cost 10: none -> 10 by event a",
        "usage 30: 10 -> 30 by event b",
        "cost 30: 10 -> 30 by event b",
    ];
    assert_eq!(priced.told(), expect);
}

#[test]
fn cost_is_judged_event_by_event_however_they_are_cut_into_batches() {
    let story = |batch: usize| {
        let priced = priced(|fixture, metric| {
            let mut usage = fixture.usage_at("0.01", metric);
            usage.adjustments.discounts = vec![accrue::price::Discount::Amount(number("3"))];
            [usage, fixture.by_region(metric, 2), fixture.advance_fee("5")]
        });
        priced.alert(cost_alert(&["50", "50.5", "1000", "4999.99"]));
        priced.plan_alert(crate::support::priced::spend_alert("USD", &["60", "2000", "5000"]));
        let now = at("2026-03-10T12:00:00Z");
        let amount = |n: u32| (n * 7 % 11).to_string();
        let events: Vec<_> =
            (0..1_000).map(|n| event("ada", &n.to_string(), now, &amount(n))).collect();
        for events in events.chunks(batch) {
            run(priced.fixture.account.ingest(events.to_vec())).unwrap();
        }
        priced.told()
    };
    let alone = story(1);
    assert_eq!(alone.len(), 6, "{alone:?}");
    assert_eq!(story(1_000), alone);
    assert_eq!(story(7), alone);
}

#[test]
fn each_subscription_of_a_customer_has_a_cost_of_its_own() {
    let priced = metered();
    let fixture = &priced.fixture;
    priced.plan_alert(cost_alert(&["10"]));
    let later = fixture.subscribe_from(priced.customer, &priced.plan, Some("2026-03-09T00:00:00Z"));
    fixture.drain();
    priced.use_now("a", "10");
    let messages = fixture.messages();
    let of: Vec<_> = messages.iter().filter_map(exceeded).map(|of| of.subscription_id).collect();
    assert_eq!(of.len(), 2);
    assert!(of.contains(&later.id) && of.contains(&priced.subscription.id));
}

#[test]
fn usage_ahead_of_its_period_counts_for_that_period() {
    let priced =
        priced(|fixture, metric| [fixture.usage_at("1", metric), fixture.advance_fee("5")]);
    priced.alert(cost_alert(&["8", "12"]));
    let fixture = &priced.fixture;
    fixture.set("2026-04-10T11:58:00Z");
    run(fixture.account.ingest([event("ada", "a", at("2026-04-10T12:01:00Z"), "7.5")])).unwrap();
    assert_eq!(priced.told(), NOTHING, "the fee has not fallen due");
    fixture.set("2026-04-10T12:00:00Z");
    fixture.tick();
    let expect = "cost 8 12: 7.5 -> 12.5 by period 2026-04-10T12:00:00Z";
    assert_eq!(priced.told(), [expect]);
}

fn fire(priced: &Priced) -> Vec<String> {
    priced.use_now("first", "5");
    priced.told()
}

#[test]
fn a_disabled_alert_on_cost_saves_nothing_up_and_is_judged_when_it_is_enabled() {
    let priced = metered();
    let alert = priced.alert(cost_alert(&["5"]));
    priced.fixture.disable(alert.id);
    assert_eq!(fire(&priced), NOTHING);
    priced.fixture.enable(alert.id);
    assert_eq!(priced.told(), ["cost 5: 5 -> 5 by configuration"]);
    priced.fixture.disable(alert.id);
    priced.fixture.enable(alert.id);
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn new_thresholds_of_cost_are_judged_at_once_and_those_that_fired_stay_quiet() {
    let priced = metered();
    let alert = priced.alert(cost_alert(&["5"]));
    assert_eq!(fire(&priced), ["cost 5: none -> 5 by event first"]);
    priced.fixture.rethreshold(alert.id, &["3", "5", "7"]);
    assert_eq!(priced.told(), ["cost 3: 5 -> 5 by configuration"]);
    priced.fixture.rethreshold(alert.id, &["9"]);
    priced.fixture.rethreshold(alert.id, &["5", "3", "7"]);
    priced.use_now("a", "2");
    assert_eq!(priced.told(), ["cost 7: 5 -> 7 by event a"]);
}

#[test]
fn an_alert_on_cost_that_comes_later_is_judged_on_what_there_is() {
    let priced = metered();
    fire(&priced);
    priced.alert(cost_alert(&["4", "5", "6"]));
    assert_eq!(priced.told(), ["cost 4 5: 5 -> 5 by configuration"]);
}

#[test]
fn nobody_elses_usage_moves_a_cost() {
    let priced = metered();
    let fixture: &Fixture = &priced.fixture;
    priced.alert(cost_alert(&["5"]));
    let bob = fixture.customer("bob");
    fixture.subscribe(bob.id, &priced.plan);
    fixture.use_now("bob", "a", "100");
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn an_event_of_a_period_before_the_previous_one_fires_nothing() {
    let daily = Cadence::Custom(Cycle::Days(1));
    let priced = priced(|fixture, metric| [fixture.per_unit(metric, daily)]);
    let account = &priced.fixture.account;
    let mut configuration = Configuration::default();
    configuration.grace_period = Duration::from_secs(20 * 24 * 60 * 60);
    run(account.configure(configuration)).unwrap();
    priced.alert(cost_alert(&["0"]));
    priced.fixture.set("2026-03-20T11:00:00Z");
    let use_at = |key, instant| run(account.ingest([event("ada", key, at(instant), "1")])).unwrap();
    use_at("old", "2026-03-17T11:00:00Z");
    assert_eq!(priced.told(), NOTHING);
    use_at("previous", "2026-03-18T13:00:00Z");
    use_at("current", "2026-03-20T10:00:00Z");
    assert_eq!(priced.told().len(), 2);
}

#[test]
fn subscriptions_10_2_what_an_alert_has_told_is_kept_with_its_message() {
    let priced = metered();
    priced.alert(cost_alert(&["100"]));
    priced.use_now("a", "99.5");
    priced.use_now("b", "0.5");
    let fixture = &priced.fixture;
    let kind = "subscription.cost_exceeded";
    let told = fixture.waiting(1_000).into_iter().find(|of| of.message_type() == kind).unwrap();
    fixture.fan_out();
    let sent = fixture.sent();
    assert!(sent.len() > 1);
    for of in sent {
        let is_told = of.id == told.id;
        let fetched = block_on(fixture.account.fetch_sent_message(of.id)).unwrap();
        // Of other messages there is only what was sent.
        assert_eq!(fetched.told.as_ref(), Some(&told.body).filter(|_| is_told));
        let customer = priced.subscription.customer_id;
        assert!(!is_told || fetched.customer_id == Some(customer));
    }
    let kept = || fixture.tables().contains(&"message_told");
    assert!(kept());
    fixture.clock.advance(Duration::from_secs(31 * 24 * 60 * 60));
    while block_on(fixture.billing.collect_garbage(10)).unwrap().more {}
    assert!(!kept(), "it goes with its message");
}
