//! Phases that begin earlier, and what else happens to subscriptions that have them (subscriptions 3.4, 5.6).

use accrue::{
    cost::CostQuery,
    plan::{MigrationTiming, NewMigration, PhaseOrder, PlanVersionChange},
    subscription::{
        ChangeType, NewPriceInterval, PlanChange, ReplacedPrice, Subscription, TrialUpdate,
    },
};

use crate::{
    changed_plans::on,
    invoices::DRAFT,
    phases::{begins, in_phase, lives, phased, phases},
    price_intervals::{adding, constraint},
    support::{
        fixture::{at, block_on, refused, run},
        priced::between,
    },
};

#[test]
fn subscriptions_3_4_example_a_phase_is_triggered() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-10T15:00:00Z");
    let made = phased.subscribe(|_| {});
    let triggered = run(phased.trigger(&made, None)).unwrap();
    assert_eq!(begins(&triggered), ["1 2027-01-15", "2 2027-02-10", "3 2027-05-10"]);
    let expected = [
        "1 fee 01-15 02-10",
        "1 usage 01-15 02-10",
        "2 fee 02-10 05-10",
        "2 usage 02-10 05-10",
        "3 fee 05-10 -",
        "3 usage 05-10 -",
    ];
    assert_eq!(lives(&triggered), expected);
    fixture.tick_at("2027-03-03T00:00:00Z");
    let found = phased.settled(&made);
    assert!(
        found.iter().any(|of| of.ends_with("2027-02-10: usage 0, fee 42.07 = 42.07")),
        "19 of 28 days of 62: {found:?}"
    );
    assert_eq!(phased.changed.notes(), ["21.04"], "19 of 28 days of 31 go back");
}

#[test]
fn subscriptions_3_4_6_a_future_date_is_scheduled_and_a_past_one_bills_anew() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-20T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let later = run(phased.trigger(&made, Some("2027-03-01"))).unwrap();
    assert_eq!(begins(&later), ["1 2027-01-15", "2 2027-03-01", "3 2027-06-01"]);
    assert_eq!(later.active_phase(at("2027-02-20T00:00:00Z")).unwrap().order, PhaseOrder::FIRST);
    let earlier = run(phased.trigger(&made, Some("2027-02-10"))).unwrap();
    assert_eq!(begins(&earlier), ["1 2027-01-15", "2 2027-02-10", "3 2027-05-10"]);
    let refuse = phased.trigger(&made, Some("2027-01-20")).leaving_invoices();
    assert!(
        constraint(run(refuse).map_err(|of| (of.kind(), of.to_string())).unwrap_err())
            .contains("invoice")
    );
    let back = run(phased.trigger(&made, Some("2027-01-20"))).unwrap();
    assert_eq!(begins(&back), ["1 2027-01-15", "2 2027-01-20", "3 2027-04-20"]);
    fixture.tick();
    let of_february = phased.settled(&made);
    assert!(
        of_february.iter().any(|of| of.contains("2027-02-01: fee 62, usage 0")),
        "{of_february:?}"
    );
}

#[test]
fn subscriptions_3_4_4_and_5_what_is_refused() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|new| new.end_date = Some(at("2027-08-01T00:00:00Z")));
    fixture.tick();
    let refuse =
        |of: &Subscription, date| constraint(refused(fixture, phased.trigger(of, Some(date))));
    assert!(refuse(&made, "2027-01-15").contains("not after the start of phase 1"));
    assert!(refuse(&made, "2027-08-01").contains("not before the end"));
    assert!(refuse(&made, "2027-07-01").contains("no phase follows phase 3"));
    let plain = &phased.changed.subscription;
    assert!(refuse(plain, "2027-02-10").contains("has no phases"));
}

#[test]
fn subscriptions_1_8_9_trials_do_not_shift_phases() {
    let phased = phased(phases());
    let made = phased.subscribe(|new| new.trial_days = Some(70));
    assert_eq!(begins(&made), ["1 2027-01-15", "2 2027-03-15", "3 2027-06-15"]);
    let expected = [
        "1 usage 01-15 03-15",
        "2 fee 03-26 06-15",
        "2 usage 03-15 03-26",
        "2 usage 03-26 06-15",
        "3 fee 06-15 -",
        "3 usage 06-15 -",
    ];
    assert_eq!(
        lives(&made),
        expected,
        "the whole first phase is on trial, and its fee never comes"
    );
    let fixture = phased.fixture();
    fixture.tick_at("2027-04-02T00:00:00Z");
    let found = phased.settled(&made);
    let expected = "2027-03-26: fee 12, usage 0 = 12";
    assert!(found.iter().any(|of| of.ends_with(expected)), "6 of 31 days: {found:?}");
}

