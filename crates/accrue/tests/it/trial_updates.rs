//! Other ends of trials (subscriptions 3.5).

use accrue::{
    Call,
    plan::{NewPhase, NewPlan, PhaseDuration},
    subscription::{
        AddedAdjustment, AddedPrice, ChangeTiming, FeeQuantityChange, NewPriceInterval,
        Subscription, TrialEnd, TrialUpdate,
    },
};

use crate::{
    adjustments::percentage_off,
    changed_plans::on,
    price_intervals::{adding, constraint},
    support::fixture::{at, name, refused, run, usd},
    trials::{END, MAY, OnTrial, START, lives},
};

impl OnTrial {
    fn update(&self, of: &Subscription, update: TrialUpdate) -> Call<Subscription> {
        self.fixture().account.update_trial(of.id, update)
    }

    fn moved(&self, of: &Subscription, to: &str) -> Subscription {
        run(self.update(of, TrialUpdate::at(at(to)))).unwrap()
    }

    fn shifted(&self, of: &Subscription, to: &str) -> Subscription {
        let update = TrialUpdate { shift: true, ..TrialUpdate::at(at(to)) };
        run(self.update(of, update)).unwrap()
    }
}

#[test]
fn subscriptions_3_5_example_with_and_without_shift() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    fixture.set("2027-03-05T00:00:00Z");
    let made = on_trial.subscribe(|new| {
        (new.start_date, new.trial_days) = (Some(at("2027-02-28T23:00:00Z")), Some(14));
    });
    assert_eq!(made.trial_end().unwrap(), at("2027-03-14T23:00:00Z"));
    let addon = run(fixture.account.create_price(fixture.advance_fee("5"))).unwrap().id;
    let add = adding(NewPriceInterval::new(addon, at("2027-03-31T22:00:00Z")));
    run(fixture.account.change_intervals(made.id, add)).unwrap();
    let next = on_trial.changed.plan([fixture.advance_fee("90")]);
    let change = on(&next, "2027-05-31T22:00:00Z");
    let before = run(fixture.account.schedule_plan_change(made.id, change)).unwrap();

    let alone = on_trial.moved(&made, "2027-03-21T23:00:00Z");
    let expected = [
        "fee 03-21T23:00 05-31T22:00",
        "usage on trial 02-28T23:00 03-21T23:00",
        "usage 03-21T23:00 05-31T22:00",
        "fee 03-31T22:00 05-31T22:00",
        "fee 05-31T22:00 -",
    ];
    assert_eq!(lives(&alone), expected, "the usage boundary and the fee move, the rest stays");
    assert_eq!(on_trial.moved(&made, "2027-03-14T23:00:00Z"), before, "and back");

    let all = on_trial.shifted(&made, "2027-03-21T23:00:00Z");
    let expected = [
        "fee 03-21T23:00 06-07T22:00",
        "usage on trial 02-28T23:00 03-21T23:00",
        "usage 03-21T23:00 06-07T22:00",
        "fee 04-07T22:00 06-07T22:00",
        "fee 06-07T22:00 -",
    ];
    assert_eq!(lives(&all), expected, "seven days of the clocks there, also over their change");
    assert_eq!(all.plans()[1].start_date, at("2027-06-07T22:00:00Z"));
    assert_eq!(on_trial.shifted(&made, "2027-03-14T23:00:00Z"), before, "and back");
}

#[test]
fn subscriptions_3_5_2_at_its_start_there_has_never_been_a_trial() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let made = on_trial.subscribe(|_| {});
    on_trial.uses("a", "2027-03-20T12:00:00Z", "300");
    fixture.messages();
    let without = on_trial.moved(&made, START);
    assert_eq!(without.trial, None);
    assert_eq!(lives(&without), ["fee 03-19T23:00 -", "usage 03-19T23:00 -"]);
    assert!(without.adjustment_intervals.is_empty());
    assert!(!fixture.message_types().contains(&"subscription.trial_ended"));
    fixture.tick_at("2027-04-30T00:00:00Z");
    let expected = [
        "00001 issued 2027-03-19: fee 23.23 = 23.23",
        "00002 issued 2027-03-31: fee 60, usage 30 = 90",
    ];
    assert_eq!(on_trial.settled(&made), expected);
}

