use accrue::{
    alert::Cause,
    price::{BillingMode, Cadence, Cycle},
    subscription::{BillingAnchor, Cancellation, NewSubscription, ReplacedPrice},
};

use crate::support::{
    fixture::{at, block_on, number, run},
    priced::{NOTHING, Priced, between, cost_alert, exceeded, priced},
};

/// On a fee of 5 in advance and nothing else.
fn on_a_fee() -> Priced {
    priced(|fixture, _| [fixture.advance_fee("5")])
}

#[test]
fn a_fee_in_advance_is_judged_when_the_subscription_is_created() {
    let priced = on_a_fee();
    priced.plan_alert(cost_alert(&["5", "6"]));
    let fixture = &priced.fixture;
    fixture.tick();
    fixture.drain();
    let bob = fixture.subscribe(fixture.customer("bob").id, &priced.plan);
    let messages = fixture.messages();
    let exceeded: Vec<_> = messages.iter().filter_map(exceeded).collect();
    let [exceeded] = exceeded.as_slice() else { panic!("{messages:?}") };
    assert_eq!((&exceeded.value_after, exceeded.thresholds.len()), (&number("5"), 1));
    assert_eq!(exceeded.cause, Cause::Subscription { subscription_id: bob.id });
}

#[test]
fn an_alert_that_comes_after_the_fee_is_judged_by_its_configuration() {
    let priced = on_a_fee();
    priced.alert(cost_alert(&["5", "6"]));
    assert_eq!(priced.told(), ["cost 5: 5 -> 5 by configuration"]);
}

#[test]
fn the_fee_of_the_next_period_is_judged_at_its_first_instant_whoever_looks() {
    let story = |look: &dyn Fn(&Priced)| {
        let priced = on_a_fee();
        priced.plan_alert(cost_alert(&["5"]));
        priced.fixture.tick();
        priced.fixture.drain();
        look(&priced);
        priced.fixture.dated()
    };
    let expect = "2026-04-10T12:00:00Z cost 5: none -> 5 by period 2026-04-10T12:00:00Z \
                  of 2026-04-10T12:00:00Z";
    let at_once = story(&|priced| {
        priced.fixture.set("2026-04-10T12:00:00Z");
        priced.fixture.tick();
    });
    assert_eq!(at_once, [expect]);
    let late = story(&|priced| {
        priced.fixture.set("2026-05-10T11:59:59Z");
        priced.fixture.tick();
    });
    assert_eq!(late, at_once);
    let by_a_write = story(&|priced| {
        priced.fixture.set("2026-04-11T00:00:00Z");
        priced.use_now("a", "1");
    });
    assert_eq!(by_a_write, at_once);
    let by_nobody = story(&|priced| {
        priced.fixture.set("2026-04-10T11:59:59.999999Z");
        priced.fixture.tick();
    });
    assert_eq!(by_nobody, NOTHING);
}

#[test]
fn a_fee_in_arrears_and_a_minimum_are_judged_at_the_end_of_their_period() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments.minimum = Some(number("8"));
        [usage, fixture.arrear_fee("5")]
    });
    priced.alert(cost_alert(&["4", "13"]));
    priced.use_now("a", "3");
    assert_eq!(priced.told(), NOTHING);
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.fixture.tick();
    let messages = priced.fixture.messages();
    let exceeded: Vec<_> = messages.iter().filter_map(exceeded).collect();
    let [exceeded] = exceeded.as_slice() else { panic!("{messages:?}") };
    assert_eq!(exceeded.thresholds, [number("4"), number("13")]);
    assert_eq!(exceeded.value_before, Some(number("3")));
    assert_eq!(exceeded.value_after, number("13"), "3 used, 5 of the minimum, the fee of 5");
    assert_eq!(exceeded.timeframe, between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z"));
    assert_eq!(exceeded.cause, Cause::Period { timestamp: at("2026-04-10T12:00:00Z") });
}

#[test]
fn a_minimum_is_judged_at_the_end_though_nothing_was_used() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments.minimum = Some(number("8"));
        [usage]
    });
    priced.alert(cost_alert(&["8"]));
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.told(), ["cost 8: none -> 8 by period 2026-04-10T12:00:00Z"]);
}