#[test]
fn a_plan_change_drops_the_phases_to_come_and_brings_its_own() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let plain = &phased.changed.subscription;
    let to = PlanChange {
        initial_phase: Some(PhaseOrder::new(2)),
        ..on(&phased.plan, "2027-02-15T00:00:00Z")
    };
    let changed = run(fixture.account.schedule_plan_change(plain.id, to)).unwrap();
    assert_eq!(begins(&changed), ["- 2027-01-01", "2 2027-02-15", "3 2027-05-15"]);
    fixture.tick_at("2027-05-20T00:00:00Z");
    let found = block_on(fixture.account.fetch_subscription(plain.id)).unwrap();
    assert_eq!((found.plan_id, begins(&found)), (Some(phased.plan.id), begins(&changed)));
    let types = fixture.message_types();
    assert_eq!(types.iter().filter(|of| of.contains("plan_changed")).count(), 1, "{types:?}");
    let back = PlanChange::immediate(phased.changed.invoiced.plan.id);
    let back = run(fixture.account.schedule_plan_change(plain.id, back)).unwrap();
    assert_eq!(back.active_phase(at("2027-06-01T00:00:00Z")), None);

    let made = phased.subscribe(|new| new.start_date = Some(at("2027-05-20T00:00:00Z")));
    let away = on(&phased.changed.invoiced.plan, "2027-06-01T00:00:00Z");
    let away = run(fixture.account.schedule_plan_change(made.id, away)).unwrap();
    assert_eq!(begins(&away), ["1 2027-05-20", "- 2027-06-01"]);
    let stays = run(fixture.account.unschedule_plan_changes(made.id)).unwrap();
    assert_eq!(lives(&stays), ["1 fee 05-20 -", "1 usage 05-20 -"], "3.3.2 and 3.3.3");
}

#[test]
fn subscriptions_5_6_7_a_migration_keeps_the_phase_and_when_it_began() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    let first = fixture.prices_of(&phased.plan);
    let change = PlanVersionChange {
        replace: vec![
            (first[0], fixture.advance_fee("310").into()),
            (first[2], fixture.advance_fee("620").into()),
        ],
        add: vec![
            in_phase(2, fixture.advance_fee("7")).into(),
            in_phase(3, fixture.advance_fee("8")).into(),
        ],
        ..PlanVersionChange::default()
    };
    let second = run(fixture.account.change_plan_version(phased.plan.id, change)).unwrap();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let migrate = |when| {
        let new = NewMigration { when, ..NewMigration::to(second.version) };
        let migration = run(fixture.account.migrate_plan(phased.plan.id, new)).unwrap();
        fixture.tick();
        migration.id
    };
    let fetch = || block_on(fixture.account.fetch_subscription(made.id)).unwrap();
    let before = fetch();
    let id = migrate(MigrationTiming::At(at("2027-03-01T00:00:00Z")));
    let expected = [
        "1 fee 01-15 03-01",
        "1 usage 01-15 03-15",
        "2 usage 03-15 06-15",
        "3 fee 06-15 -",
        "3 usage 06-15 -",
        "1 fee 03-01 03-15",
        "2 fee 03-15 06-15",
        "2 fee 03-15 06-15",
        "3 fee 06-15 -",
    ];
    let mut found = lives(&fetch());
    let mut wanted = expected.map(str::to_owned).to_vec();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
    assert_eq!(begins(&fetch()), ["1 2027-01-15", "1 2027-03-01", "2 2027-03-15", "3 2027-06-15"]);
    let versions: Vec<_> = fetch().plans().iter().map(|of| of.plan_version.number()).collect();
    assert_eq!(versions, [1, 2, 2, 2]);
    run(fixture.account.cancel_migration(phased.plan.id, id)).unwrap();
    fixture.tick();
    let sorted = |of: &Subscription| {
        let mut lives = lives(of);
        lives.sort();
        (lives, begins(of), of.plans().iter().map(|of| of.plan_version).collect::<Vec<_>>())
    };
    assert_eq!(sorted(&fetch()), sorted(&before), "it is as it was");

    migrate(MigrationTiming::At(at("2027-03-15T00:00:00Z")));
    assert_eq!(begins(&fetch()), ["1 2027-01-15", "2 2027-03-15", "3 2027-06-15"], "with a phase");
    let found = constraint(refused(fixture, phased.trigger(&made, Some("2027-03-01"))));
    assert!(found.contains("a migration moves"), "{found}");
    fixture.tick_at("2027-03-20T00:00:00Z");
    assert_eq!(fetch().plan_version, second.version);
}

