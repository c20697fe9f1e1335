//! Changes of subscriptions that wait to be applied (subscriptions 4).

use std::collections::BTreeSet;

use accrue::{
    Call, ErrorKind, Page, PageRequest, PriceId, SubscriptionChangeId,
    account::Configuration,
    coupon::Redemption,
    invoice::PaidElsewhere,
    store::{Scan, Store as _},
    subscription::{
        Cancellation, ChangeStatus, ChangeTiming, ChangeType, FeeQuantityChange, IntervalChanges,
        IntervalDate, NewSubscription, PriceIntervalEdit, Subscription, SubscriptionChange,
        SubscriptionChangeFilter, SubscriptionUpdate,
    },
};

use crate::{
    coupons::{code, percentage},
    invoices::{Invoiced, SETTLED, all, invoiced_with},
    support::{
        fixture::{
            Fixture, UNKNOWN, at, block_on, external, name, number, refused, run, usage_alert,
        },
        priced::NOTHING,
    },
};

pub(crate) const JUNE: &str = "2026-06-01T00:00:00Z";
pub(crate) const MIDDLE: &str = "2026-06-16T00:00:00Z";

/// A customer `ada` who is invoiced 30 a month in advance for a seat, from June on.
pub(crate) struct Seats {
    pub(crate) invoiced: Invoiced,
    pub(crate) subscription: Subscription,
}

pub(crate) fn seats() -> Seats {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("30")]);
    invoiced.fixture.set(JUNE);
    let subscription = invoiced.subscribe(JUNE);
    invoiced.fixture.set(MIDDLE);
    invoiced.fixture.messages();
    Seats { invoiced, subscription }
}

impl Seats {
    pub(crate) fn fixture(&self) -> &Fixture {
        &self.invoiced.fixture
    }

    pub(crate) fn price(&self) -> PriceId {
        self.subscription.price_intervals[0].price_id
    }

    pub(crate) fn quantity(&self, quantity: &str, when: ChangeTiming) -> Call<Subscription> {
        let price = self.price().into();
        let change = FeeQuantityChange { price, quantity: number(quantity), when };
        self.fixture().account.update_fixed_fee_quantity(self.subscription.id, change)
    }

    pub(crate) fn now(&self, quantity: &str) -> Call<Subscription> {
        self.quantity(quantity, ChangeTiming::Immediate)
    }

    /// Stages three seats from now on.
    pub(crate) fn pending(&self) -> SubscriptionChange {
        run(self.now("3").staged()).unwrap().1
    }

    pub(crate) fn create(&self) -> Call<Subscription> {
        let new = NewSubscription::new(external("ada"), self.invoiced.plan.id);
        self.fixture().account.create_subscription(new)
    }

    pub(crate) fn fetched(&self) -> Subscription {
        block_on(self.fixture().account.fetch_subscription(self.subscription.id)).unwrap()
    }

    /// The pending change that the subscription shows now.
    pub(crate) fn shown(&self) -> Option<SubscriptionChangeId> {
        self.fetched().pending_change(self.fixture().billing.now())
    }

    pub(crate) fn seats_now(&self) -> String {
        let now = self.fixture().billing.now();
        self.fetched().fee_quantity(self.price(), now).unwrap().to_string()
    }
}

impl Fixture {
    pub(crate) fn apply(&self, id: SubscriptionChangeId) -> Call<accrue::ChangedSubscription> {
        self.account.apply_subscription_change(id, PaidElsewhere::default())
    }

    pub(crate) fn change(&self, id: SubscriptionChangeId) -> accrue::ChangedSubscription {
        block_on(self.account.changed_subscription(id)).unwrap()
    }

