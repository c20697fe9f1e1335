//! Subscriptions that a migration moves, and what happens to them meanwhile (subscriptions 5.6).

use accrue::{
    PriceId,
    coupon::{Redemption, RedemptionTiming},
    plan::{MigrationTiming, NewMigration, PlanVersionChange},
    price::{BillingMode, Cadence},
    subscription::{
        Cancellation, FeeQuantityChange, IntervalChanges, NewPriceInterval, PlanChange,
        PlanChangeTiming, PriceIntervalEdit, ReplacedPrice,
    },
};

use crate::{
    adjustments::percentage_off,
    changed_plans::on,
    coupons::percentage,
    invoices::DRAFT,
    migrations::{SECOND, intervals},
    price_intervals::{Changed, JANUARY, changed},
    support::fixture::{at, block_on, number, run},
};

/// A fee of 31 that version 2 replaces by one of 62.
fn doubled() -> (Changed, PriceId, PriceId) {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let old = changed.subscription.price_intervals[0].price_id;
    let replace = vec![(old, changed.fixture().advance_fee("62").into())];
    changed.second(PlanVersionChange { replace, ..PlanVersionChange::default() });
    let plan = changed.invoiced.plan.id;
    let second = block_on(changed.fixture().account.fetch_plan_version(plan, SECOND)).unwrap();
    (changed, old, second.prices[0].id)
}

fn first_of(changed: &Changed, day: &str) -> String {
    let drafts = changed.fixture().invoices(DRAFT).into_iter();
    let found = drafts.chain(changed.fixture().invoices(&[])).find(|of| of.invoice_date == at(day));
    found.unwrap().total.to_string()
}

#[test]
fn subscriptions_5_6_coupons_live_on_over_what_takes_the_place() {
    let (changed, ..) = doubled();
    let fixture = changed.fixture();
    fixture.set("2027-01-15T00:00:00Z");
    let coupon = fixture.coupon_for("half", percentage("0.5"), 12);
    let redemption = Redemption {
        coupon: coupon.id.into(),
        when: RedemptionTiming::RequestedDate(at("2027-01-15T00:00:00Z")),
    };
    run(fixture.account.redeem_coupon(changed.subscription.id, redemption)).unwrap();
    changed.migrate(MigrationTiming::EndOfTerm);
    fixture.tick_at("2027-02-01T00:00:00Z");
    assert_eq!(first_of(&changed, "2027-02-01T00:00:00Z"), "31");
}

#[test]
fn subscriptions_5_6_3_a_quantity_that_changes_while_a_move_is_to_come_goes_with_it() {
    let (changed, old, new) = doubled();
    let fixture = changed.fixture();
    let made = changed.migrate(MigrationTiming::EndOfTerm);
    fixture.set("2027-01-11T00:00:00Z");
    let id = changed.subscription.id;
    let change = FeeQuantityChange::immediate(old, number("3"));
    run(fixture.account.update_fixed_fee_quantity(id, change)).unwrap();
    let february = at("2027-02-01T00:00:00Z");
    assert_eq!(changed.of(id).fee_quantity(new, february), Some(&number("3")));
    run(fixture.account.cancel_migration(changed.invoiced.plan.id, made.id)).unwrap();
    fixture.tick();
    let of = changed.of(id);
    assert_eq!(of.fee_quantity(old, february), Some(&number("3")), "it is as it was left");
    fixture.tick_at("2027-02-01T00:00:00Z");
    assert_eq!(first_of(&changed, "2027-02-01T00:00:00Z"), "93");
}

#[test]
fn subscriptions_3_10_an_end_at_the_instant_of_a_move_is_taken_back_with_the_move() {
    let (changed, ..) = doubled();
    let fixture = changed.fixture();
    changed.migrate(MigrationTiming::EndOfTerm);
    let id = changed.subscription.id;
    let end = Cancellation::EndOfSubscriptionTerm;
    run(fixture.account.cancel_subscription(id, end)).unwrap();
    run(fixture.account.unschedule_cancellation(id)).unwrap();
    fixture.tick_at("2027-02-01T00:00:00Z");
    assert_eq!(first_of(&changed, "2027-02-01T00:00:00Z"), "31");
}

