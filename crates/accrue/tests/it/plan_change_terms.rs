//! Changes of plan: when they take effect, and what ends and begins then (subscriptions 3.2).

use accrue::{
    PageRequest,
    plan::NewPlan,
    price::{BillingMode, Cadence},
    subscription::{
        Cancellation, IntervalChanges, NewAdjustmentInterval, NewPriceInterval, PlanChange,
        PlanChangeTiming, PlanStretch, Subscription,
    },
};

use crate::{
    adjustments::percentage_off,
    changed_plans::on,
    phases::{begins, phased, phases},
    price_intervals::{Changed, JANUARY, changed},
    support::{
        credited::{CREDITS, credited_with, dropped},
        fixture::{at, block_on, name, run, usd},
        priced::{cost_alert, unit},
    },
};

const MARCH_11: &str = "2027-03-11T00:00:00Z";

/// Where the second plan of a subscription begins.
fn change_of(of: &Subscription) -> String {
    of.plans()[1].start_date.to_string()[..10].to_owned()
}

#[test]
fn subscriptions_3_2_1_it_takes_effect_now_with_the_end_of_the_term_or_at_a_date() {
    let of_a_year = || {
        let changed = changed(|fixture, metric| {
            let annual = fixture.fee_of("120", Cadence::Annual, BillingMode::InAdvance);
            vec![annual, fixture.usage_at("1", metric)]
        });
        changed.fixture().tick_at(MARCH_11);
        changed
    };
    let at_time = |when: PlanChangeTiming| {
        let changed = of_a_year();
        let other = changed.plan([]);
        change_of(&changed.to(PlanChange { when, ..PlanChange::immediate(other.id) }))
    };
    assert_eq!(at_time(PlanChangeTiming::Immediate), "2027-03-11");
    let term = at_time(PlanChangeTiming::EndOfSubscriptionTerm);
    assert_eq!(term, "2028-01-01", "the term is that of the longest cadence");
    assert_eq!(at_time(PlanChangeTiming::RequestedDate(at("2027-05-20T00:00:00Z"))), "2027-05-20");
}

#[test]
fn subscriptions_3_2_2_all_intervals_are_cut_and_those_of_the_new_plan_begin() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("1", metric), fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    changed.add(NewPriceInterval::new(fixture.arrear_fee("5"), at(JANUARY)));
    let half = NewAdjustmentInterval::new(percentage_off("0.5"), at(JANUARY));
    let add_adjustments = vec![half];
    changed.change(IntervalChanges { add_adjustments, ..Default::default() });
    let mut new = NewPlan::new(name("Other"), usd());
    new.prices = vec![fixture.advance_fee("62").into()];
    new.adjustments = vec![percentage_off("0.1")];
    let other = run(fixture.account.create_plan(new)).unwrap();
    let after = changed.to(on(&other, MARCH_11));
    let (start, change) = (at(JANUARY), at(MARCH_11));
    let prices: Vec<_> =
        after.price_intervals.iter().map(|of| (of.start_date, of.end_date)).collect();
    let cut = (start, Some(change));
    assert_eq!(prices, [cut, cut, cut, (change, None)]);
    let adjustments = after.adjustment_intervals.iter().map(|of| (of.start_date, of.end_date));
    assert_eq!(adjustments.collect::<Vec<_>>(), [cut, (change, None)]);
}

#[test]
fn subscriptions_3_2_6_phases_and_trial_of_the_new_plan_count_from_the_change() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let plain = &phased.changed.subscription;
    let to = PlanChange { trial_days: Some(14), ..on(&phased.plan, "2027-02-15T00:00:00Z") };
    let after = run(fixture.account.schedule_plan_change(plain.id, to)).unwrap();
    let expected = ["- 2027-01-01", "1 2027-02-15", "2 2027-04-15", "3 2027-07-15"];
    assert_eq!(begins(&after), expected);
    assert_eq!(after.trial_end(), Some(at("2027-03-01T00:00:00Z")));

    let made = phased.subscribe(|new| new.trial_days = Some(60));
    assert_eq!(made.trial_end(), Some(at("2027-03-16T00:00:00Z")));
    let away = on(&phased.changed.invoiced.plan, "2027-02-20T00:00:00Z");
    let away = run(fixture.account.schedule_plan_change(made.id, away)).unwrap();
    assert_eq!(away.trial_end(), Some(at("2027-02-20T00:00:00Z")), "a running trial ends");
}

/// The plans that are listed of a subscription, by place in some, each with its bounds.
fn listed(changed: &Changed, plans: &[accrue::PlanId]) -> Vec<String> {
    let id = changed.subscription.id;
    let page = PageRequest::default();
    let page = changed.fixture().account.plan_schedule(id, Default::default(), &page);
    let day = |at: accrue::Timestamp| at.to_string()[..10].to_owned();
    let row = |of: &PlanStretch| {
        let place = plans.iter().position(|plan| Some(*plan) == of.plan_id).unwrap();
        format!("{place} {} {}", day(of.start_date), of.end_date.map_or("-".to_owned(), day))
    };
    let page = block_on(page).unwrap();
    page.data.iter().map(row).collect()
}

