//! Trials of subscriptions (subscriptions 1.7).

use accrue::{
    Call, Email, Patch, Zone,
    cost::CostQuery,
    coupon::{Redemption, RedemptionTiming},
    customer::NewCustomer,
    invoice::Invoice,
    plan::{NewPlan, PlanTrial},
    price::{Adjustment, FilterValues, NewAdjustment},
    subscription::{
        AddedPrice, Cancellation, FeeQuantityChange, NewPriceInterval, NewSubscription, PlanChange,
        PriceIntervalEdit, Subscription,
    },
};

use crate::{
    invoices::{SETTLED, all},
    price_intervals::{Changed, adding, changed, constraint},
    support::{
        fixture::{Fixture, at, event, external, name, number, refused, run, usd},
        priced::{between, cost_alert, spend_alert},
    },
};

pub(crate) const START: &str = "2027-03-19T23:00:00Z";
pub(crate) const END: &str = "2027-04-02T22:00:00Z";
pub(crate) const MAY: &str = "2027-04-30T22:00:00Z";

/// A fee of 60 in advance and usage at 0.10, for a customer in Berlin.
pub(crate) struct OnTrial {
    pub(crate) changed: Changed,
}

impl OnTrial {
    pub(crate) fn new() -> Self {
        let changed = changed(|fixture, metric| {
            vec![fixture.advance_fee("60"), fixture.usage_at("0.10", metric)]
        });
        let mut bo = NewCustomer::new(name("Bo"), Email::parse("bo@example.com").unwrap());
        bo.external_customer_id = Some(external("bo"));
        bo.timezone = Some(Zone::parse("Europe/Berlin").unwrap());
        run(changed.fixture().account.create_customer(bo)).unwrap();
        Self { changed }
    }

    pub(crate) fn fixture(&self) -> &Fixture {
        self.changed.fixture()
    }

    fn call(&self, make: impl FnOnce(&mut NewSubscription)) -> Call<Subscription> {
        let plan = self.changed.invoiced.plan.id;
        let mut new = NewSubscription::new(external("bo"), plan);
        (new.start_date, new.trial_days) = (Some(at(START)), Some(14));
        make(&mut new);
        self.fixture().account.create_subscription(new)
    }

    pub(crate) fn subscribe(&self, make: impl FnOnce(&mut NewSubscription)) -> Subscription {
        run(self.call(make)).unwrap()
    }

    pub(crate) fn uses(&self, key: &str, at: &str, n: &str) {
        let event = event("bo", key, self::at(at), n);
        run(self.fixture().account.ingest([event])).unwrap();
    }

    pub(crate) fn cost(&self, of: &Subscription, from: &str, to: &str) -> (String, String) {
        let query = CostQuery { timeframe: between(from, to).into(), ..CostQuery::default() };
        let cost = self.fixture().cost(of, &query);
        (cost.subtotal.to_string(), cost.total.to_string())
    }

    pub(crate) fn settled(&self, of: &Subscription) -> Vec<String> {
        let all = self.fixture().invoices(SETTLED).into_iter();
        let own: Vec<Invoice> = all.filter(|it| it.subscription_id == Some(of.id)).collect();
        let mut shown = self::all(&own);
        shown.sort();
        shown
    }
}

/// The intervals of prices: which of two, whether on trial, and the dates.
pub(crate) fn lives(of: &Subscription) -> Vec<String> {
    let day = |at: accrue::Timestamp| at.to_string()[5..16].to_owned();
    let lives = of.price_intervals.iter().map(|of| {
        let kind = if of.is_fee() { "fee" } else { "usage" };
        let trial = if of.is_trial() { " on trial" } else { "" };
        let end = of.end_date.map_or("-".to_owned(), day);
        format!("{kind}{trial} {} {end}", day(of.start_date))
    });
    lives.collect()
}

