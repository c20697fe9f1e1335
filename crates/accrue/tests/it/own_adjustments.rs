//! Adjustments that a request gives a subscription: what they are over, and what comes first (subscriptions 1.3, 1.4).

use std::collections::BTreeSet;

use accrue::{
    ErrorKind, Fraction, ItemId, PriceId,
    plan::{NewPlan, Plan},
    price::{
        Adjustment, Discount, DiscountTier, FilterOperator, FilterValues, NewAdjustment,
        PriceClass, PriceFilter,
    },
    subscription::{
        AddedPrice, AdjustmentChanges, NewPriceInterval, PriceChanges, ReplacedPrice, Subscription,
    },
};

use crate::{
    adjustments::{amount_off, over, percentage_off},
    own_prices::{adding_price, adjusted, named, of_subscription, over_named, plan, with},
    price_intervals::{Changed, adding, changed, constraint},
    support::fixture::{UNKNOWN, at, block_on, name, number, refused, run, usd},
};

fn filter(operator: FilterOperator, values: FilterValues) -> PriceFilter {
    PriceFilter { operator, values }
}

/// The prices that the only adjustment of a new subscription reaches, by their places in its plan.
fn reached(changed: &Changed, new: NewAdjustment) -> Vec<usize> {
    let made = run(with(changed, |of| of.adjustments = adjusted(new))).unwrap();
    let [only] = made.adjustment_intervals.as_slice() else { panic!("{made:?}") };
    places(&made, &only.price_ids)
}

fn places(of: &Subscription, ids: &BTreeSet<PriceId>) -> Vec<usize> {
    let intervals = of.price_intervals.iter().enumerate();
    intervals.filter(|(_, of)| ids.contains(&of.price_id)).map(|(place, _)| place).collect()
}

fn tiers(of: &[(&str, Option<&str>, &str)]) -> NewAdjustment {
    let tiers = of.iter().map(|(lower, upper, percentage)| DiscountTier {
        lower_bound: number(lower),
        upper_bound: upper.map(number),
        percentage: Fraction::parse(percentage).unwrap(),
    });
    let tiers = Discount::TieredPercentage(tiers.collect());
    NewAdjustment::new(Adjustment::Discount(tiers))
}

#[test]
fn subscriptions_1_3_6_prices_come_before_adjustments_and_what_goes_before_what_comes() {
    let changed = plan();
    let fixture = changed.fixture();
    let mut new = NewPlan::new(name("Adjusted"), usd());
    new.prices = vec![fixture.advance_fee("20").into(), fixture.advance_fee("40").into()];
    new.adjustments = vec![percentage_off("0.1"), percentage_off("0.2")];
    let plan: Plan = run(fixture.account.create_plan(new)).unwrap();
    let version = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let [first, second] = [0, 1].map(|place: usize| version.prices[place].id);
    let [tenth, fifth] = [0, 1].map(|place: usize| version.adjustments[place].scope.id);
    let made = run(with(&changed, |new| {
        new.plan = Some(plan.id.into());
        new.prices = PriceChanges {
            remove: vec![first.into()],
            replace: vec![ReplacedPrice::by(second, named("other", fixture.advance_fee("30")))],
            add: vec![AddedPrice::new(named("more", fixture.advance_fee("8")))],
        };
        new.adjustments = AdjustmentChanges {
            remove: vec![tenth],
            replace: vec![(fifth, over_named(&["other"], percentage_off("0.5")))],
            add: vec![over_named(&["more"], percentage_off("0.25")).into()],
        };
    }))
    .unwrap();
    let names = made.price_intervals.iter().map(|of| of.replaces_price_id);
    assert_eq!(names.collect::<Vec<_>>(), [Some(second), None]);
    let over: Vec<_> =
        made.adjustment_intervals.iter().map(|of| places(&made, &of.price_ids)).collect();
    assert_eq!(over, [[0], [1]], "of what took a place, and of what was added");
    let first = crate::invoices::all(&of_subscription(&changed, made.id)).remove(0);
    assert!(first.ends_with("2027-01-01: fee 15, fee 6 = 21"), "{first}");
}

