//! Several migrations of the same subscriptions, one after the other (subscriptions 5.6).

use accrue::{
    PriceId,
    plan::{MigrationTiming, NewMigration, PlanVersion, PlanVersionChange},
    subscription::{ChangeTiming, FeeQuantityChange, NewPriceInterval},
};

use crate::{
    changed_plans::on,
    price_intervals::{JANUARY, changed},
    support::fixture::{at, number, refused, run},
};

#[test]
fn subscriptions_5_6_a_later_migration_to_where_a_subscription_is_drops_its_move() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let old = changed.subscription.price_intervals[0].price_id;
    let replace = vec![(old, fixture.advance_fee("62").into())];
    changed.second(PlanVersionChange { replace, ..Default::default() });
    let there = changed.migrate(MigrationTiming::EndOfTerm);
    assert_eq!((there.moved, changed.of(changed.subscription.id).plans().len()), (1, 2));

    fixture.set("2027-01-02T00:00:00Z");
    let to_first = NewMigration::to(PlanVersion::new(1));
    let back = changed.migrating(NewMigration { when: MigrationTiming::EndOfTerm, ..to_first });
    assert_eq!((back.moved, back.refused), (0, 0));
    let of = changed.of(changed.subscription.id);
    assert_eq!(of.plans().len(), 1);
    let ends: Vec<_> = of.price_intervals.iter().map(|of| (of.price_id, of.end_date)).collect();
    assert_eq!(ends, [(old, None)]);
    fixture.tick_at("2027-02-02T00:00:00Z");
    assert_eq!(changed.version(changed.subscription.id), 1);
}

#[test]
fn subscriptions_5_6_a_move_back_at_the_same_instant_costs_what_it_did_before() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let usage = changed.subscription.price_intervals[0].price_id;
    let replace = vec![(usage, fixture.usage_at("3", &changed.metric).into())];
    changed.second(PlanVersionChange { replace, ..Default::default() });
    fixture.tick_at("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "1");
    fixture.tick_at("2027-01-15T00:00:00Z");
    changed.invoiced.use_at("b", "2027-01-15T00:00:00Z", "10");
    fixture.tick_at("2027-01-20T00:00:00Z");
    let at_once = || {
        let of = changed.of(changed.subscription.id);
        let cost = changed.cost(JANUARY, "2027-02-01T00:00:00Z");
        (of.price_intervals, of.plan_version, cost, changed.settled())
    };
    let before = at_once();
    let then = MigrationTiming::At(at("2027-01-10T00:00:00Z"));
    changed.migrate(then);
    assert_eq!(at_once().2, &before.2 + &number("10"));
    assert_eq!(at_once().3.len(), 2, "what was used by then is billed");

    let back = NewMigration { when: then, ..NewMigration::to(PlanVersion::new(1)) };
    changed.migrating(back);
    assert_eq!((at_once().1, at_once().2), (before.1, before.2));
    fixture.tick_at("2027-02-02T00:00:00Z");
    let expected = [
        "00001 issued 2027-01-01: fee 31 = 31",
        "00002 issued 2027-01-10: usage 2 = 2",
        "00003 issued 2027-02-01: fee 31, usage 20 = 51",
    ];
    assert_eq!(changed.settled(), expected, "what was used by then is billed apart");
}

#[test]
fn subscriptions_5_6_another_quantity_of_a_fee_that_a_move_has_yet_to_begin_stays() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let old = changed.subscription.price_intervals[0].price_id;
    let replace = vec![(old, fixture.advance_fee("62").into())];
    changed.second(PlanVersionChange { replace, ..Default::default() });
    changed.migrate(MigrationTiming::EndOfTerm);
    let new = changed.of(changed.subscription.id).price_intervals[1].price_id;
    let quantity = |price: PriceId, quantity: u32, date: &str| {
        let when = ChangeTiming::EffectiveDate(at(date));
        let change = FeeQuantityChange { price: price.into(), quantity: quantity.into(), when };
        let of = run(fixture.account.update_fixed_fee_quantity(changed.subscription.id, change));
        let of = of.unwrap().price_intervals[1].quantities.clone();
        of.iter().map(|(at, of)| format!("{} {of}", &at.to_string()[5..10])).collect::<Vec<_>>()
    };
    assert_eq!(quantity(new, 5, "2027-02-11T00:00:00Z"), ["02-01 1", "02-11 5"]);
    assert_eq!(quantity(old, 2, "2027-01-20T00:00:00Z"), ["02-01 2"], "the last word");
}

