//! Changes of the plans of subscriptions (subscriptions 3.1 to 3.3, 3.7).

use accrue::{
    Call, Carried, CarriedUpdate, Clock, Currency, ErrorKind, PageRequest, PlanId,
    cost::CostQuery,
    coupon::{Redemption, RedemptionTiming},
    invoice::Payment,
    plan::{NewPlan, NewPlanVersion, Plan},
    price::NewPrice,
    subscription::{
        BillingAnchor, BillingCycleAlignment, Cancellation, NewPriceInterval, NewSubscription,
        PlanChange, PlanChangeTiming, Subscription, SubscriptionFilter, SubscriptionUpdate,
    },
    webhook::Body,
};

use crate::{
    coupons::{code, percentage},
    invoices::{DRAFT, all},
    price_intervals::{Changed, JANUARY, changed, constraint},
    support::{
        fixture::{Fixture, SUM, UNKNOWN, at, block_on, event, name, number, refused, run, usd},
        priced::{cost_alert, priced},
    },
};

const MARCH_11: &str = "2027-03-11T00:00:00Z";

impl Changed {
    pub(crate) fn plan(&self, prices: impl IntoIterator<Item = NewPrice>) -> Plan {
        self.fixture().priced_plan(prices.into_iter().map(Into::into))
    }

    pub(crate) fn plan_call(&self, change: PlanChange) -> Call<Subscription> {
        self.fixture().account.schedule_plan_change(self.subscription.id, change)
    }

    pub(crate) fn to(&self, change: PlanChange) -> Subscription {
        run(self.plan_call(change)).unwrap()
    }

    pub(crate) fn unschedule(&self) -> Call<Subscription> {
        self.fixture().account.unschedule_plan_changes(self.subscription.id)
    }

    pub(crate) fn fetch(&self) -> Subscription {
        block_on(self.fixture().account.fetch_subscription(self.subscription.id)).unwrap()
    }

    /// The plans by place in some, with their starts.
    pub(crate) fn schedule(&self, plans: &[&Plan]) -> Vec<(usize, String)> {
        let of = |id: PlanId| plans.iter().position(|plan| plan.id == id).unwrap();
        let all = self.fetch().plans().into_iter();
        all.map(|plan| (of(plan.plan_id.unwrap()), plan.start_date.to_string()[..10].to_owned()))
            .collect()
    }

    /// The subscriptions that are on a plan.
    fn on(&self, plan: &Plan) -> usize {
        let filter = SubscriptionFilter { plan: Some(plan.id.into()), ..Default::default() };
        let page = PageRequest::default();
        block_on(self.fixture().account.list_subscriptions(&filter, &page)).unwrap().data.len()
    }
}

pub(crate) fn on(plan: &Plan, date: &str) -> PlanChange {
    PlanChange { when: PlanChangeTiming::RequestedDate(at(date)), ..PlanChange::immediate(plan.id) }
}

fn ending(plan: &Plan) -> PlanChange {
    PlanChange { when: PlanChangeTiming::EndOfSubscriptionTerm, ..PlanChange::immediate(plan.id) }
}

#[test]
fn subscriptions_3_2_8_example_1_unused_days_go_back_and_the_rest_is_charged() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("62")]);
    let fixture = changed.fixture();
    fixture.tick_at(MARCH_11);
    let march = fixture.invoices(&[]).remove(0);
    let paid = Payment::new(at(MARCH_11));
    run(fixture.account.mark_invoice_paid(march.id, paid)).unwrap();
    let other = changed.plan([fixture.advance_fee("155")]);
    let old = changed.invoiced.plan.id;
    fixture.messages();
    let after = changed.to(PlanChange::immediate(other.id));
    assert_eq!((after.plan_id, after.plan_version), (Some(other.id), other.version));
    assert_eq!(changed.notes(), ["42"]);
    assert_eq!(changed.settled()[3], "00004 issued 2027-03-11: fee 105 = 105");
    let due = fixture.invoices(&[]).into_iter().find(|of| of.invoice_number.ends_with("00004"));
    assert_eq!(due.unwrap().amount_due, number("63"));
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2027-04-01: fee 155 = 155"]);
    let messages = fixture.messages();
    let [first, ..] = messages.as_slice() else { panic!() };
    let Body::PlanChanged { previous_plan_id, .. } = first.body else { panic!("{first:?}") };
    assert_eq!(previous_plan_id, Some(old));
    assert_eq!((changed.on(&changed.invoiced.plan), changed.on(&other)), (0, 1));
}

