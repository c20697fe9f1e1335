//! Migrations of the subscriptions of a plan to one of its versions (subscriptions 5.4 to 5.6).

use accrue::{
    CivilDate, Clock, ErrorKind, MigrationId, PageRequest, PriceId, SubscriptionId, Zone,
    customer::NewCustomer,
    plan::{
        Migration, MigrationStatus, MigrationTiming, NewMigration, PlanVersion, PlanVersionChange,
    },
    subscription::{
        BillingAnchor, Cancellation, ChangeTiming, FeeQuantityChange, IntervalChanges,
        NewAdjustmentInterval, NewPriceInterval, NewSubscription, PlanChange, PriceChanges,
        PriceIntervalEdit, ReplacedPrice, Subscription,
    },
    webhook::Body,
};

use crate::{
    adjustments::percentage_off,
    invoices::{DRAFT, all},
    price_intervals::{Changed, JANUARY, changed, constraint},
    support::{
        fixture::{UNKNOWN, at, block_on, name, number, refused, run},
        priced::cost_alert,
    },
};

pub(crate) const SECOND: PlanVersion = PlanVersion::new(2);
const MARCH_20: &str = "2027-03-20T00:00:00Z";
const APRIL_1: &str = "2027-04-01T00:00:00Z";

impl Changed {
    /// Version 2 of the plan, with changes.
    pub(crate) fn second(&self, change: PlanVersionChange) -> PlanVersion {
        let plan = self.invoiced.plan.id;
        run(self.fixture().account.change_plan_version(plan, change)).unwrap().version
    }

    pub(crate) fn migrate(&self, when: MigrationTiming) -> Migration {
        self.migrating(NewMigration { when, ..NewMigration::to(SECOND) })
    }

    pub(crate) fn migrating(&self, new: NewMigration) -> Migration {
        let plan = self.invoiced.plan.id;
        let made = run(self.fixture().account.migrate_plan(plan, new)).unwrap();
        self.fixture().tick();
        self.found(made.id)
    }

    fn found(&self, id: MigrationId) -> Migration {
        let plan = self.invoiced.plan.id;
        block_on(self.fixture().account.fetch_migration(plan, id)).unwrap()
    }

    fn stands(&self, id: MigrationId) -> MigrationStatus {
        self.found(id).status(self.fixture().clock.now())
    }

    pub(crate) fn version(&self, id: SubscriptionId) -> u32 {
        let found = block_on(self.fixture().account.fetch_subscription(id)).unwrap();
        found.plan_version.number()
    }

    pub(crate) fn of(&self, id: SubscriptionId) -> Subscription {
        block_on(self.fixture().account.fetch_subscription(id)).unwrap()
    }

    pub(crate) fn subscribe_with(&self, make: impl FnOnce(&mut NewSubscription)) -> Subscription {
        self.invoiced.subscribe_with(JANUARY, make)
    }
}

/// The intervals of a subscription: which price, from which day until which.
pub(crate) fn intervals(of: &Subscription, names: &[(&str, PriceId)]) -> Vec<String> {
    let day = |at: accrue::Timestamp| at.to_string()[..10].to_owned();
    let shown = of.price_intervals.iter().map(|interval| {
        let name =
            names.iter().find(|(_, id)| *id == interval.price_id).map_or("?", |(name, _)| name);
        let end = interval.end_date.map_or_else(|| "-".to_owned(), day);
        format!("{name} {} {end}", day(interval.start_date))
    });
    let mut shown: Vec<_> = shown.collect();
    shown.sort();
    shown
}

