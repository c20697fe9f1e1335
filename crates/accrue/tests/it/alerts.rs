use accrue::{
    ErrorKind, MetricId, alert::Alert, alert::Cause, metric::Metric, subscription::Subscription,
    webhook::Body,
};

use crate::support::fixture::{
    COUNT, Fixture, SUM, at, block_on, event, run, thresholds, usage_alert,
};

struct Watched {
    fixture: Fixture,
    subscription: Subscription,
    metric: Metric,
}

fn watched(sql: &str) -> Watched {
    let fixture = Fixture::new();
    let metric = fixture.metric(sql);
    let customer = fixture.customer("ada");
    let subscription = fixture.subscribe(customer.id, &fixture.plan());
    fixture.messages();
    Watched { fixture, subscription, metric }
}

impl Watched {
    fn alert(&self, values: &[&str]) -> Alert {
        let new = usage_alert(self.metric.id, values);
        run(self.fixture.account.create_subscription_alert(self.subscription.id, new)).unwrap()
    }
}

#[test]
fn s2_1_usage_fires_at_or_above_its_threshold_once_and_names_the_event() {
    let watched = watched(SUM);
    watched.alert(&["100"]);
    let fixture = &watched.fixture;
    fixture.use_now("ada", "a", "99.5");
    assert_eq!(fixture.fired(), Vec::<String>::new());
    fixture.use_now("ada", "b", "0.5");
    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let Body::UsageExceeded(exceeded) = &message.body else { panic!("{message:?}") };
    assert_eq!(exceeded.value_before.as_ref().map(ToString::to_string), Some("99.5".to_owned()));
    assert_eq!(exceeded.value_after.to_string(), "100");
    let Cause::Event { idempotency_key, timestamp } = &exceeded.cause else { panic!() };
    assert_eq!((idempotency_key.as_str(), *timestamp), ("b", at("2026-03-10T12:00:00Z")));
    assert_eq!(exceeded.timeframe.start(), watched.subscription.start_date);
    fixture.use_now("ada", "c", "-50");
    fixture.use_now("ada", "d", "50");
    assert_eq!(fixture.fired(), Vec::<String>::new(), "a correction does not arm it again");
}

#[test]
fn several_thresholds_crossed_by_one_event_are_one_message() {
    let watched = watched(SUM);
    watched.alert(&["400", "100", "250"]);
    watched.fixture.use_now("ada", "a", "300");
    assert_eq!(watched.fixture.fired(), ["100 250: none -> 300"]);
    watched.fixture.use_now("ada", "b", "100");
    assert_eq!(watched.fixture.fired(), ["400: 300 -> 400"]);
}

#[test]
fn events_of_one_batch_are_judged_one_by_one() {
    let watched = watched(COUNT);
    watched.alert(&["2", "4"]);
    let now = at("2026-03-10T12:00:00Z");
    let events = ["a", "b", "c", "d", "e"].map(|key| event("ada", key, now, ""));
    run(watched.fixture.account.ingest(events)).unwrap();
    assert_eq!(watched.fixture.fired(), ["2: 1 -> 2", "4: 3 -> 4"]);
}

#[test]
fn no_value_yet_is_safe_for_zero_and_below() {
    let watched = watched(SUM);
    watched.alert(&["0", "-5"]);
    assert_eq!(watched.fixture.fired(), Vec::<String>::new());
    watched.fixture.use_now("ada", "a", "-3");
    assert_eq!(watched.fixture.fired(), ["-5: none -> -3"]);
    watched.fixture.use_now("ada", "b", "3");
    assert_eq!(watched.fixture.fired(), ["0: -3 -> 0"]);
}

#[test]
fn thresholds_with_many_digits_are_compared_exactly() {
    let watched = watched(SUM);
    watched.alert(&["0.3000000000000000000000000001"]);
    watched.fixture.use_now("ada", "a", "0.1");
    watched.fixture.use_now("ada", "b", "0.2");
    assert_eq!(watched.fixture.fired(), Vec::<String>::new());
    watched.fixture.use_now("ada", "c", "1e-28");
    let fired = watched.fixture.fired();
    assert_eq!(fired, ["0.3000000000000000000000000001: 0.3 -> 0.3000000000000000000000000001"]);
}

#[test]
fn a_new_billing_period_arms_again() {
    let watched = watched(COUNT);
    watched.alert(&["1"]);
    watched.fixture.use_now("ada", "a", "");
    assert_eq!(watched.fixture.fired(), ["1: none -> 1"]);
    watched.fixture.set("2026-04-10T12:00:00Z");
    watched.fixture.use_now("ada", "b", "");
    assert_eq!(watched.fixture.fired(), ["1: none -> 1"]);
    assert_eq!(watched.fixture.usage(&watched.subscription, &watched.metric).unwrap(), "1");
}

