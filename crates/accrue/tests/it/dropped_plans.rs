//! Changes of plan that are taken back, or wait (subscriptions 3.3, 3.8, 3.10, 4).

use accrue::{
    Decimal, ErrorKind, PageRequest, Timestamp,
    coupon::{NewCoupon, Redemption, RedemptionTiming},
    invoice::InvoiceStatus,
    plan::Plan,
    subscription::{
        BillingCycleAlignment, Cancellation, NewPriceInterval, PlanChange, PlanChangeTiming,
        Subscription,
    },
};

use crate::{
    changed_plans::on,
    coupons::{code, percentage},
    invoices::{DRAFT, all},
    price_intervals::{Changed, JANUARY, adding, changed, constraint},
    support::fixture::{at, block_on, number, refused, run},
};

const MARCH: &str = "2027-03-01T00:00:00Z";

#[test]
fn subscriptions_3_3_scheduled_changes_are_taken_back_up_to_the_end() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.advance_fee("30")]);
    let fixture = changed.fixture();
    let refusal = refused(fixture, changed.unschedule());
    assert_eq!(refusal.0, ErrorKind::RequestValidation, "3.3.6");
    let before = changed.fetch();
    let dump = fixture.invoices(DRAFT);
    let [b, c] = ["31", "32"].map(|amount| changed.plan([fixture.advance_fee(amount)]));
    changed.to(on(&b, "2027-01-16T00:00:00Z"));
    assert_eq!(changed.notes().len(), 1, "half of the month is not used");
    changed.to(on(&c, "2027-03-01T00:00:00Z"));
    let after = run(changed.unschedule()).unwrap();
    assert_eq!(after.price_intervals, before.price_intervals);
    assert_eq!(after.adjustment_intervals, before.adjustment_intervals);
    assert_eq!(after.plans().len(), 1);
    assert!(changed.notes().is_empty());
    assert_eq!(all(&fixture.invoices(DRAFT)), all(&dump));

    changed.to(on(&b, "2027-02-01T00:00:00Z"));
    let end = at("2027-02-10T00:00:00Z");
    let id = changed.subscription.id;
    run(fixture.account.cancel_subscription(id, Cancellation::RequestedDate(end))).unwrap();
    let after = run(changed.unschedule()).unwrap();
    assert_eq!(after.end_date, Some(end), "3.3.5");
}

/// On a fee of 31, with changes to come: to a second plan on 1 March, and to a third one on 1 May.
fn scheduled() -> (Changed, [Plan; 3]) {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let [b, c] = ["32", "33"].map(|amount| changed.plan([changed.fixture().advance_fee(amount)]));
    changed.to(on(&b, MARCH));
    changed.to(on(&c, "2027-05-01T00:00:00Z"));
    let plans = [changed.invoiced.plan.clone(), b, c];
    (changed, plans)
}

/// The bounds of the intervals of prices.
fn bounds(of: &Subscription) -> Vec<(Timestamp, Option<Timestamp>)> {
    of.price_intervals.iter().map(|of| (of.start_date, of.end_date)).collect()
}

#[test]
fn subscriptions_3_3_1_all_changes_that_are_to_come_go() {
    let (changed, plans) = scheduled();
    let plans = plans.each_ref();
    assert_eq!(changed.schedule(&plans).len(), 3);
    changed.fixture().tick_at("2027-03-10T00:00:00Z");
    run(changed.unschedule()).unwrap();
    let [a, b] = [(0, "2027-01-01".to_owned()), (1, "2027-03-01".to_owned())];
    assert_eq!(changed.schedule(&plans), [a, b], "what has happened stays");
}