#[test]
fn subscriptions_5_6_example_each_moves_at_the_end_of_its_period_until_it_is_canceled() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let first = changed.subscription.id;
    let middle = BillingAnchor::Day { day: 15, month: None, year: None };
    let second = changed.subscribe_with(|new| new.anchor = middle).id;
    fixture.tick_at(MARCH_20);
    changed.second(PlanVersionChange::default());
    fixture.messages();
    let made = changed.migrate(MigrationTiming::EndOfTerm);
    assert_eq!((made.moved, made.refused), (2, 0));
    assert_eq!(changed.stands(made.id), MigrationStatus::NotStarted);
    let scheduled = ["subscription.plan_version_change_scheduled"; 2];
    assert_eq!(fixture.message_types(), scheduled);
    assert_eq!((changed.version(first), changed.version(second)), (1, 1));

    fixture.tick_at(APRIL_1);
    assert_eq!((changed.version(first), changed.version(second)), (2, 1));
    assert_eq!(changed.stands(made.id), MigrationStatus::InProgress);
    assert!(fixture.message_types().contains(&"subscription.plan_version_changed"));

    let plan = changed.invoiced.plan.id;
    fixture.set("2027-04-05T00:00:00Z");
    let canceled = run(fixture.account.cancel_migration(plan, made.id)).unwrap();
    assert_eq!(canceled.status(fixture.clock.now()), MigrationStatus::Canceled);
    fixture.tick();
    fixture.tick_at("2027-05-01T00:00:00Z");
    assert_eq!((changed.version(first), changed.version(second)), (2, 1));
    assert_eq!(changed.stands(made.id), MigrationStatus::Canceled);
    let again = refused(fixture, fixture.account.cancel_migration(plan, made.id));
    assert_eq!(constraint(again), "the migration is canceled already");
}

#[test]
fn subscriptions_5_6_one_that_is_not_canceled_is_completed() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    changed.second(PlanVersionChange::default());
    let made = changed.migrate(MigrationTiming::EndOfInvoice);
    fixture.tick_at("2027-02-01T00:00:00Z");
    assert_eq!(changed.stands(made.id), MigrationStatus::Completed);
    let plan = changed.invoiced.plan.id;
    let late = refused(fixture, fixture.account.cancel_migration(plan, made.id));
    assert_eq!(constraint(late), "the migration is completed already");
}

#[test]
fn subscriptions_5_6_1_and_2_what_both_have_goes_on_and_the_rest_changes_by_itself() {
    let changed = changed(|fixture, metric| {
        vec![fixture.advance_fee("31"), fixture.usage_at("2", metric), fixture.advance_fee("62")]
    });
    let fixture = changed.fixture();
    let [stays, usage, goes] =
        [0, 1, 2].map(|place: usize| changed.subscription.price_intervals[place].price_id);
    let before = changed.subscription.price_intervals[0].id;
    fixture.set("2027-01-11T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-10T12:00:00Z", "10");
    changed.second(PlanVersionChange {
        add: vec![fixture.advance_fee("93").into()],
        remove: vec![goes],
        ..Default::default()
    });
    changed.migrate(MigrationTiming::At(at("2027-01-11T00:00:00Z")));
    let after = changed.of(changed.subscription.id);
    assert_eq!(after.plan_version, SECOND);
    let added = after.price_intervals.last().unwrap().price_id;
    let names = [("stays", stays), ("usage", usage), ("goes", goes), ("comes", added)];
    assert_eq!(
        intervals(&after, &names),
        [
            "comes 2027-01-11 -",
            "goes 2027-01-01 2027-01-11",
            "stays 2027-01-01 -",
            "usage 2027-01-01 -",
        ]
    );
    assert_eq!(after.price_intervals[0].id, before, "untouched");
    let now = at("2027-01-11T12:00:00Z");
    let period = after.periods().containing(now).unwrap();
    assert_eq!(period.start(), at(JANUARY), "no period is split");
    let found = changed.settled();
    assert_eq!(found[1], "00002 issued 2027-01-11: fee 63 = 63", "21 of 31 days of 93");
    assert_eq!(changed.notes(), ["42"], "21 of 31 days of 62");
    fixture.tick_at("2027-02-03T00:00:00Z");
    let february = all(&fixture.invoices(&[])).remove(0);
    assert_eq!(february, "00003 issued 2027-02-01: fee 31, usage 20, fee 93 = 144");
}

