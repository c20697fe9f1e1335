//! What is wrong is refused with its kind and its place, and nothing is written.

use accrue::{
    Currency, Decimal, ErrorKind, MetricId,
    alert::{NewAlert, Thresholds},
    plan::{NewPlan, NewPlanVersion, PlanPrice, PlanVersion},
    price::{
        Adjustments, Cadence, Charge, Cycle, Discount, Model, NewCharge, NewPrice, Tier, Tiered,
    },
    subscription::{BillingAnchor, NewSubscription},
};

use crate::support::{
    fixture::{Fixture, SUM, block_on, name, number, refused, run, usage_alert, usd},
    priced::{cost_alert, metered, spend_alert},
};

/// Holds what a price is refused with against the kind and the text that are expected: alone, in a
/// plan and in a version of one.
fn check(fixture: &Fixture, price: &NewPrice, kind: ErrorKind, detail: &str) {
    let account = &fixture.account;
    let found = refused(fixture, account.create_price(price.clone()));
    assert_eq!(found, (kind, detail.to_owned()));
    let price: PlanPrice = price.clone().into();
    let mut plan = NewPlan::new(name("plan"), usd());
    plan.prices = vec![price.clone()];
    assert_eq!(refused(fixture, account.create_plan(plan)).0, kind);
    let plan = fixture.plan();
    let version = account.create_plan_version(plan.id, NewPlanVersion::new([price]));
    let (found, text) = refused(fixture, version);
    assert_eq!(found, kind);
    let is_of_a_field = kind == ErrorKind::RequestValidation;
    let place = if is_of_a_field { "prices[0].price." } else { "" };
    assert_eq!(text, format!("{place}{detail}"));
}

#[test]
fn tiers_adjoin_from_zero_on() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let check = |tiers: &[(&str, Option<&str>)], expect: &str| {
        let tier = |(first, last): &(&str, Option<&str>)| {
            Tier::new(number(first), last.map(number), number("1"))
        };
        let model = Model::Tiered(Tiered::new(tiers.iter().map(tier)));
        let mut price = fixture.usage_at("1", &metric);
        price.charge = Charge::Usage { metric_id: metric.id, model }.into();
        let detail = format!("charge.model.tiered.tiers{expect}");
        check(&fixture, &price, ErrorKind::RequestValidation, &detail);
    };
    check(
        &[("0", Some("10")), ("12", None)],
        "[1].first_unit: found 12, a gap: expected 10, where the tier before ends",
    );
    check(
        &[("0", Some("10")), ("9", None)],
        "[1].first_unit: found 9, an overlap: expected 10, where the tier before ends",
    );
    check(&[("2", None)], "[0].first_unit: found 2, expected the first tier to begin at 0");
    check(
        &[("0", Some("10")), ("10", Some("20"))],
        "[1].last_unit: found 20, expected none: it is the last",
    );
    check(
        &[("0", None), ("10", None)],
        "[0].last_unit: found none, which only the last tier may have",
    );
    check(
        &[("0", Some("10")), ("10", Some("10")), ("10", None)],
        "[1].last_unit: found 10, expected more than its first unit, 10",
    );
}

#[test]
fn amounts_that_cannot_be_are_refused() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let usage = fixture.usage_at("1", &metric);
    let fee = fixture.advance_fee("5");
    let wrong = |price: NewPrice, detail: &str| {
        check(&fixture, &price, ErrorKind::RequestValidation, detail);
    };
    let NewCharge::Of(Charge::Fixed { model, billing_mode, .. }) = fee.charge.clone() else {
        panic!()
    };
    let charge = Charge::Fixed { quantity: number("-0.5"), model, billing_mode }.into();
    let detail = "charge.quantity: found -0.5, expected 0 or more";
    wrong(NewPrice { charge, ..fee.clone() }, detail);

    for rate in ["0", "-1"] {
        let detail = format!("conversion_rate: found {rate}, expected more than 0");
        wrong(NewPrice { conversion_rate: Some(number(rate).into()), ..usage.clone() }, &detail);
    }
    let adjusted = |adjustments: Adjustments| NewPrice { adjustments, ..usage.clone() };
    let minimum = |minimum| Adjustments { minimum: Some(number(minimum)), ..Default::default() };
    let discount = |discount| Adjustments { discounts: vec![discount], ..Default::default() };
    wrong(adjusted(minimum("-1")), "adjustments.minimum: found -1, expected 0 or more");
    let crossed = Adjustments { maximum: Some(number("4")), ..minimum("5") };
    let detail = "adjustments.minimum: found 5, expected at most the maximum of 4";
    wrong(adjusted(crossed), detail);
    let detail = "adjustments.discounts[0]: found -3, expected 0 or more";
    wrong(adjusted(discount(Discount::Amount(number("-3")))), detail);
    let detail = "adjustments.discounts[0]: found a discount of units on a fixed price, expected a usage price";
    let adjustments = discount(Discount::Usage(number("1")));
    wrong(NewPrice { adjustments, ..fee }, detail);
}

#[test]
fn cadences_that_cannot_be_are_refused() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let check = |cadence, detail: &str| {
        let price = fixture.per_unit(&metric, cadence);
        check(&fixture, &price, ErrorKind::RequestValidation, detail);
    };
    let once = "cadence: found one_time, expected a recurring cadence for a usage price";
    check(Cadence::OneTime, once);
    let place = "cadence.duration";
    let (days, months) = (Cycle::Days, Cycle::Months);
    for (cycle, found) in [
        (days(0), "found 0 days, expected 1 to 3660"),
        (days(3_661), "found 3661 days, expected 1 to 3660"),
        (months(0), "found 0 months, expected 1 to 120"),
        (months(121), "found 121 months, expected 1 to 120"),
    ] {
        check(Cadence::Custom(cycle), &format!("{place}: {found}"));
    }
}

