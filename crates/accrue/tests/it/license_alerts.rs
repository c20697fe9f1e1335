//! Alerts on the pools of licenses (subscriptions 7.6).

use accrue::{
    ErrorKind, LicenseTypeId,
    alert::{Alert, AlertUpdate, Condition, NewAlert, Scope},
    limits,
    price::{Cadence, LicenseAllocation},
    usage::Amendment,
    webhook::Body,
};

use crate::{
    license_pools::{calls, pooled, pooled_of},
    licenses::{Licensed, START},
    support::{
        credited::CREDITS,
        fixture::{SUM, UNKNOWN, at, block_on, external, number, refused, run, thresholds},
        priced::{NOTHING, cost_alert, unit},
    },
};

pub(crate) fn on_pools(values: &[&str]) -> NewAlert {
    NewAlert::license_balance_threshold_reached(None, thresholds(values))
}

impl Licensed {
    fn alert(&self, new: NewAlert) -> Alert {
        let create = self.fixture.account.create_subscription_alert(self.subscription.id, new);
        run(create).unwrap()
    }

    fn used(&self, user: &str, instant: &str, n: &str) -> Vec<String> {
        self.take([calls(user, instant, n)]);
        self.fixture.told()
    }
}

#[test]
fn subscriptions_7_6_1_thresholds_are_percentages_of_the_pool() {
    let of = pooled(false);
    of.give(of.between("alice", "2026-03-01", ""));
    for outside in [&["0"][..], &["-1"], &["50", "100.5"]] {
        let of_plan = of
            .fixture
            .account
            .create_plan_alert(of.subscription.plan_id.unwrap(), on_pools(outside));
        let of_one =
            of.fixture.account.create_subscription_alert(of.subscription.id, on_pools(outside));
        for error in [run(of_plan).unwrap_err(), run(of_one).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::RequestValidation, "{error}");
            assert_eq!(error.violations()[0].field, "thresholds");
        }
    }
    of.alert(on_pools(&["75", "90", "100"]));
    assert_eq!(of.used("alice", "2026-03-10T01:00:00Z", "74"), NOTHING);
    let told = of.used("alice", "2026-03-10T02:00:00Z", "1");
    assert_eq!(told, ["alice 75: 74 -> 75 by event alice/2026-03-10T02:00:00Z"]);
    let told = of.used("alice", "2026-03-10T03:00:00Z", "30.5");
    assert_eq!(told, ["alice 90 100: 75 -> 105.5 by event alice/2026-03-10T03:00:00Z"]);
}

#[test]
fn subscriptions_7_6_1_usage_of_no_active_license_counts_for_none() {
    let of = pooled(false);
    of.give(of.between("alice", "2026-03-10", ""));
    of.alert(on_pools(&["50"]));
    assert_eq!(of.used("alice", "2026-03-09T01:00:00Z", "90"), NOTHING);
    assert_eq!(of.used("bob", "2026-03-10T01:00:00Z", "90"), NOTHING);
    let told = of.used("alice", "2026-03-10T01:00:00Z", "50");
    assert_eq!(told, ["alice 50: none -> 50 by event alice/2026-03-10T01:00:00Z"]);
}