#[test]
fn subscriptions_5_6_3_to_5_a_replacement_comes_with_the_quantity_and_leaves_what_was_negotiated() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let old = changed.subscription.price_intervals[0].price_id;
    let with = |prices: PriceChanges| changed.subscribe_with(|new| new.prices = prices).id;
    let three = ReplacedPrice::quantity(old, number("3"));
    let three = with(PriceChanges { replace: vec![three], ..PriceChanges::default() });
    let own = ReplacedPrice::by(old, fixture.advance_fee("10"));
    let own = with(PriceChanges { replace: vec![own], ..PriceChanges::default() });
    let without = with(PriceChanges { remove: vec![old.into()], ..PriceChanges::default() });
    // Through two versions.
    let replace = |id: PriceId, amount: &str| PlanVersionChange {
        replace: vec![(id, fixture.advance_fee(amount).into())],
        ..PlanVersionChange::default()
    };
    let plan = changed.invoiced.plan.id;
    let change = |of| run(fixture.account.change_plan_version(plan, of)).unwrap();
    let middle = change(replace(old, "40"));
    assert_eq!(middle.replaces[&middle.prices[0].id], old);
    let last = change(replace(middle.prices[0].id, "50"));
    let new = last.prices[0].id;
    let when = MigrationTiming::EndOfTerm;
    let made = changed.migrating(NewMigration { when, ..NewMigration::to(last.version) });
    assert_eq!((made.moved, made.refused), (4, 0));
    let names = [("old", old), ("new", new)];
    let both = ["new 2027-02-01 -", "old 2027-01-01 2027-02-01"];
    assert_eq!(intervals(&changed.of(changed.subscription.id), &names), both);
    assert_eq!(intervals(&changed.of(three), &names), both);
    let moved = changed.of(three);
    let quantity = moved.fee_quantity(new, at("2027-02-01T00:00:00Z"));
    assert_eq!(quantity, Some(&number("3")));
    assert_eq!(intervals(&changed.of(own), &names), ["? 2027-01-01 -"]);
    assert!(changed.of(without).price_intervals.is_empty());
}

#[test]
fn subscriptions_5_6_6_adjustments_move_by_what_they_replace() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("100")]);
    let fixture = changed.fixture();
    let plan = changed.invoiced.plan.id;
    let add_adjustments = vec![percentage_off("0.1")];
    let change = PlanVersionChange { add_adjustments, ..PlanVersionChange::default() };
    let second = run(fixture.account.change_plan_version(plan, change)).unwrap();
    let of_second = second.adjustments[0].scope.id;
    let with = changed.subscribe_with(|new| new.plan_version = Some(SECOND));
    let without = changed.subscribe_with(|new| {
        new.plan_version = Some(SECOND);
        new.adjustments.remove = vec![of_second];
    });
    let replaced = |id, off| {
        let replace_adjustments = vec![(id, percentage_off(off))];
        let change = PlanVersionChange { replace_adjustments, ..PlanVersionChange::default() };
        run(fixture.account.change_plan_version(plan, change)).unwrap()
    };
    // Through two versions.
    let third = replaced(of_second, "0.3").adjustments[0].scope.id;
    let last = replaced(third, "0.5").version;
    let when = MigrationTiming::EndOfTerm;
    let made = changed.migrating(NewMigration { when, ..NewMigration::to(last) });
    assert_eq!((made.moved, made.refused), (3, 0));
    fixture.tick_at("2027-02-01T00:00:00Z");
    let drafts = fixture.invoices(DRAFT).into_iter().chain(fixture.invoices(&[]));
    let february: Vec<_> =
        drafts.filter(|of| of.invoice_date == at("2027-02-01T00:00:00Z")).collect();
    let total = |id: SubscriptionId| {
        let own = february.iter().find(|of| of.subscription_id == Some(id)).unwrap();
        own.total.to_string()
    };
    assert_eq!(total(with.id), "50");
    assert_eq!(total(without.id), "100", "what it had removed does not come");
    assert_eq!(total(changed.subscription.id), "50", "to one that had none it is new");
}

#[test]
fn subscriptions_5_6_8_a_day_begins_in_the_zone_of_the_customer() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let mut eve = NewCustomer::new(name("eve"), accrue::Email::parse("eve@example.com").unwrap());
    eve.timezone = Some(Zone::parse("America/New_York").unwrap());
    let eve = run(fixture.account.create_customer(eve)).unwrap();
    let mut new = NewSubscription::new(eve.id, changed.invoiced.plan.id);
    new.start_date = Some(at(JANUARY));
    let of_eve = run(fixture.account.create_subscription(new)).unwrap().id;
    changed.second(PlanVersionChange::default());
    changed.migrate(MigrationTiming::OnDate(CivilDate::parse("2027-01-20").unwrap()));
    let starts = |id| changed.of(id).plans()[1].start_date;
    assert_eq!(starts(changed.subscription.id), at("2027-01-20T00:00:00Z"));
    assert_eq!(starts(of_eve), at("2027-01-20T05:00:00Z"));
}