    pub(crate) fn status(&self, id: SubscriptionChangeId) -> &'static str {
        self.change(id).change.status(self.billing.now()).name()
    }

    pub(crate) fn changes(&self, filter: &SubscriptionChangeFilter) -> Vec<SubscriptionChangeId> {
        self.page_of_changes(filter, &PageRequest::default()).data.iter().map(|of| of.id).collect()
    }

    pub(crate) fn page_of_changes(
        &self,
        filter: &SubscriptionChangeFilter,
        page: &PageRequest,
    ) -> Page<SubscriptionChange> {
        block_on(self.account.list_subscription_changes(filter, page)).unwrap()
    }

    /// Tables with rows that an operation changes.
    fn changed_by(&self, operation: impl FnOnce()) -> BTreeSet<&'static str> {
        let rows = || {
            accrue::schema::TABLES.iter().map(|table| {
                let scan = Scan::prefix(*table, b"", usize::MAX);
                (table.name(), format!("{:?}", block_on(self.store.scan(&scan)).unwrap()))
            })
        };
        let before: Vec<_> = rows().collect();
        operation();
        let changed = rows().zip(before).filter(|(after, before)| after != before);
        changed.map(|((table, _), _)| table).collect()
    }
}

const OF_A_CHANGE: [&str; 7] = [
    "customer_head",
    "deadline",
    "subscription_change",
    "subscription_change_by_customer",
    "subscription_change_by_status",
    "subscription_change_by_time",
    "subscription_change_request",
];

#[test]
fn subscriptions_4_1_nothing_is_written_but_the_change() {
    let seats = seats();
    let fixture = seats.fixture();
    let changed = fixture.changed_by(|| drop(run(seats.create().staged()).unwrap()));
    assert_eq!(changed, OF_A_CHANGE.into());
    let changed = fixture.changed_by(|| drop(seats.pending()));
    let mut expect: BTreeSet<_> = OF_A_CHANGE.into();
    expect.insert("subscription");
    assert_eq!(changed, expect);
    assert_eq!(fixture.message_types(), NOTHING);
    assert_eq!(seats.seats_now(), "1");
}

#[test]
fn subscriptions_4_1_the_answer_is_the_state_after_the_change() {
    let seats = seats();
    let fixture = seats.fixture();
    let call = || seats.now("3").with_changed_resources();
    let (dry, _) = block_on(call().dry_run()).unwrap();
    let ((preview, resources), change) = run(call().staged()).unwrap();
    assert_eq!(preview, dry, "as a dry run has it");
    assert_eq!(all(&resources.created_invoices)[0], "00002 issued 2026-06-16: fee 30 = 30");
    assert_eq!((change.subscription_id, change.customer_id), (preview.id, preview.customer_id));
    assert_eq!((change.change_type, change.plan_id), (ChangeType::UpdateFixedFeeQuantity, None));
    assert_eq!((change.created_at, change.effective_date), (at(MIDDLE), at(MIDDLE)));
    assert_eq!(change.expiration_time, at("2026-06-17T00:00:00Z"));
    assert_eq!(all(&fixture.invoices(SETTLED)), ["00001 issued 2026-06-01: fee 30 = 30"]);
    assert_eq!(seats.shown(), Some(change.id));
    assert_eq!(seats.fetched().price_intervals, seats.subscription.price_intervals);
}

#[test]
fn subscriptions_4_1_a_staged_creation_is_of_nothing_that_exists() {
    let fixture = Fixture::new();
    let metric = fixture.metric(crate::support::fixture::SUM);
    let plan = fixture.priced_plan([fixture.usage_at("2", &metric).into()]);
    let ada = fixture.customer("ada");
    fixture.messages();
    let new = NewSubscription::new(ada.id, plan.id);
    let (preview, change) = run(fixture.account.create_subscription(new).staged()).unwrap();
    assert_eq!((change.subscription_id, change.plan_id), (preview.id, Some(plan.id)));
    assert!(change.creates());
    assert_eq!(change.effective_date, at("2026-03-10T00:00:00Z"), "its start");
    assert!(block_on(fixture.account.fetch_subscription(preview.id)).unwrap_err().is_not_found());
    let (any, page) = (Default::default(), PageRequest::default());
    let listed = block_on(fixture.account.list_subscriptions(&any, &page));
    assert_eq!(listed.unwrap().data, []);
    let alert =
        fixture.account.create_subscription_alert(preview.id, usage_alert(metric.id, &["4"]));
    assert_eq!(refused(&fixture, alert).0, ErrorKind::ResourceNotFound);
    fixture.use_now("ada", "early", "5");
    assert_eq!(block_on(fixture.account.fetch_customer(ada.id)).unwrap().currency, None);
    assert_eq!(fixture.message_types(), NOTHING);

    fixture.set("2026-03-10T18:00:00Z");
    let applied = run(fixture.apply(change.id)).unwrap().subscription.unwrap();
    assert_eq!(applied.id, preview.id, "the id that was previewed");
    assert_eq!(applied.created_at, at("2026-03-10T18:00:00Z"));
    assert_eq!(fixture.usage(&applied, &metric).as_deref(), Some("5"));
    let found = block_on(fixture.account.fetch_customer(ada.id)).unwrap();
    assert_eq!(found.currency, Some(applied.currency));
    assert_eq!(fixture.message_types(), ["subscription.created", "subscription.started"]);
}

