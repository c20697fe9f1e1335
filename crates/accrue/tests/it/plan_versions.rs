use accrue::{
    ErrorKind,
    idempotency::Freshness,
    plan::{DefaultVersion, NewPlan, NewPlanVersion, PlanPrice, PlanVersion},
    price::{Cadence, Cycle, NewCharge},
};

use crate::support::fixture::{COUNT, Fixture, block_on, external, name, refused, run, usd};

const SECOND: PlanVersion = PlanVersion::new(2);

#[test]
fn a_plan_begins_with_the_prices_of_its_first_version() {
    let fixture = Fixture::new();
    let usage = fixture.per_unit(&fixture.metric(COUNT), Cadence::Monthly);
    let mut seats = fixture.fee(Cadence::Annual);
    seats.external_price_id = Some(external("seats"));
    let plan = fixture.priced_plan([usage.clone().into(), seats.into()]);
    let first = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    assert_eq!((first.plan_id, first.version), (plan.id, PlanVersion::FIRST));
    assert_eq!(first.created_at, plan.created_at);
    assert_eq!(NewCharge::from(first.prices[0].charge.clone()), usage.charge, "in the order given");
    let seats = block_on(fixture.account.fetch_price(external("seats"))).unwrap();
    assert_eq!(first.prices[1], seats);
}

#[test]
fn subscriptions_5_2_3_a_new_version_keeps_the_prices_that_it_names() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let mut seats = fixture.fee(Cadence::Monthly);
    seats.external_price_id = Some(external("seats"));
    let usage = fixture.per_unit(&metric, Cadence::Monthly);
    let plan = fixture.priced_plan([usage.into(), seats.into()]);
    let first = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    // What a kept price measures may be archived since.
    run(fixture.account.archive_metric(metric.id)).unwrap();
    run(fixture.account.archive_item(metric.item_id)).unwrap();

    let kept = [external("seats").into(), first.prices[0].id.into()];
    let support = fixture.fee(Cadence::Quarterly).into();
    let new = NewPlanVersion::new(kept.into_iter().chain([support]));
    let second = run(fixture.account.create_plan_version(plan.id, new)).unwrap();
    assert_eq!(second.version, SECOND);
    assert_eq!(second.prices[..2], [first.prices[1].clone(), first.prices[0].clone()]);
    let found = block_on(fixture.account.fetch_plan_version(plan.id, SECOND)).unwrap();
    assert_eq!(found, second);
    let old = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    assert_eq!(old, first);
}

#[test]
fn subscriptions_5_2_5_and_6_the_default_version_changes_only_where_that_is_asked_for() {
    let fixture = Fixture::new();
    let mut new = NewPlan::new(name("plan"), usd());
    new.external_plan_id = Some(external("pro"));
    let plan = run(fixture.account.create_plan(new)).unwrap();
    let default = || block_on(fixture.account.fetch_plan(plan.id)).unwrap().version.number();
    let create = |default| {
        let new = NewPlanVersion { default, ..NewPlanVersion::new([]) };
        run(fixture.account.create_plan_version(external("pro"), new)).unwrap().version.number()
    };
    assert_eq!((create(DefaultVersion::Keep), default()), (2, 1));
    assert_eq!((create(DefaultVersion::Replace), default()), (3, 3));
    let set = fixture.account.set_default_plan_version(external("pro"), SECOND);
    assert_eq!(run(set).unwrap().version, SECOND);
    assert_eq!(default(), 2);
    assert_eq!((create(DefaultVersion::Keep), default()), (4, 2), "one above the highest");
    let subscription = fixture.subscribe(fixture.customer("ada").id, &plan);
    assert_eq!(subscription.plan_version, SECOND);
    assert_eq!((create(DefaultVersion::Replace), default()), (5, 5));
    fixture.tick_at("2026-09-01T00:00:00Z");
    let found = block_on(fixture.account.fetch_subscription(subscription.id)).unwrap();
    assert_eq!(found.plan_version, SECOND, "it stays on the version that it was created on");
}