#[test]
fn subscriptions_3_2_20_the_id_stays_and_every_plan_is_kept_in_the_schedule() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let [b, c] = ["32", "33"].map(|amount| changed.plan([changed.fixture().advance_fee(amount)]));
    let plans = [changed.invoiced.plan.id, b.id, c.id];
    changed.fixture().tick_at("2027-02-10T00:00:00Z");
    assert_eq!(changed.to(PlanChange::immediate(b.id)).id, changed.subscription.id);
    changed.fixture().tick_at("2027-03-05T00:00:00Z");
    changed.to(PlanChange::immediate(c.id));
    changed.to(on(&b, "2027-06-01T00:00:00Z"));
    let expected = [
        "1 2027-06-01 -",
        "2 2027-03-05 2027-06-01",
        "1 2027-02-10 2027-03-05",
        "0 2027-01-01 2027-02-10",
    ];
    assert_eq!(listed(&changed, &plans), expected);
}

#[test]
fn subscriptions_3_2_11_and_12_earlier_changes_stay_and_of_one_date_the_later_request_counts() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let [b, c] = ["32", "33"].map(|amount| changed.plan([changed.fixture().advance_fee(amount)]));
    let plans = [changed.invoiced.plan.id, b.id, c.id];
    changed.to(on(&b, "2027-02-01T00:00:00Z"));
    changed.to(on(&c, "2027-03-01T00:00:00Z"));
    let expected = ["2 2027-03-01 -", "1 2027-02-01 2027-03-01", "0 2027-01-01 2027-02-01"];
    assert_eq!(listed(&changed, &plans), expected);
    // Of two with one date the later request counts.
    changed.to(on(&c, "2027-02-01T00:00:00Z"));
    assert_eq!(listed(&changed, &plans), ["2 2027-02-01 -", "0 2027-01-01 2027-02-01"]);
}

#[test]
fn what_a_change_in_the_past_gives_back_is_there_for_what_it_draws() {
    let priced = credited_with("20");
    let fixture = &priced.fixture;
    let since = at("2026-03-11T00:00:00Z");
    fixture.tick_at("2026-03-11T12:00:00Z");
    priced.use_now("a", "12");
    fixture.tick_at("2026-03-12T00:00:00Z");
    priced.watch(dropped(&["5"]));
    let mut dearer = fixture.usage_at("1.5", &priced.metric);
    dearer.currency = unit(CREDITS);
    let plan = fixture.priced_plan([dearer.into()]);
    let when = PlanChangeTiming::RequestedDate(since);
    let change = PlanChange { when, ..PlanChange::immediate(plan.id) };
    fixture.messages();
    run(fixture.account.schedule_plan_change(priced.subscription.id, change)).unwrap();
    assert_eq!(priced.all_blocks(), ["2 of 20"], "nothing is overdrawn");
    let ledger =
        ["increment 20 = 20", "decrement -12 = 8", "amendment 12 = 20", "decrement -18 = 2"];
    assert_eq!(priced.ledger(), ledger);
    let told = fixture.message_types();
    let fell = told.iter().filter(|of| of.contains("credit_balance")).count();
    assert_eq!(fell, 1, "{told:?}");
}

#[test]
fn an_alert_that_somebody_creates_who_began_before_a_change_sees_what_that_has_brought() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    fixture.tick_at("2027-01-11T00:00:01Z");
    let other = changed.plan([fixture.advance_fee("62")]);
    changed.to(PlanChange::immediate(other.id));
    fixture.set("2027-01-11T00:00:00Z");
    fixture.messages();
    let alert = cost_alert(&["40"]);
    run(fixture.account.create_subscription_alert(changed.subscription.id, alert)).unwrap();
    assert_eq!(fixture.message_types(), ["subscription.cost_exceeded"], "10 and 42");
}

#[test]
fn what_ends_at_the_instant_of_a_change_that_another_one_has_dropped_is_billed_up_to_it() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("1", metric)]);
    let fixture = changed.fixture();
    for (key, day) in [("a", "2027-01-05T00:00:00Z"), ("b", "2027-01-15T00:00:00Z")] {
        fixture.tick_at(day);
        changed.invoiced.use_at(key, day, "3");
    }
    fixture.tick_at("2027-01-20T00:00:00Z");
    let other = changed.plan([fixture.usage_at("2", &changed.metric)]);
    changed.to(PlanChange::immediate(other.id));
    changed.to(on(&other, "2027-01-10T00:00:00Z"));
    let end = Cancellation::Immediate;
    run(fixture.account.cancel_subscription(changed.subscription.id, end)).unwrap();
    fixture.tick_at("2027-01-22T00:00:00Z");
    let billed: Vec<_> = changed.settled().iter().map(|of| of[13..].to_owned()).collect();
    assert_eq!(billed, ["2027-01-10: usage 3 = 3", "2027-01-20: usage 6 = 6"]);
}
