//! What alerts on the cost of groups may take: of an event, of what they are judged by at once, and of messages.

use std::{ops::Range, sync::Arc};

use accrue::{
    Account, AccountId, Billing, ErrorKind, SeededEntropy,
    alert::{AlertUpdate, NewAlert},
    limits,
    price::{Charge, GroupedTiered, LowerBoundTier, Model, NewPrice},
    store::Store as _,
    usage::Event,
    webhook::Body,
};

use crate::{
    grouped_alerts::{by_keys, instead, key, with},
    support::{
        counting::Counting,
        fixture::{block_on, refused, run, thresholds},
        priced::{NOTHING, Priced, metered, priced},
    },
};

/// So many events, each of a team of its own.
fn of_teams(numbers: Range<u64>) -> Vec<Event> {
    let event = |number: u64| with(&format!("of-{number}"), "1", &[("team", &number.to_string())]);
    numbers.map(event).collect()
}

#[test]
fn an_event_reads_the_groups_that_it_is_in_however_many_there_are() {
    let asked = |groups: u64| {
        let priced = metered();
        priced.alert(by_keys(&["team"], &["5"]));
        priced.ingest_all(of_teams(0..groups));
        let store = Arc::new(Counting::on(Arc::clone(&priced.fixture.store)));
        let clock = priced.fixture.clock.clone();
        let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(9));
        let account: Account = billing.account(AccountId::parse("acme").unwrap());
        store.reset();
        let ingest = |event: Event| block_on(account.ingest([event]).into_future()).unwrap();
        ingest(with("new", "1", &[("team", "new")]));
        ingest(with("old", "4", &[("team", "7")]));
        let asked = (store.calls(), store.keys());
        assert_eq!(priced.told(), ["7 5: 1 -> 5 by event old"]);
        asked
    };
    // The row of a customer keeps few groups open, and guesses a bounded number of rows.
    let [(calls, keys), (more_calls, more_keys)] = [300, 900].map(asked);
    assert_eq!(calls, more_calls);
    assert!(more_keys <= keys + 5, "{keys}, {more_keys}");
}

#[test]
fn an_account_without_such_alerts_keeps_no_groups() {
    let tables = |priced: &Priced| {
        let groups = accrue::schema::TABLES.iter().filter(|of| of.name().contains("group"));
        let rows = groups.map(|table| {
            let scan = accrue::store::Scan::prefix(*table, b"", usize::MAX);
            block_on(priced.fixture.store.scan(&scan)).unwrap().len()
        });
        rows.sum::<usize>()
    };
    let priced = metered();
    priced.alert(crate::support::priced::cost_alert(&["5"]));
    priced.ingest_all(of_teams(0..3));
    assert_eq!(tables(&priced), 0);
    priced.alert(by_keys(&["team"], &["5"]));
    assert!(tables(&priced) > 0);
}

#[test]
fn what_is_judged_at_once_is_told_in_as_many_messages_as_fit() {
    let priced = metered();
    let team = |number: u32| format!("{number:02}{}", "x".repeat(3_000));
    let events = (0..20).map(|number| with(&number.to_string(), "7", &[("team", &team(number))]));
    priced.ingest_all(events);
    priced.alert(by_keys(&["team"], &["5"]));
    let told: Vec<_> = priced.fixture.drain().into_iter().map(|of| of.body).collect();
    let groups = told.iter().map(|body| {
        let Body::GroupedCostExceeded(of) = body else { panic!("{body:?}") };
        of.groups.iter().map(|group| group.group_values[0].clone()).collect::<Vec<_>>()
    });
    let groups: Vec<_> = groups.collect();
    assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [7, 7, 6]);
    assert_eq!(groups.concat(), (0..20).map(team).collect::<Vec<_>>());
}

