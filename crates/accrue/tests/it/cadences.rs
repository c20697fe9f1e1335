//! Usage prices of several cadences on one subscription.

use accrue::{
    Timestamp, Zone,
    customer::NewCustomer,
    price::{BillingMode, Cadence, Charge, Cycle, Model, NewPrice, Tier, Tiered},
    subscription::{BillingAnchor, Cancellation, NewSubscription},
};

use crate::support::{
    credited::{CREDITS, increment},
    fixture::{Fixture, at, block_on, event, name, number, refused, run},
    priced::{NOTHING, Priced, cost_alert, priced, unit},
};

/// Ten units at 1 each, all others at 2.
fn tiered(fixture: &Fixture, metric: &accrue::metric::Metric, cadence: Cadence) -> NewPrice {
    let tier = |first: &str, last_unit: Option<&str>, each: &str| {
        Tier::new(number(first), last_unit.map(number), number(each))
    };
    let tiers = vec![tier("0", Some("10"), "1"), tier("10", None, "2")];
    let model = Model::Tiered(Tiered::new(tiers));
    let mut new = fixture.per_unit(metric, cadence);
    new.charge = Charge::Usage { metric_id: metric.id, model }.into();
    new
}

/// Units at 0.1 by the month, and by tiers of the quarter, in periods from noon of the 10th of March on.
fn by_month_and_quarter() -> Priced {
    priced(|fixture, metric| {
        [fixture.usage_at("0.1", metric), tiered(fixture, metric, Cadence::Quarterly)]
    })
}

const MONTHS: [&str; 4] = [
    "2026-03-10T12:00:00Z",
    "2026-04-10T12:00:00Z",
    "2026-05-10T12:00:00Z",
    "2026-06-10T12:00:00Z",
];

fn ingest(priced: &Priced, key: &str, timestamp: &str, n: &str) {
    run(priced.fixture.account.ingest([event("ada", key, at(timestamp), n)])).unwrap();
}

fn subtotals(priced: &Priced, start: &str, end: &str) -> Vec<String> {
    let cost = priced.cost_between(start, end);
    cost.lines.iter().map(|line| line.subtotal.to_string()).collect()
}

#[test]
fn subscriptions_0_2_the_shortest_is_the_billing_period_and_the_longest_the_term() {
    let priced = priced(|fixture, metric| {
        [
            fixture.per_unit(metric, Cadence::Quarterly),
            fixture.usage_at("1", metric),
            fixture.fee_of("5", Cadence::Annual, BillingMode::InAdvance),
        ]
    });
    assert_eq!(priced.subscription.billing_cycle(), Cycle::MONTH);
    assert_eq!(priced.subscription.term_cycle(), Cycle::Months(12));
    assert_eq!(priced.cost().timeframe.end(), at("2026-04-10T12:00:00Z"));
    let end = Cancellation::EndOfSubscriptionTerm;
    let call = priced.fixture.account.cancel_subscription(priced.subscription.id, end);
    assert_eq!(run(call).unwrap().end_date, Some(at("2027-03-10T12:00:00Z")));
}

#[test]
fn subscriptions_3_8_5_what_has_not_begun_is_canceled_at_once_or_not_at_all() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let start = "2026-04-01T00:00:00Z";
    let upcoming = fixture.subscribe_from(ada.id, &fixture.plan(), Some(start));
    let cancel = |how| fixture.account.cancel_subscription(upcoming.id, how);
    let later = Cancellation::RequestedDate(at("2026-05-01T00:00:00Z"));
    for how in [Cancellation::EndOfSubscriptionTerm, later] {
        let (_, detail) = refused(&fixture, cancel(how));
        let expect = "the subscription has not begun: it can only be canceled immediately";
        assert_eq!(detail, expect);
    }
    assert_eq!(run(cancel(Cancellation::Immediate)).unwrap().end_date, Some(at(start)));
}