#[test]
fn subscriptions_0_2_the_day_of_a_change_of_plan_belongs_to_the_new_one() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("62"), fixture.arrear_fee("31")]);
    let fixture = changed.fixture();
    fixture.tick_at("2027-03-11T12:00:00Z");
    let other = changed.plan([fixture.advance_fee("155")]);
    changed.to(PlanChange::immediate(other.id));
    assert_eq!(changed.notes(), ["42"], "10 of 31 days are over");
    assert_eq!(changed.settled()[3], "00004 issued 2027-03-11: fee 10, fee 105 = 115");
}

#[test]
fn subscriptions_0_2_a_plan_that_lasts_for_a_part_of_a_day_has_none() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("62")]);
    let fixture = changed.fixture();
    let other = changed.plan([fixture.advance_fee("155")]);
    let last = changed.plan([fixture.advance_fee("310")]);
    fixture.tick_at("2027-03-11T08:00:00Z");
    changed.to(PlanChange::immediate(other.id));
    fixture.tick_at("2027-03-11T20:00:00Z");
    changed.to(PlanChange::immediate(last.id));
    assert_eq!(changed.notes(), ["105", "42"], "all of the one, which lasted for no day");
    assert_eq!(changed.settled()[4], "00005 issued 2027-03-11: fee 210 = 210");
}

#[test]
fn subscriptions_0_2_the_day_of_a_change_at_the_end_is_given_back_where_that_is_taken_back() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("62")]);
    let fixture = changed.fixture();
    let end = Cancellation::RequestedDate(at("2027-05-11T12:00:00Z"));
    run(fixture.account.cancel_subscription(changed.subscription.id, end)).unwrap();
    fixture.tick_at("2027-05-11T08:00:00Z");
    let other = changed.plan([fixture.advance_fee("155")]);
    let when = PlanChangeTiming::EndOfSubscriptionTerm;
    changed.to(PlanChange { when, ..PlanChange::immediate(other.id) });
    fixture.tick_at("2027-05-11T12:00:00Z");
    assert_eq!(changed.notes(), ["2"]);
    assert_eq!(
        changed.settled()[4..],
        ["00005 issued 2027-05-01: fee 22 = 22", "00006 issued 2027-05-11: fee 105 = 105"]
    );
}

/// Changes from no prices to a fee of 30 on 20 March, on a grid of the 15th; returns what was invoiced, and the
/// starts of the two periods that follow.
fn aligned(alignment: BillingCycleAlignment) -> (Vec<String>, String, u8) {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    fixture.set("2027-02-01T00:00:00Z");
    run(fixture.account.cancel_subscription(changed.subscription.id, Cancellation::Immediate))
        .unwrap();
    let anchor = BillingAnchor::Day { day: 15, month: None, year: None };
    let of = changed.invoiced.subscribe_with("2027-02-01T00:00:00Z", |new| new.anchor = anchor);
    fixture.tick_at("2027-03-20T00:00:00Z");
    let other = changed.plan([fixture.advance_fee("30")]);
    let change = PlanChange { alignment, ..PlanChange::immediate(other.id) };
    let after = run(fixture.account.schedule_plan_change(of.id, change)).unwrap();
    let now = at("2027-03-20T12:00:00Z");
    let period = after.periods().containing(now).unwrap();
    let own = after.period_of(&after.price_intervals[0], now).unwrap();
    assert_eq!(own.end(), period.end(), "the price and the subscription share their grid");
    assert_eq!(own.start(), at("2027-03-20T00:00:00Z"));
    let next = after.periods().containing(period.end()).unwrap();
    let periods = format!("{} {}", &period.end().to_string()[..10], &next.end().to_string()[..10]);
    (changed.settled(), periods, after.billing_cycle_day())
}