#[test]
fn a_late_event_counts_for_the_period_of_its_timestamp() {
    let watched = watched(COUNT);
    watched.alert(&["2"]);
    let fixture = &watched.fixture;
    fixture.set("2026-04-10T11:59:59Z");
    fixture.use_now("ada", "a", "");
    fixture.set("2026-04-10T12:00:01Z");
    fixture.use_now("ada", "b", "");
    assert_eq!(fixture.fired(), Vec::<String>::new());
    let late = event("ada", "c", at("2026-04-10T11:00:00Z"), "");
    run(fixture.account.ingest([late])).unwrap();
    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let Body::UsageExceeded(exceeded) = &message.body else { panic!("{message:?}") };
    assert_eq!(exceeded.timeframe.start(), at("2026-03-10T12:00:00Z"));
}

#[test]
fn created_over_usage_it_fires_at_once_with_cause_configuration() {
    let watched = watched(SUM);
    watched.fixture.use_now("ada", "a", "150");
    let alert = watched.alert(&["100", "200"]);
    let messages = watched.fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let Body::UsageExceeded(exceeded) = &message.body else { panic!("{message:?}") };
    assert_eq!(exceeded.cause, Cause::Configuration { alert_id: alert.id });
    assert_eq!(exceeded.threshold.to_string(), "100");
}

#[test]
fn new_thresholds_are_judged_at_once_and_old_ones_not_again() {
    let watched = watched(SUM);
    let alert = watched.alert(&["100"]);
    let fixture = &watched.fixture;
    fixture.use_now("ada", "a", "150");
    assert_eq!(fixture.fired(), ["100: none -> 150"]);
    let updated =
        run(fixture.account.update_alert(alert.id, thresholds(&["120", "100", "200"]))).unwrap();
    assert_eq!(updated.thresholds, Some(thresholds(&["120", "100", "200"])));
    assert_eq!(fixture.fired(), ["120: 150 -> 150"]);
    run(fixture.account.update_alert(alert.id, thresholds(&["300"]))).unwrap();
    run(fixture.account.update_alert(alert.id, thresholds(&["100"]))).unwrap();
    assert_eq!(fixture.fired(), Vec::<String>::new(), "what has fired survives edits");
}

#[test]
fn s4_2_a_disabled_alert_never_fires_and_saves_nothing_up() {
    let watched = watched(SUM);
    let alert = watched.alert(&["100", "200"]);
    let fixture = &watched.fixture;
    assert!(!run(fixture.account.disable_alert(alert.id)).unwrap().enabled);
    fixture.use_now("ada", "a", "150");
    assert_eq!(fixture.fired(), Vec::<String>::new());
    assert!(!run(fixture.account.disable_alert(alert.id)).unwrap().enabled, "twice is no error");
    fixture.set("2026-04-10T12:00:00Z");
    assert!(run(fixture.account.enable_alert(alert.id)).unwrap().enabled);
    assert_eq!(fixture.fired(), Vec::<String>::new(), "the period of the crossing is over");
    run(fixture.account.disable_alert(alert.id)).unwrap();
    fixture.use_now("ada", "b", "150");
    run(fixture.account.enable_alert(alert.id)).unwrap();
    assert_eq!(fixture.fired(), ["100: 150 -> 150"]);
}

#[test]
fn a_second_alert_on_the_same_metric_is_a_constraint_violation() {
    let watched = watched(SUM);
    watched.alert(&["100"]);
    let before = watched.fixture.dump();
    let new = usage_alert(watched.metric.id, &["200"]);
    let refused =
        run(watched.fixture.account.create_subscription_alert(watched.subscription.id, new));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConstraintViolation);
    assert_eq!(watched.fixture.dump(), before);
}