#[test]
fn subscriptions_3_5_3_and_10_now_is_told_in_the_same_commit() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let made = on_trial.subscribe(|_| {});
    on_trial.uses("a", "2027-03-20T12:00:00Z", "300");
    fixture.set("2027-03-24T23:00:00Z");
    fixture.messages();
    let now = TrialUpdate { end: TrialEnd::Immediate, shift: false };
    let ended = run(on_trial.update(&made, now)).unwrap();
    assert_eq!(ended.trial_end().unwrap(), at("2027-03-24T23:00:00Z"));
    assert!(fixture.message_types().contains(&"subscription.trial_ended"));
    fixture.tick_at("2027-04-03T00:00:00Z");
    let expected = [
        "00001 issued 2027-03-24: fee 13.55, usage 0 = 13.55",
        "00002 issued 2027-03-31: fee 60, usage 0 = 60",
    ];
    assert_eq!(on_trial.settled(&made), expected, "7 of 31 days");
    let told = fixture.message_types();
    assert!(!told.contains(&"subscription.trial_ended"), "once: {told:?}");
}

#[test]
fn subscriptions_3_5_4_and_9_a_trial_that_is_over_goes_on_and_its_fee_goes_back() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let made = on_trial.subscribe(|_| {});
    on_trial.uses("a", "2027-03-20T12:00:00Z", "300");
    fixture.tick_at("2027-04-05T00:00:00Z");
    on_trial.uses("b", "2027-04-05T00:00:00Z", "100");
    assert_eq!(on_trial.cost(&made, END, MAY), ("66".to_owned(), "66".to_owned()));
    fixture.messages();
    let longer = on_trial.moved(&made, "2027-04-15T22:00:00Z");
    assert_eq!(longer.status(at("2027-04-05T00:00:00Z")), made.status(at("2027-04-05T00:00:00Z")));
    let period = longer.periods().containing(at("2027-04-05T00:00:00Z")).unwrap();
    assert_eq!((period.start(), period.end()), (at(START), at("2027-04-15T22:00:00Z")));
    let trial = on_trial.cost(&made, START, "2027-04-15T22:00:00Z");
    assert_eq!(trial, ("40".to_owned(), "0".to_owned()));
    fixture.tick_at("2027-05-03T00:00:00Z");
    let told = fixture.message_types();
    assert_eq!(told.iter().filter(|of| **of == "subscription.trial_ended").count(), 1, "{told:?}");
    let expected = [
        "00002 issued 2027-04-15: fee 30, usage 0 = 30",
        "00003 issued 2027-04-30: fee 60, usage 0 = 60",
    ];
    assert_eq!(on_trial.settled(&made), expected, "the first one is void");
}

#[test]
fn subscriptions_3_5_1_and_8_what_is_refused() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    fixture.tick_at("2027-03-20T12:00:00Z");
    let made = on_trial.subscribe(|new| new.end_date = Some(at("2027-05-31T22:00:00Z")));
    fixture.tick();
    let refuse = |of: &Subscription, to: &str, shift| {
        let update = TrialUpdate { shift, ..TrialUpdate::at(at(to)) };
        constraint(refused(fixture, on_trial.update(of, update)))
    };
    assert!(refuse(&made, "2027-03-18T00:00:00Z", true).contains("cannot before"));
    for shift in [true, false] {
        assert!(refuse(&made, "2027-06-01T00:00:00Z", shift).contains("cannot behind"));
    }
    let next = on_trial.changed.plan([fixture.advance_fee("90")]);
    let change = on(&next, "2027-04-30T22:00:00Z");
    let changes = run(fixture.account.schedule_plan_change(made.id, change)).unwrap();
    assert_eq!(changes.end_date, None);
    assert!(refuse(&made, "2027-05-10T00:00:00Z", false).contains("cannot behind"));

    let without = on_trial.subscribe(|new| new.trial_days = None);
    fixture.tick();
    assert!(refuse(&without, "2027-05-10T00:00:00Z", false).contains("without a trial"));
    fixture.tick_at("2027-04-30T22:00:00Z");
    assert!(
        refuse(&made, "2027-05-10T00:00:00Z", true).contains("without a trial"),
        "it is the other plan's"
    );
}

