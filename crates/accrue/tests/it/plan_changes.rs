//! Versions of plans that are made from the latest one.

use accrue::{
    ErrorKind, PriceId,
    plan::{DefaultVersion, NewPlanVersion, PlanVersion, PlanVersionChange, PricedVersion},
    price::Cadence,
};

use crate::support::fixture::{Fixture, block_on, external, refused, run};

fn ids(version: &PricedVersion) -> Vec<PriceId> {
    version.prices.iter().map(|price| price.id).collect()
}

#[test]
fn wire_5_1_prices_come_go_and_take_the_place_of_others() {
    let fixture = Fixture::new();
    let fees = [(); 3].map(|()| fixture.fee(Cadence::Monthly).into());
    let plan = fixture.priced_plan(fees);
    let first = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let [a, b, c] = ids(&first)[..] else { panic!("{first:?}") };
    let change = PlanVersionChange {
        version: Some(PlanVersion::new(2)),
        add: vec![fixture.fee(Cadence::Annual).into()],
        remove: vec![a],
        replace: vec![(b, fixture.fee(Cadence::Quarterly).into())],
        default: DefaultVersion::Keep,
        ..PlanVersionChange::default()
    };
    let second = run(fixture.account.change_plan_version(plan.id, change)).unwrap();
    let cadences: Vec<_> = second.prices.iter().map(|price| price.cadence).collect();
    assert_eq!(cadences, [Cadence::Quarterly, Cadence::Monthly, Cadence::Annual]);
    assert_eq!(second.prices[1].id, c, "what stays is the same price");
    assert!(![a, b].contains(&second.prices[0].id));
    let found = block_on(fixture.account.fetch_plan_version(plan.id, second.version)).unwrap();
    assert_eq!(found, second);
    assert_eq!(block_on(fixture.account.fetch_plan(plan.id)).unwrap().version, plan.version);
}

#[test]
fn wire_5_1_the_latest_version_is_changed_and_not_the_default_one() {
    let fixture = Fixture::new();
    let plan = fixture.priced_plan([fixture.fee(Cadence::Monthly).into()]);
    run(fixture.account.create_plan_version(plan.id, NewPlanVersion::new([]))).unwrap();
    let change = PlanVersionChange { default: DefaultVersion::Replace, ..Default::default() };
    let third = run(fixture.account.change_plan_version(plan.id, change)).unwrap();
    assert_eq!((third.version.number(), third.prices.len()), (3, 0));
    assert_eq!(block_on(fixture.account.fetch_plan(plan.id)).unwrap().version, third.version);
}

#[test]
fn a_change_that_the_latest_version_does_not_bear_is_refused() {
    let fixture = Fixture::new();
    let fees = [(); 2].map(|()| fixture.fee(Cadence::Monthly).into());
    let plan = fixture.priced_plan(fees);
    let first = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let [a, b] = ids(&first)[..] else { panic!("{first:?}") };
    let other = run(fixture.account.create_price(fixture.fee(Cadence::Monthly))).unwrap().id;
    let check = |change: PlanVersionChange, kind| {
        let (found, message) =
            refused(&fixture, fixture.account.change_plan_version(plan.id, change));
        assert_eq!(found, kind, "{message}");
    };
    let change = PlanVersionChange::default;
    for wrong in [
        PlanVersionChange { version: Some(PlanVersion::new(1)), ..change() },
        PlanVersionChange { version: Some(PlanVersion::new(3)), ..change() },
        PlanVersionChange { remove: vec![other], ..change() },
        PlanVersionChange { replace: vec![(other, a.into())], ..change() },
        PlanVersionChange { remove: vec![a, a], ..change() },
        PlanVersionChange { remove: vec![a], replace: vec![(a, other.into())], ..change() },
        PlanVersionChange { add: vec![b.into()], ..change() },
    ] {
        check(wrong, ErrorKind::ConstraintViolation);
    }
    let nothing = PlanVersionChange { add: vec![external("nothing").into()], ..change() };
    check(nothing, ErrorKind::ResourceNotFound);
    let mut nameless = fixture.fee(Cadence::Monthly);
    nameless.conversion_rate = Some(accrue::Decimal::zero().into());
    let add = vec![fixture.fee(Cadence::Monthly).into(), nameless.into()];
    let error =
        run(fixture.account.change_plan_version(plan.id, PlanVersionChange { add, ..change() }));
    let error = error.unwrap_err();
    assert_eq!(error.violations()[0].field, "add_prices[1].price.conversion_rate");
    let add = vec![a.into(); accrue::limits::PRICES];
    check(PlanVersionChange { add, ..change() }, ErrorKind::RequestValidation);
}
