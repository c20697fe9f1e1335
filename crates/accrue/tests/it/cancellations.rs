//! Ends of subscriptions, by each of the options (subscriptions 3.8).

use accrue::{
    ErrorKind, Patch,
    customer::{CustomerUpdate, PaymentProvider},
    invoice::Payment,
    price::{BillingMode, Cadence},
    subscription::{Cancellation, Subscription},
};

use crate::{
    invoices::SETTLED,
    price_intervals::{Changed, changed, constraint},
    support::fixture::{at, external, number, refused, run},
};

/// A fee of 50 in advance and usage at 1 from 1 January on: 7 are used on 5 January.
fn fifty(now: &str) -> Changed {
    let changed =
        changed(|fixture, metric| vec![fixture.advance_fee("50"), fixture.usage_at("1", metric)]);
    changed.fixture().tick_at("2027-01-05T00:00:00Z");
    changed.invoiced.use_at("a", "2027-01-05T00:00:00Z", "7");
    changed.fixture().tick_at(now);
    changed
}

impl Changed {
    fn cancel(&self, how: Cancellation) -> accrue::Call<Subscription> {
        self.fixture().account.cancel_subscription(self.subscription.id, how)
    }

    fn cancel_as_of(&self, day: &str) -> accrue::Call<Subscription> {
        self.cancel(Cancellation::RequestedDate(at(&format!("{day}T00:00:00Z"))))
    }
}

#[test]
fn subscriptions_3_8_1_the_term_ends_with_the_period_of_the_longest_cadence() {
    let end = |cadences: &[Cadence]| {
        let changed = changed(|fixture, metric| {
            let fee = |of: &Cadence| fixture.fee_of("1", *of, BillingMode::InAdvance);
            let fees = cadences.iter().map(fee);
            fees.chain([fixture.usage_at("1", metric)]).collect()
        });
        changed.fixture().tick_at("2027-02-10T00:00:00Z");
        let ended = run(changed.cancel(Cancellation::EndOfSubscriptionTerm)).unwrap();
        ended.end_date.unwrap().to_string()[..10].to_owned()
    };
    assert_eq!(end(&[]), "2027-03-01");
    assert_eq!(end(&[Cadence::Quarterly]), "2027-04-01");
    assert_eq!(end(&[Cadence::Quarterly, Cadence::Annual, Cadence::Monthly]), "2028-01-01");
}

#[test]
fn subscriptions_3_8_2_at_once_it_ends_now_and_unused_days_go_back() {
    let changed = fifty("2027-01-15T10:00:00Z");
    let ended = run(changed.cancel(Cancellation::Immediate)).unwrap();
    assert_eq!(ended.end_date, Some(at("2027-01-15T10:00:00Z")));
    assert_eq!(changed.notes(), ["25.81"], "16 of 31 days: one that has begun is used");

    let changed = fifty("2027-01-15T10:00:00Z");
    let update = CustomerUpdate {
        payment_provider: Patch::Set(PaymentProvider::Quickbooks),
        ..CustomerUpdate::default()
    };
    let fixture = changed.fixture();
    run(fixture.account.update_customer(external("ada"), update)).unwrap();
    constraint(refused(fixture, changed.cancel(Cancellation::Immediate)));
}

#[test]
fn subscriptions_3_8_3_a_date_may_have_passed_unless_what_is_paid_lies_behind_it() {
    let changed = fifty("2027-02-15T00:00:00Z");
    let fixture = changed.fixture();
    let latest = fixture.invoices(SETTLED).remove(0);
    assert_eq!(latest.invoice_date, at("2027-02-01T00:00:00Z"));
    let paid = Payment::new(at("2027-02-02T00:00:00Z"));
    run(fixture.account.mark_invoice_paid(latest.id, paid)).unwrap();
    for day in ["2027-01-13", "2027-01-31"] {
        let (kind, text) = refused(fixture, changed.cancel_as_of(day));
        assert_eq!(kind, ErrorKind::ConstraintViolation, "{day}: {text}");
    }
    let ended = run(changed.cancel_as_of("2027-02-10")).unwrap();
    assert_eq!(ended.end_date, Some(at("2027-02-10T00:00:00Z")));
}

#[test]
fn subscriptions_3_8_4_example_behind_the_last_invoice_unused_days_go_back() {
    let changed = fifty("2027-01-15T00:00:00Z");
    run(changed.cancel_as_of("2027-01-13")).unwrap();
    assert_eq!(changed.notes(), ["30.65"], "19 of 31 days");
    let january = changed.cost("2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z");
    assert_eq!(january, number("26.35"), "19.35 for twelve days, and 7 of usage");
    changed.fixture().tick_at("2027-03-03T00:00:00Z");
    let expected = ["00001 issued 2027-01-01: fee 50 = 50", "00002 issued 2027-01-13: usage 7 = 7"];
    assert_eq!(changed.everything(), expected);
}

#[test]
fn subscriptions_3_8_4_example_as_of_its_invoice_that_is_void_and_made_anew() {
    let changed = fifty("2027-01-15T00:00:00Z");
    run(changed.cancel_as_of("2027-01-01")).unwrap();
    changed.fixture().tick_at("2027-03-03T00:00:00Z");
    assert_eq!(changed.everything(), ["00001 void 2027-01-01: fee 50 = 50"]);

    let changed = fifty("2027-02-15T00:00:00Z");
    let billed = "00002 issued 2027-02-01: fee 50, usage 7 = 57";
    assert_eq!(changed.settled()[1], billed);
    run(changed.cancel_as_of("2027-02-01")).unwrap();
    changed.fixture().tick_at("2027-03-03T00:00:00Z");
    let expected = [
        "00001 issued 2027-01-01: fee 50 = 50",
        "00002 void 2027-02-01: fee 50, usage 7 = 57",
        "00003 issued 2027-02-01: usage 7 = 7",
    ];
    assert_eq!(changed.everything(), expected);
    assert!(changed.notes().is_empty());
}