#[test]
fn subscriptions_7_6_2_an_alert_is_for_a_type_or_for_all() {
    let of = pooled(false);
    let other = of.fixture.license_type();
    let on = |license_type: LicenseTypeId| {
        NewAlert::license_balance_threshold_reached(Some(license_type), thresholds(&["10"]))
    };
    let create = |new| of.fixture.account.create_subscription_alert(of.subscription.id, new);
    let unknown = UNKNOWN.parse().unwrap();
    assert_eq!(refused(&of.fixture, create(on(unknown))).0, ErrorKind::ResourceNotFound);
    of.alert(on(other.id));
    let own = of.alert(on(of.license_type.id));
    let all = of.alert(on_pools(&["10"]));
    assert_eq!(own.condition.alert_type(), "license_balance_threshold_reached");
    assert_eq!(own.condition.license_type_id(), Some(of.license_type.id));
    assert_eq!(all.condition, Condition::LicenseBalanceThresholdReached { license_type_id: None });
    assert!(matches!(own.scope, Scope::Subscription { .. }));
    for same in [on(of.license_type.id), on_pools(&["20"])] {
        assert_eq!(refused(&of.fixture, create(same)).0, ErrorKind::ConstraintViolation);
    }
    for _ in 3..limits::LICENSE_ALERTS {
        of.alert(on(of.fixture.license_type().id));
    }
    let too_many = create(on(of.fixture.license_type().id));
    assert_eq!(refused(&of.fixture, too_many).0, ErrorKind::ConstraintViolation);
    of.give(of.between("alice", "2026-03-01", ""));
    let told = of.used("alice", "2026-03-10T01:00:00Z", "15");
    assert_eq!(told, ["alice 10: none -> 15 by event alice/2026-03-10T01:00:00Z"; 2]);
}

#[test]
fn subscriptions_7_6_3_each_license_fires_once_for_each_threshold_and_period() {
    let of = pooled(true);
    for user in ["alice", "bob"] {
        of.give(of.between(user, "2026-03-01", ""));
    }
    of.alert(on_pools(&["50"]));
    of.used("alice", "2026-03-10T01:00:00Z", "60");
    let amended = |n: &str| {
        let event = calls("alice", "2026-03-10T01:00:00Z", n);
        let amendment = Amendment {
            event_name: event.event_name,
            timestamp: event.timestamp,
            properties: event.properties,
            customer: external("ada").into(),
        };
        run(of.fixture.account.amend_event(event.idempotency_key, amendment)).unwrap();
        of.fixture.told()
    };
    assert_eq!(amended("20"), NOTHING);
    assert_eq!(amended("80"), NOTHING, "it fired in this period");
    let told = of.used("bob", "2026-03-10T02:00:00Z", "50");
    assert_eq!(told, ["bob 50: none -> 50 by event bob/2026-03-10T02:00:00Z"]);
    of.fixture.set("2026-04-02T12:00:00Z");
    of.fixture.tick();
    assert_eq!(of.fixture.told(), NOTHING);
    assert_eq!(of.used("alice", "2026-04-01T01:00:00Z", "49"), NOTHING);
    let told = of.used("alice", "2026-04-01T02:00:00Z", "1");
    assert_eq!(told, ["alice 50: 49 -> 50 by event alice/2026-04-01T02:00:00Z"]);
    assert_eq!(of.used("bob", "2026-03-31T02:00:00Z", "50"), NOTHING, "it fired in March");
}

/// Usage that draws by the quarter, beside a fee by the month.
fn quarterly() -> Licensed {
    let fixture = pooled(false).fixture;
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let mut usage = fixture.usage_at("1", &metric);
    (usage.license_type_id, usage.currency) = (Some(license_type.id), unit(CREDITS));
    usage.conversion_rate = Some(number("0.5").into());
    let mut seats = fixture.seats(&license_type, 5);
    (usage.cadence, seats.cadence) = (Cadence::Quarterly, Cadence::Quarterly);
    seats.license_allocations = vec![LicenseAllocation::new(unit(CREDITS), number("100"))];
    let monthly = fixture.advance_fee("1");
    let plan = fixture.priced_plan([seats.into(), usage.into(), monthly.into()]);
    let fee = fixture.prices_of(&plan)[0];
    let ada = fixture.customer("carol");
    let subscription = fixture.subscribe_from(ada.id, &plan, Some(START));
    fixture.tick();
    fixture.messages();
    Licensed { fixture, license_type, subscription, fee }
}

