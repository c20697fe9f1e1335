//! Terms that change while a trial holds them up (subscriptions 1.7).

use accrue::{
    plan::{
        MigrationTiming, NewMigration, NewPhase, NewPlan, PhaseDuration, PhaseOrder, Plan,
        PlanTrial, PlanVersionChange,
    },
    subscription::{
        AddedPrice, AdjustmentInterval, Cancellation, NewSubscription, PlanChange,
        PlanChangeTiming, Subscription, Trial, TrialEnd, TrialUpdate,
    },
};

use crate::{
    changed_plans::on,
    price_intervals::constraint,
    support::fixture::{at, block_on, name, number, refused, run, usd},
    trials::{END, OnTrial, START, lives},
};

const NOW: &str = "2027-03-20T12:00:00Z";

impl OnTrial {
    fn fetch(&self, of: &Subscription) -> Subscription {
        block_on(self.fixture().account.fetch_subscription(of.id)).unwrap()
    }

    /// A plan with a phase of a month and a last one, of a fee and of usage each.
    fn ramp(&self, trial: Option<PlanTrial>) -> Plan {
        let fixture = self.fixture();
        let mut plan = NewPlan::new(name("Ramp"), usd());
        plan.phases = vec![NewPhase::lasting(PhaseDuration::months(1)), NewPhase::evergreen()];
        plan.trial = trial;
        for (phase, fee, unit) in [(1, "31", "0.1"), (2, "62", "0.2")] {
            let prices = [fixture.advance_fee(fee), fixture.usage_at(unit, &self.changed.metric)];
            plan.prices.extend(prices.map(|mut price| {
                price.plan_phase_order = Some(PhaseOrder::new(phase));
                price.into()
            }));
        }
        run(fixture.account.create_plan(plan)).unwrap()
    }

    fn begun(&self, make: impl FnOnce(&mut NewSubscription)) -> Subscription {
        self.fixture().tick_at(NOW);
        let made = self.subscribe(make);
        self.fixture().tick();
        self.fetch(&made)
    }

    /// What is charged when.
    fn terms(&self, of: &Subscription) -> (Vec<String>, Vec<AdjustmentInterval>, Option<Trial>) {
        let mut lives = lives(of);
        lives.sort();
        (lives, of.adjustment_intervals.clone(), of.trial.clone())
    }

    fn changes(&self, of: &Subscription, change: PlanChange) -> Subscription {
        run(self.fixture().account.schedule_plan_change(of.id, change)).unwrap()
    }

    fn unschedules(&self, of: &Subscription) -> Subscription {
        run(self.fixture().account.unschedule_plan_changes(of.id)).unwrap()
    }

    fn cancels(&self, of: &Subscription, date: &str) {
        let end = Cancellation::RequestedDate(at(date));
        run(self.fixture().account.cancel_subscription(of.id, end)).unwrap();
    }

    fn goes_on(&self, of: &Subscription) -> Subscription {
        run(self.fixture().account.unschedule_cancellation(of.id)).unwrap()
    }

    fn ends(&self, of: &Subscription, date: &str) -> Subscription {
        run(self.fixture().account.update_trial(of.id, TrialUpdate::at(at(date)))).unwrap()
    }
}

#[test]
fn a_change_with_the_end_of_the_trial_is_taken_back() {
    let trial = OnTrial::new();
    let made = trial.begun(|_| {});
    let next = trial.changed.plan([trial.fixture().advance_fee("90")]);
    let when = PlanChangeTiming::EndOfSubscriptionTerm;
    let changed = trial.changes(&made, PlanChange { when, ..PlanChange::immediate(next.id) });
    assert_eq!(changed.plans()[1].start_date, at(END), "the trial is the term");
    assert_eq!(lives(&changed), ["usage on trial 03-19T23:00 04-02T22:00", "fee 04-02T22:00 -"]);
    assert_eq!(trial.terms(&trial.unschedules(&made)), trial.terms(&made));
}