#[test]
fn of_two_migrations_the_later_one_counts_whichever_is_planned_first() {
    let (changed, old, second) = doubled();
    let fixture = changed.fixture();
    let plan = changed.invoiced.plan.id;
    let replace = vec![(second, fixture.advance_fee("93").into())];
    let change = PlanVersionChange { replace, ..PlanVersionChange::default() };
    let third = run(fixture.account.change_plan_version(plan, change)).unwrap();
    let when = MigrationTiming::EndOfTerm;
    let first = changed.migrate(when);
    fixture.set("2027-01-02T00:00:00Z");
    let to_third = NewMigration { when, ..NewMigration::to(third.version) };
    let later = changed.migrating(to_third.clone());
    assert_eq!((first.moved, later.moved), (1, 1));
    let of = changed.of(changed.subscription.id);
    let names = [("old", old), ("second", second), ("third", third.prices[0].id)];
    let expected = ["old 2027-01-01 2027-02-01", "third 2027-02-01 -"];
    assert_eq!(intervals(&of, &names), expected);

    let other = changed.subscribe_with(|_| {}).id;
    let new = NewMigration { when, ..NewMigration::to(SECOND) };
    let early = run(fixture.account.migrate_plan(plan, new)).unwrap();
    fixture.set("2027-01-03T00:00:00Z");
    let only = NewMigration { subscriptions: Some(vec![other]), ..to_third };
    let late = run(fixture.account.migrate_plan(plan, only)).unwrap();
    fixture.tick();
    let plans = changed.of(other).plans();
    let moves: Vec<_> =
        plans.iter().filter_map(|of| Some(of.moved.as_ref()?.migration_id)).collect();
    assert_eq!((moves, early.id < late.id), (vec![late.id], true));
}

#[test]
fn subscriptions_5_6_no_move_reaches_behind_a_change_that_has_happened() {
    let (changed, ..) = doubled();
    let fixture = changed.fixture();
    fixture.tick_at("2027-01-15T00:00:00Z");
    changed.migrate(MigrationTiming::Immediate);
    assert_eq!(changed.version(changed.subscription.id), 2);
    fixture.tick_at("2027-01-20T00:00:00Z");
    let plan = changed.invoiced.plan.id;
    let third =
        run(fixture.account.change_plan_version(plan, PlanVersionChange::default())).unwrap();
    let when = MigrationTiming::At(at("2027-01-10T00:00:00Z"));
    let made = changed.migrating(NewMigration { when, ..NewMigration::to(third.version) });
    assert_eq!((made.moved, made.refused), (0, 1));
}

#[test]
fn subscriptions_5_6_a_move_is_that_of_the_term_of_its_creation_whenever_its_turn_comes() {
    let (changed, ..) = doubled();
    let fixture = changed.fixture();
    fixture.set("2027-01-31T23:00:00Z");
    let plan = changed.invoiced.plan.id;
    let new = NewMigration { when: MigrationTiming::EndOfTerm, ..NewMigration::to(SECOND) };
    run(fixture.account.migrate_plan(plan, new)).unwrap();
    fixture.tick_at("2027-02-01T00:30:00Z");
    let of = changed.of(changed.subscription.id);
    assert_eq!(of.plans()[1].start_date, at("2027-02-01T00:00:00Z"));
    fixture.tick_at("2027-02-03T00:00:00Z");
    assert_eq!(first_of(&changed, "2027-02-01T00:00:00Z"), "62");
}