#[test]
fn subscriptions_1_7_example_of_fourteen_days_in_berlin() {
    let on = OnTrial::new();
    on.fixture().set("2027-03-20T12:00:00Z");
    let made = on.subscribe(|_| {});
    assert_eq!(
        made.trial_end().unwrap(),
        at(END),
        "14 days of civil time, of which one is shorter"
    );
    let expected =
        ["fee 04-02T22:00 -", "usage on trial 03-19T23:00 04-02T22:00", "usage 04-02T22:00 -"];
    assert_eq!(lives(&made), expected);
    let period = made.periods().containing(at("2027-03-25T00:00:00Z")).unwrap();
    assert_eq!((period.start(), period.end()), (at(START), at(END)));
    let period = made.periods().containing(at(END)).unwrap();
    assert_eq!((period.start(), period.end()), (at(END), at(MAY)), "the grid stays");

    on.uses("a", "2027-03-20T12:00:00Z", "100");
    on.fixture().tick_at("2027-04-01T00:00:00Z");
    on.uses("b", "2027-03-31T22:00:00Z", "200");
    assert_eq!(on.cost(&made, START, END), ("30".to_owned(), "0".to_owned()));
    assert!(on.settled(&made).is_empty(), "no fee is charged, and the month that ends is nothing");
    on.fixture().tick_at("2027-04-03T22:00:00Z");
    let trial = "00001 issued 2027-04-02: fee 56, usage 0 = 56";
    assert_eq!(on.settled(&made), [trial], "28 of 30 days, and what the trial has used");
    on.fixture().tick_at("2027-05-01T22:00:00Z");
    assert_eq!(on.settled(&made), [trial, "00002 issued 2027-04-30: fee 60, usage 0 = 60"]);
}

#[test]
fn subscriptions_1_7_4_what_exceeds_the_maximum_of_the_plan_bills_normally() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    let mut plan = NewPlan::new(name("Capped"), usd());
    let usage = || fixture.usage_at("0.10", &on.changed.metric);
    plan.prices = vec![usage().into(), usage().into()];
    plan.trial = Some(PlanTrial { days: 14, maximum_amount: Some(number("25")) });
    let plan = run(fixture.account.create_plan(plan)).unwrap();
    fixture.set("2027-04-03T12:00:00Z");
    let capped =
        |new: &mut NewSubscription| (new.plan, new.trial_days) = (Some(plan.id.into()), None);
    let made = on.subscribe(capped);
    assert_eq!(made.trial_end().unwrap(), at(END), "as the plan says");
    on.uses("a", "2027-04-02T12:00:00Z", "150");
    assert_eq!(on.cost(&made, START, END), ("30".to_owned(), "5".to_owned()), "25 over both");
    on.uses("b", END, "150");
    assert_eq!(on.cost(&made, END, MAY), ("30".to_owned(), "30".to_owned()), "once");

    fixture.tick();
    let longest =
        |days| on.call(|new| (new.plan, new.trial_days) = (Some(plan.id.into()), Some(days)));
    let found = refused(fixture, longest(accrue::limits::TRIAL_DAYS + 1));
    assert_eq!(found.0, accrue::ErrorKind::RequestValidation);
    run(longest(accrue::limits::TRIAL_DAYS)).unwrap();
    let without = on.subscribe(|new| (new.plan, new.trial_days) = (Some(plan.id.into()), Some(0)));
    assert_eq!((without.trial, without.price_intervals.len()), (None, 2), "0 skips it");
    let longer = on.subscribe(|new| (new.plan, new.trial_days) = (Some(plan.id.into()), Some(30)));
    assert_eq!(longer.trial_end().unwrap(), at("2027-04-18T22:00:00Z"));
    assert_eq!(
        on.cost(&longer, START, "2027-04-18T22:00:00Z").1,
        "35",
        "the maximum is the plan's"
    );
}

#[test]
fn subscriptions_1_7_8_what_is_on_trial_is_left_alone() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    let made = on.subscribe(|_| {});
    let [fee, trial, usage] = [0, 1, 2].map(|place: usize| made.price_intervals[place].id);
    let edit = |edit: PriceIntervalEdit| {
        let changes =
            accrue::subscription::IntervalChanges { edit: vec![edit], ..Default::default() };
        constraint(refused(fixture, fixture.account.change_intervals(made.id, changes)))
    };
    let to = |id, start: &str| PriceIntervalEdit {
        start_date: Some(at(start).into()),
        ..PriceIntervalEdit::new(id)
    };
    assert!(edit(to(trial, START)).ends_with("is on trial"));
    let ended = PriceIntervalEdit {
        end_date: Patch::Set(at("2027-03-25T00:00:00Z").into()),
        ..PriceIntervalEdit::new(trial)
    };
    assert!(edit(ended).ends_with("is on trial"));
    for (id, start) in [(usage, "2027-04-10T00:00:00Z"), (fee, "2027-03-25T00:00:00Z")] {
        assert!(edit(to(id, start)).contains("begins with the end of the trial"));
    }
    let price = run(fixture.account.create_price(fixture.advance_fee("5"))).unwrap().id;
    let add = |start: &str| {
        let changes = adding(NewPriceInterval::new(price, at(start)));
        fixture.account.change_intervals(made.id, changes)
    };
    assert!(constraint(refused(fixture, add("2027-04-01T00:00:00Z"))).contains("within the trial"));
    run(add(END)).unwrap();
}