#[test]
fn subscriptions_3_3_2_what_a_change_cut_goes_on_without_the_end_that_it_had() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let add_on = changed.price(fixture.arrear_fee("5"));
    let until_june = NewPriceInterval {
        end_date: Some(at("2027-06-01T00:00:00Z").into()),
        ..NewPriceInterval::new(add_on, at(JANUARY))
    };
    changed.add(until_june);
    let b = changed.plan([fixture.advance_fee("32")]);
    let cut = changed.to(on(&b, MARCH));
    let (start, march) = (at(JANUARY), at(MARCH));
    assert_eq!(bounds(&cut), [(start, Some(march)), (start, Some(march)), (march, None)]);
    let after = run(changed.unschedule()).unwrap();
    assert_eq!(bounds(&after), [(start, None), (start, None)]);
}

#[test]
fn subscriptions_3_3_3_what_was_to_start_behind_the_first_change_is_gone() {
    let (changed, _) = scheduled();
    let fixture = changed.fixture();
    let add_on = changed.price(fixture.arrear_fee("5"));
    for start in ["2027-02-01T00:00:00Z", "2027-04-01T00:00:00Z"] {
        changed.change(adding(NewPriceInterval {
            end_date: Some(
                (at(start).saturating_add(std::time::Duration::from_secs(86_400))).into(),
            ),
            ..NewPriceInterval::new(add_on, at(start))
        }));
    }
    let after = run(changed.unschedule()).unwrap();
    let [february, day] = ["2027-02-01T00:00:00Z", "2027-02-02T00:00:00Z"].map(at);
    assert_eq!(bounds(&after), [(at(JANUARY), None), (february, Some(day))]);
    fixture.tick_at("2027-06-02T00:00:00Z");
    assert_eq!(bounds(&changed.fetch()), bounds(&after), "for good");
}

#[test]
fn subscriptions_3_3_4_a_coupon_of_a_change_that_is_dropped_can_be_redeemed_again() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    fixture.coupon("HALF", percentage("0.5"));
    let b = changed.plan([fixture.advance_fee("32")]);
    let with_coupon = || PlanChange { coupon_redemption_code: Some(code("HALF")), ..on(&b, MARCH) };
    changed.to(with_coupon());
    let id = changed.subscription.id;
    let by_itself = || {
        let when = RedemptionTiming::EndOfSubscriptionTerm;
        let redemption = Redemption { when, ..Redemption::immediate(code("HALF")) };
        fixture.account.redeem_coupon(id, redemption)
    };
    constraint(refused(fixture, by_itself()));
    run(changed.unschedule()).unwrap();
    assert_eq!(changed.fetch().redeemed_coupon(), None);
    let after = changed.to(with_coupon());
    assert_eq!(after.redeemed_coupon().unwrap().start_date, at(MARCH));
    run(changed.unschedule()).unwrap();
    run(by_itself()).unwrap();
}

#[test]
fn subscriptions_3_3_4_what_is_dropped_is_no_redemption() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let mut once = NewCoupon::new(code("ONCE"), percentage("0.5"));
    once.max_redemptions = Some(1);
    let once = run(fixture.account.create_coupon(once)).unwrap().id;
    let b = changed.plan([fixture.advance_fee("32")]);
    let with_coupon = || PlanChange { coupon_redemption_code: Some(code("ONCE")), ..on(&b, MARCH) };
    let redeemed = || {
        let page = PageRequest::default();
        let by = block_on(fixture.account.list_coupon_subscriptions(once, &page)).unwrap().data;
        let times = block_on(fixture.account.fetch_coupon(once)).unwrap().times_redeemed;
        (times, by.len())
    };
    changed.to(with_coupon());
    assert_eq!(redeemed(), (1, 1));
    run(changed.unschedule()).unwrap();
    assert_eq!(redeemed(), (0, 0));
    changed.to(with_coupon());
    let after = changed.to(with_coupon());
    assert_eq!(
        after.redeemed_coupon().unwrap().coupon_id,
        once,
        "3.2.11: the later request counts"
    );
    assert_eq!(redeemed(), (1, 1));
    changed.to(on(&b, MARCH));
    assert_eq!(redeemed(), (0, 0));
    let when = RedemptionTiming::EndOfSubscriptionTerm;
    let redemption = Redemption { when, ..Redemption::immediate(code("ONCE")) };
    run(fixture.account.redeem_coupon(changed.subscription.id, redemption)).unwrap();
    run(changed.unschedule()).unwrap();
    assert_eq!(redeemed(), (1, 1), "what begins before the change stays");
}

