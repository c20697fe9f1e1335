use accrue::{
    Currency, ErrorKind, PriceId, Zone,
    customer::NewCustomer,
    plan::Plan,
    price::{Cadence, Cycle},
    subscription::{BillingAnchor, NewSubscription, ReplacedPrice},
};

use crate::support::fixture::{COUNT, Fixture, at, block_on, name, number, refused, run, usd};

/// A plan with a fee and a usage price, and the ids of both.
fn plan(fixture: &Fixture) -> (Plan, PriceId, PriceId) {
    let fee = fixture.fee(Cadence::Monthly);
    let usage = fixture.per_unit(&fixture.metric(COUNT), Cadence::Quarterly);
    let plan = fixture.priced_plan([fee.into(), usage.into()]);
    let first = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    (plan, first.prices[0].id, first.prices[1].id)
}

#[test]
fn a_subscription_keeps_the_zone_of_its_customer_and_the_cadences_of_its_version() {
    let fixture = Fixture::new();
    let email = accrue::Email::parse("a@example.com").unwrap();
    let mut customer = NewCustomer::new(name("ada"), email);
    customer.timezone = Some(Zone::parse("Europe/Berlin").unwrap());
    let customer = run(fixture.account.create_customer(customer)).unwrap();
    let (plan, fee, _) = plan(&fixture);
    let mut new = NewSubscription::new(customer.id, plan.id);
    new.anchor = BillingAnchor::Day { day: 31, month: Some(12), year: None };
    new.prices.replace = vec![ReplacedPrice::quantity(fee, number("2.5"))];
    let subscription = run(fixture.account.create_subscription(new.clone())).unwrap();
    assert_eq!(subscription.timezone.name(), "Europe/Berlin");
    assert_eq!(subscription.billing_cycle(), Cycle::MONTH);
    assert_eq!(subscription.term_cycle(), Cycle::Months(3));
    assert_eq!(subscription.anchor, new.anchor);
    assert_eq!(subscription.fee_quantity(fee, subscription.start_date), Some(&number("2.5")));
    let found = block_on(fixture.account.fetch_subscription(subscription.id)).unwrap();
    assert_eq!(found, subscription);
}

#[test]
fn billing_cycles_begin_on_the_first_of_a_month_where_nothing_else_is_said() {
    let fixture = Fixture::new();
    let new = NewSubscription::new(fixture.customer("ada").id, fixture.plan().id);
    let subscription = run(fixture.account.create_subscription(new)).unwrap();
    assert_eq!(subscription.anchor, BillingAnchor::FirstOfMonth);
    assert_eq!(
        (subscription.timezone.clone(), subscription.billing_cycle()),
        (Zone::UTC, Cycle::MONTH)
    );
    assert!(subscription.price_intervals.iter().all(|interval| !interval.is_fee()));
}

#[test]
fn a_subscription_is_invoiced_in_the_currency_of_its_plan() {
    let fixture = Fixture::new();
    let mut new = NewSubscription::new(fixture.customer("ada").id, fixture.plan().id);
    new.currency = Some(Currency::parse("EUR").unwrap());
    let found = refused(&fixture, fixture.account.create_subscription(new.clone()));
    let detail = "the plan is invoiced in USD, the subscription in EUR";
    assert_eq!(found, (ErrorKind::ConstraintViolation, detail.to_owned()));
    new.currency = Some(usd());
    let subscription = run(fixture.account.create_subscription(new)).unwrap();
    assert_eq!(subscription.currency, usd());
}

#[test]
fn a_quantity_is_that_of_a_fixed_fee_of_the_version() {
    let fixture = Fixture::new();
    let (plan, _, usage) = plan(&fixture);
    let other = run(fixture.account.create_price(fixture.fee(Cadence::Monthly))).unwrap().id;
    let customer = fixture.customer("ada").id;
    for (price, wrong) in
        [(usage, "is of usage, which has no quantity"), (other, "is none of the plan version")]
    {
        let mut new = NewSubscription::new(customer, plan.id);
        new.prices.replace = vec![ReplacedPrice::quantity(price, number("1"))];
        let detail = format!("the price {price} {wrong}");
        let found = refused(&fixture, fixture.account.create_subscription(new));
        assert_eq!(found, (ErrorKind::ConstraintViolation, detail));
    }
}

