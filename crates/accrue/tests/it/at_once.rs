//! A threshold is judged in the commit that moves the cost, and no outcome depends on when somebody
//! looks.

use accrue::{
    PriceId,
    alert::{NewAlert, NewCondition},
    cost::CostQuery,
    price::{BillingMode, Cadence, Cycle, FilterOperator, FilterValues, PriceFilter},
    subscription::{BillingAnchor, Cancellation, NewSubscription},
};

use crate::support::{
    fixture::{at, block_on, number, run, thresholds},
    priced::{NOTHING, cost_alert, metered, priced, unit},
};

#[test]
fn a_later_end_that_makes_a_fee_whole_is_judged_at_once() {
    let priced = priced(|fixture, _| [fixture.advance_fee("31")]);
    let mut new = NewSubscription::new(priced.customer, priced.plan.id);
    new.anchor = BillingAnchor::SubscriptionStart;
    new.end_date = Some(at("2026-03-20T12:00:00Z"));
    let subscription = priced.fixture.create(new);
    let account = &priced.fixture.account;
    run(account.create_subscription_alert(subscription.id, cost_alert(&["20"]))).unwrap();
    assert_eq!(priced.told(), NOTHING, "10 of 31 days");
    let later = Cancellation::RequestedDate(at("2026-05-10T12:00:00Z"));
    run(account.cancel_subscription(subscription.id, later)).unwrap();
    let cost = priced.fixture.cost(&subscription, &CostQuery::default());
    assert_eq!(cost.total, number("31"));
    let told = priced.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("cost 20: "), "{told:?}");
}

#[test]
fn a_cancellation_now_tells_the_value_before_it_and_after() {
    let priced =
        priced(|fixture, metric| [fixture.usage_at("1", metric), fixture.arrear_fee("31")]);
    priced.alert(cost_alert(&["9"]));
    priced.use_now("a", "3");
    priced.fixture.set("2026-03-16T11:00:00Z");
    let id = priced.subscription.id;
    run(priced.fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    assert_eq!(priced.told(), ["cost 9: 3 -> 9 by subscription"]);
}

#[test]
fn a_turn_comes_before_a_change_at_its_instant_whoever_looks() {
    let story = |is_early: bool| {
        let priced = priced(|fixture, _| [fixture.advance_fee("5")]);
        let alert = priced.plan_alert(cost_alert(&["5"]));
        priced.fixture.tick();
        priced.fixture.drain();
        priced.fixture.set("2026-04-10T12:00:00Z");
        if is_early {
            priced.fixture.tick();
        }
        priced.fixture.rethreshold(alert.id, &["4", "5"]);
        priced.fixture.tick();
        priced.fixture.dated()
    };
    let at = "2026-04-10T12:00:00Z";
    let expect = [
        format!("{at} cost 5: none -> 5 by period {at} of {at}"),
        format!("{at} cost 4: 5 -> 5 by configuration of {at}"),
    ];
    assert_eq!(story(true), expect);
    assert_eq!(story(false), expect);
}

#[test]
fn what_two_subscriptions_are_owed_is_told_in_the_order_of_its_instants() {
    let story = |is_early: bool| {
        let daily = Cadence::Custom(Cycle::Days(1));
        let priced = priced(|fixture, _| [fixture.fee_of("5", daily, BillingMode::InAdvance)]);
        priced.alert(cost_alert(&["5"]));
        let fixture = &priced.fixture;
        let plan = fixture.plan();
        let mut other = NewSubscription::new(priced.customer, plan.id);
        other.end_date = Some(at("2026-05-25T00:00:00Z"));
        fixture.create(other);
        for _ in 0..100 {
            fixture.advance_days(1);
            if is_early {
                fixture.tick();
            }
        }
        fixture.tick();
        fixture.dated()
    };
    let early = story(true);
    assert!(early.len() > 100);
    let lazy = story(false);
    let instants: Vec<_> = lazy.iter().map(|told| told.split(' ').next()).collect();
    assert!(instants.is_sorted(), "{instants:?}");
    assert_eq!(lazy, early);
}

#[test]
fn a_turn_while_alerts_are_not_available_is_silent_whoever_looks() {
    let story = |is_early: bool| {
        let priced = priced(|fixture, _| [fixture.advance_fee("5")]);
        priced.alert(cost_alert(&["5"]));
        let fixture = &priced.fixture;
        fixture.drain();
        let switch = |alerts| {
            let mut configuration = block_on(fixture.account.configuration()).unwrap();
            configuration.features.alerts = alerts;
            run(fixture.account.configure(configuration)).unwrap();
        };
        fixture.set("2026-04-01T00:00:00Z");
        switch(false);
        fixture.set("2026-04-11T00:00:00Z");
        if is_early {
            fixture.tick();
        }
        switch(true);
        fixture.set("2026-05-11T00:00:00Z");
        fixture.tick();
        fixture.dated()
    };
    let at = "2026-05-10T12:00:00Z";
    let expect = [format!("{at} cost 5: none -> 5 by period {at} of {at}")];
    assert_eq!(story(true), expect);
    assert_eq!(story(false), expect);
}

/// An alert on spend that has as many filters and values as there can be. All prices pass them.
fn with_every_filter(others: &[PriceId]) -> NewAlert {
    let filter = |ids: &[PriceId]| PriceFilter {
        operator: FilterOperator::Excludes,
        values: FilterValues::PriceId(ids.iter().copied().collect()),
    };
    let price_filters = others.chunks(10).map(filter).collect();
    let condition = NewCondition::SpendExceeded { currency: unit("USD"), price_filters };
    NewAlert::new(condition, thresholds(&["1"]))
}

#[test]
fn a_plan_alert_with_every_filter_is_changed_like_any_other() {
    let priced = metered();
    let alert = priced.plan_alert(with_every_filter(&priced.other_prices(100)));
    let account = &priced.fixture.account;
    assert!(!run(account.disable_alert(alert.id)).unwrap().enabled);
    run(account.update_alert(alert.id, thresholds(&["2"]))).unwrap();
}

#[test]
fn a_turn_of_200_subscriptions_is_applied_in_as_many_commits_as_it_takes() {
    let priced = priced(|fixture, _| [fixture.advance_fee("5")]);
    let (fixture, others) = (&priced.fixture, priced.other_prices(104));
    for from in 0..5 {
        priced.plan_alert(with_every_filter(&others[from..from + 100]));
        fixture.tick();
    }
    for _ in 1..200 {
        fixture.subscribe(priced.customer, &priced.plan);
        fixture.drain();
    }
    fixture.set("2026-04-10T12:00:00Z");
    let tick = block_on(fixture.billing.tick(10)).unwrap();
    assert_eq!(tick.failed, 0, "{tick:?}");
    fixture.tick();
    assert_eq!(priced.told().len(), 200 * 5);
}
