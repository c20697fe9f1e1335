//! Changing the quantities of fixed fees: when, what is told and judged, and what is refused.

use std::{collections::BTreeMap, sync::Arc};

use accrue::{
    Billing, ErrorKind, IdOr, IdempotencyKey, ManualClock, PriceId, SeededEntropy, SubscriptionId,
    price::{BillingMode, Cadence},
    subscription::{Cancellation, ChangeTiming, FeeQuantityChange, NewSubscription, Subscription},
    webhook::Body,
};

use crate::support::{
    fixture::{COUNT, Fixture, UNKNOWN, at, block_on, external, number, refused, run},
    priced::{NOTHING, Priced, cost_alert, priced},
};

/// On a fee of 31 in advance, from noon of the 10th of March on.
fn seats() -> Priced {
    priced(|fixture, _| [fixture.advance_fee("31")])
}

impl Priced {
    fn quantity(&self, quantity: &str, when: ChangeTiming) -> accrue::Call<Subscription> {
        let price = self.prices()[0].into();
        let change = FeeQuantityChange { price, quantity: number(quantity), when };
        self.fixture.account.update_fixed_fee_quantity(self.subscription.id, change)
    }

    fn changed(&self, quantity: &str, when: ChangeTiming) -> Subscription {
        run(self.quantity(quantity, when)).unwrap()
    }

    fn schedule(&self, subscription: &Subscription) -> Vec<String> {
        let stretches = subscription.fee_schedule(&subscription.price_intervals[0]).into_iter();
        let text = |stretch: accrue::subscription::FeeStretch| {
            let end = stretch.end_date.map_or("on".to_owned(), |end| end.to_string());
            format!("{} to {end}: {}", stretch.start_date, stretch.quantity)
                .replace(":00.000000Z", "")
        };
        stretches.map(text).collect()
    }
}

fn on(date: &str) -> ChangeTiming {
    ChangeTiming::EffectiveDate(at(date))
}

#[test]
fn wire_6_8_a_change_is_told_when_it_is_asked_for() {
    let seats = seats();
    let told = |quantity: &str, when| {
        let subscription = seats.changed(quantity, when);
        let found = block_on(seats.fixture.account.fetch_subscription(subscription.id)).unwrap();
        assert_eq!(found, subscription);
        let messages = seats.fixture.messages();
        let [message] = messages.as_slice() else { panic!("{messages:?}") };
        assert_eq!(message.message_type(), "subscription.fixed_fee_quantity_updated");
        assert_eq!(message.subscription.as_ref(), Some(&subscription));
        let Body::FixedFeeQuantityUpdated {
            subscription_id,
            price_id,
            effective_date,
            new_quantity,
            old_quantity,
        } = &message.body
        else {
            panic!("{message:?}")
        };
        assert_eq!((*subscription_id, *price_id), (seats.subscription.id, seats.prices()[0]));
        format!("{effective_date}: {old_quantity} -> {new_quantity}")
    };
    seats.fixture.set("2026-03-15T12:00:00Z");
    assert_eq!(told("2", ChangeTiming::Immediate), "2026-03-15T12:00:00.000000Z: 1 -> 2");
    let upcoming = "2026-04-10T12:00:00.000000Z: 2 -> 4";
    assert_eq!(told("4", ChangeTiming::UpcomingInvoice), upcoming);
    let between = "2026-03-20T00:00:00.000000Z: 2 -> 3";
    assert_eq!(told("3", on("2026-03-20T00:00:00Z")), between);
    let replaced = "2026-03-20T00:00:00.000000Z: 3 -> 2.5";
    assert_eq!(told("2.5", on("2026-03-20T00:00:00Z")), replaced);
    seats.fixture.set("2026-05-01T00:00:00Z");
    seats.fixture.tick();
    assert_eq!(seats.fixture.message_types(), NOTHING, "and not once more");
    let subscription = block_on(seats.fixture.account.fetch_subscription(seats.subscription.id));
    let expect = [
        "2026-03-10T12:00 to 2026-03-15T12:00: 1",
        "2026-03-15T12:00 to 2026-03-20T00:00: 2",
        "2026-03-20T00:00 to 2026-04-10T12:00: 2.5",
        "2026-04-10T12:00 to on: 4",
    ];
    assert_eq!(seats.schedule(&subscription.unwrap()), expect);
}

