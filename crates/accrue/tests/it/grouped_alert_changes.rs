//! Alerts on the cost of groups that are made late, changed, enabled, of a plan, and those that would have to watch too
//! many groups (subscriptions 8.2 to 8.4).

use accrue::{
    ErrorKind,
    alert::{Alert, AlertUpdate, NewAlert},
    backfill::NewBackfill,
    limits,
    subscription::Cancellation,
    usage::Amendment,
};

use crate::{
    grouped_alerts::{by_keys, example, instead, with},
    support::{
        fixture::{NOON, at, block_on, external, refused, run, thresholds},
        priced::{NOTHING, Priced, between, metered, priced, unit},
    },
};

impl Priced {
    fn of_teams(&self, teams: &[(&str, &str)]) {
        for (place, (team, n)) in teams.iter().enumerate() {
            self.ingest_all([with(&format!("{team}{place}{n}"), n, &[("team", team)])]);
        }
    }

    fn fetched(&self, alert: &Alert) -> Alert {
        block_on(self.fixture.account.fetch_alert(alert.id)).unwrap()
    }
}

#[test]
fn subscriptions_8_2_6_one_that_is_made_late_counts_what_was_used_before() {
    let priced = metered();
    priced.of_teams(&[("ml", "30"), ("web", "9"), ("ops", "12")]);
    priced.alert(by_keys(&["team"], &["10", "20"]));
    let expect = "ml 10 20: 30 -> 30, ops 10: 12 -> 12 by configuration";
    assert_eq!(priced.told(), [expect], "one message for all");
    priced.fixture.tick();
    assert_eq!(priced.told(), NOTHING);
    priced.of_teams(&[("web", "1"), ("ops", "7"), ("ops", "1")]);
    assert_eq!(
        priced.told(),
        ["web 10: 9 -> 10 by event web01", "ops 20: 19 -> 20 by event ops21"]
    );
}

#[test]
fn subscriptions_8_2_6_disabled_it_saves_nothing_up_and_enabled_all_groups_are_judged() {
    let priced = metered();
    let alert = priced.alert(by_keys(&["team"], &["10"]));
    priced.of_teams(&[("ml", "10")]);
    assert_eq!(priced.told(), ["ml 10: none -> 10 by event ml010"]);
    priced.fixture.disable(alert.id);
    priced.of_teams(&[("web", "11"), ("ops", "9")]);
    assert_eq!(priced.told(), NOTHING);
    priced.fixture.enable(alert.id);
    assert_eq!(priced.told(), ["web 10: 11 -> 11 by configuration"]);
    priced.of_teams(&[("ops", "1"), ("ml", "99")]);
    assert_eq!(priced.told(), ["ops 10: 9 -> 10 by event ops01"]);
}

#[test]
fn subscriptions_8_2_7_and_8_2_8_with_more_than_1000_groups_it_is_disabled_until_it_is_enabled_over_none()
 {
    let priced = metered();
    let alert = priced.alert(by_keys(&["team"], &["10"]));
    let most = usize::try_from(limits::WATCHED_GROUPS).unwrap();
    let of = |place: usize| with(&place.to_string(), "1", &[("team", &place.to_string())]);
    priced.ingest_all((0..most).map(of));
    assert_eq!(priced.told(), NOTHING);
    assert!(priced.fetched(&alert).enabled);
    priced.ingest_all([with("a", "9", &[("team", "7")])]);
    assert_eq!(priced.told(), ["7 10: 1 -> 10 by event a"]);
    priced.ingest_all([of(most), with("b", "9", &[("team", "8")])]);
    assert_eq!(priced.told(), ["disabled: 1001 groups, at most 1000"]);
    assert!(!priced.fetched(&alert).enabled);
    priced.ingest_all([of(most + 1), with("c", "9", &[("team", "9")])]);
    assert_eq!(priced.told(), NOTHING, "events are taken in however many groups");
    let enabled = run(priced.fixture.account.enable_alert(alert.id)).unwrap();
    assert!(!enabled.enabled);
    assert_eq!(priced.told(), ["disabled: 1002 groups, at most 1000"]);
    assert!(!priced.fetched(&alert).enabled);
    // A period later there are none.
    priced.fixture.set("2026-05-10T12:00:00Z");
    priced.fixture.tick();
    priced.fixture.enable(alert.id);
    let mut later = with("d", "10", &[("team", "7")]);
    later.timestamp = at("2026-05-10T12:00:00Z");
    priced.ingest_all([later]);
    assert_eq!(priced.told(), ["7 10: none -> 10 by event d"]);
}