#[test]
fn subscriptions_4_1_what_cannot_wait_is_refused() {
    let seats = seats();
    let (fixture, id) = (seats.fixture(), seats.subscription.id);
    let account = &fixture.account;
    fixture.coupon("SPRING", percentage("0.5"));
    let calls = [
        account.cancel_subscription(id, Cancellation::Immediate),
        account.unschedule_cancellation(id),
        account.unschedule_fixed_fee_quantity_updates(id, seats.price()),
        account.redeem_coupon(id, Redemption::immediate(code("SPRING"))),
        account.update_subscription(id, SubscriptionUpdate::default()),
    ];
    for call in calls {
        let (kind, text) = refused(fixture, call.staged());
        assert_eq!(kind, ErrorKind::RequestValidation, "{text}");
    }
}

#[test]
fn subscriptions_4_1_what_the_operation_refuses_is_not_staged() {
    let seats = seats();
    let check = |call: Call<Subscription>, expect| {
        assert_eq!(refused(seats.fixture(), call.staged()).0, expect);
    };
    check(seats.now("-1"), ErrorKind::RequestValidation);
    let account = &seats.fixture().account;
    let nobody = NewSubscription::new(external("nobody"), seats.invoiced.plan.id);
    check(account.create_subscription(nobody), ErrorKind::ResourceNotFound);
    let mut late = NewSubscription::new(external("ada"), seats.invoiced.plan.id);
    late.end_date = Some(at("2026-01-01T00:00:00Z"));
    check(account.create_subscription(late), ErrorKind::ConstraintViolation);
}

#[test]
fn subscriptions_4_2_applied_and_cancelled_are_for_good() {
    let seats = seats();
    let fixture = seats.fixture();
    let account = &fixture.account;
    let (applied, cancelled) = (seats.pending(), run(seats.create().staged()).unwrap().1);
    assert_eq!([applied.id, cancelled.id].map(|id| fixture.status(id)), ["pending"; 2]);
    fixture.set("2026-06-16T10:00:00Z");
    let outcome = run(fixture.apply(applied.id)).unwrap().change;
    assert_eq!(outcome.applied_at(), Some(at("2026-06-16T10:00:00Z")));
    assert_eq!(outcome.cancelled_at(at("2027-01-01T00:00:00Z")), None);
    assert_eq!(outcome.effective_date, at("2026-06-16T10:00:00Z"), "the applying instant");
    let outcome = run(account.cancel_subscription_change(cancelled.id)).unwrap().change;
    assert_eq!(outcome.cancelled_at(at(MIDDLE)), Some(at("2026-06-16T10:00:00Z")));
    assert_eq!(outcome.applied_at(), None);
    assert_eq!(seats.seats_now(), "3");
    fixture.tick_at("2026-06-18T00:00:00Z");
    assert_eq!([applied.id, cancelled.id].map(|id| fixture.status(id)), ["applied", "cancelled"]);
    for id in [applied.id, cancelled.id] {
        assert_eq!(refused(fixture, fixture.apply(id)).0, ErrorKind::ConstraintViolation);
        let cancel = account.cancel_subscription_change(id);
        assert_eq!(refused(fixture, cancel).0, ErrorKind::ConstraintViolation);
    }
    let unknown: SubscriptionChangeId = UNKNOWN.parse().unwrap();
    assert_eq!(refused(fixture, fixture.apply(unknown)).0, ErrorKind::ResourceNotFound);
    assert!(block_on(account.fetch_subscription_change(unknown)).unwrap_err().is_not_found());
}

