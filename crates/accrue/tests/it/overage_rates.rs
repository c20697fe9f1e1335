//! What units of credits are invoiced as, for one subscription (subscriptions 1.12).

use accrue::{Carried, ErrorKind, subscription::NewSubscription};

use crate::{
    invoices::SETTLED,
    price_intervals::{JANUARY, changed},
    support::{
        fixture::{at, external, number, refused, run},
        priced::unit,
    },
};

#[test]
fn subscriptions_1_12_units_are_invoiced_at_a_rate_of_the_subscription() {
    let of = changed(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        (usage.currency, usage.conversion_rate) = (unit("credits"), Some(number("0.10").into()));
        vec![usage]
    });
    let fixture = of.fixture();
    let subscribe = |carried: &[(&str, &str)]| {
        let mut new = NewSubscription::new(external("ada"), of.invoiced.plan.id);
        new.start_date = Some(at(JANUARY));
        new.carried = Carried::new(carried.iter().copied()).unwrap();
        fixture.account.create_subscription(new)
    };
    let own = run(subscribe(&[("per_credit_overage_amount", "0.25")])).unwrap();
    fixture.set("2027-01-05T00:00:00Z");
    of.invoiced.use_at("a", "2027-01-05T00:00:00Z", "40");
    fixture.tick_at("2027-02-05T00:00:00Z");
    let invoices = fixture.invoices(SETTLED);
    let total =
        |id| invoices.iter().find(|of| of.subscription_id == Some(id)).unwrap().total.clone();
    assert_eq!(total(own.id), number("10"));
    assert_eq!(total(of.subscription.id), number("4"), "the other has the price's own");
    let check = |carried: &[(&str, &str)], expect: &str| {
        let (kind, text) = refused(fixture, subscribe(carried));
        assert_eq!(kind, ErrorKind::RequestValidation);
        assert!(text.contains(expect), "{text}");
    };
    check(&[("credits_overage_rate", "0")], "credits_overage_rate");
    check(&[("credits_overage_rate", "\"1\"")], "expected a number above 0");
    let both = [("credits_overage_rate", "1"), ("per_credit_overage_amount", "1")];
    check(&both, "which means the same");
}