#[test]
fn a_usage_price_has_a_metric_that_exists_and_is_not_archived() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let mut price = fixture.usage_at("1", &metric);
    let model = price.charge.model().clone();
    price.charge = Charge::Usage { metric_id: unknown(), model }.into();
    let detail = format!("no metric with identifier {}", unknown());
    check(&fixture, &price, ErrorKind::ResourceNotFound, &detail);
    let price = fixture.usage_at("1", &metric);
    run(fixture.account.archive_metric(metric.id)).unwrap();
    let detail = format!("the metric {} is archived", metric.id);
    check(&fixture, &price, ErrorKind::ConstraintViolation, &detail);
}

fn unknown() -> MetricId {
    "019cd79e-4600-7000-8000-000000000000".parse().unwrap_or_else(|_| unreachable!())
}

#[test]
fn a_plan_is_invoiced_in_a_currency_of_iso_4217() {
    for code in ["credits", "usd", "US", "", "USDX", "XYZ"] {
        let error = Currency::parse(code).unwrap_err();
        let expect = format!("found {code:?}, expected the code of an ISO 4217 currency");
        assert_eq!(error.to_string(), expect);
    }
    let long = Currency::parse(&"x".repeat(1_000_000)).unwrap_err().to_string();
    assert!(long.len() < 100, "{long}");
}

#[test]
fn a_version_that_does_not_exist_is_not_found() {
    let priced = metered();
    let (fixture, account) = (&priced.fixture, &priced.fixture.account);
    let plan = priced.plan.id;
    for number in [0, 2, u32::MAX] {
        let version = PlanVersion::new(number);
        let new: [NewAlert; 3] =
            [cost_alert(&["1"]), spend_alert("USD", &["1"]), usage_alert(priced.metric.id, &["1"])];
        for new in new {
            let call = account.create_plan_version_alert(plan, version, new);
            assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound);
        }
        let call = account.set_default_plan_version(plan, version);
        assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound);
        let mut new = NewSubscription::new(priced.customer, plan);
        new.plan_version = Some(version);
        let call = account.create_subscription(new);
        assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound);
        assert!(block_on(account.fetch_plan_version(plan, version)).unwrap_err().is_not_found());
    }
}

#[test]
fn a_year_alone_is_no_anchor() {
    let priced = metered();
    let mut new = NewSubscription::new(priced.customer, priced.plan.id);
    new.anchor = BillingAnchor::Day { day: 1, month: None, year: Some(2_026) };
    let found = refused(&priced.fixture, priced.fixture.account.create_subscription(new));
    let place = "anchor.month";
    let detail = format!("{place}: found a year alone, expected its month");
    assert_eq!(found, (ErrorKind::RequestValidation, detail));
}

#[test]
fn an_alert_needs_a_subscription_or_a_plan_that_is_there() {
    let priced = metered();
    let (fixture, account) = (&priced.fixture, &priced.fixture.account);
    let id = "019cd79e-4600-7000-8000-000000000000";
    let call = account.create_subscription_alert(
        id.parse().unwrap_or_else(|_| unreachable!()),
        cost_alert(&["1"]),
    );
    assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound);
    let call =
        account.create_plan_alert(crate::support::fixture::external("pro"), cost_alert(&["1"]));
    assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound);
    run(account.delete_customer(priced.customer)).unwrap();
    let call = account.create_subscription_alert(priced.subscription.id, cost_alert(&["1"]));
    assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound);
}

#[test]
fn the_alert_of_a_customer_that_is_deleted_is_found_no_more() {
    let priced = metered();
    let (fixture, account) = (&priced.fixture, &priced.fixture.account);
    let alert = priced.alert(cost_alert(&["1"]));
    run(account.delete_customer(priced.customer)).unwrap();
    let call = account.update_alert(alert.id, crate::support::fixture::thresholds(&["2"]));
    assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound);
    assert_eq!(refused(fixture, account.enable_alert(alert.id)).0, ErrorKind::ResourceNotFound);
    fixture.set("2026-05-01T00:00:00Z");
    fixture.tick();
    assert_eq!(fixture.told(), [""; 0]);
}

#[test]
fn a_plan_alert_cannot_change_10_000_times_without_a_tick() {
    let priced = metered();
    let alert = priced.plan_alert(cost_alert(&["5"]));
    let account = &priced.fixture.account;
    for _ in 0..4_999 {
        run(account.disable_alert(alert.id)).unwrap();
        run(account.enable_alert(alert.id)).unwrap();
    }
    run(account.disable_alert(alert.id)).unwrap();
    let (kind, detail) = refused(&priced.fixture, account.enable_alert(alert.id));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert_eq!(detail, "10000 changes to the alerts of the version wait for a tick");
    priced.fixture.tick();
    run(account.enable_alert(alert.id)).unwrap();
}

#[test]
fn thresholds_are_1_to_100_numbers_that_could_come_in_each_once() {
    let check = |values: Vec<Decimal>, detail: &str| {
        let error = Thresholds::new(values).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RequestValidation);
        assert_eq!(error.to_string(), format!("thresholds: {detail}"));
    };
    let most = number("9999999999999999999999999999");
    check(vec![], "found 0, expected 1 to 100");
    check((0..101_u64).map(Decimal::from).collect(), "found 101, expected 1 to 100");
    check(vec![most.clone() + number("1")], "a number has more than 28 digits");
    check(vec![number("5"), most.clone(), number("5.0")], "found 5 twice");
    Thresholds::new((0..99_u64).map(Decimal::from).chain([most])).unwrap();
}