#[test]
fn a_quantity_is_a_number_from_zero_on_that_could_come_in() {
    let fixture = Fixture::new();
    let (plan, fee, _) = plan(&fixture);
    let customer = fixture.customer("ada").id;
    let create = |quantity: accrue::Decimal| {
        let mut new = NewSubscription::new(customer, plan.id);
        new.prices.replace = vec![ReplacedPrice::quantity(fee, quantity)];
        fixture.account.create_subscription(new)
    };
    let most = number("9999999999999999999999999999");
    for quantity in [number("-1"), number("-0.5"), most.clone() + number("1")] {
        let detail = format!(
            "replace_prices[0].fixed_price_quantity: found {quantity}, expected a number from \
                 zero on"
        );
        let found = refused(&fixture, create(quantity));
        assert_eq!(found, (ErrorKind::RequestValidation, detail));
    }
    for quantity in [number("0"), number("0.5"), most] {
        run(create(quantity)).unwrap();
    }
}

#[test]
fn an_anchor_is_a_day_of_a_month() {
    let fixture = Fixture::new();
    let (customer, plan) = (fixture.customer("ada").id, fixture.plan());
    let create = |day, month| {
        let mut new = NewSubscription::new(customer, plan.id);
        new.anchor = BillingAnchor::Day { day, month, year: None };
        // Its life lies behind: whichever periods it has, none is open.
        new.start_date = Some(at("2025-01-01T00:00:00Z"));
        new.end_date = Some(at("2025-02-01T00:00:00Z"));
        fixture.account.create_subscription(new)
    };
    for (day, month, field, found, last) in [
        (0, None, "day", 0, 31),
        (32, Some(1), "day", 32, 31),
        (1, Some(0), "month", 0, 12),
        (31, Some(13), "month", 13, 12),
    ] {
        let place = format!("anchor.{field}");
        let detail = format!("{place}: found {found}, expected 1 to {last}");
        let found = refused(&fixture, create(day, month));
        assert_eq!(found, (ErrorKind::RequestValidation, detail));
    }
    for (day, month) in [(1, None), (31, Some(1)), (31, Some(12))] {
        run(create(day, month)).unwrap();
    }
}

#[test]
fn subscriptions_1_11_in_a_shorter_month_the_last_day_serves() {
    let fixture = Fixture::new();
    let mut new = NewSubscription::new(fixture.customer("ada").id, fixture.plan().id);
    new.anchor = BillingAnchor::Day { day: 31, month: None, year: None };
    new.start_date = Some(at("2026-01-31T00:00:00Z"));
    let made = run(fixture.account.create_subscription(new)).unwrap();
    assert_eq!(made.billing_cycle_day(), 31);
    let mut ends = Vec::new();
    let mut from = made.start_date;
    for _ in 0..4 {
        from = made.periods().containing(from).unwrap().end();
        ends.push(from.to_string()[..10].to_owned());
    }
    assert_eq!(ends, ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]);
}

#[test]
fn subscriptions_1_11_a_month_says_where_longer_periods_begin() {
    let fixture = Fixture::new();
    let plan = fixture.priced_plan([fixture.fee(Cadence::Quarterly).into()]);
    let ada = fixture.customer("ada").id;
    let ends = |month| {
        let mut new = NewSubscription::new(ada, plan.id);
        new.anchor = BillingAnchor::Day { day: 15, month, year: None };
        new.start_date = Some(at("2026-01-01T00:00:00Z"));
        let made = run(fixture.account.create_subscription(new)).unwrap();
        let first = made.periods().containing(made.start_date).unwrap().end();
        let second = made.periods().containing(first).unwrap().end();
        [first, second].map(|end| end.to_string()[..10].to_owned())
    };
    assert_eq!(ends(Some(2)), ["2026-02-15", "2026-05-15"]);
    assert_eq!(ends(Some(12)), ["2026-03-15", "2026-06-15"]);
}
