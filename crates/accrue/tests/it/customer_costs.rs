//! What all subscriptions of a customer cost together.

use accrue::{
    Currency, CustomerId, Decimal, ErrorKind,
    cost::{Cost, CostLine, CostQuery},
    plan::{NewPlan, Plan},
    price::NewPrice,
    subscription::{Cancellation, NewSubscription},
};

use crate::{
    costs::{ever, over, three_days},
    support::fixture::{Fixture, block_on, name, number, refused, run},
};

/// A plan in a currency, with one price.
fn plan_in(fixture: &Fixture, code: &str, mut price: NewPrice) -> Plan {
    let currency = Currency::parse(code).unwrap();
    price.currency = currency.into();
    let mut new = NewPlan::new(name("plan"), currency);
    new.prices = vec![price.into()];
    run(fixture.account.create_plan(new)).unwrap()
}

fn of_customer(fixture: &Fixture, customer: CustomerId, query: &CostQuery) -> Cost {
    let costs = block_on(fixture.account.customer_costs(customer, query)).unwrap();
    let [cost] = <[Cost; 1]>::try_from(costs).unwrap();
    cost
}

#[test]
fn a_customer_costs_what_its_subscriptions_do_together() {
    let priced = three_days();
    let fixture = &priced.fixture;
    let twin = fixture.subscribe(priced.customer, &priced.plan);
    let euros = plan_in(fixture, "EUR", fixture.advance_fee("100"));
    let new = NewSubscription::new(priced.customer, euros.id);
    let (kind, detail) = refused(fixture, fixture.account.create_subscription(new));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert_eq!(detail, "the plan is invoiced in EUR, the customer in USD");
    let cost = of_customer(fixture, priced.customer, &CostQuery::default());
    // The event of the last instant counts for the twin too: 7 + 5 and 4 + 5.
    assert_eq!((cost.currency.as_str(), &cost.total), ("USD", &number("21")));
    assert_eq!(cost.timeframe.start(), priced.subscription.start_date);
    let lines = priced.fixture.cost(&priced.subscription, &CostQuery::default()).lines;
    assert_eq!(cost.lines.len(), lines.len(), "a line for each price");
    let twins = fixture.cost(&twin, &CostQuery::default()).lines;
    for (both, (one, other)) in cost.lines.iter().zip(lines.iter().zip(&twins)) {
        let sum = |of: fn(&CostLine) -> &Decimal| of(one).clone() + of(other).clone();
        assert_eq!(both.quantity, sum(|line| &line.quantity));
        assert_eq!(both.subtotal, sum(|line| &line.subtotal));
        assert_eq!(both.total, sum(|line| &line.total));
    }
    assert_eq!(cost.subtotal, cost.lines.iter().map(|line| line.subtotal.clone()).sum());
    let query = over("2026-03-10T12:00:00Z", "2026-03-11T00:00:00Z");
    assert_eq!(of_customer(fixture, priced.customer, &query).total, number("6"));
}

#[test]
fn a_customer_without_subscriptions_costs_nothing() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada").id;
    let costs = block_on(fixture.account.customer_costs(ada, &CostQuery::default())).unwrap();
    assert_eq!(costs, []);
}

#[test]
fn ended_subscriptions_count_in_the_costs_of_their_customer() {
    let priced = three_days();
    let (fixture, id) = (&priced.fixture, priced.subscription.id);
    run(fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    fixture.set("2027-03-12T00:00:00Z");
    assert_eq!(of_customer(fixture, priced.customer, &ever()).total, number("4.16"));
    let query = over("2026-03-11T00:00:00Z", "2026-03-12T00:00:00Z");
    assert_eq!(of_customer(fixture, priced.customer, &query).total, number("2"));
}

#[test]
fn the_costs_of_a_deleted_customer_are_not_found() {
    let priced = three_days();
    let account = &priced.fixture.account;
    run(account.delete_customer(priced.customer)).unwrap();
    let query = CostQuery::default();
    let of_subscription = block_on(account.subscription_costs(priced.subscription.id, &query));
    assert!(of_subscription.unwrap_err().is_not_found());
    let of_customer = block_on(account.customer_costs(priced.customer, &query));
    assert!(of_customer.unwrap_err().is_not_found());
}