#[test]
fn subscriptions_5_6_9_alerts_of_the_new_version_begin_with_it() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    let plan = changed.invoiced.plan.id;
    run(fixture.account.create_plan_alert(plan, cost_alert(&["10"]))).unwrap();
    changed.second(PlanVersionChange::default());
    fixture.messages();
    changed.migrate(MigrationTiming::EndOfTerm);
    fixture.tick_at("2027-02-02T00:00:00Z");
    fixture.messages();
    changed.invoiced.use_at("a", "2027-02-02T00:00:00Z", "50");
    assert!(fixture.told().is_empty(), "the alert is of the first version");
}

#[test]
fn subscriptions_5_6_10_one_that_cannot_move_stays_and_needs_an_action() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let other = changed.subscribe_with(|_| {}).id;
    let change = FeeQuantityChange {
        price: changed.subscription.price_intervals[0].price_id.into(),
        quantity: number("2"),
        when: ChangeTiming::Immediate,
    };
    run(fixture.account.update_fixed_fee_quantity(other, change).staged()).unwrap();
    changed.second(PlanVersionChange::default());
    let made = changed.migrate(MigrationTiming::Immediate);
    assert_eq!((made.moved, made.refused), (1, 1));
    assert_eq!(changed.stands(made.id), MigrationStatus::ActionNeeded);
    assert_eq!((changed.version(changed.subscription.id), changed.version(other)), (2, 1));
    let early = changed.migrating(NewMigration {
        when: MigrationTiming::At(at("2026-12-01T00:00:00Z")),
        subscriptions: Some(vec![other, UNKNOWN.parse().unwrap()]),
        ..NewMigration::to(SECOND)
    });
    assert_eq!((early.moved, early.refused), (0, 2), "nobody knows the second one");
}

#[test]
fn subscriptions_5_5_some_or_all_of_the_other_versions_move() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let other = changed.subscribe_with(|_| {}).id;
    let ended = changed.subscribe_with(|_| {}).id;
    run(fixture.account.cancel_subscription(ended, Cancellation::Immediate)).unwrap();
    let third = changed.plan([fixture.advance_fee("1")]);
    let leaving = changed.subscribe_with(|_| {}).id;
    run(fixture.account.schedule_plan_change(leaving, PlanChange::immediate(third.id))).unwrap();
    changed.second(PlanVersionChange::default());
    let one = changed
        .migrating(NewMigration { subscriptions: Some(vec![other]), ..NewMigration::to(SECOND) });
    assert_eq!((one.moved, changed.version(other)), (1, 2));
    assert_eq!(changed.version(changed.subscription.id), 1);
    let rest = changed.migrate(MigrationTiming::Immediate);
    assert_eq!((rest.moved, rest.refused), (1, 0));
    assert_eq!(changed.version(changed.subscription.id), 2);

    let back = changed.migrating(NewMigration::to(PlanVersion::FIRST));
    assert_eq!((back.moved, changed.version(other)), (2, 1));
    let none = fixture.account.migrate_plan(third.id, NewMigration::to(SECOND));
    assert_eq!(refused(fixture, none).0, ErrorKind::ResourceNotFound);
    let many = Some(vec![other; 1_001]);
    let many = NewMigration { subscriptions: many, ..NewMigration::to(SECOND) };
    let many = fixture.account.migrate_plan(changed.invoiced.plan.id, many);
    assert_eq!(refused(fixture, many).0, ErrorKind::RequestValidation);
}

#[test]
fn subscriptions_5_4_migrations_are_listed_newest_first_and_are_of_their_plan() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    changed.second(PlanVersionChange::default());
    let first = changed.migrate(MigrationTiming::EndOfTerm);
    fixture.set("2027-01-02T00:00:00Z");
    let second = changed.migrate(MigrationTiming::Immediate);
    let plan = changed.invoiced.plan.id;
    let list = block_on(fixture.account.list_migrations(plan, &PageRequest::default())).unwrap();
    let ids: Vec<_> = list.data.iter().map(|of| of.id).collect();
    assert_eq!(ids, [second.id, first.id]);
    let other = changed.plan([]).id;
    let found = block_on(fixture.account.fetch_migration(other, first.id));
    assert_eq!(found.unwrap_err().kind(), ErrorKind::ResourceNotFound);
}