#[test]
fn subscriptions_1_4_2_all_filters_hold_of_which_each_names_values_or_leaves_them_out() {
    let mut items = Vec::<ItemId>::new();
    let changed = changed(|fixture, metric| {
        let fees = ["1", "2"].map(|of| fixture.arrear_fee(of));
        items = fees.iter().map(|of| of.item_id).collect();
        let [one, other] = fees;
        vec![fixture.usage_at("1", metric), one, other, fixture.advance_fee("3")]
    });
    let with = |filters: Vec<PriceFilter>| {
        reached(&changed, NewAdjustment { filters, ..percentage_off("0.5") })
    };
    use FilterOperator::{Excludes, Includes};
    let class = |of: &[PriceClass]| FilterValues::PriceType(of.iter().copied().collect());
    let item = |of: &[usize]| FilterValues::ItemId(of.iter().map(|place| items[*place]).collect());
    let both = class(&[PriceClass::Usage, PriceClass::FixedInArrears]);
    assert_eq!(with(vec![filter(Includes, both.clone())]), [0, 1, 2], "one of the values");
    assert_eq!(with(vec![filter(Excludes, both.clone())]), [3], "none of the values");
    assert_eq!(with(vec![filter(Excludes, item(&[0, 1]))]), [0, 3]);
    let all = vec![filter(Includes, both), filter(Excludes, item(&[0]))];
    assert_eq!(with(all), [0, 2], "both filters hold");
    let none = vec![filter(Includes, item(&[0])), filter(Includes, item(&[1]))];
    assert_eq!(with(none), [0; 0]);
}

#[test]
fn subscriptions_1_4_5_what_reaches_nothing_waits_for_prices_and_what_is_unknown_is_not_found() {
    let changed = plan();
    let fixture = changed.fixture();
    let later = changed.price(fixture.advance_fee("10"));
    let of_later = over(FilterValues::PriceId([later].into()), percentage_off("0.5"));
    let made = run(with(&changed, |new| new.adjustments = adjusted(of_later))).unwrap();
    assert!(made.adjustment_intervals[0].price_ids.is_empty());
    let add = adding(NewPriceInterval::new(later, at("2027-02-01T00:00:00Z")));
    let after = run(fixture.account.change_intervals(made.id, add)).unwrap();
    assert_eq!(after.adjustment_intervals[0].price_ids, [later].into());

    let unknown = [
        FilterValues::PriceId([UNKNOWN.parse().unwrap()].into()),
        FilterValues::ItemId([UNKNOWN.parse().unwrap()].into()),
    ];
    for values in unknown {
        let call = with(&changed, |new| {
            new.adjustments = adjusted(over(values.clone(), percentage_off("0.5")));
        });
        assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound, "{values:?}");
    }
}

#[test]
fn subscriptions_1_4_6_what_is_not_over_the_invoice_is_of_one_price() {
    let changed = changed(|fixture, _| ["20", "40"].map(|of| fixture.advance_fee(of)).into());
    let ids = [0, 1].map(|place: usize| changed.subscription.price_intervals[place].price_id);
    let call = |ids: &[PriceId]| {
        let ids = FilterValues::PriceId(ids.iter().copied().collect());
        let of = NewAdjustment { is_invoice_level: false, ..over(ids, amount_off("1")) };
        with(&changed, |new| new.adjustments = adjusted(of))
    };
    let other = changed.price(changed.fixture().advance_fee("1"));
    for wrong in [&ids[..], &[other]] {
        constraint(refused(changed.fixture(), call(wrong)));
    }
    let made = run(call(&ids[1..])).unwrap();
    assert!(!made.adjustment_intervals[0].is_invoice_level());
    assert_eq!(places(&made, &made.adjustment_intervals[0].price_ids), [1]);
}

