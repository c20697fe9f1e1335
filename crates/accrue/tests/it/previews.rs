//! A preview answers what an operation would bring, and writes nothing.

use accrue::{
    CostChange, Error, ErrorKind, Preview,
    account::Configuration,
    alert::NewAlert,
    limits,
    price::{Cadence, Model, NewPrice, Unit},
    subscription::{NewSubscription, ReplacedPrice},
};

use crate::support::{
    credited::{CREDITS, credited, credited_with, dropped, increment},
    fixture::{Fixture, at, block_on, number, run, thresholds, usage_alert},
    priced::{Priced, cost_alert, described, metered, priced, unit},
};

impl<T> Told for Preview<T> {
    fn told(&self) -> Vec<String> {
        self.messages.iter().filter_map(|message| described(&message.body)).collect()
    }
}

trait Told {
    fn told(&self) -> Vec<String>;
}

/// Runs a preview, and makes sure that it writes nothing.
fn previewed<T>(fixture: &Fixture, preview: impl Future<Output = Result<T, Error>>) -> T {
    let before = fixture.dump();
    let preview = block_on(preview).unwrap();
    assert_eq!(fixture.dump(), before);
    preview
}

fn balances<T>(preview: &Preview<T>) -> Vec<String> {
    let show = |moved: &accrue::BalanceChange| {
        let before = moved.before.as_ref().map_or("none".to_owned(), ToString::to_string);
        format!("{} {before} -> {}", moved.currency, moved.after)
    };
    preview.balances.iter().map(show).collect()
}

/// Previews an operation, runs it, and makes sure that both bring the same messages.
fn foretold<T: Send + 'static>(priced: &Priced, call: impl Fn() -> accrue::Call<T>) -> Vec<String> {
    priced.fixture.drain();
    let preview = previewed(&priced.fixture, call().preview());
    run(call()).unwrap();
    priced.fixture.tick();
    assert_eq!(preview.told(), priced.told());
    preview.told()
}

#[test]
fn a_threshold_that_would_fire() {
    let priced = metered();
    priced.use_now("a", "7");
    let account = priced.fixture.account.clone();
    let create = |values: &'static [&'static str]| {
        let new = usage_alert(priced.metric.id, values);
        account.create_subscription_alert(priced.subscription.id, new)
    };
    let preview = previewed(&priced.fixture, create(&["5", "9"]).preview());
    assert_eq!(preview.told(), ["usage 5: 7 -> 7 by configuration"]);
    let told = foretold(&priced, || create(&["5", "9"]));
    assert_eq!(told, ["usage 5: 7 -> 7 by configuration"]);
    let alert = priced.alert(cost_alert(&["100"]));
    let told = foretold(&priced, || account.update_alert(alert.id, thresholds(&["6.5"])));
    assert_eq!(told, ["cost 6.5: 7 -> 7 by configuration"]);
}

#[test]
fn a_threshold_of_a_plan_is_judged_for_each_subscription() {
    let priced = metered();
    let fixture = &priced.fixture;
    let bob = fixture.customer("bob").id;
    fixture.subscribe(bob, &priced.plan);
    priced.use_now("a", "7");
    fixture.use_now("bob", "b", "4");
    let create = |value| {
        let new = NewAlert::cost_exceeded(thresholds(&[value]));
        fixture.account.create_plan_alert(priced.plan.id, new)
    };
    assert_eq!(previewed(fixture, create("8").preview()).told().len(), 0);
    let mut told = previewed(fixture, create("3").preview()).told();
    told.sort();
    let expect = ["cost 3: 4 -> 4 by configuration", "cost 3: 7 -> 7 by configuration"];
    assert_eq!(told, expect);
    foretold(&priced, || create("5"));
}