#[test]
fn subscriptions_3_2_example_2_the_grid_stays_or_begins_with_the_change_or_the_month() {
    let check = |alignment, amount: &str, periods: &str, day| {
        let (invoices, found, found_day) = aligned(alignment);
        assert_eq!(invoices, [format!("00001 issued 2027-03-20: fee {amount} = {amount}")]);
        assert_eq!((found.as_str(), found_day), (periods, day), "{alignment:?}");
    };
    use BillingCycleAlignment::{Anchor, PlanChangeDate, StartOfMonth, Unchanged};
    check(Unchanged, "25.16", "2027-04-15 2027-05-15", 15);
    check(PlanChangeDate, "30", "2027-04-20 2027-05-20", 20);
    check(StartOfMonth, "11.61", "2027-04-01 2027-05-01", 1);
    let tenth = BillingAnchor::Day { day: 10, month: None, year: None };
    check(Anchor(tenth), "20.32", "2027-04-10 2027-05-10", 10);
}

#[test]
fn subscriptions_3_2_9_to_12_example_3_later_changes_and_the_end_are_dropped() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("30")]);
    let fixture = changed.fixture();
    let [b, c, d] = ["31", "32", "33"].map(|amount| changed.plan([fixture.advance_fee(amount)]));
    let plans = [&changed.invoiced.plan, &b, &c, &d];
    changed.to(on(&b, "2027-05-01T00:00:00Z"));
    changed.to(on(&c, "2027-06-10T00:00:00Z"));
    let end = at("2027-06-15T00:00:00Z");
    let id = changed.subscription.id;
    run(fixture.account.cancel_subscription(id, Cancellation::RequestedDate(end))).unwrap();
    let late = refused(fixture, changed.plan_call(on(&d, "2027-07-02T00:00:00Z")));
    assert_eq!(late.0, ErrorKind::RequestValidation);
    fixture.messages();
    let after = changed.to(on(&d, "2027-06-01T00:00:00Z"));
    assert_eq!(after.end_date, None);
    let started = |place, date: &str| (place, date.to_owned());
    let expected = [started(0, "2027-01-01"), started(1, "2027-05-01"), started(3, "2027-06-01")];
    assert_eq!(changed.schedule(&plans), expected);
    let expected = ["subscription.cancellation_unscheduled", "subscription.plan_change_scheduled"];
    assert_eq!(fixture.message_types(), expected);
    let fees = after.price_intervals.iter().map(|of| (of.start_date, of.end_date));
    let fees: Vec<_> = fees.collect();
    let [may, june] = ["2027-05-01T00:00:00Z", "2027-06-01T00:00:00Z"].map(at);
    assert_eq!(fees, [(at(JANUARY), Some(may)), (may, Some(june)), (june, None)]);
    fixture.tick_at("2027-07-01T00:00:00Z");
    let settled = changed.settled();
    let fees: Vec<_> = settled.iter().map(|of| of.split(": ").nth(1).unwrap()).collect();
    let [a, b, d] = ["fee 30 = 30", "fee 31 = 31", "fee 33 = 33"];
    assert_eq!(fees, [a, a, a, a, b, d, d]);
}

