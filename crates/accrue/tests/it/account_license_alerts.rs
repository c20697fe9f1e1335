//! Alerts on the pools of licenses of every subscription of an account (subscriptions 7.6).

use accrue::{
    Call, CustomerId, ErrorKind, ListFilter, PageRequest, SubscriptionId,
    alert::{Alert, NewAlert, Scope},
    license::NewLicense,
    limits,
    plan::Plan,
    price::LicenseAllocation,
    subscription::{AddedPrice, NewSubscription, PlanChange},
};

use crate::{
    license_alerts::on_pools,
    license_pools::{calls, pooled},
    licenses::{Licensed, START, date},
    support::{
        credited::CREDITS,
        fixture::{SUM, UNKNOWN, block_on, external, name, number, refused, run, thresholds, usd},
        priced::{NOTHING, between, cost_alert, unit},
    },
};

impl Licensed {
    fn watch_all(&self, values: &[&str]) -> Alert {
        run(self.fixture.account.create_account_alert(on_pools(values))).unwrap()
    }

    /// Another plan with seats of the same type, each with a pool of 200.
    fn another_plan(&self) -> Plan {
        let metric = self.fixture.metric(SUM);
        let allocation = LicenseAllocation::new(unit(CREDITS), number("200"));
        let prices = self.fixture.pool_prices(&metric, &self.license_type, allocation);
        self.fixture.priced_plan(prices.map(Into::into))
    }

    /// Gives a license, since March, of a subscription.
    fn give_of(&self, subscription: SubscriptionId, user: &str) {
        let mut new = NewLicense::new(subscription, self.license_type.id, external(user));
        new.start_date = Some(date("2026-03-01"));
        self.give(new);
    }

    /// Ingests a use of a seat of a customer, and returns what is told.
    fn seat_used(&self, customer: &str, user: &str, instant: &str, n: &str) -> Vec<String> {
        let mut event = calls(user, instant, n);
        event.customer = external(customer).into();
        self.take([event]);
        self.fixture.told()
    }

    /// The alerts of a subscription, and whether they are enabled for it.
    fn watching(&self, subscription: SubscriptionId) -> Vec<(Scope, bool)> {
        let (filter, page) = (ListFilter::default(), PageRequest::default());
        let list = self.fixture.account.list_subscription_alerts(subscription, &filter, &page);
        let found = block_on(list).unwrap().data.into_iter();
        found.map(|alert| (alert.scope, alert.enabled)).collect()
    }
}

#[test]
fn subscriptions_7_6_an_alert_of_the_account_watches_every_subscription() {
    let of = pooled(false);
    let fixture = &of.fixture;
    of.give_of(of.subscription.id, "alice");
    assert_eq!(of.seat_used("ada", "alice", "2026-03-09T01:00:00Z", "55"), NOTHING);
    let alert = of.watch_all(&["50"]);
    assert_eq!(alert.scope, Scope::Account);
    assert_eq!(of.watching(of.subscription.id), [(Scope::Account, true)]);
    fixture.tick();
    assert_eq!(fixture.told(), ["alice 50: 55 -> 55 by configuration"]);

    // A subscription to another plan, both made later.
    let bob = fixture.subscribe_from(fixture.customer("bob").id, &of.another_plan(), Some(START));
    of.give_of(bob.id, "bert");
    fixture.messages();
    let told = of.seat_used("bob", "bert", "2026-03-10T01:00:00Z", "100");
    assert_eq!(told, ["bert 50: none -> 50 by event bert/2026-03-10T01:00:00Z"]);

    // And a contract, which has no plan.
    let life = between(START, "2026-09-01T00:00:00Z");
    fixture.customer("eve");
    let mut contract = NewSubscription::contract(external("eve"), name("Eve"), usd(), life, 30);
    let allocation = LicenseAllocation::new(unit(CREDITS), number("100"));
    let prices = fixture.pool_prices(&fixture.metric(SUM), &of.license_type, allocation);
    contract.prices.add = prices.into_iter().map(AddedPrice::new).collect();
    let contract = fixture.create(contract);
    of.give_of(contract.id, "emil");
    fixture.messages();
    let told = of.seat_used("eve", "emil", "2026-03-10T01:00:00Z", "51");
    assert_eq!(told, ["emil 50: none -> 51 by event emil/2026-03-10T01:00:00Z"]);
    assert_eq!(of.watching(contract.id), [(Scope::Account, true)]);
}

