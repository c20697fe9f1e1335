use accrue::{
    Email, ErrorKind, Zone,
    alert::Cause,
    customer::NewCustomer,
    subscription::{Cancellation, NewSubscription, SubscriptionFilter, SubscriptionStatus},
    webhook::Body,
};

use crate::support::fixture::{COUNT, Fixture, SUM, at, block_on, event, name, run, usage_alert};

#[test]
fn one_in_the_past_counts_the_usage_of_its_open_periods() {
    let fixture = Fixture::new();
    let metric = fixture.metric("SELECT count(DISTINCT n) FROM events");
    let ada = fixture.customer("ada");
    for (key, n) in [("a", "1"), ("b", "2"), ("c", "1.0")] {
        fixture.use_now("ada", key, n);
    }
    let plan = fixture.plan();
    let subscription = fixture.subscribe_from(ada.id, &plan, Some("2026-01-20T00:00:00Z"));
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "2");
    fixture.use_now("ada", "d", "2");
    fixture.use_now("ada", "e", "3");
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "3");
}

#[test]
fn one_over_usage_above_a_threshold_fires_at_once() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let ada = fixture.customer("ada");
    let plan = fixture.plan();
    run(fixture.account.create_plan_alert(plan.id, usage_alert(metric.id, &["10"]))).unwrap();
    fixture.use_now("ada", "a", "12");
    fixture.messages();
    let subscription = fixture.subscribe_from(ada.id, &plan, Some("2026-03-01T00:00:00Z"));
    let messages = fixture.messages();
    let causes = messages.iter().filter_map(|message| match &message.body {
        Body::UsageExceeded(exceeded) => Some(exceeded.cause.clone()),
        _ => None,
    });
    let expect = Cause::Subscription { subscription_id: subscription.id };
    assert_eq!(causes.collect::<Vec<_>>(), [expect]);
    fixture.use_now("ada", "b", "1");
    assert_eq!(fixture.fired(), Vec::<String>::new());
}

#[test]
fn an_event_counts_from_the_start_and_not_at_the_end() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let ada = fixture.customer("ada");
    let mut new = NewSubscription::new(ada.id, fixture.plan().id);
    new.start_date = Some(at("2026-03-10T11:00:00Z"));
    new.end_date = Some(at("2026-03-10T11:30:00Z"));
    let subscription = run(fixture.account.create_subscription(new)).unwrap();
    let instants = [
        "2026-03-10T10:59:59.999999Z",
        "2026-03-10T11:00:00Z",
        "2026-03-10T11:29:59.999999Z",
        "2026-03-10T11:30:00Z",
    ];
    run(fixture.account.ingest(instants.map(|text| event("ada", text, at(text), "")))).unwrap();
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "2");
}

#[test]
fn distinct_values_of_a_life_within_one_quarter_are_exact() {
    let fixture = Fixture::new();
    let metric = fixture.metric("SELECT count(DISTINCT n) FROM events");
    let ada = fixture.customer("ada");
    let mut new = NewSubscription::new(ada.id, fixture.plan().id);
    new.start_date = Some(at("2026-03-10T11:01:00Z"));
    new.end_date = Some(at("2026-03-10T11:07:00Z"));
    let subscription = run(fixture.account.create_subscription(new)).unwrap();
    for (key, text) in [("a", "11:00:30"), ("b", "11:09:00"), ("c", "11:03:00"), ("d", "11:04:00")]
    {
        let instant = at(&format!("2026-03-10T{text}Z"));
        run(fixture.account.ingest([event("ada", key, instant, "5")])).unwrap();
    }
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "1");
}

