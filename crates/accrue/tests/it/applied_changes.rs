//! Changes of subscriptions that have waited: how they are listed and shown, and what becomes of them (subscriptions 4.5, 4.6).

use accrue::{
    CustomerId, ErrorKind, IdOr, IdempotencyKey, Metadata, PageRequest, SubscriptionChangeId,
    invoice::{PaidElsewhere, Payment},
    subscription::{
        ChangeStatus, ChangeTiming, ChangeType, IntervalChanges, IntervalDate, NewPriceInterval,
        NewSubscription, Subscription, SubscriptionChangeFilter,
    },
};

use crate::{
    invoices::{DRAFT, all},
    pending_changes::{MIDDLE, seats},
    support::{
        fixture::{Fixture, at, block_on, external, name, number, refused, run},
        priced::NOTHING,
    },
};

#[test]
fn subscriptions_4_5_a_list_is_filtered_by_customer_and_status() {
    let seats = seats();
    let fixture = seats.fixture();
    let bob = fixture.customer("bob").id;
    let of_bob = || {
        let new = NewSubscription::new(bob, seats.invoiced.plan.id);
        run(fixture.account.create_subscription(new).staged()).unwrap().1.id
    };
    let later = |id: SubscriptionChangeId| {
        fixture.clock.advance(std::time::Duration::from_secs(1));
        id
    };
    let first = later(of_bob());
    let ada = later(seats.pending().id);
    let [second, third] = [(); 2].map(|()| later(of_bob()));
    run(fixture.apply(first)).unwrap();
    run(fixture.account.cancel_subscription_change(second)).unwrap();
    let check = |customers: &[IdOr<CustomerId>], status: Option<ChangeStatus>, expect: &[_]| {
        let customers = customers.to_vec();
        let filter = SubscriptionChangeFilter { customers, status, ..Default::default() };
        assert_eq!(fixture.changes(&filter), expect, "{filter:?}");
    };
    use ChangeStatus::{Applied, Cancelled, Pending};
    check(&[], None, &[third, second, ada, first]);
    check(&[], Some(Pending), &[third, ada]);
    check(&[], Some(Applied), &[first]);
    check(&[], Some(Cancelled), &[second]);
    check(&[bob.into()], None, &[third, second, first]);
    check(&[bob.into()], Some(Pending), &[third]);
    check(&[external("ada").into()], Some(Cancelled), &[]);
    check(&[bob.into(), external("bob").into()], Some(Applied), &[first]);
    check(&[bob.into(), external("ada").into()], None, &[]);
    check(&[external("nobody").into()], None, &[]);

    let any = SubscriptionChangeFilter::default();
    let page = fixture.page_of_changes(&any, &PageRequest::first(3).unwrap());
    let rest = PageRequest::first(3).unwrap().after(page.next_cursor.unwrap());
    let rest = fixture.page_of_changes(&any, &rest).data;
    assert_eq!(rest.iter().map(|of| of.id).collect::<Vec<_>>(), [first]);
}

#[test]
fn subscriptions_4_5_a_deleted_customer_has_no_changes() {
    let seats = seats();
    let fixture = seats.fixture();
    let eve = fixture.customer("eve").id;
    let new = NewSubscription::new(eve, seats.invoiced.plan.id);
    let change = run(fixture.account.create_subscription(new).staged()).unwrap().1;
    run(fixture.account.delete_customer(eve)).unwrap();
    assert_eq!(fixture.changes(&SubscriptionChangeFilter::default()), []);
    let found = block_on(fixture.account.fetch_subscription_change(change.id));
    assert!(found.unwrap_err().is_not_found());
    assert_eq!(refused(fixture, fixture.apply(change.id)).0, ErrorKind::ResourceNotFound);
    fixture.tick_at("2026-06-18T00:00:00Z");
    assert_eq!(block_on(fixture.billing.tick(100)).unwrap().failed, 0);
}

