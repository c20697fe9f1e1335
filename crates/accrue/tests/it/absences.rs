//! What comes due while nobody looks.

use accrue::{
    Timeframe,
    price::{BillingMode, Cadence, Cycle},
};

use crate::support::{
    fixture::{at, block_on, number, run},
    priced::{NOTHING, cost_alert, exceeded, metered, priced},
};

#[test]
fn thirty_years_that_nobody_looked_are_applied_in_bounded_commits() {
    let daily = Cadence::Custom(Cycle::Days(1));
    let priced = priced(|fixture, _| [fixture.fee_of("5", daily, BillingMode::InAdvance)]);
    priced.plan_alert(cost_alert(&["5"]));
    let fixture = &priced.fixture;
    fixture.tick();
    fixture.drain();
    fixture.set("2056-03-10T12:00:00Z");
    let (mut ticks, mut told) = (0, Vec::new());
    loop {
        let more = block_on(fixture.billing.tick(1)).unwrap().more;
        let some = fixture.drain();
        assert!(some.len() <= 1_024, "{} messages of one commit", some.len());
        told.extend(some);
        ticks += 1;
        if !more {
            break;
        }
        assert!(ticks < 100, "it ends");
    }
    assert!(ticks > 5, "{ticks} commits");
    let periods: Vec<Timeframe> =
        told.iter().filter_map(exceeded).map(|exceeded| exceeded.timeframe).collect();
    assert_eq!(periods.len(), 10_958);
    assert!(periods.windows(2).all(|pair| pair[0].end() == pair[1].start()), "each once, in order");
    let next = block_on(fixture.billing.next_deadline()).unwrap();
    assert_eq!(next, Some(at("2056-03-11T12:00:00Z")));
}

#[test]
fn a_write_after_a_long_absence_applies_all_of_it_first() {
    let priced =
        priced(|fixture, metric| [fixture.usage_at("1", metric), fixture.advance_fee("5")]);
    priced.alert(cost_alert(&["5", "6"]));
    assert_eq!(priced.told().len(), 1);
    priced.fixture.set("2046-03-20T00:00:00Z");
    priced.use_now("a", "1");
    let told = priced.told();
    assert_eq!(told.len(), 241, "a message for each of 20 years of months, and that of the event");
    assert_eq!(told[240], "cost 6: 5 -> 6 by event a");
}

#[test]
fn a_write_after_thousands_of_turns_is_no_lost_race() {
    let priced = priced(|fixture, metric| {
        let daily = Cadence::Custom(Cycle::Days(1));
        let mut usage = fixture.usage_at("1", metric);
        usage.cadence = daily;
        [usage, fixture.fee_of("5", daily, BillingMode::InAdvance)]
    });
    priced.alert(cost_alert(&["5"]));
    priced.fixture.advance_days(7_000);
    priced.use_now("a", "1");
    assert_eq!(priced.told().len(), 7_001);
}

#[test]
fn two_rhythms_of_one_subscription_turn_in_order() {
    let priced = priced(|fixture, _| {
        let days = Cadence::Custom(Cycle::Days(10));
        [
            fixture.fee_of("1", days, BillingMode::InAdvance),
            fixture.fee_of("2", Cadence::Monthly, BillingMode::InArrear),
        ]
    });
    priced.alert(cost_alert(&["1", "3"]));
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.fixture.tick();
    let expect = [
        "cost 1: 1 -> 1 by configuration",
        "cost 1: none -> 1 by period 2026-03-20T12:00:00Z",
        "cost 1: none -> 1 by period 2026-03-30T12:00:00Z",
        "cost 1: none -> 1 by period 2026-04-09T12:00:00Z",
        "cost 3: 1 -> 3 by period 2026-04-10T12:00:00Z",
    ];
    assert_eq!(priced.told(), expect);
}

#[test]
fn an_upcoming_subscription_is_judged_when_it_starts() {
    let priced = metered();
    let fixture = &priced.fixture;
    let plan = fixture.priced_plan([fixture.advance_fee("5").into()]);
    run(fixture.account.create_plan_alert(plan.id, cost_alert(&["5"]))).unwrap();
    let start = Some("2026-03-20T00:00:00Z");
    let later = fixture.subscribe_from(priced.customer, &plan, start);
    assert_eq!(fixture.told(), NOTHING);
    assert_eq!(
        block_on(fixture.billing.next_deadline()).unwrap(),
        Some(at("2026-03-10T12:00:00Z"))
    );
    fixture.tick();
    assert_eq!(block_on(fixture.billing.next_deadline()).unwrap(), Some(later.start_date));
    fixture.set("2026-03-21T00:00:00Z");
    fixture.tick();
    assert_eq!(fixture.told(), ["cost 5: none -> 5 by period 2026-03-20T00:00:00Z"]);
}

#[test]
fn a_fee_that_falls_due_once_falls_due_no_more() {
    let once = |mode| {
        let priced = priced(|fixture, _| [fixture.fee_of("5", Cadence::OneTime, mode)]);
        priced.fixture.tick();
        block_on(priced.fixture.billing.next_deadline()).unwrap()
    };
    let end_of_the_first_period = at("2026-04-10T12:00:00Z");
    assert_eq!(once(BillingMode::InAdvance), Some(end_of_the_first_period));
    let priced =
        priced(|fixture, _| [fixture.fee_of("5", Cadence::OneTime, BillingMode::InArrear)]);
    priced.alert(cost_alert(&["5"]));
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.told().len(), 1);
    priced.fixture.set("2027-04-10T12:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.told(), NOTHING);
    let cost = priced.cost_between("2026-03-10T12:00:00Z", "2027-04-10T12:00:00Z");
    assert_eq!(cost.total, number("5"));
}