#[test]
fn a_tier_that_is_reached_in_one_month_is_reached_in_the_next_of_the_quarter() {
    let priced = by_month_and_quarter();
    for (key, month) in ["a", "b", "c"].into_iter().zip(MONTHS) {
        priced.fixture.set(month);
        ingest(&priced, key, month, "6");
    }
    assert_eq!(subtotals(&priced, MONTHS[0], MONTHS[1]), ["0.6", "6"]);
    assert_eq!(subtotals(&priced, MONTHS[1], MONTHS[2]), ["0.6", "8"]);
    assert_eq!(subtotals(&priced, MONTHS[2], MONTHS[3]), ["0.6", "12"]);
    assert_eq!(subtotals(&priced, MONTHS[0], MONTHS[3]), ["1.8", "26"]);
}

#[test]
fn an_event_that_comes_late_moves_the_months_behind_its_own() {
    let priced = by_month_and_quarter();
    ingest(&priced, "a", MONTHS[0], "6");
    priced.fixture.set(MONTHS[1]);
    ingest(&priced, "b", MONTHS[1], "4");
    priced.alert(cost_alert(&["5", "8"]));
    assert_eq!(priced.told(), NOTHING);
    // Of the four units of April, none are beyond the tier so far, and four afterwards.
    ingest(&priced, "late", "2026-04-10T11:00:00Z", "4");
    let expect = ["cost 8: 6.6 -> 11 by event late", "cost 5 8: 4.4 -> 8.4 by event late"];
    assert_eq!(priced.told(), expect);
    assert_eq!(subtotals(&priced, MONTHS[1], MONTHS[2]), ["0.4", "8"]);
}

#[test]
fn an_event_that_comes_late_moves_the_last_month_of_the_quarter_too() {
    let priced = by_month_and_quarter();
    ingest(&priced, "a", MONTHS[0], "6");
    priced.fixture.set(MONTHS[2]);
    ingest(&priced, "b", MONTHS[2], "6");
    priced.alert(cost_alert(&["10"]));
    assert_eq!(priced.told(), NOTHING);
    // Up to May there were 6 units, and 10 afterwards: the six of May were 4 + 2 * 2.
    ingest(&priced, "late", "2026-05-10T11:00:00Z", "4");
    assert_eq!(priced.told(), ["cost 10: 8.6 -> 12.6 by event late"]);
    assert_eq!(subtotals(&priced, MONTHS[1], MONTHS[2]), ["0.4", "4"]);
    assert_eq!(subtotals(&priced, MONTHS[2], MONTHS[3]), ["0.6", "12"]);
}

#[test]
fn events_before_the_start_hold_up_none_behind_it() {
    let priced = by_month_and_quarter();
    ingest(&priced, "early", "2026-03-10T11:00:00Z", "5");
    ingest(&priced, "a", MONTHS[0], "6");
    assert_eq!(subtotals(&priced, MONTHS[0], MONTHS[1]), ["0.6", "6"]);
}

#[test]
fn an_event_ahead_of_the_clock_begins_the_next_month() {
    let priced = by_month_and_quarter();
    ingest(&priced, "a", MONTHS[0], "6");
    ingest(&priced, "b", MONTHS[0], "1");
    priced.fixture.set("2026-04-10T11:58:00Z");
    ingest(&priced, "c", "2026-04-10T11:58:00Z", "1");
    ingest(&priced, "ahead", "2026-04-10T12:01:00Z", "4");
    priced.fixture.set(MONTHS[1]);
    // Two are left of the ten at 1.
    assert_eq!(subtotals(&priced, MONTHS[1], MONTHS[2]), ["0.4", "6"]);
}

#[test]
fn what_is_kept_of_a_long_period_does_not_grow_with_it() {
    let weekly = Cadence::Custom(Cycle::Days(7));
    let priced = priced(|fixture, metric| {
        [fixture.per_unit(metric, weekly), tiered(fixture, metric, Cadence::Annual)]
    });
    let fixture = &priced.fixture;
    let totals = || {
        let figures = fixture.figures(&[]);
        figures.iter().filter(|row| row.starts_with("total:")).count()
    };
    let mut counts = Vec::new();
    for week in 0..40 {
        priced.use_now(&format!("week-{week}"), "1");
        fixture.advance_days(7);
        fixture.tick();
        counts.push(totals());
    }
    // A week has one total of its own. Behind the grace period the year has as many parts as ever.
    let grown: Vec<_> = counts.windows(2).map(|pair| pair[1] - pair[0]).skip(12).collect();
    assert_eq!(grown, [1; 27], "{counts:?}");
}