#[test]
fn a_change_within_the_trial_is_gone_with_a_cancellation_before_it() {
    let trial = OnTrial::new();
    let made = trial.begun(|_| {});
    let next = trial.changed.plan([trial.fixture().advance_fee("90")]);
    trial.changes(&made, on(&next, "2027-03-28T00:00:00Z"));
    trial.cancels(&made, "2027-03-25T00:00:00Z");
    assert_eq!(trial.terms(&trial.goes_on(&made)), trial.terms(&made));
    trial.changes(&made, on(&next, "2027-03-28T00:00:00Z"));
    trial.cancels(&made, "2027-03-28T00:00:00Z");
    let back = trial.goes_on(&made);
    let (terms, expected) = (trial.terms(&back).0, trial.terms(&made).0);
    assert_eq!(terms, expected, "what would have ended with the plan goes on");
}

#[test]
fn phases_behind_a_change_are_gone_with_it_and_the_trial_is_not() {
    let trial = OnTrial::new();
    let ramp = trial.ramp(None);
    let made = trial.begun(|new| new.plan = Some(ramp.id.into()));
    let next = trial.changed.plan([trial.fixture().advance_fee("90")]);
    trial.changes(&made, on(&next, "2027-03-25T00:00:00Z"));
    let back = trial.unschedules(&made);
    let expected =
        ["fee 04-02T22:00 -", "usage 04-02T22:00 -", "usage on trial 03-19T23:00 04-02T22:00"];
    assert_eq!(trial.terms(&back).0, expected, "3.3.2: it goes on without an end");

    let long = trial.begun(|new| (new.plan, new.trial_days) = (Some(ramp.id.into()), Some(60)));
    trial.changes(&long, on(&next, "2027-03-25T00:00:00Z"));
    let back = trial.unschedules(&long);
    let expected =
        ["fee 05-18T22:00 -", "usage 05-18T22:00 -", "usage on trial 03-19T23:00 05-18T22:00"];
    assert_eq!(trial.terms(&back).0, expected);
}

#[test]
fn a_cancellation_with_the_end_of_a_phase_is_taken_back() {
    let trial = OnTrial::new();
    let ramp = trial.ramp(None);
    let made = trial.begun(|new| (new.plan, new.trial_days) = (Some(ramp.id.into()), None));
    trial.cancels(&made, "2027-04-19T22:00:00Z");
    let back = trial.goes_on(&made);
    assert_eq!(lives(&back), ["fee 03-19T23:00 -", "usage 03-19T23:00 -"], "3.10: phases are gone");
    assert_eq!(back.plans().len(), 1);
}

#[test]
fn a_plan_that_is_to_begin_is_no_change_of_plan() {
    let trial = OnTrial::new();
    let ramp = trial.ramp(None);
    trial.fixture().tick_at("2027-03-01T00:00:00Z");
    let made = trial.subscribe(|new| new.plan = Some(ramp.id.into()));
    trial.fixture().tick();
    let call = trial.fixture().account.unschedule_plan_changes(made.id);
    assert_eq!(refused(trial.fixture(), call).0, accrue::ErrorKind::RequestValidation);
    let next = trial.changed.plan([trial.fixture().advance_fee("90")]);
    trial.changes(&made, on(&next, "2027-05-01T00:00:00Z"));
    assert_eq!(trial.unschedules(&made).plans()[0], made.plans()[0]);
}

#[test]
fn usage_that_ends_within_the_trial_is_on_trial_up_to_the_end_of_that() {
    let trial = OnTrial::new();
    let fixture = trial.fixture();
    let price = fixture.usage_at("1", &trial.changed.metric);
    let fee = fixture.advance_fee("14");
    let made = trial.begun(|new| {
        let until = |price: accrue::price::NewPrice, end: &str| {
            let mut added = AddedPrice::new(price);
            added.end_date = Some(at(end));
            added
        };
        let ends = "2027-03-29T22:00:00Z";
        new.prices.add = vec![until(price, ends), until(fee, ends)];
    });
    assert_eq!(lives(&made)[3], "usage on trial 03-19T23:00 03-29T22:00");
    assert_eq!(lives(&made).len(), 4, "the fee would end before the trial does");
    trial.uses("a", NOW, "10");
    let earlier = trial.ends(&made, "2027-03-25T23:00:00Z");
    let expected = [
        "fee 03-25T23:00 -",
        "usage on trial 03-19T23:00 03-25T23:00",
        "usage 03-25T23:00 -",
        "usage on trial 03-19T23:00 03-25T23:00",
        "usage 03-25T23:00 03-29T22:00",
        "fee 03-25T23:00 03-29T22:00",
    ];
    assert_eq!(lives(&earlier), expected);
    let (of, total) = trial.cost(&made, START, "2027-03-25T23:00:00Z");
    assert_eq!((of, total), ("11".to_owned(), "0".to_owned()), "all of it is on trial");
    assert_eq!(trial.terms(&trial.ends(&made, END)), trial.terms(&made), "and back");
    let without = trial.ends(&made, START);
    let expected = [
        "fee 03-19T23:00 -",
        "usage 03-19T23:00 -",
        "usage 03-19T23:00 03-29T22:00",
        "fee 03-19T23:00 03-29T22:00",
    ];
    assert_eq!(lives(&without), expected, "as if there had never been a trial");
}