#[test]
fn subscriptions_4_5_what_is_shown_follows_the_status() {
    let seats = seats();
    let fixture = seats.fixture();
    let change = seats.pending();
    let shown = fixture.change(change.id);
    assert_eq!(shown.change, change);
    let quantity = |of: &Subscription| of.fee_quantity(seats.price(), at(MIDDLE)).cloned();
    assert_eq!(quantity(shown.subscription.as_ref().unwrap()), Some(number("3")), "a preview");
    assert_eq!(all(&shown.resources.created_invoices)[0], "00002 issued 2026-06-16: fee 30 = 30");
    assert_eq!(seats.seats_now(), "1");
    let applied = run(fixture.apply(change.id)).unwrap();
    fixture.tick_at("2026-07-03T00:00:00Z");
    let shown = fixture.change(change.id);
    assert_eq!(shown.change, applied.change);
    assert_eq!(shown.subscription, Some(seats.fetched()));
    let ids = |of: &accrue::ChangedSubscription| -> Vec<_> {
        of.resources.created_invoices.iter().map(|of| of.id).collect()
    };
    assert_eq!(ids(&shown), ids(&applied), "what it has made");

    let cancelled = run(seats.quantity("5", ChangeTiming::Immediate).staged()).unwrap().1;
    let outcome = run(fixture.account.cancel_subscription_change(cancelled.id)).unwrap();
    assert_eq!(outcome.subscription, Some(seats.fetched()), "the unchanged one");
    assert_eq!(fixture.change(cancelled.id), outcome);
}

#[test]
fn subscriptions_4_6_1_and_2_words_and_dates_are_decided_anew() {
    let check = |when: ChangeTiming, applied: &str, expect: &str| {
        let seats = seats();
        let fixture = seats.fixture();
        let mut configuration = block_on(fixture.account.configuration()).unwrap();
        configuration.pending_change_hours = 31 * 24;
        run(fixture.account.configure(configuration)).unwrap();
        let change = run(seats.quantity("3", when).staged()).unwrap().1;
        fixture.tick_at(applied);
        fixture.messages();
        let outcome = run(fixture.apply(change.id)).unwrap();
        assert_eq!(outcome.change.effective_date, at(expect), "{when:?}");
        let told = fixture.message_types();
        assert!(told.contains(&"subscription.fixed_fee_quantity_updated"), "{told:?}");
        let of = outcome.subscription.unwrap();
        let schedule = of.fee_schedule(&of.price_intervals[0]);
        assert_eq!(schedule[1].start_date, at(expect));
    };
    check(ChangeTiming::Immediate, "2026-06-20T10:00:00Z", "2026-06-20T10:00:00Z");
    check(ChangeTiming::UpcomingInvoice, "2026-06-20T00:00:00Z", "2026-07-01T00:00:00Z");
    check(ChangeTiming::UpcomingInvoice, "2026-07-03T00:00:00Z", "2026-08-01T00:00:00Z");
    let passed = ChangeTiming::EffectiveDate(at("2026-06-18T00:00:00Z"));
    check(passed, "2026-06-20T00:00:00Z", "2026-06-18T00:00:00Z");
}

#[test]
fn subscriptions_4_6_intervals_with_prices_that_are_new_are_made_when_they_are_applied() {
    let seats = seats();
    let fixture = seats.fixture();
    let prices = || fixture.dump().iter().filter(|row| row.contains("price:")).count();
    let before = prices();
    let mut support = fixture.advance_fee("10");
    support.metadata = Metadata::from([("team".to_owned(), "x".repeat(200))]);
    let add = vec![NewPriceInterval::new(support, IntervalDate::At(at(MIDDLE)))];
    let changes = IntervalChanges { add, ..IntervalChanges::default() };
    let call = fixture.account.change_intervals(seats.subscription.id, changes);
    let ((preview, related), change) = run(call.with_related().staged()).unwrap();
    let new = preview.price_intervals.last().unwrap().price_id;
    assert!(related.price(new).is_some(), "it is in the answer, and nowhere else");
    assert_eq!((prices(), change.change_type), (before, ChangeType::AddEditPriceIntervals));
    let shown = fixture.account.changed_subscription_with_related(change.id);
    let (shown, related) = block_on(shown).unwrap();
    let new = shown.subscription.unwrap().price_intervals.last().unwrap().price_id;
    assert!(related.price(new).is_some());
    let applied = run(fixture.apply(change.id)).unwrap();
    assert_eq!(prices(), before + 1);
    assert_eq!(applied.subscription.unwrap().price_intervals.len(), 2);
    assert_eq!(applied.resources.created_invoices[0].total, number("5"));
}

#[test]
fn subscriptions_4_6_what_it_leaves_when_it_is_staged_it_leaves_when_it_is_applied() {
    let seats = seats();
    let fixture = seats.fixture();
    let fewer = |when| seats.quantity("0", when).leaving_invoices();
    let now = fewer(ChangeTiming::Immediate);
    assert_eq!(refused(fixture, now.staged()).0, ErrorKind::ConstraintViolation);
    // It credits nothing when it is staged, for its date is yet to come.
    let later = fewer(ChangeTiming::EffectiveDate(at("2026-06-16T06:00:00Z")));
    let change = run(later.staged()).unwrap().1;
    fixture.set("2026-06-16T10:00:00Z");
    assert_eq!(refused(fixture, fixture.apply(change.id)).0, ErrorKind::ConstraintViolation);
    assert_eq!(fixture.status(change.id), "pending");
}