#[test]
fn subscriptions_3_2_11_a_change_in_the_past_gives_a_redemption_back_that_had_begun_since() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let mut once = NewCoupon::new(code("ONCE"), percentage("0.5"));
    once.max_redemptions = Some(1);
    let once = run(fixture.account.create_coupon(once)).unwrap().id;
    let redeemed = || block_on(fixture.account.fetch_coupon(once)).unwrap().times_redeemed;
    let plans =
        [changed.plan([fixture.advance_fee("62")]), changed.plan([fixture.advance_fee("93")])];
    fixture.tick_at("2027-01-21T00:00:00Z");
    let coupon_redemption_code = Some(code("ONCE"));
    changed.to(PlanChange { coupon_redemption_code, ..on(&plans[0], "2027-01-21T00:00:00Z") });
    fixture.tick_at("2027-01-25T00:00:00Z");
    assert_eq!(redeemed(), 1);
    let after = changed.to(on(&plans[1], "2027-01-11T00:00:00Z"));
    assert_eq!((redeemed(), after.redeemed_coupon()), (0, None));
    fixture.tick();
    let whole = changed.cost(JANUARY, "2027-02-01T00:00:00Z");
    assert_eq!(whole, number("73"), "10 of 31 days at 31, the others at 93, nothing off");
}

#[test]
fn subscriptions_3_3_5_a_cancellation_stays_and_what_goes_on_ends_with_it() {
    let (changed, _) = scheduled();
    let fixture = changed.fixture();
    let end = at("2027-04-01T00:00:00Z");
    let cancellation = Cancellation::RequestedDate(end);
    run(fixture.account.cancel_subscription(changed.subscription.id, cancellation)).unwrap();
    let after = run(changed.unschedule()).unwrap();
    assert_eq!((after.end_date, after.plans().len()), (Some(end), 1));
    let ends: Vec<_> = after.price_intervals.iter().map(|of| after.end_of(of)).collect();
    assert_eq!(ends, [Some(end)]);
    for month in ["02", "03", "04", "05"] {
        fixture.tick_at(&format!("2027-{month}-03T00:00:00Z"));
    }
    let totals: Vec<_> = changed.settled().iter().map(|of| of[6..].to_owned()).collect();
    let fee = |month: &str| format!("issued 2027-{month}-01: fee 31 = 31");
    assert_eq!(totals, ["01", "02", "03"].map(fee));
}

#[test]
fn subscriptions_3_3_6_where_nothing_is_scheduled_the_request_is_not_valid() {
    let (changed, _) = scheduled();
    run(changed.unschedule()).unwrap();
    let (kind, _) = refused(changed.fixture(), changed.unschedule());
    assert_eq!(kind, ErrorKind::RequestValidation);
}

