//! Phases of plans, and of the subscriptions on them (subscriptions 1.8, 3.4, 5.1).

use accrue::{
    Call, ErrorKind,
    invoice::Invoice,
    plan::{NewPhase, NewPlan, PhaseDuration, PhaseOrder, PhaseUnit, Plan, PlanVersionChange},
    price::{NewAdjustment, NewPrice},
    subscription::{
        AddedAdjustment, AddedPrice, BillingAnchor, NewSubscription, ReplacedPrice, Subscription,
    },
};

use crate::{
    adjustments::percentage_off,
    invoices::{SETTLED, all},
    price_intervals::{Changed, changed, constraint},
    support::fixture::{Fixture, at, external, name, number, refused, run, usd},
};

const START: &str = "2027-01-15T00:00:00Z";

/// Two phases of one and of two months, and a last one: fees of 31, 62 and 93 in advance, and usage at 1, 2 and 3.
pub(crate) struct Phased {
    pub(crate) changed: Changed,
    pub(crate) plan: Plan,
}

pub(crate) fn in_phase(phase: u32, mut price: NewPrice) -> NewPrice {
    price.plan_phase_order = Some(PhaseOrder::new(phase));
    price
}

pub(crate) fn of_phase(phase: u32, of: NewAdjustment) -> NewAdjustment {
    NewAdjustment { plan_phase_order: Some(PhaseOrder::new(phase)), ..of }
}

pub(crate) fn phases() -> Vec<NewPhase> {
    let quarter = PhaseDuration { count: 1, unit: PhaseUnit::Quarterly };
    vec![
        NewPhase::lasting(PhaseDuration::months(2)),
        NewPhase::lasting(quarter),
        NewPhase::evergreen(),
    ]
}

pub(crate) fn phased(phases: Vec<NewPhase>) -> Phased {
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
    pub(crate) fn fixture(&self) -> &Fixture {
        self.changed.fixture()
    }

    pub(crate) fn call(&self, make: impl FnOnce(&mut NewSubscription)) -> Call<Subscription> {
        let mut new = NewSubscription::new(external("ada"), self.plan.id);
        (new.start_date, new.anchor) = (Some(at(START)), BillingAnchor::FirstOfMonth);
        make(&mut new);
        self.fixture().account.create_subscription(new)
    }

    pub(crate) fn subscribe(&self, make: impl FnOnce(&mut NewSubscription)) -> Subscription {
        run(self.call(make)).unwrap()
    }

    pub(crate) fn trigger(&self, of: &Subscription, date: Option<&str>) -> Call<Subscription> {
        let date = date.map(|date| at(&format!("{date}T00:00:00Z")));
        self.fixture().account.trigger_phase(of.id, date)
    }

    pub(crate) fn settled(&self, of: &Subscription) -> Vec<String> {
        let all = self.fixture().invoices(SETTLED).into_iter();
        let own: Vec<Invoice> = all.filter(|it| it.subscription_id == Some(of.id)).collect();
        let mut shown = self::all(&own);
        shown.sort();
        shown
    }

    pub(crate) fn uses(&self, key: &str, at: &str, n: &str) {
        self.changed.invoiced.use_at(key, at, n);
    }
}

/// Each phase with its begin.
pub(crate) fn begins(of: &Subscription) -> Vec<String> {
    let plans = of.plans().into_iter();
    let begins = plans.map(|of| {
        let phase = of.phase.map_or("-".to_owned(), |phase| phase.order.number().to_string());
        format!("{phase} {}", &of.start_date.to_string()[..10])
    });
    begins.collect()
}