#[test]
fn an_alert_is_previewed_on_a_plan_with_fewer_than_1000_subscriptions() {
    let priced = metered();
    let fixture = &priced.fixture;
    let create = || fixture.account.create_plan_alert(priced.plan.id, cost_alert(&["1"])).preview();
    // One is there already.
    let customers: Vec<_> = (0..10).map(|n| fixture.customer(&format!("c{n}")).id).collect();
    for n in 1..limits::PREVIEWED - 1 {
        fixture.subscribe(customers[n % 10], &priced.plan);
    }
    assert!(block_on(create()).is_ok());
    fixture.subscribe(customers[0], &priced.plan);
    assert_eq!(block_on(create()).unwrap_err().kind(), ErrorKind::TooManyResults);
}

#[test]
fn an_entry_of_a_ledger() {
    let priced = credited();
    let create = || priced.fixture.account.create_ledger_entry(priced.customer, increment("5"));
    let preview = previewed(&priced.fixture, create().preview());
    assert_eq!(balances(&preview), ["credits none -> 5"]);
    assert_eq!(preview.answer.ending_balance, number("5"));
    let types: Vec<_> = preview.messages.iter().map(|of| of.body.message_type()).collect();
    assert_eq!(types, ["customer.credit_ledger_incremented"]);
    priced.give("2");
    priced.watch(dropped(&["1"]));
    priced.use_now("a", "2");
    assert_eq!(balances(&previewed(&priced.fixture, create().preview())), ["credits 0 -> 5"]);
}

#[test]
fn what_time_owes_comes_first_and_is_not_in_it() {
    let priced = credited();
    priced.give_until("5", "2026-03-11T00:00:00Z");
    priced.watch(dropped(&["4"]));
    priced.fixture.drain();
    priced.fixture.set("2026-03-12T00:00:00Z");
    let create = || priced.fixture.account.create_ledger_entry(priced.customer, increment("3"));
    let preview = previewed(&priced.fixture, create().preview());
    assert_eq!(balances(&preview), ["credits 0 -> 3"]);
    assert_eq!(preview.told().len(), 0, "the drop of the expiry is no part of it");
    run(create()).unwrap();
    assert_eq!(priced.told(), ["dropped 4: 5 -> 0 by expiry"]);
}

#[test]
fn a_batch_of_events() {
    let priced = credited_with("5");
    priced.watch(dropped(&["4"]));
    let batch = || {
        let event = crate::support::fixture::event("ada", "a", at("2026-03-10T12:00:00Z"), "2");
        priced.fixture.account.ingest([event])
    };
    let told = foretold(&priced, batch);
    assert_eq!(told, ["dropped 4: 5 -> 3 by event a"]);
}

#[test]
fn a_fee_keeps_the_quantity_of_the_subscription() {
    let priced = priced(|fixture, _| [fixture.advance_fee("10")]);
    let mut new = NewSubscription::new(priced.customer, priced.plan.id);
    new.prices.replace = vec![ReplacedPrice::quantity(priced.prices()[0], number("5"))];
    new.anchor = accrue::subscription::BillingAnchor::SubscriptionStart;
    let seats = priced.fixture.create(new);
    let dearer = priced.fixture.advance_fee("12");
    let preview = priced.fixture.account.preview_price(seats.id, priced.prices()[0], dearer);
    let CostChange { before, after, .. } = previewed(&priced.fixture, preview).answer;
    assert_eq!((before.total, after.total), (number("50"), number("60")));
}

#[test]
fn a_price_that_would_change_the_billing_cycle_is_refused() {
    let priced = metered();
    let mut yearly = priced.fixture.usage_at("1", &priced.metric);
    yearly.cadence = Cadence::Annual;
    let id = priced.subscription.id;
    let preview = priced.fixture.account.preview_price(id, priced.prices()[0], yearly);
    let error = block_on(preview).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation, "{error}");
    let detail = "the subscription would bill every 12 months, it bills every month";
    assert!(error.to_string().contains(detail), "{error}");
}

/// A price of so many credits for each unit.
fn in_credits(priced: &Priced, unit_amount: &str) -> NewPrice {
    let metric = &priced.metric;
    let model = Model::Unit(Unit::new(number(unit_amount)));
    NewPrice::builder(crate::support::fixture::name("other"), metric.item_id)
        .billed(Cadence::Monthly, unit(CREDITS))
        .usage(metric.id, model)
}