#[test]
fn subscriptions_5_6_3_a_replacement_lives_as_long_as_what_it_replaces_would() {
    let (changed, old, new) = doubled();
    let fixture = changed.fixture();
    let own = changed.subscription.price_intervals[0].id;
    let april = at("2027-04-01T00:00:00Z");
    changed.change(IntervalChanges {
        edit: vec![PriceIntervalEdit::ending(own, at("2027-03-01T00:00:00Z"))],
        add: vec![NewPriceInterval::new(old, april)],
        ..IntervalChanges::default()
    });
    let made = changed.migrate(MigrationTiming::EndOfTerm);
    let names = [("old", old), ("new", new)];
    let of = || changed.of(changed.subscription.id);
    let expected = ["new 2027-02-01 2027-03-01", "new 2027-04-01 -", "old 2027-01-01 2027-02-01"];
    assert_eq!(intervals(&of(), &names), expected);
    run(fixture.account.cancel_migration(changed.invoiced.plan.id, made.id)).unwrap();
    fixture.tick();
    assert_eq!(intervals(&of(), &names), ["old 2027-01-01 2027-03-01", "old 2027-04-01 -"]);
}

#[test]
fn subscriptions_5_6_what_is_charged_once_is_not_charged_again() {
    let changed =
        changed(|fixture, _| vec![fixture.fee_of("100", Cadence::OneTime, BillingMode::InAdvance)]);
    let fixture = changed.fixture();
    let old = changed.subscription.price_intervals[0].price_id;
    let new = fixture.fee_of("120", Cadence::OneTime, BillingMode::InAdvance);
    let replace = vec![(old, new.into())];
    changed.second(PlanVersionChange { replace, ..PlanVersionChange::default() });
    fixture.tick_at("2027-01-15T00:00:00Z");
    changed.migrate(MigrationTiming::EndOfTerm);
    fixture.tick_at("2027-03-03T00:00:00Z");
    assert_eq!(changed.settled(), ["00001 issued 2027-01-01: fee 100 = 100"]);
}

#[test]
fn a_plan_change_at_the_instant_of_a_move_comes_before_it() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let other = changed.plan([fixture.advance_fee("1")]);
    changed.to(on(&other, "2027-02-01T00:00:00Z"));
    changed.second(PlanVersionChange::default());
    let made = changed.migrate(MigrationTiming::EndOfTerm);
    assert_eq!((made.moved, made.refused), (0, 0), "it is on another plan then");
    // One that comes later ends what the move brings, and goes without it.
    let early = changed.migrate(MigrationTiming::At(at("2027-01-20T00:00:00Z")));
    assert_eq!((early.moved, early.refused), (1, 0));
    run(changed.unschedule()).unwrap();
    let of = changed.of(changed.subscription.id);
    let plans: Vec<_> = of.plans().iter().map(|of| of.start_date).collect();
    assert_eq!(plans, [at(JANUARY), at("2027-01-20T00:00:00Z")], "the move is no change of plan");
}

#[test]
fn subscriptions_5_6_6_a_new_adjustment_reaches_what_was_negotiated_too() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("100")]);
    let fixture = changed.fixture();
    let old = changed.subscription.price_intervals[0].price_id;
    let own = ReplacedPrice::by(old, fixture.advance_fee("50"));
    let own = changed.subscribe_with(|new| new.prices.replace = vec![own]);
    let add_adjustments = vec![percentage_off("0.1")];
    changed.second(PlanVersionChange { add_adjustments, ..PlanVersionChange::default() });
    changed.migrate(MigrationTiming::EndOfTerm);
    let of = changed.of(own.id);
    let price = of.price_intervals[0].price_id;
    assert_eq!(of.adjustment_intervals[0].price_ids, [price].into());
}

#[test]
fn subscriptions_5_6_10_another_version_that_begins_at_the_instant_is_left_as_it_is() {
    let (changed, ..) = doubled();
    let plan = changed.invoiced.plan.id;
    let when = PlanChangeTiming::RequestedDate(at("2027-02-01T00:00:00Z"));
    changed.to(PlanChange { when, ..PlanChange::immediate(plan) });
    let made = changed.migrate(MigrationTiming::EndOfTerm);
    assert_eq!((made.moved, made.refused), (0, 1));
    assert_eq!(changed.of(changed.subscription.id).plans().len(), 2);
}