#[test]
fn subscriptions_8_2_7_a_plan_alert_is_disabled_for_the_subscription_alone() {
    let priced = metered();
    let bob = priced.fixture.customer("bob").id;
    priced.fixture.subscribe(bob, &priced.plan);
    let alert = priced.plan_alert(by_keys(&["team"], &["10"]));
    let most = usize::try_from(limits::WATCHED_GROUPS).unwrap();
    let of = |place: usize| with(&place.to_string(), "1", &[("team", &place.to_string())]);
    priced.ingest_all((0..most).map(of));
    priced.ingest_all([of(most)]);
    assert_eq!(priced.told(), ["disabled: 1001 groups, at most 1000"]);
    assert!(priced.fetched(&alert).enabled, "for others");
    let mut of_bob = with("bob", "10", &[("team", "ml")]);
    of_bob.customer = external("bob").into();
    priced.ingest_all([of_bob, with("a", "10", &[("team", "7")])]);
    assert_eq!(priced.told(), ["ml 10: none -> 10 by event bob"]);
    let seen = run(priced.fixture.account.enable_alert_for(alert.id, priced.subscription.id));
    assert!(!seen.unwrap().enabled);
    assert_eq!(priced.told(), ["disabled: 1001 groups, at most 1000"]);
}

#[test]
fn subscriptions_8_4_1_a_plan_alert_judges_each_subscription_by_its_own_groups() {
    let priced = metered();
    let bob = priced.fixture.customer("bob").id;
    priced.fixture.subscribe(bob, &priced.plan);
    priced.of_teams(&[("ml", "12"), ("web", "6")]);
    priced.plan_alert(by_keys(&["team"], &["10"]));
    let of_bob = |id: &str, n: &str| {
        let mut event = with(id, n, &[("team", "web")]);
        event.customer = external("bob").into();
        event
    };
    priced.ingest_all([of_bob("b", "6")]);
    priced.fixture.tick();
    assert_eq!(priced.told(), ["ml 10: 12 -> 12 by configuration"]);
    priced.ingest_all([of_bob("c", "4"), with("d", "3", &[("team", "web")])]);
    assert_eq!(priced.told(), ["web 10: 6 -> 10 by event c"]);
    // Who subscribes later is watched too, with what it used before.
    let eve = priced.fixture.customer("eve").id;
    let mut of_eve = with("e", "30", &[("team", "web")]);
    of_eve.customer = external("eve").into();
    priced.ingest_all([of_eve]);
    priced.fixture.subscribe(eve, &priced.plan);
    assert_eq!(priced.told(), ["web 10: 30 -> 30 by subscription"]);
}

#[test]
fn subscriptions_8_4_2_and_8_4_4_thresholds_are_replaced_and_overrides_stay_where_none_are_given() {
    let (priced, alert) = example();
    let updated = run(priced.fixture.account.update_alert(alert.id, thresholds(&["70"]))).unwrap();
    assert_eq!(updated.threshold_overrides, alert.threshold_overrides);
    assert_eq!(priced.by_team("a", "69", "web", "eu"), NOTHING);
    assert_eq!(priced.by_team("b", "1", "web", "eu"), ["web/eu 70: 69 -> 70 by event b"]);
    assert_eq!(priced.by_team("c", "199", "ml", "us"), NOTHING);
    let clear = AlertUpdate {
        threshold_overrides: Some(Vec::new()),
        ..AlertUpdate::from(thresholds(&["70"]))
    };
    let updated = run(priced.fixture.account.update_alert(alert.id, clear)).unwrap();
    assert_eq!(updated.threshold_overrides, []);
    assert_eq!(priced.told(), ["ml/us 70: 199 -> 199 by configuration"]);
}