#[test]
fn subscriptions_7_6_3_the_period_is_that_of_the_pool() {
    let of = quarterly();
    of.give(of.between("alice", "2026-03-01", ""));
    of.alert(on_pools(&["50", "100"]));
    of.fixture.messages();
    let take = |instant: &str, n: &str| {
        let mut event = calls("alice", instant, n);
        event.customer = external("carol").into();
        of.take([event]);
        let messages = of.fixture.drain();
        let reached = messages.iter().filter_map(|message| match &message.body {
            Body::LicenseBalanceThresholdReached(of) => {
                let of_one = &of.licenses[0];
                Some(format!(
                    "{} {} {}",
                    of_one.threshold,
                    of_one.value_after,
                    of.timeframe.start()
                ))
            }
            _ => None,
        });
        reached.collect::<Vec<_>>()
    };
    let [first, second] = ["2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"].map(at);
    assert_eq!(take("2026-03-10T01:00:00Z", "60"), [format!("50 60 {first}")]);
    of.fixture.set("2026-04-20T12:00:00Z");
    of.fixture.tick();
    assert_eq!(take("2026-04-20T01:00:00Z", "30"), NOTHING);
    of.fixture.set("2026-05-20T12:00:00Z");
    of.fixture.tick();
    assert_eq!(take("2026-05-20T01:00:00Z", "10"), [format!("100 100 {first}")]);
    of.fixture.set("2026-06-02T12:00:00Z");
    of.fixture.tick();
    assert_eq!(take("2026-05-30T01:00:00Z", "10"), NOTHING);
    assert_eq!(take("2026-06-01T01:00:00Z", "70"), [format!("50 70 {second}")]);
}

#[test]
fn subscriptions_7_6_4_a_message_tells_of_the_licenses_of_one_alert() {
    let of = pooled(false);
    let licenses = ["alice", "bob"].map(|user| of.give(of.between(user, "2026-03-01", "")));
    let many = [
        calls("alice", "2026-03-10T01:00:00Z", "60"),
        calls("bob", "2026-03-10T02:00:00Z", "70"),
        calls("carol", "2026-03-10T03:00:00Z", "80"),
    ];
    of.take(many);
    of.fixture.messages();
    let alert = of.alert(on_pools(&["50", "65"]));
    let messages = of.fixture.drain();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message.message_type(), "subscription.license_balance_threshold_reached");
    let Body::LicenseBalanceThresholdReached(reached) = &message.body else { panic!() };
    assert_eq!((reached.subscription_id, reached.alert.id), (of.subscription.id, alert.id));
    assert_eq!(message.body.subscription_id(), Some(of.subscription.id));
    assert_eq!(reached.timeframe.start(), at(START));
    let found: Vec<_> = reached
        .licenses
        .iter()
        .map(|of| (of.license_id, of.license_type_id, of.threshold.clone()))
        .collect();
    let expect = [
        (licenses[0].id, of.license_type.id, number("50")),
        (licenses[1].id, of.license_type.id, number("65")),
    ];
    assert_eq!(found, expect);
    assert_eq!(reached.licenses[1].external_license_id, external("bob"));
    assert_eq!(reached.licenses[1].thresholds, ["50", "65"].map(number));
    // Events are told one by one, however they come.
    of.take([
        calls("alice", "2026-03-10T04:00:00Z", "10"),
        calls("bob", "2026-03-10T05:00:00Z", "10"),
        calls("alice", "2026-03-10T06:00:00Z", "10"),
    ]);
    assert_eq!(of.fixture.told(), ["alice 65: 60 -> 70 by event alice/2026-03-10T04:00:00Z"]);
}