#[test]
fn subscriptions_3_2_7_and_11_1_at_the_end_of_the_term_time_changes_the_plan() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", JANUARY, "7");
    let other = changed.plan([fixture.usage_at("3", &changed.metric)]);
    fixture.messages();
    let after = changed.to(ending(&other));
    assert_eq!(after.plan_id, Some(changed.invoiced.plan.id), "as long as the term lasts");
    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let Body::PlanChangeScheduled { change_date, new_plan_id, previous_plan_id, .. } = message.body
    else {
        panic!("{message:?}")
    };
    let expected = (at("2027-02-01T00:00:00Z"), other.id, Some(changed.invoiced.plan.id));
    assert_eq!((change_date, new_plan_id, previous_plan_id), expected);
    assert_eq!((changed.on(&changed.invoiced.plan), changed.on(&other)), (1, 0));

    fixture.set("2027-02-01T00:00:00Z");
    assert_eq!(changed.fetch().plan_at(fixture.clock.now()).plan_id, Some(other.id));
    fixture.tick();
    assert_eq!(changed.fetch().plan_id, Some(other.id));
    assert_eq!((changed.on(&changed.invoiced.plan), changed.on(&other)), (0, 1));
    assert!(fixture.message_types().contains(&"subscription.plan_changed"));
    fixture.set("2027-02-01T12:00:00Z");
    changed.invoiced.use_at("b", "2027-02-01T12:00:00Z", "5");
    fixture.tick_at("2027-03-03T00:00:00Z");
    let expected =
        ["00001 issued 2027-02-01: usage 14 = 14", "00002 issued 2027-03-01: usage 15 = 15"];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn subscriptions_3_2_3_and_7_add_ons_go_and_usage_is_cut_within_the_period() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    let add_on = changed.price(fixture.arrear_fee("31"));
    changed.add(NewPriceInterval::new(add_on, at(JANUARY)));
    changed.invoiced.use_at("a", JANUARY, "7");
    fixture.set("2027-01-11T00:00:00Z");
    let other = changed.plan([fixture.usage_at("3", &changed.metric)]);
    let after = changed.to(PlanChange::immediate(other.id));
    let current: Vec<_> = after.price_intervals.iter().filter(|of| of.end_date.is_none()).collect();
    assert_eq!(current.len(), 1, "of the new plan alone");
    changed.invoiced.use_at("b", "2027-01-11T00:00:00Z", "5");
    fixture.tick_at("2027-02-03T00:00:00Z");
    let expected = [
        "00001 issued 2027-01-11: usage 14, fee 10 = 24",
        "00002 issued 2027-02-01: usage 15 = 15",
    ];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn subscriptions_3_2_4_a_coupon_lives_on() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("30")]);
    let fixture = changed.fixture();
    fixture.coupon_for("HALF", percentage("0.5"), 2);
    let id = changed.subscription.id;
    let when = RedemptionTiming::EndOfSubscriptionTerm;
    let redemption = Redemption { when, ..Redemption::immediate(code("HALF")) };
    run(fixture.account.redeem_coupon(id, redemption)).unwrap();
    let other = changed.plan([fixture.advance_fee("40")]);
    changed.to(on(&other, "2027-03-01T00:00:00Z"));
    fixture.tick_at("2027-04-01T00:00:00Z");
    let settled = changed.settled();
    assert_eq!(settled[1], "00002 issued 2027-02-01: fee 15 = 15");
    assert_eq!(settled[2], "00003 issued 2027-03-01: fee 20 = 20");
    assert_eq!(settled[3], "00004 issued 2027-04-01: fee 40 = 40", "two months are over");
}

#[test]
fn subscriptions_3_1_a_coupon_is_redeemed_with_the_change() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("30")]);
    let fixture = changed.fixture();
    let coupon = fixture.coupon("HALF", percentage("0.5"));
    let other = changed.plan([fixture.advance_fee("40")]);
    let change = PlanChange { coupon_redemption_code: Some(code("HALF")), ..ending(&other) };
    changed.to(change.clone());
    run(changed.unschedule()).unwrap();
    changed.to(change);
    let redeemed = block_on(fixture.account.fetch_coupon(coupon.id)).unwrap().times_redeemed;
    assert_eq!(redeemed, 1, "subscriptions 3.3.4: the one that was dropped is none");
    fixture.tick_at("2027-02-01T00:00:00Z");
    assert_eq!(changed.settled()[1], "00002 issued 2027-02-01: fee 20 = 20");
}

#[test]
fn subscriptions_3_2_14_what_is_left_out_is_that_of_the_new_plan() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    let carried = |fields: &[(&str, &str)]| Carried::new(fields.iter().copied()).unwrap();
    let update = SubscriptionUpdate {
        carried: CarriedUpdate::new([("net_terms", "30"), ("aws_region", "\"eu\"")]).unwrap(),
        ..Default::default()
    };
    run(fixture.account.update_subscription(changed.subscription.id, update)).unwrap();
    let other = changed.plan([]);
    let memo = carried(&[("default_invoice_memo", "\"hello\"")]);
    let change = PlanChange { carried: memo, ..ending(&other) };
    assert_eq!(changed.to(change).carried.get("net_terms"), Some("30"), "until then");
    fixture.tick_at("2027-02-01T00:00:00Z");
    let expected = carried(&[("default_invoice_memo", "\"hello\""), ("aws_region", "\"eu\"")]);
    assert_eq!(changed.fetch().carried, expected);
}