#[test]
fn of_two_migrations_the_later_one_counts_and_a_plan_change_ends_what_it_brought() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let old = changed.subscription.price_intervals[0].price_id;
    let replace = vec![(old, fixture.advance_fee("62").into())];
    changed.second(PlanVersionChange { replace, ..Default::default() });
    let plan = changed.invoiced.plan.id;
    let replace = vec![(old, fixture.advance_fee("93").into())];
    let third = PlanVersionChange { replace, ..Default::default() };
    // The third version comes from the second, whose price is another.
    assert!(refused(fixture, fixture.account.change_plan_version(plan, third)).1.contains("none"));
    changed.migrate(MigrationTiming::EndOfTerm);
    fixture.set("2027-01-02T00:00:00Z");
    let later = MigrationTiming::At(at("2027-01-20T00:00:00Z"));
    changed.migrate(later);
    let of = changed.of(changed.subscription.id);
    let plans: Vec<_> = of.plans().iter().map(|of| of.start_date).collect();
    assert_eq!(plans, [at(JANUARY), at("2027-01-20T00:00:00Z")]);
    assert_eq!(of.price_intervals.len(), 2);

    let other = changed.plan([fixture.advance_fee("1")]);
    changed.to(on(&other, "2027-01-25T00:00:00Z"));
    fixture.tick_at("2027-01-26T00:00:00Z");
    let of = changed.of(changed.subscription.id);
    let ends: Vec<_> = of.price_intervals.iter().map(|of| of.end_date).collect();
    let (move_at, change_at) = (at("2027-01-20T00:00:00Z"), at("2027-01-25T00:00:00Z"));
    assert_eq!(ends, [Some(move_at), Some(change_at), None]);
}

#[test]
fn subscriptions_5_6_what_an_earlier_migration_would_have_cut_short_is_billed_once_a_later_one_drops_it()
 {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let old = changed.subscription.price_intervals[0].price_id;
    let replace = vec![(old, fixture.advance_fee("62").into())];
    changed.second(PlanVersionChange { replace, ..Default::default() });
    fixture.set("2027-01-05T00:00:00Z");
    changed.migrate(MigrationTiming::At(at("2027-02-15T00:00:00Z")));
    fixture.tick_at("2027-02-03T00:00:00Z");
    let january = "00001 issued 2027-01-01: fee 31 = 31";
    assert_eq!(changed.settled(), [january, "00002 issued 2027-02-01: fee 15.5 = 15.5"]);

    changed.migrate(MigrationTiming::At(at("2027-03-15T00:00:00Z")));
    fixture.tick();
    assert_eq!(changed.settled(), [january, "00003 issued 2027-02-01: fee 31 = 31"]);
    let end = changed.fixture().account.cancel_subscription(
        changed.subscription.id,
        accrue::subscription::Cancellation::EndOfSubscriptionTerm,
    );
    assert_eq!(run(end).unwrap().end_date, Some(at("2027-03-01T00:00:00Z")));
}

#[test]
fn subscriptions_5_6_what_is_begun_in_place_of_what_a_migration_ends_stays_once_that_is_canceled() {
    let changed = changed(|fixture, metric| {
        let mut usage = fixture.usage_at("2", metric);
        usage.adjustments.minimum = Some(number("40"));
        vec![usage]
    });
    let fixture = changed.fixture();
    let old = changed.subscription.price_intervals[0].price_id;
    let replace = vec![(old, fixture.usage_at("3", &changed.metric).into())];
    changed.second(PlanVersionChange { replace, ..Default::default() });
    let move_at = at("2027-02-15T00:00:00Z");
    let migration = changed.migrate(MigrationTiming::At(move_at));
    changed.add(NewPriceInterval::new(old, move_at));
    run(fixture.account.cancel_migration(changed.invoiced.plan.id, migration.id)).unwrap();
    fixture.tick();
    let of = changed.of(changed.subscription.id);
    let lives: Vec<_> =
        of.price_intervals.iter().map(|of| (of.price_id, of.start_date, of.end_date)).collect();
    assert_eq!(lives, [(old, at(JANUARY), Some(move_at)), (old, move_at, None)]);
    let minimums = of.adjustment_intervals.iter().map(|of| (of.start_date, of.end_date));
    let minimums: Vec<_> = minimums.collect();
    assert_eq!(minimums, [(at(JANUARY), Some(move_at)), (move_at, None)], "each has its own");
}