#[test]
fn a_plan_or_a_version_that_does_not_exist_is_not_found() {
    let fixture = Fixture::new();
    let (plan, account) = (fixture.plan(), &fixture.account);
    let fetched = block_on(account.fetch_plan_version(plan.id, SECOND)).unwrap_err();
    assert_eq!(fetched.to_string(), "no plan version with identifier 2");
    let zero = block_on(account.fetch_plan_version(plan.id, PlanVersion::new(0))).unwrap_err();
    let other = block_on(account.fetch_plan_version(external("pro"), plan.version)).unwrap_err();
    assert!(fetched.is_not_found() && zero.is_not_found() && other.is_not_found());
    let calls = [
        account.set_default_plan_version(plan.id, SECOND),
        account.set_default_plan_version(external("pro"), plan.version),
    ];
    for call in calls {
        assert_eq!(refused(&fixture, call).0, ErrorKind::ResourceNotFound);
    }
    let call = account.create_plan_version(external("pro"), NewPlanVersion::new([]));
    assert_eq!(refused(&fixture, call).0, ErrorKind::ResourceNotFound);
}

/// Holds a version of these prices against the error that is expected. A plan is refused with the
/// same.
fn check(fixture: &Fixture, prices: &[PlanPrice], expect: Result<Cycle, (ErrorKind, &str)>) {
    let plan = fixture.plan();
    let create = || {
        let new = NewPlanVersion::new(prices.iter().cloned());
        fixture.account.create_plan_version(plan.id, new)
    };
    match expect {
        Ok(cycle) => assert_eq!(run(create()).unwrap().cycle, cycle),
        Err((kind, detail)) => {
            let expect = (kind, detail.to_owned());
            assert_eq!(refused(fixture, create()), expect);
            let mut plan = NewPlan::new(name("plan"), usd());
            plan.prices = prices.to_vec();
            assert_eq!(refused(fixture, fixture.account.create_plan(plan)), expect);
        }
    }
}

#[test]
fn a_price_that_cannot_be_created_refuses_the_version() {
    let fixture = Fixture::new();
    let (fine, mut fee) = (fixture.fee(Cadence::Monthly), fixture.fee(Cadence::Monthly));
    run(fixture.account.archive_item(fee.item_id)).unwrap();
    let detail = format!("the item {} is archived", fee.item_id);
    let prices = [fine.clone().into(), fee.clone().into()];
    check(&fixture, &prices, Err((ErrorKind::ConstraintViolation, &detail)));

    fee.metadata.insert(String::new(), "v".repeat(513));
    let detail = "prices[1].price.metadata: value has 513 bytes, expected at most 512";
    let prices = [fine.clone().into(), fee.into()];
    check(&fixture, &prices, Err((ErrorKind::RequestValidation, detail)));

    let prices = [fine.into(), external("seats").into()];
    let detail = "no price with identifier seats";
    check(&fixture, &prices, Err((ErrorKind::ResourceNotFound, detail)));
}

#[test]
fn no_price_is_there_twice() {
    let fixture = Fixture::new();
    let mut new = fixture.fee(Cadence::Monthly);
    new.external_price_id = Some(external("seats"));
    let price = run(fixture.account.create_price(new.clone())).unwrap();
    let prices = [price.id.into(), external("seats").into()];
    let detail = format!("the price {} is there twice", price.id);
    check(&fixture, &prices, Err((ErrorKind::ConstraintViolation, &detail)));

    new.external_price_id = Some(external("desks"));
    let prices = [new.clone().into(), new.into()];
    let detail = "a price with external id desks exists already";
    check(&fixture, &prices, Err((ErrorKind::DuplicateResource, detail)));
}