#[test]
fn phases_that_were_over_when_it_was_created_are_billed() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-04-20T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let query =
        |from, to| CostQuery { timeframe: between(from, to).into(), ..CostQuery::default() };
    let cost = |from, to| fixture.cost(&made, &query(from, to)).total.to_string();
    assert_eq!(cost("2027-01-15T00:00:00Z", "2027-03-15T00:00:00Z"), "62");
    assert_eq!(cost("2027-03-15T00:00:00Z", "2027-05-01T00:00:00Z"), "96");
    let drafts = fixture.invoices(DRAFT);
    assert!(drafts.iter().any(|of| of.subscription_id == Some(made.id)));
    assert_eq!(made.active_phase(at("2027-04-20T00:00:00Z")).unwrap().order, PhaseOrder::new(2));
}

#[test]
fn a_migration_that_is_canceled_brings_nothing_back_behind_a_change_of_plan() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    let first = fixture.prices_of(&phased.plan);
    let change = PlanVersionChange { remove: vec![first[4]], ..PlanVersionChange::default() };
    let second = run(fixture.account.change_plan_version(phased.plan.id, change)).unwrap();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let when = MigrationTiming::At(at("2027-05-01T00:00:00Z"));
    let new = NewMigration { when, ..NewMigration::to(second.version) };
    let migration = run(fixture.account.migrate_plan(phased.plan.id, new)).unwrap();
    fixture.tick();
    let away = on(&phased.changed.invoiced.plan, "2027-06-01T00:00:00Z");
    run(fixture.account.schedule_plan_change(made.id, away)).unwrap();
    run(fixture.account.cancel_migration(phased.plan.id, migration.id)).unwrap();
    fixture.tick();
    let found = block_on(fixture.account.fetch_subscription(made.id)).unwrap();
    let mut last = found.price_intervals.iter().filter(|of| of.end_date.is_none());
    assert_eq!((last.next().unwrap().plan_phase_order, last.next()), (None, None), "{found:?}");
}

#[test]
fn subscriptions_3_4_a_phase_of_another_plan_is_left_alone() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let away = on(&phased.changed.invoiced.plan, "2027-02-10T00:00:00Z");
    run(fixture.account.schedule_plan_change(made.id, away)).unwrap();
    fixture.tick_at("2027-02-20T00:00:00Z");
    let found = constraint(refused(fixture, phased.trigger(&made, Some("2027-02-05"))));
    assert!(found.contains("on another plan or version since 2027-02-10"), "{found}");
}

#[test]
fn what_is_of_no_phase_goes_on_through_all() {
    let mut of = phases();
    of[1].aligns_billing = true;
    let phased = phased(of);
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let mut yearly = fixture.advance_fee("365");
    yearly.cadence = accrue::price::Cadence::Annual;
    let adds = |price| {
        let changes = adding(NewPriceInterval::new(price, at("2027-02-10T00:00:00Z")));
        run(fixture.account.change_intervals(made.id, changes)).unwrap()
    };
    let with_addon = adds(fixture.advance_fee("28"));
    assert_eq!(lives(&with_addon).last().unwrap(), "- fee 02-10 -");
    adds(yearly);
    fixture.tick_at("2027-04-20T00:00:00Z");
    let found = phased.settled(&made);
    assert!(found.iter().any(|of| of.contains("2027-04-01: fee 28")), "on its own grid: {found:?}");
    assert!(
        found.iter().any(|of| of.contains("2027-04-15: fee 62")),
        "on that of the phase: {found:?}"
    );
}