#[test]
fn subscriptions_4_2_it_expires_whether_somebody_ticks_or_not() {
    let expired = |ticks: bool| {
        let seats = seats();
        let fixture = seats.fixture();
        let changes = [seats.pending(), run(seats.create().staged()).unwrap().1];
        fixture.tick_at("2026-06-16T23:59:59.999999Z");
        assert_eq!(changes.each_ref().map(|of| fixture.status(of.id)), ["pending"; 2]);
        assert_eq!(seats.shown(), Some(changes[0].id));
        fixture.set("2026-06-18T07:00:00Z");
        if ticks {
            fixture.tick();
        }
        assert_eq!(seats.shown(), None);
        for change in &changes {
            assert_eq!(
                refused(fixture, fixture.apply(change.id)).0,
                ErrorKind::ConstraintViolation
            );
        }
        assert_eq!(fixture.message_types(), NOTHING);
        let status = Some(ChangeStatus::Cancelled);
        let filter = SubscriptionChangeFilter { status, ..Default::default() };
        let now = fixture.billing.now();
        let listed = fixture.page_of_changes(&filter, &PageRequest::default()).data;
        let pending = SubscriptionChangeFilter { status: Some(ChangeStatus::Pending), ..filter };
        assert_eq!(fixture.changes(&pending), []);
        // Another one is for the subscription to have.
        let next = seats.pending();
        fixture.tick();
        assert_eq!(seats.shown(), Some(next.id));
        listed.iter().map(|of| (of.id, of.status(now), of.cancelled_at(now))).collect::<Vec<_>>()
    };
    let found = expired(true);
    assert_eq!(found.len(), 2);
    for (_, status, cancelled_at) in &found {
        assert_eq!(*status, ChangeStatus::Cancelled);
        assert_eq!(*cancelled_at, Some(at("2026-06-17T00:00:00Z")), "its expiration time");
    }
    assert_eq!(expired(false), found);
}

#[test]
fn subscriptions_4_2_how_long_it_waits_is_configured() {
    let seats = seats();
    let fixture = seats.fixture();
    let with = |hours| {
        let mut configuration = block_on(fixture.account.configuration()).unwrap();
        configuration.pending_change_hours = hours;
        fixture.account.configure(configuration)
    };
    run(with(3)).unwrap();
    assert_eq!(seats.pending().expiration_time, at("2026-06-16T03:00:00Z"));
    for wrong in [0, 745] {
        assert_eq!(refused(fixture, with(wrong)).0, ErrorKind::RequestValidation);
    }
    assert_eq!(Configuration::default().pending_change_hours, 24);
}

#[test]
fn subscriptions_4_2_what_cannot_be_applied_goes_on_to_wait() {
    let seats = seats();
    let fixture = seats.fixture();
    let coupon = fixture.coupon("SPRING", percentage("0.5"));
    let mut new = NewSubscription::new(external("ada"), seats.invoiced.plan.id);
    new.coupon_redemption_code = Some(code("SPRING"));
    let change = run(fixture.account.create_subscription(new).staged()).unwrap().1;
    let redeemed = |id| block_on(fixture.account.fetch_coupon(id)).unwrap().times_redeemed;
    assert_eq!(redeemed(coupon.id), 0);
    run(fixture.account.archive_coupon(coupon.id)).unwrap();
    assert_eq!(refused(fixture, fixture.apply(change.id)).0, ErrorKind::ResourceNotFound);
    assert_eq!(fixture.status(change.id), "pending");
    assert_eq!(fixture.change(change.id).subscription, None, "it would create none by now");
    fixture.coupon("SPRING", percentage("0.25"));
    run(fixture.apply(change.id)).unwrap();
    assert_eq!(fixture.status(change.id), "applied");
}