#[test]
fn a_minimum_of_a_longer_period_is_topped_up_when_that_ends() {
    let priced = priced(|fixture, metric| {
        let mut quarterly = fixture.per_unit(metric, Cadence::Quarterly);
        quarterly.adjustments.minimum = Some(number("50"));
        [fixture.usage_at("0.1", metric), quarterly]
    });
    priced.alert(cost_alert(&["40"]));
    priced.fixture.set("2026-06-10T11:59:59Z");
    priced.fixture.tick();
    assert_eq!(priced.told(), NOTHING);
    priced.fixture.set(MONTHS[3]);
    priced.fixture.tick();
    assert_eq!(priced.told(), ["cost 40: none -> 50 by period 2026-06-10T12:00:00Z"]);
    assert_eq!(priced.cost_between(MONTHS[0], MONTHS[2]).total, number("0"));
    assert_eq!(priced.cost_between(MONTHS[2], MONTHS[3]).total, number("50"));
}

#[test]
fn credits_that_paid_for_a_quarter_come_back_in_its_last_month() {
    // What is used in all of a quarter costs less once it is much.
    let priced = priced(|fixture, metric| {
        let tier = |maximum_units: Option<&str>, each: &str| {
            accrue::price::BulkTier::new(maximum_units.map(number), number(each))
        };
        let tiers = vec![tier(Some("10"), "2"), tier(None, "1")];
        let model = Model::Bulk(accrue::price::Bulk::new(tiers));
        let mut quarterly = fixture.per_unit(metric, Cadence::Quarterly);
        quarterly.charge = Charge::Usage { metric_id: metric.id, model }.into();
        quarterly.currency = unit(CREDITS);
        [fixture.usage_at("0", metric), quarterly]
    });
    priced.book(increment("100")).unwrap();
    priced.use_now("a", "10");
    assert_eq!(priced.balance().as_deref(), Some("80"));
    priced.fixture.set(MONTHS[2]);
    priced.use_now("b", "1");
    assert_eq!(priced.balance().as_deref(), Some("89"));
}

/// Days in which an hour comes twice or is left out begin and end with the clocks of the zone, for the
/// price of a day and in that of a month, which has the same days.
#[test]
fn daylight_saving_moves_the_days_of_every_cadence() {
    let check = |zone: &str, start: &str, days: [&str; 3]| {
        let fixture = Fixture::new();
        fixture.set(start);
        let metric = fixture.metric(crate::support::fixture::SUM);
        let daily = Cadence::Custom(Cycle::Days(1));
        let mut by_day = fixture.per_unit(&metric, daily);
        by_day.adjustments.minimum = Some(number("3"));
        let plan = fixture.priced_plan([by_day.into(), fixture.usage_at("1", &metric).into()]);
        let mut customer = NewCustomer::new(name("ada"), accrue::Email::parse("a@b.c").unwrap());
        customer.external_customer_id = Some(crate::support::fixture::external("ada"));
        customer.timezone = Some(Zone::parse(zone).unwrap());
        let customer = run(fixture.account.create_customer(customer)).unwrap();
        let mut new = NewSubscription::new(customer.id, plan.id);
        new.anchor = BillingAnchor::SubscriptionStart;
        new.start_date = Some(at(start));
        let subscription = fixture.create(new);
        let ends = days.map(at);
        let mut day = at(start);
        for (index, end) in ends.into_iter().enumerate() {
            let last = Timestamp::from_micros(end.micros() - 1).unwrap();
            for (key, instant) in [("first", day), ("last", last)] {
                fixture.set(&instant.to_string());
                let key = format!("{key}-{index}");
                run(fixture.account.ingest([event("ada", &key, instant, "1")])).unwrap();
            }
            fixture.set(&end.to_string());
            let timeframe = accrue::Timeframe::new(day, end).unwrap();
            let query = accrue::cost::CostQuery {
                timeframe: timeframe.into(),
                ..accrue::cost::CostQuery::default()
            };
            let cost = fixture.cost(&subscription, &query);
            let totals: Vec<_> = cost.lines.iter().map(|line| line.total.to_string()).collect();
            assert_eq!(totals, ["3", "2"], "{zone}: {timeframe:?}");
            let current = block_on(
                fixture
                    .account
                    .subscription_costs(subscription.id, &accrue::cost::CostQuery::default()),
            );
            assert_eq!(current.unwrap()[0].timeframe.start(), end, "{zone}");
            day = end;
        }
    };
    // 23 hours, and 25.
    let berlin = ["2026-03-29T08:00:00Z", "2026-03-30T08:00:00Z", "2026-03-31T08:00:00Z"];
    check("Europe/Berlin", "2026-03-28T09:00:00Z", berlin);
    let berlin = ["2026-10-25T09:00:00Z", "2026-10-26T09:00:00Z", "2026-10-27T09:00:00Z"];
    check("Europe/Berlin", "2026-10-24T08:00:00Z", berlin);
    let york = ["2026-03-08T16:00:00Z", "2026-03-09T16:00:00Z", "2026-03-10T16:00:00Z"];
    check("America/New_York", "2026-03-07T17:00:00Z", york);
    // The hour that is left out begins at midnight.
    let santiago = ["2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z", "2026-09-08T03:00:00Z"];
    check("America/Santiago", "2026-09-05T04:00:00Z", santiago);
    // Half an hour.
    let lord_howe = ["2026-10-04T01:00:00Z", "2026-10-05T01:00:00Z", "2026-10-06T01:00:00Z"];
    check("Australia/Lord_Howe", "2026-10-03T01:30:00Z", lord_howe);
}

