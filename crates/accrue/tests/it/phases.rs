//! Phases of plans, and of the subscriptions on them (subscriptions 1.8, 3.4, 5.1).

use accrue::{
    Call, ErrorKind,
    cost::CostQuery,
    invoice::Invoice,
    plan::{
        MigrationTiming, NewMigration, NewPhase, NewPlan, PhaseDuration, PhaseOrder, PhaseUnit,
        Plan, PlanVersionChange,
    },
    price::{NewAdjustment, NewPrice},
    subscription::{
        AddedAdjustment, AddedPrice, BillingAnchor, NewSubscription, PlanChange, ReplacedPrice,
        Subscription,
    },
};

use crate::{
    adjustments::percentage_off,
    changed_plans::on,
    invoices::{DRAFT, SETTLED, all},
    price_intervals::{Changed, changed, constraint},
    support::{
        fixture::{Fixture, at, block_on, external, name, number, refused, run, usd},
        priced::between,
    },
};

const START: &str = "2027-01-15T00:00:00Z";

/// Two phases of one and of two months, and a last one: fees of 31, 62 and 93 in advance, and usage at 1, 2 and 3.
struct Phased {
    changed: Changed,
    plan: Plan,
}

fn in_phase(phase: u32, mut price: NewPrice) -> NewPrice {
    price.plan_phase_order = Some(PhaseOrder::new(phase));
    price
}

fn of_phase(phase: u32, of: NewAdjustment) -> NewAdjustment {
    NewAdjustment { plan_phase_order: Some(PhaseOrder::new(phase)), ..of }
}

fn phases() -> Vec<NewPhase> {
    let quarter = PhaseDuration { count: 1, unit: PhaseUnit::Quarterly };
    vec![
        NewPhase::lasting(PhaseDuration::months(2)),
        NewPhase::lasting(quarter),
        NewPhase::evergreen(),
    ]
}

fn phased(phases: Vec<NewPhase>) -> Phased {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("1")]);
    let fixture = changed.fixture();
    let mut plan = NewPlan::new(name("Ramp"), usd());
    plan.phases = phases;
    for (phase, fee, unit) in [(1, "31", "1"), (2, "62", "2"), (3, "93", "3")] {
        plan.prices.push(in_phase(phase, fixture.advance_fee(fee)).into());
        plan.prices.push(in_phase(phase, fixture.usage_at(unit, &changed.metric)).into());
    }
    let plan = run(fixture.account.create_plan(plan)).unwrap();
    Phased { changed, plan }
}

impl Phased {
    fn fixture(&self) -> &Fixture {
        self.changed.fixture()
    }

    fn call(&self, make: impl FnOnce(&mut NewSubscription)) -> Call<Subscription> {
        let mut new = NewSubscription::new(external("ada"), self.plan.id);
        (new.start_date, new.anchor) = (Some(at(START)), BillingAnchor::FirstOfMonth);
        make(&mut new);
        self.fixture().account.create_subscription(new)
    }

    fn subscribe(&self, make: impl FnOnce(&mut NewSubscription)) -> Subscription {
        run(self.call(make)).unwrap()
    }

    fn trigger(&self, of: &Subscription, date: Option<&str>) -> Call<Subscription> {
        let date = date.map(|date| at(&format!("{date}T00:00:00Z")));
        self.fixture().account.trigger_phase(of.id, date)
    }

    fn settled(&self, of: &Subscription) -> Vec<String> {
        let all = self.fixture().invoices(SETTLED).into_iter();
        let own: Vec<Invoice> = all.filter(|it| it.subscription_id == Some(of.id)).collect();
        let mut shown = self::all(&own);
        shown.sort();
        shown
    }

    fn uses(&self, key: &str, at: &str, n: &str) {
        self.changed.invoiced.use_at(key, at, n);
    }
}

/// Each phase with its begin.
fn begins(of: &Subscription) -> Vec<String> {
    let plans = of.plans().into_iter();
    let begins = plans.map(|of| {
        let phase = of.phase.map_or("-".to_owned(), |phase| phase.order.number().to_string());
        format!("{phase} {}", &of.start_date.to_string()[..10])
    });
    begins.collect()
}

/// The intervals of prices: phase and dates.
fn lives(of: &Subscription) -> Vec<String> {
    let day = |at: accrue::Timestamp| at.to_string()[5..10].to_owned();
    let lives = of.price_intervals.iter().map(|of| {
        let phase = of.plan_phase_order.map_or("-".to_owned(), |of| of.number().to_string());
        let kind = if of.is_fee() { "fee" } else { "usage" };
        format!("{phase} {kind} {} {}", day(of.start_date), of.end_date.map_or("-".to_owned(), day))
    });
    lives.collect()
}