#[test]
fn subscriptions_1_7_11_the_end_of_a_trial_is_told_once() {
    let on = OnTrial::new();
    on.fixture().set(START);
    on.subscribe(|_| {});
    on.fixture().tick_at("2027-04-02T21:59:59Z");
    let told = on.fixture().message_types();
    assert!(!told.contains(&"subscription.trial_ended"), "{told:?}");
    on.fixture().tick_at("2027-04-10T00:00:00Z");
    let told = on.fixture().dated();
    assert_eq!(told.iter().filter(|of| of.contains("trial_ended")).count(), 1, "{told:?}");

    on.fixture().messages();
    on.subscribe(|_| {});
    let types = on.fixture().message_types();
    let expected = ["subscription.created", "subscription.started", "subscription.trial_ended"];
    assert_eq!(types[..3], expected, "it was over when it was created");

    let ended = on.subscribe(|new| new.start_date = Some(at("2027-04-09T22:00:00Z")));
    run(on.fixture().account.cancel_subscription(ended.id, Cancellation::Immediate)).unwrap();
    on.fixture().messages();
    on.fixture().tick_at("2027-04-30T00:00:00Z");
    let told = on.fixture().message_types();
    assert!(!told.contains(&"subscription.trial_ended"), "it ended before: {told:?}");
}

#[test]
fn subscriptions_1_7_12_cost_alerts_see_the_discount_and_spend_alerts_do_not() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let made = on.subscribe(|_| {});
    for alert in [cost_alert(&["1"]), spend_alert("USD", &["20"])] {
        run(fixture.account.create_subscription_alert(made.id, alert)).unwrap();
    }
    fixture.messages();
    on.uses("a", "2027-03-20T12:00:00Z", "300");
    assert_eq!(fixture.told(), ["spend 20: none -> 30 by event a"]);
    fixture.tick_at("2027-04-10T00:00:00Z");
    let expected =
        ["cost 1", "spend 20"].map(|of| format!("{of}: none -> 56 by period 2027-04-02T22:00:00Z"));
    assert_eq!(fixture.told(), expected, "the fee of the first period that is paid for");
}

#[test]
fn subscriptions_1_7_13_a_subscription_has_one_trial_in_its_life() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    let mut plan = NewPlan::new(name("Other"), usd());
    plan.prices = vec![fixture.advance_fee("90").into()];
    plan.trial = Some(PlanTrial::of_days(30));
    let other = run(fixture.account.create_plan(plan)).unwrap();
    fixture.tick_at("2027-04-10T00:00:00Z");
    let had = on.subscribe(|_| {});
    fixture.tick();
    let again = PlanChange { trial_days: Some(7), ..PlanChange::immediate(other.id) };
    let call = |id, change: PlanChange| fixture.account.schedule_plan_change(id, change);
    let detail = constraint(refused(fixture, call(had.id, again)));
    assert!(detail.contains("has had its only trial"), "{detail}");
    let changed = run(call(had.id, PlanChange::immediate(other.id))).unwrap();
    assert_eq!(changed.trial, had.trial, "that of the plan is skipped");
    assert_eq!(changed.price_intervals.last().unwrap().start_date, at("2027-04-10T00:00:00Z"));

    let first = on.subscribe(|new| new.trial_days = None);
    let changed = run(call(first.id, PlanChange::immediate(other.id))).unwrap();
    assert_eq!(changed.trial_end().unwrap(), at("2027-05-10T00:00:00Z"));
    assert_eq!(changed.price_intervals.last().unwrap().start_date, at("2027-05-10T00:00:00Z"));
    let next = on.changed.plan([fixture.advance_fee("1")]);
    let cut = crate::changed_plans::on(&next, "2027-05-01T00:00:00Z");
    let cut = run(call(first.id, cut)).unwrap();
    assert_eq!(cut.trial_end().unwrap(), at("2027-05-01T00:00:00Z"), "3.2.6");
    let back = run(fixture.account.unschedule_plan_changes(first.id)).unwrap();
    assert_eq!(back, changed, "it goes on, and the fee behind it comes");
}