#[test]
fn subscriptions_3_2_13_and_15_another_currency_and_a_date_before_the_period_are_refused() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    fixture.tick_at("2027-02-10T00:00:00Z");
    let other = changed.plan([]);
    constraint(refused(fixture, changed.plan_call(on(&other, "2027-01-31T23:59:59Z"))));
    let euro = NewPlan::new(name("euro"), Currency::parse("EUR").unwrap());
    let euro = run(fixture.account.create_plan(euro)).unwrap();
    constraint(refused(fixture, changed.plan_call(PlanChange::immediate(euro.id))));
    assert_ne!(euro.currency, usd());
    let nobody = PlanChange::immediate(UNKNOWN.parse::<PlanId>().unwrap());
    assert_eq!(refused(fixture, changed.plan_call(nobody)).0, ErrorKind::ResourceNotFound);
    changed.to(on(&other, "2027-02-01T00:00:00Z"));
}

#[test]
fn subscriptions_3_2_15_and_2_7_a_change_in_the_past_bills_the_period_anew() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", JANUARY, "7");
    fixture.set("2027-01-12T00:00:00Z");
    changed.invoiced.use_at("b", "2027-01-12T00:00:00Z", "5");
    fixture.set("2027-01-21T00:00:00Z");
    let prices = [fixture.usage_at("3", &changed.metric), fixture.advance_fee("62")];
    let other = changed.plan(prices);
    let back = on(&other, "2027-01-11T00:00:00Z");
    changed.to(back);
    assert_eq!(changed.notes(), ["21"]);
    fixture.tick_at("2027-02-03T00:00:00Z");
    let expected = [
        "00001 issued 2027-01-01: fee 31 = 31",
        "00002 issued 2027-01-11: usage 14, fee 42 = 56",
        "00003 issued 2027-02-01: usage 15, fee 62 = 77",
    ];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn subscriptions_3_2_16_the_first_plan_of_one_that_has_not_begun_is_replaced() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("30")]);
    let fixture = changed.fixture();
    let upcoming = changed.invoiced.subscribe("2027-03-01T00:00:00Z");
    let other = changed.plan([fixture.advance_fee("40")]);
    let call = |change| fixture.account.schedule_plan_change(upcoming.id, change);
    constraint(refused(fixture, call(on(&other, "2027-02-01T00:00:00Z"))));
    let after = run(call(PlanChange::immediate(other.id))).unwrap();
    assert_eq!((after.plan_id, after.plans().len()), (Some(other.id), 1));
    let [only] = after.price_intervals.as_slice() else { panic!() };
    assert_eq!((only.start_date, only.end_date), (upcoming.start_date, None));
    let then = run(call(ending(&changed.invoiced.plan))).unwrap();
    let starts: Vec<_> = then.plans().iter().map(|of| of.start_date).collect();
    assert_eq!(starts, [upcoming.start_date, at("2027-04-01T00:00:00Z")]);
}

#[test]
fn subscriptions_3_2_18_alerts_of_the_new_plan_watch_and_one_that_fired_stays_fired() {
    let priced = priced::<1>(|fixture, metric| [fixture.usage_at("2", metric)]);
    let fixture = &priced.fixture;
    priced.alert(cost_alert(&["10"]));
    priced.plan_alert(cost_alert(&["1000"]));
    priced.use_now("a", "7");
    assert_eq!(priced.told(), ["cost 10: none -> 14 by event a"]);
    let other = fixture.priced_plan([fixture.usage_at("3", &priced.metric).into()]);
    run(fixture.account.create_plan_alert(other.id, cost_alert(&["12", "30"]))).unwrap();
    fixture.advance_days(1);
    fixture.messages();
    let id = priced.subscription.id;
    let change = PlanChange::immediate(other.id);
    run(fixture.account.schedule_plan_change(id, change)).unwrap();
    assert_eq!(
        priced.told(),
        ["cost 12: 14 -> 14 by subscription"],
        "that of the new plan, on what there is"
    );
    priced.use_now("b", "6");
    assert_eq!(priced.told(), ["cost 30: 14 -> 32 by event b"]);
    priced.use_now("c", "1000");
    assert!(priced.told().is_empty(), "that of the old plan watches no more");
}