#[test]
fn a_schedule_begins_with_the_subscription_and_ends_with_it() {
    let seats = seats();
    assert_eq!(seats.schedule(&seats.subscription), ["2026-03-10T12:00 to on: 1"]);
    seats.changed("2", on("2026-03-10T12:00:00Z"));
    seats.changed("3", on("2026-04-01T00:00:00Z"));
    seats.changed("4", on("2026-05-01T00:00:00Z"));
    let end = Cancellation::RequestedDate(at("2026-05-01T00:00:00Z"));
    let id = seats.subscription.id;
    let subscription = run(seats.fixture.account.cancel_subscription(id, end)).unwrap();
    let expect =
        ["2026-03-10T12:00 to 2026-04-01T00:00: 2", "2026-04-01T00:00 to 2026-05-01T00:00: 3"];
    assert_eq!(seats.schedule(&subscription), expect);
    let at_the_end = subscription.fee_quantity(seats.prices()[0], at("2026-05-01T00:00:00Z"));
    assert_eq!(at_the_end, Some(&number("4")), "where the end is taken back");
}

#[test]
fn a_quantity_that_it_has_already_changes_nothing() {
    let seats = seats();
    seats.changed("2", on("2026-03-20T00:00:00Z"));
    let before = seats.fixture.dump();
    seats.changed("1", ChangeTiming::Immediate);
    seats.changed("2", on("2026-03-21T00:00:00Z"));
    assert_eq!(seats.fixture.dump(), before);
    let back = seats.changed("1", on("2026-03-20T00:00:00Z"));
    let one = |from: &str| (at(from), number("1"));
    let expect = BTreeMap::from(["2026-03-10T12:00:00Z", "2026-03-20T00:00:00Z"].map(one));
    assert_eq!(back.price_intervals[0].quantities, expect);
}