#[test]
fn the_end_of_one_period_is_told_before_the_begin_of_the_next() {
    let priced = priced(|fixture, _| [fixture.advance_fee("5"), fixture.arrear_fee("7")]);
    priced.alert(cost_alert(&["5", "12"]));
    assert_eq!(priced.told(), ["cost 5: 5 -> 5 by configuration"]);
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.fixture.tick();
    let at = "2026-04-10T12:00:00Z";
    let expect = [
        format!("{at} cost 12: 5 -> 12 by period {at} of 2026-03-10T12:00:00Z"),
        format!("{at} cost 5: none -> 5 by period {at} of {at}"),
    ];
    assert_eq!(priced.fixture.dated(), expect);
}

#[test]
fn an_end_that_was_scheduled_brings_what_is_due_in_arrears() {
    let priced = priced(|fixture, _| [fixture.arrear_fee("31")]);
    priced.alert(cost_alert(&["6", "7"]));
    let cancel = Cancellation::RequestedDate(at("2026-03-16T11:00:00Z"));
    let id = priced.subscription.id;
    run(priced.fixture.account.cancel_subscription(id, cancel)).unwrap();
    priced.fixture.drain();
    priced.fixture.set("2026-06-01T00:00:00Z");
    priced.fixture.tick();
    let end = "2026-03-16T11:00:00Z";
    let found = priced.fixture.dated();
    let alert = format!("{end} cost 6: none -> 6 by period {end} of 2026-03-10T12:00:00Z");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&alert), "6 of 31 days: {found:?}");
    assert!(found.contains(&format!("{end} subscription.ended")), "{found:?}");
}

#[test]
fn a_scheduled_end_that_brings_nothing_new_tells_nothing() {
    let priced = priced(|fixture, _| [fixture.advance_fee("31")]);
    priced.alert(cost_alert(&["31"]));
    assert_eq!(priced.told().len(), 1);
    let end = Cancellation::RequestedDate(at("2026-03-20T12:00:00Z"));
    run(priced.fixture.account.cancel_subscription(priced.subscription.id, end)).unwrap();
    priced.fixture.set("2026-06-01T00:00:00Z");
    priced.fixture.tick();
    assert!(priced.fixture.drain().iter().all(|message| exceeded(message).is_none()));
}