#[test]
fn a_plan_that_is_left_within_the_trial_is_billed_nothing() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let made = on.subscribe(|_| {});
    on.uses("a", "2027-03-20T12:00:00Z", "300");
    let next = on.changed.plan([fixture.advance_fee("31")]);
    let at_once = crate::changed_plans::on(&next, "2027-03-22T23:00:00Z");
    run(fixture.account.schedule_plan_change(made.id, at_once)).unwrap();
    fixture.tick_at("2027-05-31T00:00:00Z");
    let expected = [
        "00001 issued 2027-03-22: usage 0, fee 9 = 9",
        "00002 issued 2027-03-31: fee 31 = 31",
        "00003 issued 2027-04-30: fee 31 = 31",
    ];
    assert_eq!(on.settled(&made), expected, "the usage is on trial, the fee is of the next plan");
}

#[test]
fn subscriptions_3_10_an_end_within_the_trial_is_taken_back_with_all_behind_it() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let made = on.subscribe(|_| {});
    let end = Cancellation::EndOfSubscriptionTerm;
    let canceled = run(fixture.account.cancel_subscription(made.id, end)).unwrap();
    assert_eq!(canceled.end_date, Some(at(END)), "the trial is the term");
    let back = run(fixture.account.unschedule_cancellation(made.id)).unwrap();
    assert_eq!(back, made);
    let early = Cancellation::RequestedDate(at("2027-03-25T00:00:00Z"));
    run(fixture.account.cancel_subscription(made.id, early)).unwrap();
    let back = run(fixture.account.unschedule_cancellation(made.id)).unwrap();
    assert_eq!(back, made);
}

#[test]
fn what_is_added_waits_for_the_end_of_the_trial_and_so_do_adjustments() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    let item = fixture.item().id;
    let made = on.subscribe(|new| {
        new.prices.add = vec![AddedPrice::new(fixture.advance_fee("10"))];
        let least = NewAdjustment {
            item_id: Some(item),
            ..NewAdjustment::new(Adjustment::Minimum(number("50")))
        };
        let usage = on.changed.subscription.price_intervals[1].price_id;
        new.adjustments.add =
            vec![crate::adjustments::over(FilterValues::PriceId([usage].into()), least).into()];
    });
    let minimum = made.adjustment_intervals.iter().find(|of| !of.is_trial).unwrap();
    assert_eq!(minimum.start_date, at(END));
    assert_eq!(lives(&made).last().unwrap(), "fee 04-02T22:00 -");
    assert_eq!(on.cost(&made, START, END).1, "0", "no minimum of the trial");

    fixture.tick_at("2027-03-25T00:00:00Z");
    let fee = on.changed.subscription.price_intervals[0].price_id;
    let three = FeeQuantityChange::immediate(fee, number("3"));
    let call = fixture.account.update_fixed_fee_quantity(made.id, three);
    assert!(constraint(refused(fixture, call)).contains("not charged now"));
}

#[test]
fn a_coupon_that_is_redeemed_within_the_trial_is_of_what_waits_for_its_end_too() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    fixture.set("2027-03-20T12:00:00Z");
    let made = on.subscribe(|_| {});
    let coupon = fixture.coupon_for("half", crate::coupons::percentage("0.5"), 1);
    let redemption = Redemption {
        coupon: coupon.id.into(),
        when: RedemptionTiming::RequestedDate(at("2027-03-25T00:00:00Z")),
    };
    run(fixture.account.redeem_coupon(made.id, redemption)).unwrap();
    fixture.tick_at("2027-05-03T00:00:00Z");
    let expected = [
        "00001 issued 2027-04-02: fee 28, usage 0 = 28",
        "00002 issued 2027-04-30: fee 60, usage 0 = 60",
    ];
    assert_eq!(on.settled(&made), expected);
}