#[test]
fn subscriptions_1_8_example_of_three_phases() {
    let phased = phased(phases());
    let made = phased.subscribe(|_| {});
    assert_eq!(begins(&made), ["1 2027-01-15", "2 2027-03-15", "3 2027-06-15"]);
    let expected = [
        "1 fee 01-15 03-15",
        "1 usage 01-15 03-15",
        "2 fee 03-15 06-15",
        "2 usage 03-15 06-15",
        "3 fee 06-15 -",
        "3 usage 06-15 -",
    ];
    assert_eq!(lives(&made), expected);
    let second = phased.subscribe(|new| new.initial_phase = Some(PhaseOrder::new(2)));
    assert_eq!(begins(&second), ["2 2027-01-15", "3 2027-04-15"]);
    assert_eq!(lives(&second).len(), 4);
    let orders =
        |of: &Subscription, at: &str| of.active_phase(self::at(at)).map(|of| of.order.number());
    assert_eq!(orders(&made, "2027-01-14T00:00:00Z"), None, "it has not begun");
    assert_eq!(orders(&made, "2027-03-14T23:59:59Z"), Some(1));
    assert_eq!(orders(&made, "2027-03-15T00:00:00Z"), Some(2));
    assert_eq!(orders(&made, "2030-03-15T00:00:00Z"), Some(3));
}

#[test]
fn subscriptions_1_8_3_the_last_phase_goes_on_whatever_its_duration_says() {
    let mut of = phases();
    of[2] = NewPhase::lasting(PhaseDuration { count: 1, unit: PhaseUnit::Daily });
    let phased = phased(of);
    assert_eq!(phased.plan.phases[2].duration.unwrap().unit, PhaseUnit::Daily, "it is shown");
    let made = phased.subscribe(|_| {});
    assert_eq!(lives(&made)[4], "3 fee 06-15 -");
}

#[test]
fn subscriptions_1_8_8_each_phase_bills_its_own_prices_on_the_grid() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    fixture.tick_at(START);
    let made = phased.subscribe(|_| {});
    fixture.tick_at("2027-03-10T00:00:00Z");
    phased.uses("a", "2027-03-10T00:00:00Z", "10");
    fixture.tick_at("2027-03-20T00:00:00Z");
    phased.uses("b", "2027-03-20T00:00:00Z", "10");
    fixture.tick_at("2027-04-03T00:00:00Z");
    let expected = [
        "00002 issued 2027-01-15: fee 17 = 17",
        "00005 issued 2027-02-01: fee 31, usage 0 = 31",
        "00008 issued 2027-03-01: fee 14, usage 0 = 14",
        "00009 issued 2027-03-15: usage 10, fee 34 = 44",
        "00012 issued 2027-04-01: fee 62, usage 20 = 82",
    ];
    let found = phased.settled(&made);
    let numbers = |of: &str| of.split_once(' ').unwrap().1.to_owned();
    let found: Vec<_> = found.iter().map(|of| numbers(of)).collect();
    assert_eq!(found, expected.map(numbers));
    assert!(fixture.message_types().iter().all(|of| !of.contains("plan_")), "there is no message");
}

#[test]
fn subscriptions_1_8_7_a_phase_may_begin_the_grid_anew() {
    let mut of = phases();
    of[1].aligns_billing = true;
    let phased = phased(of);
    let made = phased.subscribe(|_| {});
    let period = |at: &str| {
        let period = made.periods().containing(self::at(at)).unwrap();
        [period.start(), period.end()].map(|at| at.to_string()[5..10].to_owned())
    };
    assert_eq!(period("2027-02-10T00:00:00Z"), ["02-01", "03-01"]);
    assert_eq!(period("2027-03-10T00:00:00Z"), ["03-01", "03-15"], "the phase ends it");
    assert_eq!(period("2027-03-20T00:00:00Z"), ["03-15", "04-15"]);
    assert_eq!(period("2027-06-20T00:00:00Z"), ["06-15", "07-15"], "it stays for those behind it");
    let mut first = phases();
    first[0].aligns_billing = true;
    let phased = self::phased(first);
    let made = phased.subscribe(|_| {});
    assert_eq!(made.billing_cycle_day(), 15);
}

#[test]
fn subscriptions_5_1_every_price_and_adjustment_is_of_a_phase() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("1")]);
    let fixture = changed.fixture();
    let fee = || fixture.advance_fee("1");
    let plan = |phases: Vec<NewPhase>, prices: Vec<NewPrice>, adjustments: Vec<NewAdjustment>| {
        let prices = prices.into_iter().map(Into::into).collect();
        let plan = NewPlan { phases, prices, adjustments, ..NewPlan::new(name("Ramp"), usd()) };
        fixture.account.create_plan(plan)
    };
    let detail = |call| constraint(refused(fixture, call));
    assert!(detail(plan(phases(), vec![fee()], vec![])).contains("is of no phase"));
    assert!(detail(plan(phases(), vec![in_phase(4, fee())], vec![])).contains("is of phase 4"));
    assert!(detail(plan(vec![], vec![in_phase(1, fee())], vec![])).contains("the plan has 0"));
    let half = percentage_off("0.5");
    let prices = || vec![in_phase(1, fee())];
    assert!(detail(plan(phases(), prices(), vec![half.clone()])).contains("is of no phase"));
    run(plan(phases(), prices(), vec![of_phase(1, half)])).unwrap();

    let endless = vec![NewPhase::evergreen(), NewPhase::evergreen()];
    assert!(detail(plan(endless, vec![], vec![])).contains("has no end, and others follow"));
    let nothing = vec![NewPhase::lasting(PhaseDuration::months(0))];
    assert_eq!(refused(fixture, plan(nothing, vec![], vec![])).0, ErrorKind::RequestValidation);
    let alone = refused(fixture, fixture.account.create_price(in_phase(1, fee())));
    assert_eq!(alone.0, ErrorKind::RequestValidation);
}