#[test]
fn another_price_on_one_subscription() {
    let priced = metered();
    priced.alert(cost_alert(&["10", "30"]));
    priced.use_now("a", "7");
    let (account, id) = (&priced.fixture.account, priced.subscription.id);
    let price = |amount| {
        account.preview_price(id, priced.prices()[0], {
            priced.fixture.usage_at(amount, &priced.metric)
        })
    };
    let preview = previewed(&priced.fixture, price("2"));
    assert_eq!(preview.answer.before.total, number("7"));
    assert_eq!(preview.answer.after.total, number("14"));
    assert_eq!(preview.told(), ["cost 10: 7 -> 14 by subscription"]);
    assert_eq!(previewed(&priced.fixture, price("0.5")).told().len(), 0);
    assert_eq!(priced.cost().total, number("7"));
}

#[test]
fn another_price_draws_the_difference() {
    let priced = credited_with("20");
    priced.watch(dropped(&["5"]));
    priced.use_now("a", "7");
    let (account, id) = (&priced.fixture.account, priced.subscription.id);
    let price = |amount| account.preview_price(id, priced.prices()[0], in_credits(&priced, amount));
    let dearer = previewed(&priced.fixture, price("2.5"));
    assert_eq!(balances(&dearer), ["credits 13 -> 2.5"]);
    assert_eq!(dearer.told(), ["dropped 5: 13 -> 2.5 by subscription"]);
    let cheaper = previewed(&priced.fixture, price("0.5"));
    assert_eq!(balances(&cheaper), ["credits 13 -> 16.5"]);
}

#[test]
fn a_matrix_is_rated_whether_or_not_its_cells_are_measured() {
    let priced = priced(|fixture, metric| [fixture.usage_at("1", metric)]);
    priced.use_now("a", "7");
    let (fixture, id) = (&priced.fixture, priced.subscription.id);
    let matrix = || fixture.by_region(&priced.metric, 1);
    let price = || fixture.account.preview_price(id, priced.prices()[0], matrix());
    let preview = previewed(fixture, price());
    assert_eq!(preview.answer.after.total, number("7"));
    // Another plan has them measured.
    fixture.priced_plan([matrix().into()]);
    let preview = previewed(fixture, price());
    assert_eq!(preview.answer.after.total, number("7"));
    priced.use_now("b", "2");
    let preview = previewed(fixture, price());
    assert_eq!(preview.answer.after.total, number("9"));
}

#[test]
fn what_cannot_be_previewed() {
    let priced = credited_with("5");
    let (fixture, id) = (&priced.fixture, priced.subscription.id);
    let account = &fixture.account;
    let other = fixture.priced_plan([fixture.fee(Cadence::Monthly).into()]);
    let fee = fixture.prices_of(&other)[0];
    let price = || in_credits(&priced, "2");
    let kind = |preview: Result<_, Error>| preview.map(|_: Preview<_>| ()).unwrap_err().kind();
    let found = block_on(account.preview_price(id, fee, price()));
    assert_eq!(kind(found), ErrorKind::ConstraintViolation);
    let mut yearly = price();
    yearly.item_id = "019cd79e-4600-766d-8e5b-79ccc9b49fdc".parse().unwrap();
    let found = block_on(account.preview_price(id, priced.prices()[0], yearly));
    assert_eq!(kind(found), ErrorKind::ResourceNotFound);
    let nobody = NewSubscription::new(
        priced.customer,
        "019cd79e-4600-766d-8e5b-79ccc9b49fdc".parse::<accrue::PlanId>().unwrap(),
    );
    let error = block_on(account.create_subscription(nobody).preview()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceNotFound);

    let mut configuration = Configuration::default();
    configuration.features.previews = false;
    run(account.configure(configuration)).unwrap();
    let create = account.create_ledger_entry(priced.customer, increment("1"));
    let error = block_on(create.preview()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FeatureNotAvailable);
}