#[test]
fn subscriptions_4_6_requests_are_kept_whole_however_long_they_are() {
    let seats = seats();
    let fixture = seats.fixture();
    let new = |n: usize| {
        let mut fee = fixture.advance_fee("1");
        fee.name = name(&format!("fee {n}"));
        fee.metadata = (0..20).map(|key| (format!("key {key}"), "ü\"".repeat(60))).collect();
        NewPriceInterval::new(fee, IntervalDate::At(at(MIDDLE)))
    };
    let add = (0..40).map(new).collect();
    let changes = IntervalChanges { add, ..IntervalChanges::default() };
    let call = || fixture.account.change_intervals(seats.subscription.id, changes.clone());
    let change = run(call().staged()).unwrap().1;
    let parts = |fixture: &Fixture| {
        let rows = fixture.dump();
        rows.iter().filter(|row| row.contains("subscription_change_request:")).count()
    };
    assert!(parts(fixture) > 1);
    let dry = {
        run(fixture.account.cancel_subscription_change(change.id)).unwrap();
        block_on(call().dry_run()).unwrap()
    };
    assert_eq!(parts(fixture), 0, "what is not needed any more is not kept");
    let change = run(call().staged()).unwrap().1;
    let applied = run(fixture.apply(change.id)).unwrap().subscription.unwrap();
    let terms = |of: &Subscription| -> Vec<_> {
        of.price_intervals.iter().map(|of| (of.start_date, of.end_date, of.cadence)).collect()
    };
    assert_eq!(terms(&applied), terms(&dry));
}

#[test]
fn subscriptions_4_6_a_key_is_for_one_change_and_one_application() {
    let seats = seats();
    let fixture = seats.fixture();
    let key = |text| IdempotencyKey::parse(text).unwrap();
    let stage = || {
        block_on(
            seats
                .create()
                .staged()
                .map(|(_, change)| change.id.to_string())
                .keyed(key("stage"))
                .into_future(),
        )
        .unwrap()
    };
    let (first, again) = (stage(), stage());
    assert_eq!(first.outcome, again.outcome);
    assert!(again.is_replayed());
    let id: SubscriptionChangeId = first.outcome.parse().unwrap();
    assert_eq!(fixture.changes(&SubscriptionChangeFilter::default()), [id]);
    let apply = || {
        let call = fixture.apply(id).map(|of| of.subscription.unwrap().id.to_string());
        block_on(call.keyed(key("apply")).into_future()).unwrap()
    };
    let (first, again) = (apply(), apply());
    assert_eq!(first.outcome, again.outcome);
    assert!(again.is_replayed());
    let created = seats.create().keyed(key("stage"));
    let reused = block_on(created.into_future()).map(|_| ()).unwrap_err();
    assert_eq!(reused.kind(), ErrorKind::ResourceConflict, "staged is another request");
}

#[test]
fn subscriptions_0_4_a_dry_run_of_each_step_writes_nothing() {
    let seats = seats();
    let fixture = seats.fixture();
    let before = fixture.dump();
    let (_, change) = block_on(seats.now("3").staged().dry_run()).unwrap();
    assert_eq!(change.status(at(MIDDLE)), ChangeStatus::Pending);
    assert_eq!(fixture.dump(), before);
    let change = seats.pending();
    let before = fixture.dump();
    let paid = Some(Payment::new(at(MIDDLE)));
    let how = PaidElsewhere { paid, ..PaidElsewhere::default() };
    let applied = block_on(fixture.account.apply_subscription_change(change.id, how).dry_run());
    assert_eq!(applied.unwrap().change.status(at(MIDDLE)), ChangeStatus::Applied);
    block_on(fixture.account.cancel_subscription_change(change.id).dry_run()).unwrap();
    assert_eq!(fixture.dump(), before);
    assert_eq!(all(&fixture.invoices(DRAFT)).len(), 1);
}

#[test]
fn subscriptions_11_1_only_applying_is_told_of() {
    let seats = seats();
    let fixture = seats.fixture();
    let cancelled = seats.pending();
    run(fixture.account.cancel_subscription_change(cancelled.id)).unwrap();
    let change = seats.pending();
    assert_eq!(fixture.message_types(), NOTHING);
    run(fixture.apply(change.id)).unwrap();
    let expect = [
        "subscription.fixed_fee_quantity_updated",
        "invoice.invoice_date_elapsed",
        "invoice.issued",
    ];
    assert_eq!(fixture.message_types(), expect);
}