#[test]
fn cancelled_now_it_has_ended_and_later_usage_no_longer_counts() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe(ada.id, &fixture.plan());
    fixture.use_now("ada", "a", "");
    let ahead = event("ada", "b", at("2026-03-10T12:04:00Z"), "");
    run(fixture.account.ingest([ahead])).unwrap();
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "2");
    fixture.set("2026-03-10T12:02:00Z");
    fixture.messages();
    let cancel = fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate);
    let ended = run(cancel).unwrap();
    assert_eq!(ended.end_date, Some(at("2026-03-10T12:02:00Z")));
    assert_eq!(fixture.message_types(), ["subscription.ended"]);
    assert_eq!(fixture.usage(&ended, &metric).unwrap(), "1");
    let again = fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate);
    assert_eq!(run(again).unwrap_err().kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn cancelled_at_the_end_of_its_term_it_ends_then_whoever_looks() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe(ada.id, &fixture.plan());
    fixture.messages();
    let cancel = Cancellation::EndOfSubscriptionTerm;
    let scheduled = run(fixture.account.cancel_subscription(subscription.id, cancel)).unwrap();
    assert_eq!(scheduled.end_date, Some(at("2026-04-10T12:00:00Z")));
    assert_eq!(fixture.message_types(), ["subscription.cancellation_scheduled"]);
    fixture.set("2026-05-01T00:00:00Z");
    assert_eq!(scheduled.status(at("2026-05-01T00:00:00Z")), SubscriptionStatus::Ended);
    fixture.use_now("ada", "a", "");
    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message.message_type(), "subscription.ended");
    assert_eq!(message.created_at, at("2026-04-10T12:00:00Z"));
}

#[test]
fn a_cancellation_date_lies_within_the_life() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let plan = fixture.plan();
    let subscription = fixture.subscribe(ada.id, &plan);
    fixture.set("2026-03-20T00:00:00Z");
    let check = |date: &str, expect: bool| {
        let cancel = Cancellation::RequestedDate(at(date));
        let answer = run(fixture.account.cancel_subscription(subscription.id, cancel));
        assert_eq!(answer.is_ok(), expect, "{date}");
    };
    check("2026-03-10T11:59:59Z", false);
    check("2026-03-25T00:00:00Z", true);
    check("2026-03-22T00:00:00Z", true);
    check("2026-03-19T23:59:59Z", true);
    // It has ended.
    check("2026-03-19T00:00:00Z", false);
}

#[test]
fn an_upcoming_one_starts_when_its_time_comes() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    fixture.messages();
    fixture.subscribe_from(ada.id, &fixture.plan(), Some("2026-03-20T00:00:00Z"));
    assert_eq!(fixture.message_types(), ["subscription.created"]);
    assert_eq!(
        block_on(fixture.billing.next_deadline()).unwrap(),
        Some(at("2026-03-20T00:00:00Z"))
    );
    fixture.set("2026-03-21T00:00:00Z");
    assert!(!block_on(fixture.billing.tick(10)).unwrap().more);
    assert_eq!(fixture.message_types(), ["subscription.started"]);
}

#[test]
fn an_upcoming_one_cancelled_now_never_starts() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let plan = fixture.plan();
    let subscription = fixture.subscribe_from(ada.id, &plan, Some("2026-03-20T00:00:00Z"));
    let cancel = fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate);
    assert_eq!(run(cancel).unwrap().end_date, Some(at("2026-03-20T00:00:00Z")));
    fixture.messages();
    fixture.set("2026-03-21T00:00:00Z");
    block_on(fixture.billing.tick(10)).unwrap();
    assert_eq!(fixture.message_types(), ["subscription.ended"]);
}

#[test]
fn it_starts_with_the_day_of_its_customer_where_nothing_is_said() {
    let fixture = Fixture::new();
    let mut new = NewCustomer::new(name("ada"), Email::parse("ada@example.com").unwrap());
    new.timezone = Zone::parse("America/Los_Angeles").ok();
    let ada = run(fixture.account.create_customer(new)).unwrap();
    let start = |now: &str| {
        fixture.set(now);
        fixture.create(NewSubscription::new(ada.id, fixture.plan().id)).start_date
    };
    assert_eq!(start("2026-03-11T06:59:59Z"), at("2026-03-10T07:00:00Z"));
    assert_eq!(start("2026-03-11T07:00:00Z"), at("2026-03-11T07:00:00Z"));
}

#[test]
fn it_ends_after_it_starts() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let mut new = NewSubscription::new(ada.id, fixture.plan().id);
    new.start_date = Some(at("2026-03-10T12:00:00Z"));
    new.end_date = new.start_date;
    let before = fixture.dump();
    let refused = run(fixture.account.create_subscription(new)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
    assert_eq!(fixture.dump(), before);
}