#[test]
fn subscriptions_1_3_3_what_is_replaced_in_a_phase_that_is_not_entered_is_no_error() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    let first = fixture.prices_of(&phased.plan);
    let by = || vec![ReplacedPrice::by(first[0], fixture.advance_fee("7"))];
    let made = phased.subscribe(|new| {
        new.initial_phase = Some(PhaseOrder::new(2));
        new.prices.replace = by();
    });
    assert_eq!(lives(&made).len(), 4);
    let last = ReplacedPrice::by(first[4], fixture.advance_fee("7"));
    let made = phased.subscribe(|new| {
        new.end_date = Some(at("2027-05-01T00:00:00Z"));
        new.prices.replace = vec![last];
    });
    assert_eq!(lives(&made)[4], "3 fee 06-15 -", "as what it replaces");
    let price = made.price_intervals[4].price_id;
    let price = block_on(fixture.account.fetch_price(price)).unwrap();
    assert_eq!(price.plan_phase_order, Some(PhaseOrder::new(3)));
}

#[test]
fn subscriptions_1_8_8_the_begin_of_a_phase_ends_the_billing_period() {
    let phased = phased(phases());
    let made = phased.subscribe(|_| {});
    let period = made.periods().containing(at("2027-03-20T00:00:00Z")).unwrap();
    assert_eq!(period.start(), at("2027-03-15T00:00:00Z"));
    assert_eq!(period.end(), at("2027-04-01T00:00:00Z"));
    let period = made.periods().containing(at("2027-03-10T00:00:00Z")).unwrap();
    assert_eq!(period.end(), at("2027-03-15T00:00:00Z"));
}

#[test]
fn subscriptions_4_1_a_phase_and_a_trial_wait_to_be_applied() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|new| new.trial_days = Some(60));
    fixture.tick();
    let (preview, change) = run(phased.trigger(&made, None).staged()).unwrap();
    assert_eq!(change.change_type, ChangeType::TriggerPhase);
    assert_eq!(preview.active_phase(at("2027-02-10T00:00:00Z")).unwrap().order.number(), 2);
    fixture.tick_at("2027-02-10T20:00:00Z");
    let apply =
        |id| run(fixture.account.apply_subscription_change(id, Default::default())).unwrap();
    let applied = apply(change.id).subscription.unwrap();
    assert_eq!(begins(&applied)[1], "2 2027-02-10");
    let update = TrialUpdate::at(at("2027-02-20T00:00:00Z"));
    let (_, change) = run(fixture.account.update_trial(made.id, update).staged()).unwrap();
    assert_eq!(change.change_type, ChangeType::UpdateTrial);
    let applied = apply(change.id).subscription.unwrap();
    assert_eq!(applied.trial_end(), Some(at("2027-02-20T00:00:00Z")));
}

#[test]
fn a_trigger_leaves_the_phases_of_a_plan_that_follows() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|_| {});
    let again = on(&phased.plan, "2027-06-01T00:00:00Z");
    run(fixture.account.schedule_plan_change(made.id, again)).unwrap();
    let triggered = run(phased.trigger(&made, None)).unwrap();
    let expected = [
        "1 2027-01-15",
        "2 2027-02-10",
        "3 2027-05-10",
        "1 2027-06-01",
        "2 2027-08-01",
        "3 2027-11-01",
    ];
    assert_eq!(begins(&triggered)[..2], expected[..2]);
    assert_eq!(
        begins(&triggered).iter().rev().take(3).rev().collect::<Vec<_>>(),
        expected[3..].iter().collect::<Vec<_>>()
    );
    let first = lives(&triggered).into_iter().filter(|of| of.starts_with("1 fee"));
    assert_eq!(first.collect::<Vec<_>>(), ["1 fee 01-15 02-10", "1 fee 06-01 08-01"]);
}

#[test]
fn usage_that_goes_on_through_phases_is_rated_in_its_own_periods() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    let first = fixture.prices_of(&phased.plan);
    fixture.tick_at("2027-02-10T00:00:00Z");
    let made = phased.subscribe(|new| {
        new.prices.remove = [1, 3, 5].map(|place: usize| first[place].into()).to_vec();
    });
    let usage = fixture.usage_at("1", &phased.changed.metric);
    let add = adding(NewPriceInterval::new(usage, at("2027-01-15T00:00:00Z")));
    run(fixture.account.change_intervals(made.id, add)).unwrap();
    for (key, day) in [("a", "2027-03-10T00:00:00Z"), ("b", "2027-03-20T00:00:00Z")] {
        fixture.tick_at(day);
        phased.uses(key, day, "10");
    }
    fixture.tick_at("2027-04-03T00:00:00Z");
    let found = phased.settled(&made);
    assert!(found.iter().any(|of| of.contains("2027-04-01: fee 62, usage 20")), "{found:?}");
}
