use std::sync::Arc;

use accrue::{
    Billing, Clock, ErrorKind, ListFilter, ManualClock, PageRequest, SeededEntropy, plan::Plan,
    subscription::Subscription,
};

use crate::support::fixture::{COUNT, Fixture, SUM, at, block_on, run, thresholds, usage_alert};

fn two_on_a_plan(fixture: &Fixture) -> (Plan, Subscription, Subscription) {
    let plan = fixture.plan();
    let ada = fixture.subscribe(fixture.customer("ada").id, &plan);
    let bob = fixture.subscribe(fixture.customer("bob").id, &plan);
    fixture.messages();
    (plan, ada, bob)
}

#[test]
fn a_plan_alert_watches_every_subscription_of_its_version() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let (plan, ..) = two_on_a_plan(&fixture);
    run(fixture.account.create_plan_alert(plan.id, usage_alert(metric.id, &["10"]))).unwrap();
    fixture.use_now("ada", "a", "10");
    fixture.use_now("bob", "b", "9");
    assert_eq!(fixture.fired(), ["10: none -> 10"]);
    fixture.use_now("bob", "c", "1");
    assert_eq!(fixture.fired(), ["10: 9 -> 10"]);
    let later = fixture.subscribe(fixture.customer("eve").id, &plan);
    fixture.use_now("eve", "d", "11");
    assert_eq!(fixture.fired(), ["10: none -> 11"]);
    let alerts = block_on(fixture.account.list_subscription_alerts(
        later.id,
        &ListFilter::default(),
        &PageRequest::default(),
    ));
    assert_eq!(alerts.unwrap().data.len(), 1);
}

#[test]
fn a_crossing_judged_at_creation_fires_although_the_alert_was_disabled_before_anyone_looked() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let (plan, ..) = two_on_a_plan(&fixture);
    fixture.use_now("ada", "a", "50");
    let new = usage_alert(metric.id, &["10"]);
    let alert = run(fixture.account.create_plan_alert(plan.id, new)).unwrap();
    run(fixture.account.disable_alert(alert.id)).unwrap();
    assert_eq!(fixture.fired(), Vec::<String>::new(), "nobody has looked yet");
    fixture.use_now("ada", "b", "1");
    assert_eq!(fixture.fired(), ["10: 50 -> 50"]);
    fixture.use_now("bob", "c", "100");
    assert_eq!(fixture.fired(), Vec::<String>::new());
}

#[test]
fn the_outcome_is_the_same_where_tick_looks_first() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let (plan, ..) = two_on_a_plan(&fixture);
    fixture.use_now("ada", "a", "50");
    let new = usage_alert(metric.id, &["10"]);
    let alert = run(fixture.account.create_plan_alert(plan.id, new)).unwrap();
    run(fixture.account.update_alert(alert.id, thresholds(&["20", "10", "60"]))).unwrap();
    while block_on(fixture.billing.tick(1)).unwrap().more {}
    assert_eq!(fixture.fired(), ["10: 50 -> 50", "20: 50 -> 50"]);
    assert_eq!(
        block_on(fixture.billing.next_deadline()).unwrap(),
        Some(at("2026-04-10T12:00:00Z"))
    );
    fixture.use_now("ada", "b", "10");
    assert_eq!(fixture.fired(), ["60: 50 -> 60"]);
}

#[test]
fn a_change_is_judged_in_the_period_in_which_it_was_made() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let (plan, ..) = two_on_a_plan(&fixture);
    fixture.use_now("ada", "a", "50");
    run(fixture.account.create_plan_alert(plan.id, usage_alert(metric.id, &["10"]))).unwrap();
    fixture.advance_days(90);
    fixture.use_now("ada", "b", "1");
    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let accrue::webhook::Body::UsageExceeded(exceeded) = &message.body else { panic!() };
    assert_eq!(exceeded.timeframe.start().to_string(), "2026-03-10T12:00:00.000000Z");
    assert_eq!(message.created_at.to_string(), "2026-03-10T12:00:00.000000Z");
}

#[test]
fn s3_disabled_for_one_subscription_it_goes_on_for_the_others() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let (plan, ada, bob) = two_on_a_plan(&fixture);
    let new = usage_alert(metric.id, &["10"]);
    let alert = run(fixture.account.create_plan_alert(plan.id, new)).unwrap();
    let seen = run(fixture.account.disable_alert_for(alert.id, ada.id)).unwrap();
    assert!(!seen.enabled);
    assert!(block_on(fixture.account.fetch_alert(alert.id)).unwrap().enabled);
    let listed = |subscription: &Subscription| {
        let (filter, page) = (ListFilter::default(), PageRequest::default());
        let list = fixture.account.list_subscription_alerts(subscription.id, &filter, &page);
        block_on(list).unwrap().data.into_iter().map(|alert| alert.enabled).collect::<Vec<_>>()
    };
    assert_eq!((listed(&ada), listed(&bob)), (vec![false], vec![true]));
    fixture.use_now("ada", "a", "10");
    fixture.use_now("bob", "b", "10");
    assert_eq!(fixture.fired().len(), 1);
    let seen = run(fixture.account.enable_alert_for(alert.id, ada.id)).unwrap();
    assert!(seen.enabled);
    assert_eq!(fixture.fired(), ["10: 10 -> 10"]);
}