#[test]
fn what_was_to_begin_within_the_trial_does_so_where_that_is_gone() {
    let trial = OnTrial::new();
    let fee = trial.fixture().advance_fee("14");
    let made = trial.begun(|new| {
        let mut added = AddedPrice::new(fee);
        added.start_date = Some(at("2027-03-24T23:00:00Z"));
        new.prices.add = vec![added];
    });
    assert_eq!(lives(&made)[3], "fee 04-02T22:00 -");
    let earlier = trial.ends(&made, "2027-03-22T23:00:00Z");
    assert_eq!(lives(&earlier)[3], "fee 03-24T23:00 -", "no earlier than it was agreed on");
}

#[test]
fn the_maximum_of_a_trial_is_off_what_falls_due_of_it() {
    let trial = OnTrial::new();
    let fixture = trial.fixture();
    let maximum_amount = Some(number("2"));
    let ramp = trial.ramp(Some(PlanTrial { days: 40, maximum_amount }));
    let made = trial.begun(|new| (new.plan, new.trial_days) = (Some(ramp.id.into()), None));
    trial.uses("a", NOW, "15");
    let end = "2027-04-28T22:00:00Z";
    assert_eq!(trial.cost(&made, START, end), ("1.5".to_owned(), "0".to_owned()));
    let first = fixture.prices_of(&ramp);
    let replace = vec![(first[1], fixture.usage_at("0.3", &trial.changed.metric).into())];
    let change = PlanVersionChange { replace, ..PlanVersionChange::default() };
    let second = run(fixture.account.change_plan_version(ramp.id, change)).unwrap();
    fixture.tick_at("2027-03-25T00:00:00Z");
    let when = MigrationTiming::Immediate;
    let migration = NewMigration { when, ..NewMigration::to(second.version) };
    run(fixture.account.migrate_plan(ramp.id, migration)).unwrap();
    fixture.tick();
    trial.uses("b", "2027-03-25T00:00:00Z", "10");
    let costs = trial.cost(&made, START, end);
    assert_eq!(costs, ("4.5".to_owned(), "1".to_owned()), "1.5 of one version, and 2 of the other");
}

#[test]
fn subscriptions_3_5_1_the_end_is_anywhere_within_the_plan() {
    let trial = OnTrial::new();
    let ramp = trial.ramp(None);
    let made = trial.begun(|new| (new.plan, new.trial_days) = (Some(ramp.id.into()), Some(60)));
    let now = TrialUpdate { end: TrialEnd::Immediate, shift: false };
    let ended = run(trial.fixture().account.update_trial(made.id, now)).unwrap();
    let expected = [
        "fee 03-20T12:00 04-19T22:00",
        "usage on trial 03-19T23:00 03-20T12:00",
        "usage 03-20T12:00 04-19T22:00",
        "fee 04-19T22:00 -",
        "usage 04-19T22:00 -",
    ];
    let mut found = lives(&ended);
    found.sort();
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(found, expected);
    trial.ends(&made, "2027-06-01T00:00:00Z");
    assert_eq!(trial.fetch(&made).trial_end(), Some(at("2027-06-01T00:00:00Z")));
}