#[test]
fn subscriptions_3_2_18_what_ends_before_its_plan_changed_has_the_alerts_of_the_plan_of_before() {
    let priced = priced::<1>(|fixture, metric| [fixture.usage_at("2", metric)]);
    let (fixture, id) = (&priced.fixture, priced.subscription.id);
    priced.plan_alert(cost_alert(&["10"]));
    let other = fixture.priced_plan([fixture.usage_at("3", &priced.metric).into()]);
    run(fixture.account.create_plan_alert(other.id, cost_alert(&["9"]))).unwrap();
    fixture.set("2026-03-10T13:00:00Z");
    run(fixture.account.schedule_plan_change(id, PlanChange::immediate(other.id))).unwrap();
    fixture.set("2026-03-10T14:00:00Z");
    let end = Cancellation::RequestedDate(at("2026-03-10T12:30:00Z"));
    let ended = run(fixture.account.cancel_subscription(id, end)).unwrap();
    assert_eq!(ended.plan_id, priced.subscription.plan_id);
    priced.told();
    let late = event("ada", "late", at("2026-03-10T12:10:00Z"), "6");
    run(fixture.account.ingest([late])).unwrap();
    assert_eq!(priced.told(), ["cost 10: none -> 12 by event late"]);
}

#[test]
fn subscriptions_3_2_18_time_brings_the_alerts_of_the_new_plan() {
    let priced = priced::<1>(|fixture, metric| [fixture.usage_at("2", metric)]);
    let fixture = &priced.fixture;
    let other = fixture.priced_plan([fixture.usage_at("3", &priced.metric).into()]);
    let alert = run(fixture.account.create_plan_alert(other.id, cost_alert(&["5"]))).unwrap();
    let id = priced.subscription.id;
    run(fixture.account.schedule_plan_change(id, ending(&other))).unwrap();
    priced.use_now("a", "7");
    assert!(priced.told().is_empty());
    let subscription = block_on(fixture.account.fetch_subscription(id)).unwrap();
    let change = subscription.plans()[1].start_date;
    assert_eq!(change, at("2026-04-10T12:00:00Z"));
    fixture.set("2026-04-10T12:01:00Z");
    // Nobody has looked since the plan changed: what is raised now is not what it was then.
    fixture.rethreshold(alert.id, &["6"]);
    fixture.messages();
    run(fixture.account.ingest([event("ada", "b", fixture.clock.now(), "2")])).unwrap();
    assert_eq!(priced.told(), ["cost 6: none -> 6 by event b"]);
}

#[test]
fn subscriptions_3_2_19_the_same_plan_again_and_another_version_of_it() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("30")]);
    let fixture = changed.fixture();
    let plan = changed.invoiced.plan.clone();
    let fee = fixture.advance_fee("40");
    let next = run(fixture.account.create_plan_version(plan.id, NewPlanVersion::new([fee.into()])));
    let next = next.unwrap().version;
    fixture.messages();
    let after = changed.to(PlanChange::immediate(plan.id));
    assert!(fixture.message_types().iter().all(|of| !of.contains("plan")));
    assert_eq!(after.price_intervals.len(), 1, "the first one ended with its start");
    let change = PlanChange { plan_version: Some(next), ..ending(&plan) };
    changed.to(change);
    assert_eq!(fixture.message_types(), ["subscription.plan_version_change_scheduled"]);
    fixture.tick_at("2027-02-01T00:00:00Z");
    let told = fixture.message_types();
    assert!(told.contains(&"subscription.plan_version_changed"), "{told:?}");
    assert_eq!(changed.fetch().plan_version, next);
    assert_eq!(changed.settled().last().unwrap(), "00002 issued 2027-02-01: fee 40 = 40");
}

#[test]
fn subscriptions_3_2_plans_of_usage_alone_change_within_a_period_without_invoices() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let plan = fixture.priced_plan([fixture.usage_at("2", &metric).into()]);
    let ada = fixture.customer("ada");
    let of = fixture.create(NewSubscription::new(ada.id, plan.id));
    fixture.use_now("ada", "a", "7");
    fixture.advance_days(1);
    let other = fixture.priced_plan([fixture.usage_at("3", &metric).into()]);
    run(fixture.account.schedule_plan_change(of.id, PlanChange::immediate(other.id))).unwrap();
    fixture.use_now("ada", "b", "5");
    let of = block_on(fixture.account.fetch_subscription(of.id)).unwrap();
    assert_eq!(fixture.cost(&of, &CostQuery::default()).total, number("29"));
}