#[test]
fn a_customer_has_at_most_200() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let plan = fixture.plan();
    for _ in 0..200 {
        fixture.subscribe(ada.id, &plan);
    }
    let new = NewSubscription::new(ada.id, plan.id);
    let refused = run(fixture.account.create_subscription(new)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn a_customer_has_at_most_1000_that_events_may_still_count_for() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let plan = fixture.plan();
    let subscribe_and_cancel = || {
        let new = NewSubscription::new(ada.id, plan.id);
        let subscription = run(fixture.account.create_subscription(new))?;
        run(fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate))
    };
    for _ in 0..1_000 {
        subscribe_and_cancel().unwrap();
    }
    assert_eq!(subscribe_and_cancel().unwrap_err().kind(), ErrorKind::ConstraintViolation);
    fixture.advance_days(29);
    subscribe_and_cancel().unwrap();
}

#[test]
fn the_currency_of_the_plan_becomes_that_of_a_customer_without_one() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    assert_eq!(ada.currency, None);
    fixture.subscribe(ada.id, &fixture.plan());
    let ada = block_on(fixture.account.fetch_customer(ada.id)).unwrap();
    assert_eq!(ada.currency.map(accrue::Currency::code), Some("USD"));
}

#[test]
fn those_of_one_customer_or_one_plan_are_listed() {
    let fixture = Fixture::new();
    let (ada, bob) = (fixture.customer("ada"), fixture.customer("bob"));
    let (one, two) = (fixture.plan(), fixture.plan());
    let first = fixture.subscribe(ada.id, &one);
    let second = fixture.subscribe(ada.id, &two);
    let third = fixture.subscribe(bob.id, &two);
    let check = |filter: SubscriptionFilter, expect: &[accrue::SubscriptionId]| {
        let page = block_on(fixture.account.list_subscriptions(&filter, &Default::default()));
        let mut ids: Vec<_> = page.unwrap().data.iter().map(|found| found.id).collect();
        let mut expect = expect.to_vec();
        ids.sort();
        expect.sort();
        assert_eq!(ids, expect);
    };
    let all = SubscriptionFilter::default();
    let (of_ada, of_two) = (vec![ada.id.into()], Some(two.id.into()));
    check(all.clone(), &[first.id, second.id, third.id]);
    check(SubscriptionFilter { customers: of_ada.clone(), ..all.clone() }, &[first.id, second.id]);
    check(SubscriptionFilter { plan: of_two.clone(), ..all.clone() }, &[second.id, third.id]);
    let both = SubscriptionFilter { customers: of_ada, plan: of_two, ..all.clone() };
    check(both, &[second.id]);
    run(fixture.account.delete_customer(ada.id)).unwrap();
    check(all, &[third.id]);
}

#[test]
fn subscriptions_1_15_its_creation_start_trial_and_end_are_told_at_their_instants() {
    let fixture = Fixture::new();
    let (ada, plan) = (fixture.customer("ada"), fixture.plan());
    fixture.messages();
    fixture.subscribe(ada.id, &plan);
    let types = fixture.message_types();
    assert_eq!(types, ["subscription.created", "subscription.started"], "no customer.edited");
    let found = block_on(fixture.account.fetch_customer(ada.id)).unwrap();
    assert_eq!((ada.currency, found.currency), (None, Some(plan.currency)), "its first one");

    let mut new = NewSubscription::new(ada.id, plan.id);
    new.start_date = Some(at("2026-03-20T00:00:00Z"));
    new.end_date = Some(at("2026-04-20T00:00:00Z"));
    new.trial_days = Some(7);
    fixture.create(new);
    assert_eq!(fixture.message_types(), ["subscription.created"]);
    for (now, expected) in [
        ("2026-03-20T00:00:00Z", "subscription.started"),
        ("2026-03-27T00:00:00Z", "subscription.trial_ended"),
        ("2026-04-20T00:00:00Z", "subscription.ended"),
    ] {
        fixture.set(now);
        fixture.tick();
        assert_eq!(fixture.message_types(), [expected], "{now}");
    }
}