#[test]
fn subscriptions_3_5_6_no_change_of_plan_is_moved_to_where_it_would_have_been() {
    let trial = OnTrial::new();
    let made = trial.begun(|_| {});
    let next = trial.changed.plan([trial.fixture().advance_fee("90")]);
    trial.changes(&made, on(&next, "2027-04-05T00:00:00Z"));
    trial.fixture().tick_at("2027-03-28T00:00:00Z");
    let update = TrialUpdate { shift: true, ..TrialUpdate::at(at("2027-03-22T00:00:00Z")) };
    let call = trial.fixture().account.update_trial(made.id, update);
    assert!(constraint(refused(trial.fixture(), call)).contains("would have been"));
}

#[test]
fn what_is_charged_once_is_replaced_until_it_has_been() {
    let trial = OnTrial::new();
    let fixture = trial.fixture();
    let once = |amount| {
        let mut price = fixture.advance_fee(amount);
        price.cadence = accrue::price::Cadence::OneTime;
        price
    };
    let mut plan = NewPlan::new(name("Setup"), usd());
    plan.prices = vec![once("100").into()];
    let plan = run(fixture.account.create_plan(plan)).unwrap();
    let first = fixture.prices_of(&plan)[0];
    let replace = vec![(first, once("70").into())];
    let change = PlanVersionChange { replace, ..PlanVersionChange::default() };
    let second = run(fixture.account.change_plan_version(plan.id, change)).unwrap();
    let first = accrue::plan::PlanVersion::FIRST;
    let made =
        trial.begun(|new| (new.plan, new.plan_version) = (Some(plan.id.into()), Some(first)));
    fixture.tick_at("2027-03-25T00:00:00Z");
    let when = MigrationTiming::Immediate;
    let migration = NewMigration { when, ..NewMigration::to(second.version) };
    run(fixture.account.migrate_plan(plan.id, migration)).unwrap();
    fixture.tick();
    fixture.tick_at("2027-04-10T00:00:00Z");
    assert_eq!(trial.settled(&made), ["00001 issued 2027-04-02: fee 70 = 70"]);
}

#[test]
fn a_coupon_is_of_fees_that_come_back_too() {
    let trial = OnTrial::new();
    let fixture = trial.fixture();
    let fee = fixture.advance_fee("31");
    let made = trial.begun(|new| {
        let mut added = AddedPrice::new(fee);
        added.end_date = Some(at("2027-03-31T22:00:00Z"));
        new.prices.add = vec![added];
    });
    let coupon = fixture.coupon_for("half", crate::coupons::percentage("0.5"), 2);
    let redemption = accrue::coupon::Redemption {
        coupon: coupon.id.into(),
        when: accrue::coupon::RedemptionTiming::Immediate,
    };
    run(fixture.account.redeem_coupon(made.id, redemption)).unwrap();
    trial.ends(&made, "2027-03-24T23:00:00Z");
    fixture.tick_at("2027-03-26T00:00:00Z");
    let found = trial.settled(&made);
    assert!(found[0].ends_with("= 10.28"), "7 of 31 days of 60 and of 31, halved: {found:?}");
}

#[test]
fn a_coupon_that_ends_with_a_change_of_plan_ends_all_the_same() {
    let trial = OnTrial::new();
    let fixture = trial.fixture();
    let made = trial.begun(|new| new.trial_days = None);
    let coupon = fixture.coupon_for("half", crate::coupons::percentage("0.5"), 1);
    let start = at("2027-03-20T22:00:00Z");
    let redemption = accrue::coupon::Redemption {
        coupon: coupon.id.into(),
        when: accrue::coupon::RedemptionTiming::RequestedDate(start),
    };
    let redeemed = run(fixture.account.redeem_coupon(made.id, redemption)).unwrap();
    let end = redeemed.redeemed_coupon().unwrap().end_date.unwrap();
    let next = trial.changed.plan([fixture.advance_fee("90")]);
    let when = PlanChangeTiming::RequestedDate(end);
    trial.changes(&made, PlanChange { when, ..PlanChange::immediate(next.id) });
    let back = trial.unschedules(&made);
    assert_eq!(back.redeemed_coupon().unwrap().end_date, Some(end));
}