/// The end lies where a billing period ended long ago, so that the period stays as it was and the quarter is cut;
/// what was used behind it was never of that period.
#[test]
fn a_minimum_is_judged_where_a_subscription_ended_long_ago() {
    let priced = priced(|fixture, metric| {
        let mut quarterly = fixture.per_unit(metric, Cadence::Quarterly);
        quarterly.adjustments.minimum = Some(number("92"));
        let days = fixture.per_unit(metric, Cadence::Custom(Cycle::Days(6)));
        [days, quarterly]
    });
    priced.fixture.set("2026-04-28T12:00:00Z");
    priced.use_now("late", "1");
    priced.alert(cost_alert(&["0", "5"]));
    priced.told();
    let end = Cancellation::RequestedDate(at("2026-03-22T12:00:00Z"));
    run(priced.fixture.account.cancel_subscription(priced.subscription.id, end)).unwrap();
    assert_eq!(priced.told(), ["cost 0 5: none -> 12 by subscription"]);
}

/// What was used within its last billing period is of that, and what came before it is not.
#[test]
fn the_last_billing_period_of_what_ended_long_ago_is_judged_by_what_was_used_in_it() {
    let priced = priced(|fixture, metric| {
        let quarterly = fixture.per_unit(metric, Cadence::Quarterly);
        let mut fee = fixture.fee_of("7", Cadence::Quarterly, BillingMode::InArrear);
        fee.currency = quarterly.currency.clone();
        let mut days = fixture.usage_at("0", metric);
        days.cadence = Cadence::Custom(Cycle::Days(6));
        [days, quarterly, fee]
    });
    for (key, timestamp) in [("first", "2026-03-12T12:00:00Z"), ("last", "2026-03-18T12:00:00Z")] {
        priced.fixture.set(timestamp);
        priced.use_now(key, "1");
    }
    priced.fixture.set("2026-04-28T12:00:00Z");
    priced.fixture.tick();
    priced.alert(cost_alert(&["0", "0.3"]));
    priced.told();
    let end = Cancellation::RequestedDate(at("2026-03-22T12:00:00Z"));
    run(priced.fixture.account.cancel_subscription(priced.subscription.id, end)).unwrap();
    let told = priced.told();
    assert_eq!(told, ["cost 0.3: 0.25 -> 1.16 by subscription"]);
}