#[test]
fn a_subscription_that_the_alert_does_not_reach_is_a_constraint_violation() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let (plan, ..) = two_on_a_plan(&fixture);
    let other = fixture.subscribe(fixture.customer("eve").id, &fixture.plan());
    let new = usage_alert(metric.id, &["10"]);
    let alert = run(fixture.account.create_plan_alert(plan.id, new)).unwrap();
    let refused = run(fixture.account.disable_alert_for(alert.id, other.id));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn a_plan_alert_can_be_disabled_and_not_deleted() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let plan = fixture.plan();
    let new = usage_alert(metric.id, &["10"]);
    let alert = run(fixture.account.create_plan_alert(plan.id, new.clone())).unwrap();
    let refused = run(fixture.account.delete_alert(alert.id)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
    assert!(!run(fixture.account.disable_alert(alert.id)).unwrap().enabled);
    let second = run(fixture.account.create_plan_alert(plan.id, new)).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn an_unknown_version_of_a_plan_is_not_found() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let plan = fixture.plan();
    let version = accrue::plan::PlanVersion::new(2);
    let new = usage_alert(metric.id, &["10"]);
    let refused = run(fixture.account.create_plan_version_alert(plan.id, version, new));
    assert!(refused.unwrap_err().is_not_found());
}

#[test]
fn many_changes_before_an_end_are_applied_before_it() {
    let story = |is_early: bool| {
        let fixture = Fixture::new();
        let metric = fixture.metric(SUM);
        let (plan, ada, _) = two_on_a_plan(&fixture);
        fixture.use_now("ada", "a", "50");
        let new = usage_alert(metric.id, &["1000"]);
        let alert = run(fixture.account.create_plan_alert(plan.id, new)).unwrap();
        for value in 2_000..2_070 {
            let values = thresholds(&[&value.to_string()]);
            run(fixture.account.update_alert(alert.id, values)).unwrap();
        }
        run(fixture.account.update_alert(alert.id, thresholds(&["10"]))).unwrap();
        fixture.clock.advance(std::time::Duration::from_secs(60));
        if is_early {
            while block_on(fixture.billing.tick(1)).unwrap().more {}
        }
        let cancel = accrue::subscription::Cancellation::Immediate;
        run(fixture.account.cancel_subscription(ada.id, cancel)).unwrap();
        fixture.advance_days(60);
        while block_on(fixture.billing.tick(1)).unwrap().more {}
        fixture.message_types()
    };
    let types = story(true);
    assert_eq!(types, ["subscription.usage_exceeded", "subscription.ended"]);
    assert_eq!(story(false), types);
}

#[test]
fn thousands_of_changes_are_no_lost_race() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let (plan, ..) = two_on_a_plan(&fixture);
    let new = usage_alert(metric.id, &["10"]);
    let alert = run(fixture.account.create_plan_alert(plan.id, new)).unwrap();
    for _ in 0..2_500 {
        run(fixture.account.disable_alert(alert.id)).unwrap();
        run(fixture.account.enable_alert(alert.id)).unwrap();
    }
    fixture.use_now("ada", "a", "10");
    assert_eq!(fixture.fired(), ["10: none -> 10"]);
}

#[test]
fn what_does_not_fit_one_commit_is_applied_in_several() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let plan = fixture.plan();
    let ada = fixture.customer("ada");
    for _ in 0..200 {
        fixture.subscribe(ada.id, &plan);
    }
    fixture.use_now("ada", "a", "1000");
    // 99 thresholds that are far away make each message some kilobytes long.
    let far: Vec<_> = (0..99).map(|n| format!("{n:02}12345678901234567890123456")).collect();
    let values = |near: u32| {
        let near = near.to_string();
        thresholds(&far.iter().map(String::as_str).chain([near.as_str()]).collect::<Vec<_>>())
    };
    let new = accrue::alert::NewAlert::usage_exceeded(metric.id, values(0));
    let alert = run(fixture.account.create_plan_alert(plan.id, new)).unwrap();
    for near in 1..64 {
        run(fixture.account.update_alert(alert.id, values(near))).unwrap();
    }
    while block_on(fixture.billing.tick(1)).unwrap().more {}
    let mut fired = 0;
    loop {
        let messages = fixture.messages();
        if messages.is_empty() {
            break;
        }
        let exceeded = messages.iter().filter(|message| message.message_type().contains("usage"));
        fired += exceeded.count();
    }
    assert_eq!(fired, 64 * 200);
}

/// The clocks of processes differ: what was used in a billing period that has not begun by the clock
/// of whoever enables an alert is judged with the rest.
#[test]
fn what_is_enabled_late_is_judged_on_a_period_that_began_meanwhile() {
    let check = |on_plan: bool| {
        let fixture = Fixture::new();
        let metric = fixture.metric(SUM);
        let (plan, ada, _) = two_on_a_plan(&fixture);
        let new = usage_alert(metric.id, &["10"]);
        let alert = match on_plan {
            true => run(fixture.account.create_plan_alert(plan.id, new)),
            false => run(fixture.account.create_subscription_alert(ada.id, new)),
        };
        let id = alert.unwrap().id;
        run(fixture.account.disable_alert(id)).unwrap();
        // Another process, whose clock stands still.
        let clock = ManualClock::at(Clock::now(&fixture.clock));
        let behind = Billing::new(Arc::clone(&fixture.store), clock, SeededEntropy::new(2));
        fixture.advance_days(40);
        fixture.use_now("ada", "a", "10");
        fixture.subscribe(fixture.customer("eve").id, &plan);
        fixture.use_now("eve", "b", "20");
        fixture.messages();
        run(behind.account(fixture.account.id().clone()).enable_alert(id)).unwrap();
        fixture.tick();
        fixture.fired()
    };
    assert_eq!(check(false), ["10: 10 -> 10"]);
    assert_eq!(check(true), ["10: 10 -> 10", "10: 20 -> 20"]);
}