#[test]
fn subscriptions_3_9_changes_that_are_still_to_come_are_dropped() {
    let seats = seats();
    let (account, id) = (&seats.fixture.account, seats.subscription.id);
    let drop = || account.unschedule_fixed_fee_quantity_updates(id, seats.prices()[0]);
    let none = || refused(&seats.fixture, drop()).0;
    assert_eq!(none(), ErrorKind::RequestValidation, "its first quantity is no change");
    seats.fixture.set("2026-03-15T12:00:00Z");
    let before = seats.changed("2", ChangeTiming::Immediate);
    assert_eq!(none(), ErrorKind::RequestValidation, "what has come stays");
    seats.changed("3", on("2026-03-20T00:00:00Z"));
    seats.changed("4", ChangeTiming::UpcomingInvoice);
    seats.fixture.messages();
    assert_eq!(run(drop()).unwrap(), before);
    assert_eq!(seats.fixture.message_types(), NOTHING);
    assert_eq!(none(), ErrorKind::RequestValidation);
    seats.fixture.set("2026-04-15T12:00:00Z");
    seats.fixture.tick();
    assert_eq!(seats.cost().total, number("62"));
    seats.changed("3", ChangeTiming::UpcomingInvoice);
    run(account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    assert_eq!(none(), ErrorKind::ConstraintViolation, "it has ended");
}

#[test]
fn subscriptions_3_9_only_a_fee_of_the_subscription_has_changes() {
    let seats =
        priced(|fixture, metric| [fixture.advance_fee("31"), fixture.usage_at("1", metric)]);
    let unknown = UNKNOWN.parse::<PriceId>().unwrap();
    for price in [seats.prices()[1], unknown] {
        let id = seats.subscription.id;
        let call = seats.fixture.account.unschedule_fixed_fee_quantity_updates(id, price);
        assert_eq!(refused(&seats.fixture, call).0, ErrorKind::ConstraintViolation);
    }
}

#[test]
fn a_change_now_is_judged_at_once() {
    let seats = seats();
    seats.alert(cost_alert(&["50", "80"]));
    seats.fixture.set("2026-03-20T12:00:00Z");
    seats.changed("3", ChangeTiming::Immediate);
    assert_eq!(seats.told(), ["cost 50: 31 -> 73 by subscription"]);
    seats.changed("1", ChangeTiming::Immediate);
    seats.changed("3", ChangeTiming::Immediate);
    seats.fixture.tick();
    assert_eq!(seats.told(), NOTHING, "once in a billing period");
}

#[test]
fn a_change_in_the_past_of_the_open_period_is_judged_at_once() {
    let seats = seats();
    seats.alert(cost_alert(&["50"]));
    seats.fixture.set("2026-03-25T12:00:00Z");
    seats.changed("3", on("2026-03-20T12:00:00Z"));
    assert_eq!(seats.told(), ["cost 50: 31 -> 73 by subscription"]);
    assert_eq!(seats.cost().total, number("73"));
}

#[test]
fn a_turn_that_a_process_with_a_later_clock_has_applied_stays_applied() {
    let seats = seats();
    seats.alert(cost_alert(&["20"]));
    seats.fixture.tick();
    seats.told();
    seats.fixture.set("2026-04-10T11:59:59Z");
    let later = ManualClock::at(at("2026-04-10T12:00:01Z"));
    let ahead = Billing::new(Arc::clone(&seats.fixture.store), later, SeededEntropy::new(7));
    while block_on(ahead.tick(10)).unwrap().more {}
    assert_eq!(seats.told(), ["cost 20: none -> 31 by period 2026-04-10T12:00:00Z"]);
    let next = block_on(ahead.next_deadline()).unwrap();
    assert_eq!(next, Some(at("2026-04-11T12:00:00Z")), "when the period is closed");

    seats.changed("3", ChangeTiming::Immediate);
    assert_eq!(block_on(ahead.next_deadline()).unwrap(), next, "nothing is owed once more");
    seats.told();
    while block_on(ahead.tick(10)).unwrap().more {}
    assert_eq!(seats.told(), NOTHING);
}

#[test]
fn a_change_to_come_is_judged_at_its_instant_whoever_looks() {
    let story = |look: &dyn Fn(&Priced)| {
        let seats = seats();
        seats.plan_alert(cost_alert(&["50"]));
        seats.changed("3", on("2026-03-20T12:00:00Z"));
        let next = block_on(seats.fixture.billing.next_deadline()).unwrap();
        seats.fixture.tick();
        assert!(next <= Some(at("2026-03-20T12:00:00Z")));
        seats.fixture.drain();
        look(&seats);
        seats.fixture.dated()
    };
    let expect = "2026-03-20T12:00:00Z cost 50: 31 -> 73 by period 2026-03-20T12:00:00Z \
                  of 2026-03-10T12:00:00Z";
    let look_at = |now: &'static str| {
        move |seats: &Priced| {
            seats.fixture.set(now);
            seats.fixture.tick();
        }
    };
    assert_eq!(story(&look_at("2026-03-20T11:59:59.999999Z")), NOTHING);
    assert_eq!(story(&look_at("2026-03-20T12:00:00Z")), [expect]);
    assert_eq!(story(&look_at("2026-04-10T11:59:59Z")), [expect]);
    let by_a_write = story(&|seats| {
        seats.fixture.set("2026-03-21T00:00:00Z");
        seats.use_now("a", "1");
    });
    assert_eq!(by_a_write, [expect]);
}

#[test]
fn in_arrears_a_change_is_judged_with_the_end_of_the_period() {
    let seats = priced(|fixture, _| [fixture.arrear_fee("31")]);
    seats.alert(cost_alert(&["50"]));
    seats.changed("3", on("2026-03-20T12:00:00Z"));
    seats.fixture.set("2026-04-10T12:00:00Z");
    seats.fixture.tick();
    assert_eq!(seats.told(), ["cost 50: none -> 73 by period 2026-04-10T12:00:00Z"]);
}

#[test]
fn a_fee_is_found_by_its_external_id_too() {
    let seats = priced(|fixture, _| {
        let mut fee = fixture.advance_fee("31");
        fee.external_price_id = Some(external("seat"));
        [fee]
    });
    let change = FeeQuantityChange::immediate(external("seat"), number("2"));
    run(seats.fixture.account.update_fixed_fee_quantity(seats.subscription.id, change)).unwrap();
    assert_eq!(seats.cost().total, number("62"), "on its first day");
    let unknown = FeeQuantityChange::immediate(external("chair"), number("2"));
    let call = seats.fixture.account.update_fixed_fee_quantity(seats.subscription.id, unknown);
    assert_eq!(refused(&seats.fixture, call).0, ErrorKind::ResourceNotFound);
}