#[test]
fn subscriptions_4_3_every_other_change_is_refused() {
    let seats = seats();
    let (fixture, id) = (seats.fixture(), seats.subscription.id);
    let account = &fixture.account;
    fixture.coupon("SPRING", percentage("0.5"));
    let edit = || {
        let edit = vec![PriceIntervalEdit::ending(
            seats.subscription.price_intervals[0].id,
            IntervalDate::EndOfTerm,
        )];
        IntervalChanges { edit, ..IntervalChanges::default() }
    };
    let update =
        || SubscriptionUpdate { name: accrue::Patch::Set(name("Pro")), ..Default::default() };
    let calls = || {
        [
            account.cancel_subscription(id, Cancellation::EndOfSubscriptionTerm),
            account.unschedule_cancellation(id),
            seats.quantity("7", ChangeTiming::UpcomingInvoice),
            account.unschedule_fixed_fee_quantity_updates(id, seats.price()),
            account.redeem_coupon(id, Redemption::immediate(code("SPRING"))),
            account.update_subscription(id, update()),
            account.change_intervals(id, edit()),
        ]
    };
    let change = seats.pending();
    for call in calls() {
        let (kind, text) = refused(fixture, call);
        assert_eq!(kind, ErrorKind::ConstraintViolation);
        assert!(text.contains(&change.id.to_string()), "{text}");
    }
    assert_eq!(refused(fixture, seats.now("4").staged()).0, ErrorKind::ConstraintViolation);
    // It is no conflict that a client would send again.
    run(account.cancel_subscription_change(change.id)).unwrap();
    run(seats.quantity("7", ChangeTiming::UpcomingInvoice)).unwrap();
    run(account.unschedule_fixed_fee_quantity_updates(id, seats.price())).unwrap();
    run(account.update_subscription(id, update())).unwrap();
    run(account.change_intervals(id, edit())).unwrap();
    run(account.cancel_subscription(id, Cancellation::EndOfSubscriptionTerm)).unwrap();
    run(account.unschedule_cancellation(id)).unwrap();
}

#[test]
fn subscriptions_4_3_reads_usage_alerts_and_time_go_on() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.advance_fee("30"), fixture.usage_at("2", metric)]
    });
    let fixture = &invoiced.fixture;
    fixture.set(JUNE);
    let end = at("2026-06-16T12:00:00Z");
    let subscription = invoiced.subscribe_with(JUNE, |new| new.end_date = Some(end));
    fixture.set(MIDDLE);
    let metric = block_on(fixture.account.list_metrics(&Default::default(), &Default::default()));
    let metric = metric.unwrap().data.remove(0);
    let fee = subscription.price_intervals.iter().find(|of| !of.quantities.is_empty()).unwrap();
    let three = FeeQuantityChange::immediate(fee.price_id, number("3"));
    let call = fixture.account.update_fixed_fee_quantity(subscription.id, three);
    let change = run(call.staged()).unwrap().1;
    let alert = usage_alert(metric.id, &["4"]);
    run(fixture.account.create_subscription_alert(subscription.id, alert)).unwrap();
    fixture.use_now("ada", "more", "5");
    assert_eq!(fixture.usage(&subscription, &metric).as_deref(), Some("5"));
    fixture.tick_at("2026-06-16T13:00:00Z");
    let told = fixture.message_types();
    assert!(told.contains(&"subscription.usage_exceeded"), "{told:?}");
    assert!(told.contains(&"subscription.ended"), "{told:?}");
    // It is decided anew.
    assert_eq!(refused(fixture, fixture.apply(change.id)).0, ErrorKind::ConstraintViolation);
    let shown = fixture.change(change.id);
    assert_eq!(fixture.status(change.id), "pending");
    assert_eq!(shown.subscription.unwrap().end_date, Some(end), "as it is");
    assert_eq!(shown.resources, accrue::ChangedResources::default());
}

#[test]
fn subscriptions_4_3_staged_creations_do_not_conflict() {
    let seats = seats();
    let [one, other] = [seats.create(), seats.create()].map(|of| run(of.staged()).unwrap().1);
    assert_ne!(one.subscription_id, other.subscription_id);
    for change in [other, one] {
        let applied = run(seats.fixture().apply(change.id)).unwrap().subscription.unwrap();
        assert_eq!(applied.id, change.subscription_id);
    }
}