#[test]
fn thresholds_of_overrides_count_among_those_of_a_life() {
    let priced = metered();
    let from = |first: usize| -> Vec<String> {
        (first..first + limits::THRESHOLDS).map(|value| value.to_string()).collect()
    };
    let texts = |of: &[String]| -> Vec<&'static str> {
        of.iter().map(|text| &*Box::leak(text.clone().into_boxed_str())).collect()
    };
    let overrides = |count: usize| {
        let of = |number: usize| {
            instead(&[], &[&number.to_string()], &texts(&from(number * limits::THRESHOLDS)))
        };
        (0..count).map(of).collect::<Vec<_>>()
    };
    let most = limits::THRESHOLDS_OF_A_LIFE / limits::THRESHOLDS;
    let new = |count| NewAlert {
        threshold_overrides: overrides(count),
        ..by_keys(&["team"], &["0", "1", "2"])
    };
    let id = priced.subscription.id;
    priced.fixture.tick();
    let create = priced.fixture.account.create_subscription_alert(id, new(most + 1));
    assert_eq!(refused(&priced.fixture, create).0, ErrorKind::ConstraintViolation);
    let alert = run(priced.fixture.account.create_subscription_alert(id, new(most))).unwrap();
    let update = |value: &'static str| AlertUpdate {
        threshold_overrides: Some(vec![instead(&[], &["a"], &[value])]),
        ..AlertUpdate::from(thresholds(&["0"]))
    };
    priced.fixture.tick();
    let call = priced.fixture.account.update_alert(alert.id, update("-1"));
    assert_eq!(refused(&priced.fixture, call).0, ErrorKind::ConstraintViolation);
    run(priced.fixture.account.update_alert(alert.id, update("999"))).unwrap();
}

#[test]
fn groups_that_cannot_be_counted_at_once_disable_it() {
    let priced = metered();
    let most = limits::GROUPS_COUNTED_AT_ONCE;
    for start in (0..most).step_by(1_000) {
        priced.ingest_all(of_teams(start..start + 1_000));
    }
    let alert = priced.alert(by_keys(&["team"], &["5"]));
    assert!(!alert.enabled);
    assert_eq!(priced.told(), ["disabled: 5000 groups, at most 1000"]);
    priced.ingest_all([with("more", "1", &[("team", "more")])]);
    let enabled = run(priced.fixture.account.enable_alert(alert.id)).unwrap();
    assert!(!enabled.enabled);
    assert_eq!(priced.told(), ["disabled: 5001 groups, at most 1000"]);
}

/// A price by user.
fn by_user() -> Priced {
    priced(|fixture, metric| {
        let tier = |bound: &str, amount: &str| LowerBoundTier {
            tier_lower_bound: accrue::WrittenDecimal::parse(bound).unwrap(),
            unit_amount: accrue::WrittenDecimal::parse(amount).unwrap(),
        };
        let model = Model::GroupedTiered(GroupedTiered {
            grouping_key: key("user"),
            tiers: vec![tier("0", "2"), tier("10", "1")],
        });
        let charge = Charge::Usage { metric_id: metric.id, model }.into();
        [NewPrice { charge, ..fixture.usage_at("1", metric) }]
    })
}

#[test]
fn groups_of_a_model_within_those_of_an_alert_are_as_many_as_it_watches() {
    let priced = by_user();
    let alert = priced.alert(by_keys(&["team"], &["100000"]));
    let of = |user: u64, team: &str| {
        let user = user.to_string();
        with(&format!("{team}-{user}"), "1", &[("team", team), ("user", &user)])
    };
    let half = limits::WATCHED_GROUPS / 2;
    for team in ["ml", "web"] {
        priced.ingest_all((0..half).map(|user| of(user, team)));
    }
    assert_eq!(priced.told(), NOTHING);
    priced.ingest_all([of(half, "ml")]);
    assert_eq!(priced.told(), ["disabled: 1001 groups, at most 1000"]);
    let enabled = run(priced.fixture.account.enable_alert(alert.id)).unwrap();
    assert!(!enabled.enabled);
    assert_eq!(priced.told(), ["disabled: 1001 groups, at most 1000"]);
}