#[test]
fn a_version_has_at_most_100_prices() {
    let fixture = Fixture::new();
    let fee: PlanPrice = fixture.fee(Cadence::Monthly).into();
    check(&fixture, &vec![fee.clone(); 100], Ok(Cycle::MONTH));
    let detail = "prices: has 101 prices, expected at most 100";
    check(&fixture, &vec![fee; 101], Err((ErrorKind::RequestValidation, detail)));
}

#[test]
fn its_matrices_have_at_most_200_cells_with_the_default_cells() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let matrix = |cells| fixture.by_region(&metric, cells).into();
    check(&fixture, &[matrix(100), matrix(98)], Ok(Cycle::MONTH));
    let detail = "the prices have 201 cells together, expected at most 200";
    let prices = [matrix(100), matrix(99)];
    check(&fixture, &prices, Err((ErrorKind::ConstraintViolation, detail)));
}

#[test]
fn the_shortest_cadence_of_its_prices_is_its_billing_period() {
    use Cadence::{Annual, Custom, Monthly, OneTime, Quarterly};
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let check = |usage: &[Cadence], fees: &[Cadence], expect: Cycle| {
        let usage = usage.iter().map(|cadence| fixture.per_unit(&metric, *cadence).into());
        let fees = fees.iter().map(|cadence| fixture.fee(*cadence).into());
        let prices: Vec<_> = fees.chain(usage).collect();
        check(&fixture, &prices, Ok(expect));
    };
    let (days, months) = (|days| Custom(Cycle::Days(days)), |months| Custom(Cycle::Months(months)));
    check(&[Quarterly, months(3)], &[Annual], Cycle::Months(3));
    check(&[Quarterly, months(3)], &[Monthly], Cycle::MONTH);
    check(&[days(7)], &[Monthly, OneTime], Cycle::Days(7));
    check(&[Annual, Monthly], &[], Cycle::MONTH);
    check(&[Monthly, days(30)], &[], Cycle::Days(30));

    check(&[], &[Annual, Quarterly, OneTime], Cycle::Months(3));
    check(&[], &[Monthly, days(31)], Cycle::MONTH);
    check(&[], &[Monthly, days(29)], Cycle::Days(29));
    check(&[], &[Monthly, days(30)], Cycle::Days(30));
    check(&[], &[days(30), Monthly], Cycle::Days(30));
    check(&[], &[OneTime], Cycle::MONTH);
    check(&[], &[], Cycle::MONTH);
}

#[test]
fn a_retry_under_a_key_creates_no_second_version() {
    let fixture = Fixture::new();
    let plan = fixture.plan();
    let fee: PlanPrice = fixture.fee(Cadence::Monthly).into();
    let create = |default| {
        let new = NewPlanVersion { default, ..NewPlanVersion::new([fee.clone()]) };
        let key = accrue::IdempotencyKey::parse("key").unwrap();
        block_on(fixture.account.create_plan_version(plan.id, new).keyed(key).into_future())
    };
    let first = create(DefaultVersion::Keep).unwrap();
    let before = fixture.dump();
    let again = create(DefaultVersion::Keep).unwrap();
    assert_eq!((again.freshness, &again.outcome), (Freshness::Replayed, &first.outcome));
    assert!(create(DefaultVersion::Replace).unwrap_err().is_conflict());
    assert_eq!(fixture.dump(), before);
}

#[test]
fn alerts_of_a_version_leave_its_prices_as_they_are() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let plan = fixture.priced_plan([fixture.per_unit(&metric, Cadence::Annual).into()]);
    let fetch = || block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let before = fetch();
    fixture.subscribe(fixture.customer("ada").id, &plan);
    let alert = crate::support::fixture::usage_alert(metric.id, &["1"]);
    run(fixture.account.create_plan_alert(plan.id, alert)).unwrap();
    while block_on(fixture.billing.tick(10)).unwrap().more {}
    assert_eq!(fetch(), before);
    assert_eq!(before.cycle, Cycle::Months(12));
}