#[test]
fn under_a_key_a_change_is_answered_as_the_first_time() {
    let seats = seats();
    let keyed = |quantity| {
        let key = IdempotencyKey::parse("seats").unwrap();
        block_on(seats.quantity(quantity, ChangeTiming::Immediate).keyed(key).into_future())
    };
    let first = keyed("2").unwrap().outcome;
    assert_eq!(first.fee_quantity(seats.prices()[0], first.start_date), Some(&number("2")));
    seats.changed("7", ChangeTiming::Immediate);
    let again = keyed("2").unwrap();
    assert_eq!(again.outcome, first);
    assert_eq!(keyed("3").unwrap_err().kind(), ErrorKind::ResourceConflict);
}

#[test]
fn a_preview_of_a_change_writes_nothing() {
    let seats = seats();
    seats.alert(cost_alert(&["50"]));
    let before = seats.fixture.dump();
    let call = seats.quantity("3", ChangeTiming::Immediate);
    let preview = block_on(call.preview()).unwrap();
    let types = preview.messages.iter().map(|message| message.body.message_type());
    let expect = ["subscription.fixed_fee_quantity_updated", "subscription.cost_exceeded"];
    assert_eq!(types.collect::<Vec<_>>(), expect);
    assert_eq!(seats.fixture.dump(), before);
}

/// What is refused, and nothing is changed.
fn check(fixture: &Fixture, id: SubscriptionId, change: FeeQuantityChange) -> (ErrorKind, String) {
    fixture.tick();
    refused(fixture, fixture.account.update_fixed_fee_quantity(id, change))
}

#[test]
fn only_a_fixed_fee_of_the_version_has_a_quantity() {
    let seats =
        priced(|fixture, metric| [fixture.advance_fee("31"), fixture.usage_at("1", metric)]);
    let fixture = &seats.fixture;
    let other = run(fixture.account.create_price(fixture.fee(Cadence::Monthly))).unwrap().id;
    let unknown = UNKNOWN.parse::<PriceId>().unwrap();
    let alias = fixture.per_unit(&fixture.metric(COUNT), Cadence::Monthly);
    let mut alias = accrue::price::NewPrice { external_price_id: Some(external("x")), ..alias };
    alias.name = crate::support::fixture::name("alias");
    run(fixture.account.create_price(alias)).unwrap();
    let prices: [IdOr<PriceId>; 4] =
        [seats.prices()[1].into(), other.into(), unknown.into(), external("x").into()];
    for price in prices {
        let detail = format!("the price {price} is no fixed fee of the plan version");
        let change = FeeQuantityChange::immediate(price, number("2"));
        let found = check(fixture, seats.subscription.id, change);
        assert_eq!(found, (ErrorKind::ConstraintViolation, detail));
    }
}

#[test]
fn a_quantity_is_from_zero_on() {
    let seats = seats();
    let most = number("9999999999999999999999999999");
    for quantity in [number("-1"), number("-0.5"), most.clone() + number("1")] {
        let detail = format!("quantity: found {quantity}, expected a number from zero on");
        let change = FeeQuantityChange::immediate(seats.prices()[0], quantity);
        let found = check(&seats.fixture, seats.subscription.id, change);
        assert_eq!(found, (ErrorKind::RequestValidation, detail));
    }
    for quantity in ["0", "0.5", "9999999999999999999999999999"] {
        seats.changed(quantity, ChangeTiming::Immediate);
    }
}