#[test]
fn an_alert_needs_a_metric_that_is_there_and_not_archived() {
    let watched = watched(SUM);
    let fixture = &watched.fixture;
    let create = |metric: MetricId| {
        let new = usage_alert(metric, &["1"]);
        run(fixture.account.create_subscription_alert(watched.subscription.id, new))
    };
    let unknown: MetricId = "01960000-0000-7000-8000-000000000000".parse().unwrap();
    assert!(create(unknown).unwrap_err().is_not_found());
    run(fixture.account.archive_metric(watched.metric.id)).unwrap();
    assert_eq!(create(watched.metric.id).unwrap_err().kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn an_archived_metric_goes_on_to_measure_for_its_alerts() {
    let watched = watched(SUM);
    watched.alert(&["10"]);
    run(watched.fixture.account.archive_metric(watched.metric.id)).unwrap();
    watched.fixture.use_now("ada", "a", "10");
    assert_eq!(watched.fixture.fired(), ["10: none -> 10"]);
}

#[test]
fn a_deleted_alert_is_found_no_more_and_fires_no_more() {
    let watched = watched(SUM);
    let alert = watched.alert(&["10"]);
    let fixture = &watched.fixture;
    run(fixture.account.delete_alert(alert.id)).unwrap();
    fixture.use_now("ada", "a", "10");
    assert_eq!(fixture.fired(), Vec::<String>::new());
    assert!(block_on(fixture.account.fetch_alert(alert.id)).unwrap_err().is_not_found());
    assert!(run(fixture.account.delete_alert(alert.id)).unwrap_err().is_not_found());
    watched.alert(&["20"]);
}

#[test]
fn without_the_feature_alerts_are_not_available() {
    let watched = watched(SUM);
    let mut configuration = block_on(watched.fixture.account.configuration()).unwrap();
    configuration.features.alerts = false;
    run(watched.fixture.account.configure(configuration)).unwrap();
    let new = usage_alert(watched.metric.id, &["1"]);
    let refused =
        run(watched.fixture.account.create_subscription_alert(watched.subscription.id, new));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::FeatureNotAvailable);
}

#[test]
fn an_alert_is_given_at_most_1000_thresholds_over_its_life() {
    let watched = watched(SUM);
    let hundred = |from: usize| -> Vec<String> {
        (from..from + 100).map(|value| value.to_string()).collect()
    };
    let values = |from| thresholds(&hundred(from).iter().map(String::as_str).collect::<Vec<_>>());
    let first = hundred(0);
    let alert = watched.alert(&first.iter().map(String::as_str).collect::<Vec<_>>());
    let update = |from| run(watched.fixture.account.update_alert(alert.id, values(from)));
    for round in 1..10 {
        update(round * 100).unwrap();
        update(round * 100).unwrap();
    }
    let refused = run(watched.fixture.account.update_alert(alert.id, thresholds(&["5000"])));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConstraintViolation);
    update(900).unwrap();
}

#[test]
fn usage_that_is_taken_ahead_of_its_period_is_judged_at_once_too() {
    let watched = watched(SUM);
    let fixture = &watched.fixture;
    fixture.set("2026-04-10T11:58:00Z");
    let ahead = event("ada", "a", at("2026-04-10T12:01:00Z"), "100");
    run(fixture.account.ingest([ahead])).unwrap();
    watched.alert(&["50"]);
    assert_eq!(fixture.fired(), ["50: 100 -> 100"]);
    fixture.set("2026-04-10T12:05:00Z");
    fixture.use_now("ada", "b", "1");
    assert_eq!(fixture.fired(), Vec::<String>::new());
}

#[test]
fn without_the_feature_no_alert_fires_and_nothing_is_saved_up() {
    let watched = watched(SUM);
    let alert = watched.alert(&["10"]);
    let fixture = &watched.fixture;
    let switch = |alerts| {
        let mut configuration = block_on(fixture.account.configuration()).unwrap();
        configuration.features.alerts = alerts;
        run(fixture.account.configure(configuration)).unwrap();
    };
    switch(false);
    fixture.use_now("ada", "a", "10");
    assert_eq!(fixture.fired(), Vec::<String>::new());
    let refused = block_on(fixture.account.fetch_alert(alert.id)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::FeatureNotAvailable);
    switch(true);
    fixture.use_now("ada", "b", "1");
    assert_eq!(fixture.fired(), Vec::<String>::new());
}

#[test]
fn the_alerts_on_a_customer_are_not_those_on_its_subscriptions() {
    let watched = watched(SUM);
    let alert = watched.alert(&["10"]);
    let account = &watched.fixture.account;
    let external = |text| accrue::ExternalId::parse(text).unwrap();
    let page = Default::default();
    let of =
        |name| block_on(account.list_customer_alerts(external(name), &Default::default(), &page));
    assert_eq!(of("ada").unwrap().data, []);
    assert!(of("bob").unwrap_err().is_not_found());
    let (filter, id) = (Default::default(), watched.subscription.id);
    let own = block_on(account.list_subscription_alerts(id, &filter, &page)).unwrap();
    assert_eq!(own.data, [alert]);
}

#[test]
fn the_alerts_of_a_subscription_are_listed_in_pages_newest_first() {
    let watched = watched(SUM);
    let fixture = &watched.fixture;
    let mut expect = Vec::new();
    for sql in [COUNT, "SELECT max(n) FROM events", "SELECT min(n) FROM events"] {
        fixture.clock.advance(std::time::Duration::from_secs(1));
        let new = usage_alert(fixture.metric(sql).id, &["1000"]);
        let id = watched.subscription.id;
        expect.insert(0, run(fixture.account.create_subscription_alert(id, new)).unwrap());
    }
    let mut page = accrue::PageRequest::first(2).unwrap();
    let mut found = Vec::new();
    loop {
        let id = watched.subscription.id;
        let any = accrue::ListFilter::default();
        let list = fixture.account.list_subscription_alerts(id, &any, &page);
        let next = block_on(list).unwrap();
        found.extend(next.data);
        match next.next_cursor {
            Some(cursor) => page = page.after(cursor),
            None => break,
        }
    }
    assert_eq!(found, expect);
}