#[test]
fn subscriptions_3_5_5_only_what_begins_or_ends_with_the_trial_moves() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let later = "2027-04-20T22:00:00Z";
    let made = on_trial.subscribe(|new| {
        let adding = |start: &str| {
            let mut of = AddedPrice::new(fixture.advance_fee("5"));
            of.start_date = Some(at(start));
            of
        };
        new.prices.add = vec![adding(END), adding(later)];
        let half = |start: &str| {
            let mut of = AddedAdjustment::from(percentage_off("0.5"));
            of.start_date = Some(at(start));
            of
        };
        new.adjustments.add = vec![half(END), half(later)];
    });
    let end = "2027-04-09T22:00:00Z";
    let moved = on_trial.moved(&made, end);
    let expected = [
        "fee 04-09T22:00 -",
        "usage on trial 03-19T23:00 04-09T22:00",
        "usage 04-09T22:00 -",
        "fee 04-09T22:00 -",
        "fee 04-20T22:00 -",
    ];
    assert_eq!(lives(&moved), expected);
    let given = moved.adjustment_intervals.iter().filter(|of| !of.is_trial);
    let starts: Vec<_> = given.map(|of| of.start_date).collect();
    assert_eq!(starts, [at(end), at(later)]);
}

#[test]
fn subscriptions_3_5_7_what_is_pushed_behind_the_end_is_cut() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let price = fixture.advance_fee("31");
    let made = on_trial.subscribe(|new| {
        new.end_date = Some(at("2027-05-31T22:00:00Z"));
        let mut later = AddedPrice::new(price);
        later.start_date = Some(at("2027-05-20T22:00:00Z"));
        new.prices.add = vec![later];
        let mut half = AddedAdjustment::from(percentage_off("0.5"));
        half.start_date = Some(at("2027-05-20T22:00:00Z"));
        new.adjustments.add = vec![half];
    });
    on_trial.shifted(&made, "2027-04-16T22:00:00Z");
    fixture.tick_at("2027-06-03T00:00:00Z");
    let expected = [
        "00001 issued 2027-04-16: fee 28, usage 0 = 28",
        "00002 issued 2027-04-30: fee 60, usage 0 = 60",
        "00003 paid 2027-05-31: usage 0 = 0",
    ];
    assert_eq!(on_trial.settled(&made), expected, "nothing of what would begin behind it");
}

#[test]
fn quantities_of_a_fee_that_waits_are_those_that_were_agreed_on() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    fixture.tick_at("2027-03-20T12:00:00Z");
    let made = on_trial.subscribe(|_| {});
    fixture.tick();
    let fee = made.price_intervals[0].price_id;
    let change = |when| FeeQuantityChange { price: fee.into(), quantity: 3.into(), when };
    let call = |when| fixture.account.update_fixed_fee_quantity(made.id, change(when));
    let now = constraint(refused(fixture, call(ChangeTiming::Immediate)));
    assert_eq!(now, "the fee is not charged now");
    let before = ChangeTiming::EffectiveDate(at("2027-03-30T00:00:00Z"));
    assert!(constraint(refused(fixture, call(before))).contains("within no billing period"));
    run(call(ChangeTiming::EffectiveDate(at("2027-04-09T22:00:00Z")))).unwrap();
    let quantities = |of: &Subscription| -> Vec<_> {
        let fee = of.price_intervals.iter().find(|of| of.is_fee()).unwrap();
        let all = fee.quantities.iter();
        all.map(|(at, of)| format!("{} {of}", &at.to_string()[5..10])).collect()
    };
    let longer = on_trial.moved(&made, "2027-04-14T22:00:00Z");
    assert_eq!(quantities(&longer), ["04-14 3"]);
    let back = on_trial.moved(&made, END);
    assert_eq!(quantities(&back), ["04-02 1", "04-09 3"], "one until then");
    run(call(ChangeTiming::UpcomingInvoice)).unwrap();
    let earlier = on_trial.moved(&made, "2027-03-25T23:00:00Z");
    assert_eq!(quantities(&earlier), ["03-25 3", "04-09 3"], "with its begin, whenever that is");
}

#[test]
fn subscriptions_3_5_6_phases_stay_in_their_order() {
    let on_trial = OnTrial::new();
    let fixture = on_trial.fixture();
    let mut plan = NewPlan::new(name("Empty"), usd());
    let month = NewPhase::lasting(PhaseDuration::months(1));
    plan.phases = vec![month, month, NewPhase::evergreen()];
    let plan = run(fixture.account.create_plan(plan)).unwrap();
    fixture.tick_at("2027-03-20T12:00:00Z");
    let made =
        on_trial.subscribe(|new| (new.plan, new.trial_days) = (Some(plan.id.into()), Some(40)));
    fixture.tick();
    let update = TrialUpdate { shift: true, ..TrialUpdate::at(at("2027-03-22T00:00:00Z")) };
    let found = constraint(refused(fixture, on_trial.update(&made, update)));
    assert!(found.contains("before one that stays"), "{found}");
}
