//! Changes of plan that are taken back, or wait (subscriptions 3.3, 3.8, 3.10, 4).

use accrue::{
    Decimal, ErrorKind, PageRequest,
    invoice::InvoiceStatus,
    subscription::{
        BillingCycleAlignment, Cancellation, NewPriceInterval, PlanChange, PlanChangeTiming,
    },
};

use crate::{
    changed_plans::on,
    invoices::{DRAFT, all},
    price_intervals::{JANUARY, changed, constraint},
    support::fixture::{at, block_on, number, refused, run},
};

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