#[test]
fn subscriptions_7_6_6_thresholds_alone_change() {
    let of = pooled(false);
    of.give(of.between("alice", "2026-03-01", ""));
    let alert = of.alert(on_pools(&["50"]));
    of.used("alice", "2026-03-10T01:00:00Z", "60");
    let update = |values: &[&str]| AlertUpdate::from(thresholds(values));
    let others = [
        (AlertUpdate { price_filters: Some(Vec::new()), ..update(&["10"]) }, "price_filters"),
        (
            AlertUpdate { threshold_overrides: Some(Vec::new()), ..update(&["10"]) },
            "threshold_overrides",
        ),
        (update(&["101"]), "thresholds"),
    ];
    for (refused, field) in others {
        let error = run(of.fixture.account.update_alert(alert.id, refused)).unwrap_err();
        assert_eq!(error.violations()[0].field, field, "{error}");
    }
    of.fixture.rethreshold(alert.id, &["50", "60", "70"]);
    assert_eq!(of.fixture.told(), ["alice 60: 60 -> 60 by configuration"]);
    of.fixture.disable(alert.id);
    assert_eq!(of.used("alice", "2026-03-10T02:00:00Z", "15"), NOTHING);
    of.fixture.enable(alert.id);
    assert_eq!(of.fixture.told(), ["alice 70: 75 -> 75 by configuration"]);
    run(of.fixture.account.delete_alert(alert.id)).unwrap();
    of.alert(on_pools(&["70"]));
    assert_eq!(of.fixture.told(), ["alice 70: 75 -> 75 by configuration"], "it is another alert");
}

#[test]
fn subscriptions_7_6_a_plan_alert_judges_each_subscription_by_itself() {
    let of = pooled(false);
    of.give(of.between("alice", "2026-03-01", ""));
    of.used("alice", "2026-03-09T01:00:00Z", "55");
    let plan = of.subscription.plan_id.unwrap();
    let alert = run(of.fixture.account.create_plan_alert(plan, on_pools(&["50"]))).unwrap();
    assert!(matches!(alert.scope, Scope::Plan { .. }));
    of.fixture.tick();
    assert_eq!(of.fixture.told(), ["alice 50: 55 -> 55 by configuration"]);
    let bob = of.fixture.customer("bob");
    let plan = block_on(of.fixture.account.fetch_plan(plan)).unwrap();
    let other = of.fixture.subscribe_from(bob.id, &plan, Some(START));
    let mut new = of.between("alice", "2026-03-01", "");
    new.subscription_id = other.id;
    of.give(new);
    of.fixture.messages();
    let mut event = calls("alice", "2026-03-10T02:00:00Z", "50");
    event.customer = external("bob").into();
    of.take([event]);
    let told = of.fixture.told();
    assert_eq!(told, ["alice 50: none -> 50 by event alice/2026-03-10T02:00:00Z"]);
}

#[test]
fn subscriptions_7_6_what_a_license_has_used_before_it_is_given_counts() {
    let of = pooled(false);
    of.alert(on_pools(&["50"]));
    of.take([calls("alice", "2026-03-10T01:00:00Z", "70")]);
    assert_eq!(of.fixture.told(), NOTHING);
    let alice = of.give(of.between("alice", "2026-03-09", ""));
    assert_eq!(of.fixture.told(), ["alice 50: none -> 70 by subscription"]);
    // Another license of the same name has another pool.
    of.end(alice.id, "2026-03-10").unwrap();
    assert_eq!(of.fixture.told(), NOTHING);
    of.give(of.between("alice", "2026-03-10", ""));
    assert_eq!(of.fixture.told(), ["alice 50: none -> 70 by subscription"]);
}

#[test]
fn subscriptions_7_6_without_pools_there_is_nothing_to_reach() {
    let of = pooled_of(SUM, |allocation| allocation.amount = number("0"));
    of.give(of.between("alice", "2026-03-01", ""));
    of.alert(on_pools(&["1"]));
    of.alert(cost_alert(&["1000"]));
    assert_eq!(of.used("alice", "2026-03-10T01:00:00Z", "70"), NOTHING);
    let usage = of.fixture.usage_at("1", &of.fixture.metric(SUM));
    let plan = of.fixture.priced_plan([usage.into()]);
    let bob = of.fixture.customer("bob");
    let free = of.fixture.subscribe_from(bob.id, &plan, Some(START));
    let create = of.fixture.account.create_subscription_alert(free.id, on_pools(&["1"]));
    run(create).unwrap();
    let mut event = calls("alice", "2026-03-10T02:00:00Z", "50");
    event.customer = external("bob").into();
    of.take([event]);
    assert_eq!(of.fixture.told(), NOTHING);
}