#[test]
fn subscriptions_7_6_an_alert_of_the_account_is_on_pools_alone() {
    let of = pooled(false);
    let create = |new: NewAlert| of.fixture.account.create_account_alert(new);
    let field = |create: Call<Alert>| {
        let error = run(create).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RequestValidation, "{error}");
        error.violations()[0].field.clone()
    };
    assert_eq!(field(create(cost_alert(&["10"]))), "type");
    assert_eq!(field(create(on_pools(&["101"]))), "thresholds");
    let on = |license_type| {
        NewAlert::license_balance_threshold_reached(Some(license_type), thresholds(&["10"]))
    };
    let unknown = create(on(UNKNOWN.parse().unwrap()));
    assert_eq!(refused(&of.fixture, unknown).0, ErrorKind::ResourceNotFound);
    of.watch_all(&["10"]);
    assert_eq!(refused(&of.fixture, create(on_pools(&["20"]))).0, ErrorKind::ConstraintViolation);
    for _ in 1..limits::LICENSE_ALERTS {
        run(create(on(of.fixture.license_type().id))).unwrap();
    }
    let one_more = create(on(of.license_type.id));
    assert_eq!(refused(&of.fixture, one_more).0, ErrorKind::ConstraintViolation);
    // Those of a subscription are counted apart.
    let own = of.fixture.account.create_subscription_alert(of.subscription.id, on_pools(&["10"]));
    run(own).unwrap();
}

#[test]
fn subscriptions_7_6_6_an_alert_of_the_account_is_changed_for_one_or_for_all() {
    let of = pooled(false);
    let fixture = &of.fixture;
    let (ada, other) = (of.subscription.id, of.another_plan());
    let bob = fixture.subscribe_from(fixture.customer("bob").id, &other, Some(START)).id;
    of.give_of(ada, "alice");
    of.give_of(bob, "bert");
    let alert = of.watch_all(&["50"]);
    let seen = run(fixture.account.disable_alert_for(alert.id, ada)).unwrap();
    assert_eq!((seen.scope, seen.enabled), (Scope::Account, false));
    assert_eq!(
        (of.watching(ada), of.watching(bob)),
        (vec![(Scope::Account, false)], vec![(Scope::Account, true)])
    );
    fixture.tick();
    fixture.messages();
    assert_eq!(of.seat_used("ada", "alice", "2026-03-10T01:00:00Z", "60"), NOTHING);
    let told = of.seat_used("bob", "bert", "2026-03-10T02:00:00Z", "140");
    assert_eq!(told, ["bert 50: none -> 70 by event bert/2026-03-10T02:00:00Z"]);

    fixture.rethreshold(alert.id, &["50", "60", "70"]);
    fixture.tick();
    assert_eq!(fixture.told(), ["bert 60 70: 70 -> 70 by configuration"]);
    assert!(run(fixture.account.enable_alert_for(alert.id, ada)).unwrap().enabled);
    assert_eq!(fixture.told(), ["alice 50 60: 60 -> 60 by configuration"]);

    fixture.disable(alert.id);
    fixture.tick();
    assert_eq!(of.seat_used("ada", "alice", "2026-03-10T03:00:00Z", "20"), NOTHING);
    fixture.enable(alert.id);
    fixture.tick();
    assert_eq!(fixture.told(), ["alice 70: 80 -> 80 by configuration"]);
    let refused = run(fixture.account.delete_alert(alert.id)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn subscriptions_7_6_what_is_disabled_for_a_subscription_stays_so_on_another_plan() {
    let of = pooled(false);
    let fixture = &of.fixture;
    let of_account = of.watch_all(&["50"]);
    let plan = of.subscription.plan_id.unwrap();
    let of_plan = run(fixture.account.create_plan_alert(plan, on_pools(&["60"]))).unwrap();
    for alert in [of_account.id, of_plan.id] {
        run(fixture.account.disable_alert_for(alert, of.subscription.id)).unwrap();
    }
    let change = PlanChange::immediate(of.another_plan().id);
    run(fixture.account.schedule_plan_change(of.subscription.id, change)).unwrap();
    assert_eq!(of.watching(of.subscription.id), [(Scope::Account, false)]);
    let back = PlanChange::immediate(plan);
    run(fixture.account.schedule_plan_change(of.subscription.id, back)).unwrap();
    let alerts = of.watching(of.subscription.id);
    assert_eq!(alerts, [(of_plan.scope, true), (Scope::Account, false)]);
}

#[test]
fn subscriptions_7_6_a_change_reaches_more_subscriptions_than_one_step_takes() {
    /// More than a step of a tick takes.
    const CUSTOMERS: usize = 101;
    let of = pooled(false);
    let fixture = &of.fixture;
    let plan = of.another_plan();
    let customer = |place: usize| format!("c{place:03}");
    let subscribed: Vec<_> = (0..CUSTOMERS)
        .map(|place| {
            let id: CustomerId = fixture.customer(&customer(place)).id;
            fixture.subscribe_from(id, &plan, Some(START)).id
        })
        .collect();
    for place in [0, CUSTOMERS - 1] {
        let user = format!("user{place}");
        of.give_of(subscribed[place], &user);
        of.seat_used(&customer(place), &user, "2026-03-09T01:00:00Z", "110");
    }
    fixture.messages();
    let create = || fixture.account.create_account_alert(on_pools(&["50"]));
    let preview = block_on(create().preview()).unwrap();
    assert_eq!(preview.messages.len(), 2);
    run(create()).unwrap();
    fixture.tick();
    let told = ["user0 50: 55 -> 55 by configuration", "user100 50: 55 -> 55 by configuration"];
    assert_eq!(fixture.told(), told);
    assert_eq!(block_on(fixture.billing.tick(1)).unwrap().applied, 0);
}
