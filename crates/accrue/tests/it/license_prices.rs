//! Prices of licenses, and what may be beside them (subscriptions 7.4).

use accrue::{
    ErrorKind, LicenseTypeId, PropertyName,
    plan::NewPlan,
    price::{Cadence, LicenseAllocation, Model, NewPrice, Package},
    subscription::{IntervalChanges, IntervalDate, NewPriceInterval},
};

use crate::{
    licenses::licensed,
    support::{
        fixture::{Fixture, SUM, UNKNOWN, at, block_on, name, number, refused, run, usd},
        priced::unit,
    },
};

const CONSTRAINT: ErrorKind = ErrorKind::ConstraintViolation;

/// The kind of error with which a plan of some prices is refused; none where it is not.
fn planned(fixture: &Fixture, prices: impl IntoIterator<Item = NewPrice>) -> Option<ErrorKind> {
    let mut new = NewPlan::new(name("plan"), usd());
    new.prices = prices.into_iter().map(Into::into).collect();
    run(fixture.account.create_plan(new)).err().map(|error| error.kind())
}

fn package(of: NewPrice) -> NewPrice {
    let mut new = of;
    let model = Model::Package(Package::new(number("1"), 10));
    let metric_id = match new.charge {
        accrue::price::NewCharge::Of(accrue::price::Charge::Usage { metric_id, .. }) => metric_id,
        other => panic!("{other:?}"),
    };
    new.charge = accrue::price::Charge::Usage { metric_id, model }.into();
    new
}

fn allocation(currency: &str, amount: &str) -> LicenseAllocation {
    LicenseAllocation::new(unit(currency), number(amount))
}

#[test]
fn subscriptions_7_4_a_price_names_a_license_type_that_exists() {
    let fixture = Fixture::new();
    let license_type = fixture.license_type();
    let fee = run(fixture.account.create_price(fixture.seats(&license_type, 3))).unwrap();
    assert_eq!(fee.license_type_id, Some(license_type.id));
    assert_eq!(block_on(fixture.account.fetch_price(fee.id)).unwrap(), fee);
    let related = block_on(fixture.account.related(&fee)).unwrap();
    assert_eq!(related.license_type(license_type.id), Some(&license_type));
    let unknown: LicenseTypeId = UNKNOWN.parse().unwrap();
    let new = NewPrice { license_type_id: Some(unknown), ..fixture.seats(&license_type, 3) };
    let missing = refused(&fixture, fixture.account.create_price(new)).0;
    assert_eq!(missing, ErrorKind::ResourceNotFound);
}

#[test]
fn subscriptions_7_4_usage_of_licenses_is_of_the_model_unit() {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let mut new = package(fixture.usage_at("1", &metric));
    run(fixture.account.create_price(new.clone())).unwrap();
    new.license_type_id = Some(license_type.id);
    let error = run(fixture.account.create_price(new)).unwrap_err();
    assert_eq!(error.violations()[0].field, "charge.model");
}

#[test]
fn subscriptions_7_4_2_one_license_price_in_a_plan() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.license_type(), fixture.license_type());
    let fee = fixture.advance_fee("5");
    assert_eq!(planned(&fixture, [fixture.seats(&one, 3), fee.clone()]), None);
    let two = [fixture.seats(&one, 3), fixture.seats(&other, 3)];
    assert_eq!(planned(&fixture, two), Some(CONSTRAINT));
    let twice = [fixture.seats(&one, 3), fixture.seats(&one, 3)];
    assert_eq!(planned(&fixture, twice), Some(CONSTRAINT));
}

#[test]
fn subscriptions_7_4_2_one_license_price_in_a_subscription_at_a_time() {
    let of = licensed(3);
    let other = of.fixture.license_type();
    let price = run(of.fixture.account.create_price(of.fixture.seats(&other, 2))).unwrap();
    let add = |start: &str| IntervalChanges {
        add: vec![NewPriceInterval::new(price.id, IntervalDate::At(at(start)))],
        ..IntervalChanges::default()
    };
    let change = |changes| of.fixture.account.change_intervals(of.subscription.id, changes);
    let both = refused(&of.fixture, change(add("2026-04-01T00:00:00Z"))).0;
    assert_eq!(both, CONSTRAINT);
    let first = of.subscription.price_intervals[0].id;
    let mut changes = add("2026-04-01T00:00:00Z");
    let mut ending = accrue::subscription::PriceIntervalEdit::new(first);
    ending.end_date = accrue::Patch::Set(IntervalDate::At(at("2026-04-01T00:00:00Z")));
    changes.edit = vec![ending];
    run(change(changes)).unwrap();
}

#[test]
fn subscriptions_7_4_3_beside_a_license_price_usage_is_of_the_model_unit() {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let usage = fixture.usage_at("1", &metric);
    let with = |other: NewPrice| planned(&fixture, [fixture.seats(&license_type, 3), other]);
    assert_eq!(with(usage.clone()), None);
    assert_eq!(with(package(usage.clone())), Some(CONSTRAINT));
    let key = Some(PropertyName::parse("region").unwrap());
    let grouped = NewPrice { invoice_grouping_key: key, ..usage.clone() };
    assert_eq!(with(grouped.clone()), Some(CONSTRAINT));
    // A plan without a license price may have either.
    assert_eq!(planned(&fixture, [package(usage), grouped]), None);
}

#[test]
fn subscriptions_7_4_11_allocations_of_a_price() {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let seats = |allocations: &[LicenseAllocation]| NewPrice {
        license_allocations: allocations.to_vec(),
        ..fixture.seats(&license_type, 3)
    };
    let credits = allocation("credits", "100");
    let all = seats(&[credits.clone(), allocation("USD", "0")]);
    let price = run(fixture.account.create_price(all.clone())).unwrap();
    assert_eq!(price.license_allocations, all.license_allocations);
    let wrong = |new: NewPrice, field: &str| {
        let error = run(fixture.account.create_price(new)).unwrap_err();
        assert_eq!(error.violations().first().map(|of| of.field.as_str()), Some(field));
    };
    let again = "license_allocations[1].currency";
    wrong(seats(&[credits.clone(), allocation("credits", "1")]), again);
    wrong(seats(&[allocation("credits", "-1")]), "license_allocations[0].amount");
    let of_usage = NewPrice {
        license_type_id: Some(license_type.id),
        license_allocations: vec![credits.clone()],
        ..fixture.usage_at("1", &metric)
    };
    wrong(of_usage, "license_allocations");
    let all = || seats(std::slice::from_ref(&credits));
    wrong(NewPrice { license_type_id: None, ..all() }, "license_type_id");
    wrong(NewPrice { cadence: Cadence::OneTime, ..all() }, "cadence");
}