#[test]
fn subscriptions_5_2_4_a_replacement_is_of_the_phase_of_what_it_replaces() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    let first = fixture.prices_of(&phased.plan);
    let replacing = |said: Option<u32>| {
        let mut change = PlanVersionChange::default();
        change.replace = vec![(first[2], fixture.advance_fee("70").into())];
        change.price_phases.extend(said.map(|said| (first[2], PhaseOrder::new(said))));
        fixture.account.change_plan_version(phased.plan.id, change)
    };
    let found = constraint(refused(fixture, replacing(Some(1))));
    assert!(found.contains("is of phase 2, not of phase 1"), "{found}");
    let second = run(replacing(Some(2))).unwrap();
    assert_eq!(second.prices[2].plan_phase_order, Some(PhaseOrder::new(2)));
}

#[test]
fn subscriptions_1_2_6_what_is_added_is_of_a_phase() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    let with = |phase: Option<u32>, start: Option<&str>| {
        phased.call(|new| {
            let mut added = AddedPrice::new(fixture.advance_fee("5"));
            added.plan_phase_order = phase.map(PhaseOrder::new);
            added.start_date = start.map(at);
            new.prices.add = vec![added];
        })
    };
    assert!(constraint(refused(fixture, with(None, None))).contains("is of no phase"));
    assert!(constraint(refused(fixture, with(Some(4), None))).contains("phase 4"));
    let early = constraint(refused(fixture, with(Some(2), Some("2027-02-01T00:00:00Z"))));
    assert!(early.contains("before that of the phase"), "{early}");
    let late = constraint(refused(fixture, with(Some(2), Some("2027-07-01T00:00:00Z"))));
    assert!(late.contains("is behind the phase"), "{late}");
    let made = run(with(Some(2), Some("2027-04-01T00:00:00Z"))).unwrap();
    assert_eq!(lives(&made).last().unwrap(), "2 fee 04-01 06-15");

    let plain = NewSubscription::new(external("ada"), phased.changed.invoiced.plan.id);
    let mut added = AddedPrice::new(fixture.advance_fee("5"));
    added.plan_phase_order = Some(PhaseOrder::FIRST);
    let mut priced = plain.clone();
    priced.prices.add = vec![added];
    let found = refused(fixture, fixture.account.create_subscription(priced));
    assert_eq!(found.0, ErrorKind::RequestValidation, "1.2.6: the plan has no phases");
    let initial = NewSubscription { initial_phase: Some(PhaseOrder::FIRST), ..plain };
    let found = refused(fixture, fixture.account.create_subscription(initial));
    assert_eq!(found.0, ErrorKind::RequestValidation);
    let fourth = phased.call(|new| new.initial_phase = Some(PhaseOrder::new(4)));
    assert!(constraint(refused(fixture, fourth)).contains("no phase 4"));

    let half = of_phase(2, percentage_off("0.5"));
    let made = phased.subscribe(|new| new.adjustments.add = vec![AddedAdjustment::from(half)]);
    let only = &made.adjustment_intervals[0];
    let of = (only.start_date, only.end_date);
    assert_eq!(of, (at("2027-03-15T00:00:00Z"), Some(at("2027-06-15T00:00:00Z"))));
    assert_eq!(only.price_ids.len(), 2, "the prices of that phase");
}

#[test]
fn subscriptions_1_3_2_and_3_what_is_removed_and_replaced() {
    let phased = phased(phases());
    let first = phased.fixture().prices_of(&phased.plan);
    let made = phased.subscribe(|new| {
        new.prices.remove = vec![first[0].into(), first[3].into()];
        new.prices.replace = vec![
            ReplacedPrice::by(first[2], phased.fixture().advance_fee("7")),
            ReplacedPrice::quantity(first[4], number("3")),
        ];
    });
    let expected = ["1 usage 01-15 03-15", "2 fee 03-15 06-15", "3 fee 06-15 -", "3 usage 06-15 -"];
    assert_eq!(lives(&made), expected);
    let quantity = made.fee_quantity(first[4], at("2027-07-01T00:00:00Z"));
    assert_eq!(quantity, Some(&number("3")));
}

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
    let tried = phased.subscribe(|new| new.trial_days = Some(30));
    fixture.tick();
    assert!(refuse(&tried, "2027-02-10").contains("within the trial"));
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
    assert_eq!((found.plan_id, begins(&found)), (phased.plan.id, begins(&changed)));
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
    let mut change = PlanVersionChange::default();
    change.replace = vec![
        (first[0], fixture.advance_fee("310").into()),
        (first[2], fixture.advance_fee("620").into()),
    ];
    change.add = vec![
        in_phase(2, fixture.advance_fee("7")).into(),
        in_phase(3, fixture.advance_fee("8")).into(),
    ];
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