#[test]
fn subscriptions_8_4_3_overrides_of_a_plan_alert_and_of_one_without_keys_are_refused() {
    let priced = metered();
    let of_plan = priced.plan_alert(by_keys(&["team"], &["1"]));
    let whole = priced.alert(NewAlert::spend_exceeded(unit("USD"), thresholds(&["1"])));
    priced.fixture.tick();
    let update = |overrides| AlertUpdate {
        threshold_overrides: Some(overrides),
        ..AlertUpdate::from(thresholds(&["2"]))
    };
    for alert in [&of_plan, &whole] {
        let overrides = vec![instead(&[], &["ml"], &["5"])];
        let call = priced.fixture.account.update_alert(alert.id, update(overrides));
        assert_eq!(refused(&priced.fixture, call).0, ErrorKind::RequestValidation);
        run(priced.fixture.account.update_alert(alert.id, update(Vec::new()))).unwrap();
    }
}

#[test]
fn subscriptions_8_4_5_keys_and_currency_never_change() {
    let (priced, alert) = example();
    let updated = run(priced.fixture.account.update_alert(alert.id, thresholds(&["1"]))).unwrap();
    assert_eq!(updated.condition, alert.condition);
}

#[test]
fn subscriptions_8_4_6_after_an_update_each_group_is_judged_once_by_values_it_did_not_have() {
    let priced = metered();
    let alert = priced.alert(by_keys(&["team"], &["10", "50"]));
    priced.of_teams(&[("ml", "12"), ("web", "8"), ("ops", "30")]);
    priced.told();
    priced.fixture.rethreshold(alert.id, &["5", "10", "20"]);
    let expect = "ml 5: 12 -> 12, ops 5 20: 30 -> 30, web 5: 8 -> 8 by configuration";
    assert_eq!(priced.told(), [expect]);
    priced.fixture.rethreshold(alert.id, &["5", "10", "20"]);
    priced.fixture.rethreshold(alert.id, &["20", "50"]);
    priced.fixture.rethreshold(alert.id, &["5", "20"]);
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn backfills_and_amendments_move_groups_as_other_figures() {
    let priced = metered();
    priced.alert(by_keys(&["team"], &["10", "20", "30"]));
    priced.of_teams(&[("ml", "6"), ("web", "6")]);
    let timeframe = between(NOON, "2026-03-10T12:01:00Z");
    let new = NewBackfill { replace_existing_events: false, ..NewBackfill::new(timeframe) };
    let backfill = priced.fixture.backfill(new);
    let late = with("late", "5", &[("team", "ml")]);
    run(priced.fixture.account.ingest_backfill(backfill.id, [late])).unwrap();
    priced.reflect(&backfill);
    assert_eq!(priced.told(), ["ml 10: 6 -> 11 by backfill"]);
    let amended = with("web16", "9", &[("team", "web")]);
    let amendment = Amendment {
        event_name: amended.event_name,
        timestamp: amended.timestamp,
        properties: amended.properties,
        customer: amended.customer,
    };
    run(priced.fixture.account.amend_event(amended.idempotency_key, amendment)).unwrap();
    priced.fixture.tick();
    assert_eq!(priced.told(), NOTHING);
    priced.undo(&backfill);
    assert_eq!(priced.told(), NOTHING);
    priced.of_teams(&[("ml", "4"), ("ml", "10")]);
    assert_eq!(priced.told(), ["ml 20: 10 -> 20 by event ml110"]);
}

#[test]
fn subscriptions_8_2_6_one_that_is_made_late_knows_what_was_used_in_the_period_before() {
    let priced = metered();
    priced.by_team("a", "30", "ml", "eu");
    priced.fixture.set("2026-04-10T13:00:00Z");
    priced.fixture.tick();
    priced.fixture.messages();
    priced.alert(by_keys(&["team"], &["20", "40"]));
    assert_eq!(priced.told(), NOTHING, "this period has no usage");
    let mut late = with("late", "15", &[("team", "ml")]);
    late.timestamp = at("2026-04-10T11:00:00Z");
    priced.ingest_all([late]);
    assert_eq!(priced.told(), ["ml 40: 30 -> 45 by event late"]);
}

#[test]
fn subscriptions_8_2_2_distinct_values_are_those_of_each_group() {
    let priced = priced(|fixture, _| {
        let distinct = fixture.metric("SELECT count(DISTINCT n) FROM events");
        [fixture.usage_at("1", &distinct)]
    });
    priced.alert(by_keys(&["team"], &["1", "2", "3"]));
    let mut told = Vec::new();
    for (place, (team, n)) in
        [("ml", "1"), ("web", "1"), ("ml", "1"), ("ml", "2"), ("web", "1"), ("web", "3")]
            .into_iter()
            .enumerate()
    {
        told.extend(priced.by_team(&place.to_string(), n, team, "eu"));
    }
    let expect = [
        "ml 1: none -> 1 by event 0",
        "web 1: none -> 1 by event 1",
        "ml 2: 1 -> 2 by event 3",
        "web 2: 1 -> 2 by event 5",
    ];
    assert_eq!(told, expect);
    priced.ingest_all([
        with("a", "5", &[("team", "ops")]),
        with("b", "5", &[("team", "ops")]),
        with("c", "6", &[("team", "ops")]),
    ]);
    let together = ["ops 1: none -> 1 by event a", "ops 2: 1 -> 2 by event c"];
    assert_eq!(priced.told(), together);
}

#[test]
fn subscriptions_8_2_2_an_event_that_moves_one_price_leaves_the_others_in_its_group() {
    let priced = priced(|fixture, _| {
        let distinct = fixture.metric("SELECT count(DISTINCT region) FROM events");
        let all = fixture.metric("SELECT count(*) FROM events");
        [fixture.usage_at("0.05", &distinct), fixture.usage_at("2.5", &all)]
    });
    priced.alert(by_keys(&["none"], &["2", "4", "6", "8"]));
    // Each alone: the last ones move one of two figures of the group.
    for (key, region) in [("a", &[][..]), ("b", &[("region", "eu")]), ("c", &[]), ("d", &[])] {
        priced.ingest_all([with(key, "1", region)]);
    }
    let expect = [
        " 2: none -> 2.5 by event a",
        " 4: 2.5 -> 5.05 by event b",
        " 6: 5.05 -> 7.55 by event c",
        " 8: 7.55 -> 10.05 by event d",
    ];
    assert_eq!(priced.told(), expect);
}

/// In a period of less than a day the index of the days does not tell what was seen in it.
#[test]
fn subscriptions_8_2_2_distinct_values_of_groups_are_known_in_a_period_of_less_than_a_day() {
    let priced = priced(|fixture, _| {
        let distinct = fixture.metric("SELECT count(DISTINCT region) FROM events");
        [fixture.usage_at("1", &distinct)]
    });
    let end = Cancellation::RequestedDate(at("2026-03-10T12:05:00Z"));
    run(priced.fixture.account.cancel_subscription(priced.subscription.id, end)).unwrap();
    priced.fixture.messages();
    priced.alert(by_keys(&["team"], &["1", "2"]));
    let mut told = Vec::new();
    for (id, region) in [("a", "eu"), ("b", "eu"), ("c", "us")] {
        told.extend(priced.by_team(id, "1", "ml", region));
    }
    assert_eq!(told, ["ml 1: none -> 1 by event a", "ml 2: 1 -> 2 by event c"]);
}