/// The intervals of prices: phase and dates.
pub(crate) fn lives(of: &Subscription) -> Vec<String> {
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
fn subscriptions_1_8_1_each_phase_begins_where_the_one_before_ends() {
    let lasting = |count, unit| NewPhase::lasting(PhaseDuration { count, unit });
    use PhaseUnit::{Annual, Daily, Monthly, Quarterly, SemiAnnual};
    let phased = phased(vec![
        lasting(10, Daily),
        lasting(2, Monthly),
        lasting(1, Quarterly),
        lasting(1, SemiAnnual),
        lasting(2, Annual),
        NewPhase::evergreen(),
    ]);
    let expected = [
        "1 2027-01-15",
        "2 2027-01-25",
        "3 2027-03-25",
        "4 2027-06-25",
        "5 2027-12-25",
        "6 2029-12-25",
    ];
    assert_eq!(begins(&phased.subscribe(|_| {})), expected);
}

#[test]
fn subscriptions_1_8_2_only_the_last_phase_may_have_no_end() {
    let changed = changed(|_, _| Vec::new());
    let plan = |phases: Vec<NewPhase>| {
        let plan = NewPlan { phases, ..NewPlan::new(name("Ramp"), usd()) };
        changed.fixture().account.create_plan(plan)
    };
    let month = || NewPhase::lasting(PhaseDuration::months(1));
    let endless = NewPhase::evergreen;
    for wrong in [vec![endless(), month()], vec![month(), endless(), endless()]] {
        let found = constraint(refused(changed.fixture(), plan(wrong)));
        assert!(found.contains("has no end, and others follow"), "{found}");
    }
    for right in [vec![endless()], vec![month(), endless()]] {
        run(plan(right)).unwrap();
    }
}

#[test]
fn subscriptions_1_8_4_it_begins_with_the_phase_that_is_said_and_the_earlier_ones_are_left_out() {
    let phased = phased(phases());
    let last = phased.subscribe(|new| new.initial_phase = Some(PhaseOrder::new(3)));
    assert_eq!(begins(&last), ["3 2027-01-15"]);
    assert_eq!(lives(&last), ["3 fee 01-15 -", "3 usage 01-15 -"]);
    let first = phased.subscribe(|new| new.initial_phase = Some(PhaseOrder::FIRST));
    assert_eq!(begins(&first), begins(&phased.subscribe(|_| {})));
}

#[test]
fn subscriptions_1_8_5_the_phase_of_now_is_none_before_the_start_behind_the_end_and_without_any() {
    let phased = phased(phases());
    let made = phased.subscribe(|new| new.end_date = Some(at("2027-05-01T00:00:00Z")));
    let order =
        |of: &Subscription, at: &str| of.active_phase(self::at(at)).map(|of| of.order.number());
    assert_eq!(order(&made, "2027-01-14T23:59:59Z"), None);
    assert_eq!(order(&made, START), Some(1));
    assert_eq!(order(&made, "2027-04-30T23:59:59Z"), Some(2));
    assert_eq!(order(&made, "2027-05-01T00:00:00Z"), None);
    assert_eq!(order(&phased.changed.subscription, "2027-04-01T00:00:00Z"), None);
}

#[test]
fn subscriptions_1_8_6_intervals_have_the_bounds_of_their_phase() {
    let phased = phased(phases());
    let half = of_phase(2, percentage_off("0.5"));
    let made = phased.subscribe(|new| new.adjustments.add = vec![half.into()]);
    let [march, june] = ["2027-03-15T00:00:00Z", "2027-06-15T00:00:00Z"].map(at);
    let of_second =
        |of: &&accrue::subscription::PriceInterval| of.plan_phase_order == Some(PhaseOrder::new(2));
    let second: Vec<_> = made.price_intervals.iter().filter(of_second).collect();
    assert_eq!(second.len(), 2);
    assert!(second.iter().all(|of| (of.start_date, of.end_date) == (march, Some(june))));
    let adjustment = &made.adjustment_intervals[0];
    assert_eq!((adjustment.start_date, adjustment.end_date), (march, Some(june)));
    let price = phased.fixture().account.fetch_price(second[0].price_id);
    let price = crate::support::fixture::block_on(price).unwrap();
    assert_eq!(price.plan_phase_order, Some(PhaseOrder::new(2)));
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
    let many = |count| vec![NewPhase::lasting(PhaseDuration::months(1)); count];
    run(plan(many(accrue::limits::PHASES), vec![], vec![])).unwrap();
    let more = plan(many(accrue::limits::PHASES + 1), vec![], vec![]);
    assert_eq!(refused(fixture, more).0, ErrorKind::RequestValidation);
    let alone = refused(fixture, fixture.account.create_price(in_phase(1, fee())));
    assert_eq!(alone.0, ErrorKind::RequestValidation);
}

#[test]
fn subscriptions_5_2_4_a_replacement_is_of_the_phase_of_what_it_replaces() {
    let phased = phased(phases());
    let fixture = phased.fixture();
    let first = fixture.prices_of(&phased.plan);
    let replacing = |said: Option<u32>| {
        let replace = vec![(first[2], fixture.advance_fee("70").into())];
        let price_phases = said.map(|said| (first[2], PhaseOrder::new(said))).into_iter().collect();
        let change = PlanVersionChange { replace, price_phases, ..PlanVersionChange::default() };
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