#[test]
fn a_date_is_within_a_billing_period_of_the_fee() {
    let seats = seats();
    let id = seats.subscription.id;
    let end = Cancellation::RequestedDate(at("2026-06-01T00:00:00Z"));
    run(seats.fixture.account.cancel_subscription(id, end)).unwrap();
    seats.fixture.set("2026-04-20T00:00:00Z");
    let wrong = |date: &str| {
        let price = seats.prices()[0].into();
        let change = FeeQuantityChange { price, quantity: number("2"), when: on(date) };
        check(&seats.fixture, id, change)
    };
    let early =
        "the effective date 2026-03-10T11:59:59.999999Z is within no billing period of the fee";
    let found = wrong("2026-03-10T11:59:59.999999Z");
    assert_eq!(found, (ErrorKind::ConstraintViolation, early.to_owned()));
    let late = "the effective date 2026-06-01T00:00:00.000000Z is not before the end of the \
                subscription, 2026-06-01T00:00:00.000000Z";
    let found = wrong("2026-06-01T00:00:00Z");
    assert_eq!(found, (ErrorKind::ConstraintViolation, late.to_owned()));
    seats.changed("2", on("2026-03-10T12:00:00Z"));
    seats.changed("3", on("2026-05-31T23:59:59.999999Z"));
}

#[test]
fn what_has_ended_or_falls_due_no_more_changes_no_more() {
    let seats = seats();
    let id = seats.subscription.id;
    let refuse = |priced: &Priced, when, expect: &str| {
        let price = priced.prices()[0].into();
        let change = FeeQuantityChange { price, quantity: number("2"), when };
        let found = check(&priced.fixture, priced.subscription.id, change);
        assert_eq!(found, (ErrorKind::ConstraintViolation, expect.to_owned()));
    };
    run(seats.fixture.account.cancel_subscription(id, Cancellation::EndOfSubscriptionTerm))
        .unwrap();
    refuse(&seats, ChangeTiming::UpcomingInvoice, "the fee has no next billing period");
    seats.fixture.set("2026-04-10T12:00:00Z");
    for when in [ChangeTiming::Immediate, ChangeTiming::UpcomingInvoice, on("2026-03-11T00:00:00Z")]
    {
        refuse(&seats, when, "the subscription has ended already");
    }

    let once = priced(|fixture, _| [fixture.fee_of("5", Cadence::OneTime, BillingMode::InArrear)]);
    refuse(&once, ChangeTiming::UpcomingInvoice, "the fee has no next billing period");
    let beyond =
        "the effective date 2026-04-10T12:00:00.000000Z is within no billing period of the fee";
    refuse(&once, on("2026-04-10T12:00:00Z"), beyond);
    once.fixture.set("2026-04-10T12:00:00Z");
    refuse(&once, ChangeTiming::Immediate, "the fee is not charged now");
}

#[test]
fn the_quantities_of_a_subscription_change_500_times() {
    let seats = seats();
    let minute = |n: u64| {
        let later = std::time::Duration::from_secs(n * 60);
        ChangeTiming::EffectiveDate(at("2026-03-11T00:00:00Z").saturating_add(later))
    };
    for n in 0..500 {
        seats.changed(&(n % 2 + 2).to_string(), minute(n));
    }
    let price = seats.prices()[0].into();
    let one_more = FeeQuantityChange { price, quantity: number("7"), when: minute(500) };
    let found = check(&seats.fixture, seats.subscription.id, one_more);
    let detail = "the quantities of its fees have changed 500 times already".to_owned();
    assert_eq!(found, (ErrorKind::ConstraintViolation, detail));
    seats.changed("7", minute(499));
}

#[test]
fn changes_of_a_fee_fit_beside_whatever_a_subscription_says() {
    let seats = seats();
    let mut new = NewSubscription::new(seats.customer, seats.plan.id);
    let entry = |n: u32| (format!("{n:02}"), "\u{1}".repeat(134));
    new.metadata = (0..50).map(entry).collect();
    let id = seats.fixture.create(new).id;
    let change = |n: u64| {
        let later = std::time::Duration::from_secs(n * 60);
        let when = ChangeTiming::EffectiveDate(at("2026-03-11T00:00:00Z").saturating_add(later));
        let quantity = number(&(n % 2 + 2).to_string());
        FeeQuantityChange { price: seats.prices()[0].into(), quantity, when }
    };
    let account = &seats.fixture.account;
    for n in 0..500 {
        run(account.update_fixed_fee_quantity(id, change(n))).unwrap();
    }
    let (kind, detail) = check(&seats.fixture, id, change(500));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert_eq!(detail, "the quantities of its fees have changed 500 times already");
    let found = block_on(account.fetch_subscription(id)).unwrap();
    assert_eq!(found.price_intervals[0].quantities.len(), 501);
}