#[test]
fn a_migration_goes_on_where_it_was_left_and_touches_each_subscription_once() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    for number in 0..250_u32 {
        let customer = fixture.customer(&format!("customer {number}"));
        run(fixture
            .account
            .create_subscription(NewSubscription::new(customer.id, changed.invoiced.plan.id)))
        .unwrap();
    }
    changed.second(PlanVersionChange::default());
    let plan = changed.invoiced.plan.id;
    let made = run(fixture.account.migrate_plan(plan, NewMigration::to(SECOND))).unwrap();
    fixture.messages();
    let mut seen = Vec::new();
    while block_on(fixture.billing.tick(1)).unwrap().more {
        seen.push(changed.found(made.id).moved);
    }
    assert_eq!(seen, [100, 200]);
    let made = changed.found(made.id);
    assert_eq!((made.moved, made.refused), (251, 0));
    let moved = fixture.messages();
    let moved = moved.iter().filter(|of| matches!(of.body, Body::PlanVersionChanged { .. }));
    assert_eq!(moved.count(), 251);
}

#[test]
fn subscriptions_5_6_a_move_that_is_taken_back_leaves_what_others_have_done_at_its_instant() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31"), fixture.advance_fee("62")]);
    let fixture = changed.fixture();
    let [stays, goes] =
        [0, 1].map(|place: usize| changed.subscription.price_intervals[place].clone());
    let addon = changed.price(fixture.advance_fee("5"));
    let february = at("2027-02-01T00:00:00Z");
    let before = changed.change(IntervalChanges {
        edit: vec![PriceIntervalEdit::ending(stays.id, february)],
        add: vec![NewPriceInterval::new(addon, february)],
        add_adjustments: vec![NewAdjustmentInterval::new(percentage_off("0.5"), february)],
        ..IntervalChanges::default()
    });
    changed.second(PlanVersionChange {
        remove: vec![goes.price_id],
        add: vec![fixture.advance_fee("93").into()],
        ..PlanVersionChange::default()
    });
    let made = changed.migrate(MigrationTiming::EndOfTerm);
    let moving = changed.of(changed.subscription.id);
    assert_eq!(moving.price_intervals.len(), 4);
    let plan = changed.invoiced.plan.id;
    run(fixture.account.cancel_migration(plan, made.id)).unwrap();
    fixture.tick();
    let after = changed.of(changed.subscription.id);
    let sorted = |of: &Subscription| {
        let mut all = of.price_intervals.clone();
        all.sort_by_key(|of| of.id);
        all
    };
    assert_eq!(sorted(&after), sorted(&before));
    let ids = |of: &Subscription| -> Vec<_> {
        of.adjustment_intervals.iter().map(|of| (of.id, of.start_date, of.end_date)).collect()
    };
    assert_eq!(ids(&after), ids(&before));
    assert_eq!((after.plans().len(), changed.found(made.id).moved), (1, 1));
}

#[test]
fn subscriptions_5_6_a_canceled_move_takes_its_credit_note_back() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let remove = vec![changed.subscription.price_intervals[0].price_id];
    changed.second(PlanVersionChange { remove, ..PlanVersionChange::default() });
    let made = changed.migrate(MigrationTiming::At(at("2027-01-21T00:00:00Z")));
    assert_eq!(changed.notes(), ["11"], "of the days behind the move");
    run(fixture.account.cancel_migration(changed.invoiced.plan.id, made.id)).unwrap();
    fixture.tick();
    assert!(changed.notes().is_empty());
    fixture.tick_at("2027-02-03T00:00:00Z");
    let expected = ["00001 issued 2027-01-01: fee 31 = 31", "00002 issued 2027-02-01: fee 31 = 31"];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn a_migration_that_is_canceled_while_it_is_planned_moves_nobody() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    for number in 0..150_u32 {
        let customer = fixture.customer(&format!("customer {number}"));
        let new = NewSubscription::new(customer.id, changed.invoiced.plan.id);
        run(fixture.account.create_subscription(new)).unwrap();
    }
    changed.second(PlanVersionChange::default());
    let plan = changed.invoiced.plan.id;
    let new = NewMigration { when: MigrationTiming::EndOfTerm, ..NewMigration::to(SECOND) };
    let made = run(fixture.account.migrate_plan(plan, new)).unwrap();
    assert!(block_on(fixture.billing.tick(1)).unwrap().more);
    // In the same instant as everything before.
    run(fixture.account.cancel_migration(plan, made.id)).unwrap();
    fixture.tick();
    assert_eq!(changed.of(changed.subscription.id).plans().len(), 1);
    let twice = Some(vec![changed.subscription.id; 2]);
    let twice =
        changed.migrating(NewMigration { subscriptions: twice, ..NewMigration::to(SECOND) });
    assert_eq!((twice.moved, twice.refused), (1, 0));
}