#[test]
fn a_cancellation_now_brings_what_is_due_in_arrears() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments.minimum = Some(number("46.5"));
        [usage, fixture.arrear_fee("31")]
    });
    priced.alert(cost_alert(&["4", "15"]));
    priced.use_now("a", "3");
    priced.fixture.set("2026-03-16T11:00:00Z");
    let id = priced.subscription.id;
    run(priced.fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    let messages = priced.fixture.messages();
    let exceeded: Vec<_> = messages.iter().filter_map(exceeded).collect();
    let [exceeded] = exceeded.as_slice() else { panic!("{messages:?}") };
    assert_eq!(exceeded.thresholds, [number("4"), number("15")]);
    assert_eq!(exceeded.value_after, number("15"), "6 of 31 days: 9 by the minimum, 6 of the fee");
    assert_eq!(exceeded.cause, Cause::Subscription { subscription_id: id });
    assert_eq!(exceeded.timeframe, between("2026-03-10T12:00:00Z", "2026-03-16T11:00:00Z"));
    priced.fixture.set("2026-06-01T00:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.told(), NOTHING, "nothing falls due after the end");
}

#[test]
fn a_fee_is_that_of_the_quantity_that_the_subscription_has() {
    let priced = on_a_fee();
    let fixture = &priced.fixture;
    priced.plan_alert(cost_alert(&["12.5", "13"]));
    let mut new = NewSubscription::new(priced.customer, priced.plan.id);
    new.anchor = BillingAnchor::SubscriptionStart;
    new.prices.replace = vec![ReplacedPrice::quantity(priced.prices()[0], number("2.5"))];
    let subscription = fixture.create(new.clone());
    let cost = fixture.cost(&subscription, &Default::default());
    assert_eq!((&cost.lines[0].quantity, cost.total), (&number("2.5"), number("12.5")));
    assert_eq!(priced.told().len(), 1);
    new.prices.replace = vec![ReplacedPrice::quantity(priced.prices()[0], number("0"))];
    let nothing = fixture.create(new);
    assert!(fixture.cost(&nothing, &Default::default()).total.is_zero());
}

#[test]
fn a_one_time_fee_falls_due_once() {
    let fee = |mode| priced(|fixture, _| [fixture.fee_of("5", Cadence::OneTime, mode)]);
    let at_the_start = fee(BillingMode::InAdvance);
    at_the_start.alert(cost_alert(&["5"]));
    assert_eq!(at_the_start.told(), ["cost 5: 5 -> 5 by configuration"]);
    let at_the_end = fee(BillingMode::InArrear);
    at_the_end.alert(cost_alert(&["5"]));
    for priced in [&at_the_start, &at_the_end] {
        priced.fixture.set("2027-03-10T12:00:00Z");
        priced.fixture.tick();
        let cost = priced.cost_between("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z");
        assert_eq!(cost.total, number("5"));
    }
    assert_eq!(at_the_start.told(), NOTHING);
    assert_eq!(at_the_end.told(), ["cost 5: none -> 5 by period 2026-04-10T12:00:00Z"]);
}

#[test]
fn a_quarterly_fee_beside_monthly_usage_falls_due_every_third_period() {
    let priced = priced(|fixture, metric| {
        let fee = fixture.fee_of("5", Cadence::Quarterly, BillingMode::InAdvance);
        [fixture.usage_at("1", metric), fee]
    });
    assert_eq!(priced.subscription.billing_cycle(), Cycle::MONTH);
    priced.alert(cost_alert(&["5"]));
    priced.fixture.set("2026-12-10T12:00:00Z");
    priced.fixture.tick();
    let expect = [
        "cost 5: 5 -> 5 by configuration",
        "cost 5: none -> 5 by period 2026-06-10T12:00:00Z",
        "cost 5: none -> 5 by period 2026-09-10T12:00:00Z",
        "cost 5: none -> 5 by period 2026-12-10T12:00:00Z",
    ];
    assert_eq!(priced.told(), expect);
}

#[test]
fn a_fee_of_another_rhythm_falls_due_within_the_period() {
    let priced = priced(|fixture, metric| {
        let days = Cadence::Custom(Cycle::Days(45));
        [fixture.usage_at("1", metric), fixture.fee_of("5", days, BillingMode::InArrear)]
    });
    priced.alert(cost_alert(&["5", "6"]));
    priced.fixture.set("2026-04-20T12:00:00Z");
    priced.use_now("a", "1");
    priced.fixture.set("2026-04-24T12:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.told(), ["cost 5 6: 1 -> 6 by period 2026-04-24T12:00:00Z"]);
}

#[test]
fn an_annual_fee_falls_due_once_a_year() {
    let priced =
        priced(|fixture, _| [fixture.fee_of("5", Cadence::Annual, BillingMode::InAdvance)]);
    priced.alert(cost_alert(&["5"]));
    priced.fixture.set("2029-03-10T11:59:59Z");
    priced.fixture.tick();
    let expect = [
        "cost 5: 5 -> 5 by configuration",
        "cost 5: none -> 5 by period 2027-03-10T12:00:00Z",
        "cost 5: none -> 5 by period 2028-03-10T12:00:00Z",
    ];
    assert_eq!(priced.told(), expect);
    let year = priced.cost_between("2027-03-10T12:00:00Z", "2028-03-10T12:00:00Z");
    assert_eq!(year.total, number("5"));
}

#[test]
fn time_brings_the_end_of_every_period_and_its_end_with_the_grace_period() {
    for priced in [on_a_fee(), crate::support::priced::metered()] {
        let billing = &priced.fixture.billing;
        let ends = [
            "2026-04-10T12:00:00Z",
            "2026-04-11T12:00:00Z",
            "2026-05-10T12:00:00Z",
            "2026-05-11T12:00:00Z",
        ];
        for end in ends {
            assert_eq!(block_on(billing.next_deadline()).unwrap(), Some(at(end)));
            priced.fixture.set(end);
            priced.fixture.tick();
        }
    }
}

#[test]
fn tick_says_what_it_left_and_when_to_come_again() {
    let priced = on_a_fee();
    let fixture = &priced.fixture;
    for customer in ["bob", "eve"] {
        fixture.subscribe(fixture.customer(customer).id, &priced.plan);
    }
    fixture.set("2026-04-10T12:00:00Z");
    let some = block_on(fixture.billing.tick(2)).unwrap();
    assert_eq!((some.applied, some.failed, some.more), (2, 0, true));
    let rest = block_on(fixture.billing.tick(2)).unwrap();
    assert_eq!((rest.applied, rest.failed, rest.more), (1, 0, false));
    let next = block_on(fixture.billing.next_deadline()).unwrap();
    assert_eq!(next, Some(at("2026-04-11T12:00:00Z")));
}