#[test]
fn subscriptions_1_4_7_units_are_taken_off_usage_alone() {
    let changed = plan();
    let units = || NewAdjustment::new(Adjustment::Discount(Discount::Usage(number("100"))));
    let over_class = |class| over(FilterValues::PriceType([class].into()), units());
    for wrong in [units(), over_class(PriceClass::Fixed)] {
        let call = with(&changed, |new| new.adjustments = adjusted(wrong));
        constraint(refused(changed.fixture(), call));
    }
    assert_eq!(reached(&changed, over_class(PriceClass::Usage)), [1]);
}

#[test]
fn subscriptions_1_4_8_tiers_follow_each_other_from_zero_on() {
    let changed = plan();
    let wrong: [&[(&str, Option<&str>, &str)]; 7] = [
        &[],
        &[("0", None, "0.1")],
        &[("1", Some("100"), "0.1"), ("100", None, "0.2")],
        &[("0", Some("100"), "0.1"), ("101", None, "0.2")],
        &[("0", Some("100"), "0.1"), ("99", None, "0.2")],
        &[("0", None, "0.1"), ("100", None, "0.2")],
        &[("0", Some("100"), "0.1"), ("100", Some("200"), "0.2")],
    ];
    for of in wrong {
        let call = with(&changed, |new| new.adjustments = adjusted(tiers(of)));
        let (kind, text) = refused(changed.fixture(), call);
        assert_eq!(kind, ErrorKind::RequestValidation, "{of:?}: {text}");
    }
    let right = [("0", Some("100"), "0.1"), ("100", Some("200"), "0"), ("200", None, "1")];
    let of_usage = over(FilterValues::PriceType([PriceClass::Usage].into()), tiers(&right));
    assert_eq!(reached(&changed, of_usage), [1]);
}

/// What the prices of a plan come to in January with an adjustment, where so much was used.
fn january(changed: &Changed, used: &str, new: NewAdjustment) -> Vec<String> {
    let made = run(with(changed, |of| of.adjustments = adjusted(new))).unwrap();
    changed.invoiced.use_at("a", crate::price_intervals::JANUARY, used);
    changed.fixture().tick_at("2027-02-02T00:00:00Z");
    let cost = changed.fixture().cost(&made, &crate::own_prices::january());
    cost.lines.iter().map(|line| line.total.to_string()).collect()
}

#[test]
fn subscriptions_1_4_example_of_tiers() {
    let bands = || tiers(&[("0", Some("100"), "0.1"), ("100", None, "0.2")]);
    let one = || changed(|fixture, metric| vec![fixture.usage_at("1", metric)]);
    assert_eq!(january(&one(), "250", bands()), ["210"], "10 and 30 are taken off");
    assert_eq!(january(&one(), "100", bands()), ["90"], "the upper bound is of the first one");
}

#[test]
fn subscriptions_1_4_example_of_a_minimum_over_two_prices() {
    let two = changed(|fixture, metric| {
        vec![fixture.usage_at("12", metric), fixture.usage_at("6", metric)]
    });
    let least = NewAdjustment::new(Adjustment::Minimum(number("21")));
    let least = NewAdjustment { item_id: Some(two.fixture().item().id), ..least };
    assert_eq!(january(&two, "1", least), ["14", "7"], "3 more, in proportion");
}

#[test]
fn subscriptions_1_3_7_what_is_added_is_reached_by_what_the_plan_adjusts() {
    let changed = plan();
    let fixture = changed.fixture();
    let mut new = NewPlan::new(name("Half"), usd());
    new.prices = vec![fixture.advance_fee("20").into()];
    new.adjustments = vec![percentage_off("0.5")];
    let plan = run(fixture.account.create_plan(new)).unwrap();
    let made = run(with(&changed, |new| {
        new.plan = Some(plan.id.into());
        new.prices = adding_price(fixture.advance_fee("30"));
    }))
    .unwrap();
    assert_eq!(places(&made, &made.adjustment_intervals[0].price_ids), [0, 1]);
}