#[test]
fn subscriptions_3_8_6_and_3_10_what_lies_behind_an_end_waits_and_goes_where_the_end_does() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let b = changed.plan([fixture.advance_fee("62")]);
    let plans = [&changed.invoiced.plan, &b];
    let id = changed.subscription.id;
    let add_on = changed.price(fixture.arrear_fee("93"));
    let add_on = NewPriceInterval {
        end_date: Some(at("2027-01-10T00:00:00Z").into()),
        ..NewPriceInterval::new(add_on, at(JANUARY))
    };
    changed.add(add_on);
    changed.to(on(&b, "2027-02-01T00:00:00Z"));
    let end = at("2027-01-21T00:00:00Z");
    run(fixture.account.cancel_subscription(id, Cancellation::RequestedDate(end))).unwrap();
    assert_eq!(changed.notes(), ["11"]);
    assert_eq!(changed.schedule(&plans).len(), 2, "it can be taken back");
    let page = PageRequest::default();
    let listed = block_on(fixture.account.plan_schedule(id, Default::default(), &page)).unwrap();
    assert_eq!(listed.data.len(), 1, "what never begins is not listed");
    let after = run(fixture.account.unschedule_cancellation(id)).unwrap();
    assert_eq!(changed.schedule(&plans).len(), 1);
    let ends: Vec<_> = after.price_intervals.iter().map(|of| of.end_date).collect();
    assert_eq!(ends, [None, Some(at("2027-01-10T00:00:00Z"))], "what ended before it stays so");
    assert!(changed.notes().is_empty());
    fixture.tick_at("2027-02-01T00:00:00Z");
    let settled = changed.settled();
    assert_eq!(settled.last().unwrap(), "00003 issued 2027-02-01: fee 31 = 31");

    changed.to(on(&b, "2027-03-01T00:00:00Z"));
    let end = at("2027-02-10T00:00:00Z");
    run(fixture.account.cancel_subscription(id, Cancellation::RequestedDate(end))).unwrap();
    fixture.tick_at("2027-03-05T00:00:00Z");
    let after = changed.fetch();
    assert_eq!(after.plan_id, Some(changed.invoiced.plan.id), "it had ended by then");
    assert_eq!(after.as_of(at("2027-03-05T00:00:00Z")).plan_id, Some(changed.invoiced.plan.id));
}

#[test]
fn subscriptions_4_1_and_4_5_a_change_of_plan_waits_and_is_applied() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    fixture.set("2027-01-11T00:00:00Z");
    let b = changed.plan([fixture.advance_fee("62")]);
    let alignment = BillingCycleAlignment::PlanChangeDate;
    let change = PlanChange { alignment, ..PlanChange::immediate(b.id) };
    let before = changed.fetch();
    let (preview, waits) = run(changed.plan_call(change.clone()).staged()).unwrap();
    assert_eq!((preview.plan_id, waits.plan_id), (Some(b.id), Some(b.id)));
    assert_eq!(waits.plan_change, Some((PlanChangeTiming::Immediate, alignment)));
    assert_eq!(waits.effective_date, at("2027-01-11T00:00:00Z"));
    assert_eq!(changed.fetch().price_intervals, before.price_intervals);
    constraint(refused(fixture, changed.plan_call(change)));
    constraint(refused(fixture, changed.unschedule()));
    fixture.set("2027-01-11T12:00:00Z");
    let applied = run(fixture.account.apply_subscription_change(waits.id, Default::default()));
    let applied = applied.unwrap().subscription.unwrap();
    assert_eq!(applied.plan_id, Some(b.id));
    assert_eq!(applied.plans()[1].start_date, at("2027-01-11T12:00:00Z"), "words are of then");
    assert_eq!(applied.billing_cycle_day(), 11);
}

#[test]
fn subscriptions_3_2_a_change_and_its_reversal_leave_the_figures() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", JANUARY, "7");
    fixture.set("2027-01-21T00:00:00Z");
    let other = changed.plan([fixture.usage_at("3", &changed.metric)]);
    changed.to(on(&other, JANUARY));
    let same = PlanChange {
        plan_version: Some(changed.invoiced.plan.version),
        ..on(&changed.invoiced.plan, JANUARY)
    };
    changed.to(same);
    assert_eq!(changed.fetch().plans().len(), 1);
    fixture.tick_at("2027-02-03T00:00:00Z");
    let due: Decimal = fixture
        .invoices(&[])
        .iter()
        .filter(|of| of.status != InvoiceStatus::Void)
        .map(|of| of.total.clone())
        .sum();
    let credited: Decimal = changed.notes().iter().map(|of| number(of)).sum();
    assert_eq!(due - credited, number("76"), "31 of January, and 14 and 31 of February");
}
