//! What no price is created with, by the place in the body that the error names.

use super::*;
use crate::{Currency, Fraction, PropertyName, limits};

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

/// A number that is computed but never comes in.
fn too_long() -> Decimal {
    number(&"9".repeat(28)) * number("1.1")
}

fn unit() -> Model {
    Model::Unit(Unit::new(number("0.5")))
}

fn usage(model: Model) -> Charge {
    Charge::Usage { metric_id: MetricId::from_bytes([1; 16]), model }
}

fn fixed(quantity: Decimal, model: Model) -> Charge {
    Charge::Fixed { quantity, model, billing_mode: BillingMode::InAdvance }
}

fn price(charge: Charge) -> NewPrice {
    let (name, item_id) = (Name::parse("Tokens").unwrap(), ItemId::from_bytes([7; 16]));
    let usd = Currency::parse("USD").unwrap();
    NewPrice::builder(name, item_id).billed(Cadence::Monthly, usd).charge(charge)
}

fn created(price: NewPrice) {
    price.check().unwrap();
}

fn refused(price: &NewPrice, pointer: &str, message: &str) {
    let error = price.check().unwrap_err();
    let [violation] = error.violations() else { panic!("{error}") };
    assert_eq!((violation.field.as_str(), violation.message.as_str()), (pointer, message));
}

fn model_refused(model: Model, pointer: &str, message: &str) {
    refused(&price(usage(model)), pointer, message);
}

#[test]
fn subscriptions_1_4_3_and_4_classes_of_prices() {
    let check = |charge: &Charge, expect: &[&str]| {
        let classes = [
            PriceClass::Usage,
            PriceClass::Fixed,
            PriceClass::FixedInAdvance,
            PriceClass::FixedInArrears,
            PriceClass::InArrears,
        ];
        let found = classes.into_iter().filter(|class| charge.is_of(*class));
        assert_eq!(found.map(PriceClass::name).collect::<Vec<_>>(), expect);
    };
    let fee = |billing_mode| Charge::Fixed { quantity: number("1"), model: unit(), billing_mode };
    check(&usage(unit()), &["usage", "in_arrears"]);
    check(&fee(BillingMode::InAdvance), &["fixed", "fixed_in_advance"]);
    check(&fee(BillingMode::InArrear), &["fixed", "fixed_in_arrears", "in_arrears"]);
}

#[test]
fn a_unit_amount_has_the_digits_of_what_comes_in() {
    let digits = "number has 30 significant digits, expected at most 28";
    model_refused(Model::Unit(Unit::new(too_long())), "charge.model.unit.unit_amount", digits);
    let package =
        |package_amount, package_size| Model::Package(Package::new(package_amount, package_size));
    model_refused(package(too_long(), 1), "charge.model.package.package_amount", digits);
    model_refused(
        package(number("1"), 0),
        "charge.model.package.package_size",
        "found 0, expected a whole number of 1 to 9007199254740991",
    );
    model_refused(
        package(number("1"), limits::PACKAGE_UNITS + 1),
        "charge.model.package.package_size",
        "found 9007199254740992, expected a whole number of 1 to 9007199254740991",
    );
    created(price(usage(package(number("-1"), 1))));
    created(price(usage(package(number("1"), limits::PACKAGE_UNITS))));
}

#[test]
fn a_scaling_factor_is_more_than_zero() {
    let unit = |factor| {
        let mut unit = Unit::new(number("1"));
        unit.scaling_factor = Some(factor);
        Model::Unit(unit)
    };
    created(price(usage(unit(number("0.001")))));
    let at = "charge.model.unit.scaling_factor";
    model_refused(unit(number("0")), at, "found 0, expected more than 0");
    model_refused(unit(number("-0.5")), at, "found -0.5, expected more than 0");
    let digits = "number has 30 significant digits, expected at most 28";
    model_refused(unit(too_long()), at, digits);
    let Model::Matrix(matrix) = matrix(&["a"], &[&[None]]) else { panic!("no matrix") };
    let mut of_all = matrix.clone();
    of_all.scaling_factor = Some(Decimal::zero());
    let at = "charge.model.matrix.scaling_factor";
    model_refused(Model::Matrix(of_all), at, "found 0, expected more than 0");
    let mut of_one = matrix;
    of_one.matrix_values[0].scaling_factor = Some(Decimal::zero());
    let at = "charge.model.matrix.matrix_values[0].scaling_factor";
    model_refused(Model::Matrix(of_one), at, "found 0, expected more than 0");
}

fn tiers(tiers: &[(&str, Option<&str>)]) -> Model {
    let tier = |(first_unit, last_unit): &(&str, Option<&str>)| {
        Tier::new(number(first_unit), last_unit.map(number), number("1"))
    };
    Model::Tiered(Tiered::new(tiers.iter().map(tier)))
}

#[test]
fn tiers_follow_one_another() {
    let check = |found: &[(&str, Option<&str>)], at: &str, message: &str| {
        model_refused(tiers(found), &format!("charge.model.tiered.tiers{at}"), message);
    };
    created(price(usage(tiers(&[("0", None)]))));
    created(price(usage(tiers(&[("0", Some("0.5")), ("0.5", Some("2")), ("2", None)]))));
    check(&[], "", "found 0 tiers, expected 1 to 200");
    check(&[("2", None)], "[0].first_unit", "found 2, expected the first tier to begin at 0");
    check(
        &[("0", Some("10")), ("12", None)],
        "[1].first_unit",
        "found 12, a gap: expected 10, where the tier before ends",
    );
    check(
        &[("0", Some("10")), ("9.5", None)],
        "[1].first_unit",
        "found 9.5, an overlap: expected 10, where the tier before ends",
    );
    check(&[("0", Some("0"))], "[0].last_unit", "found 0, expected more than its first unit, 0");
    check(
        &[("0", None), ("10", None)],
        "[0].last_unit",
        "found none, which only the last tier may have",
    );
    check(
        &[("0", Some("10")), ("10", Some("20"))],
        "[1].last_unit",
        "found 20, expected none: it is the last",
    );
}

#[test]
fn tiers_are_counted() {
    let model = |count: u64| {
        let tier = |index: u64| {
            Tier::new(
                Decimal::from(index),
                (index + 1 < count).then(|| Decimal::from(index + 1)),
                number("1"),
            )
        };
        Model::Tiered(Tiered::new((0..count).map(tier)))
    };
    created(price(usage(model(199))));
    created(price(usage(model(200))));
    model_refused(model(201), "charge.model.tiered.tiers", "found 201 tiers, expected 1 to 200");
}

#[test]
fn maxima_rise() {
    let bulk = |maxima: &[Option<&str>]| {
        let tier = |maximum: &Option<&str>| BulkTier::new(maximum.map(number), number("1"));
        Model::Bulk(Bulk::new(maxima.iter().map(tier)))
    };
    let check = |found: &[Option<&str>], at: &str, message: &str| {
        model_refused(bulk(found), &format!("charge.model.bulk.tiers{at}"), message);
    };
    created(price(usage(bulk(&[None]))));
    created(price(usage(bulk(&[Some("0.5"), Some("2"), None]))));
    created(price(usage(bulk(&[Some("0.5"), Some("1000")]))));
    check(&[], "", "found 0 tiers, expected 1 to 200");
    check(&[Some("0"), None], "[0].maximum_units", "found 0, expected more than 0");
    check(&[Some("5"), Some("5"), None], "[1].maximum_units", "found 5, expected more than 5");
    check(&[Some("5"), Some("4"), None], "[1].maximum_units", "found 4, expected more than 5");
    check(&[None, None], "[0].maximum_units", "found none, which only the last tier may have");
}

fn matrix(dimensions: &[&str], cells: &[&[Option<&str>]]) -> Model {
    let owned = |value: &Option<&str>| value.map(str::to_owned);
    let cell = |values: &&[Option<&str>]| MatrixCell::new(values.iter().map(owned), number("1"));
    Model::Matrix(Matrix::new(
        dimensions.iter().map(|name| PropertyName::parse(*name).unwrap()),
        number("2"),
        cells.iter().map(cell),
    ))
}

#[test]
fn cells_differ() {
    let check = |dimensions: &[&str], cells: &[&[Option<&str>]], at: &str, message: &str| {
        model_refused(matrix(dimensions, cells), &format!("charge.model.matrix.{at}"), message);
    };
    let values = |index: usize| format!("matrix_values[{index}].dimension_values");
    created(price(usage(matrix(&["region"], &[&[None], &[Some("")], &[Some(&"x".repeat(128))]]))));
    created(price(usage(matrix(&["a", "b"], &[&[None, Some("x")], &[Some("x"), None]]))));
    let many = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    created(price(usage(matrix(&many[..10], &[&[None; 10]]))));
    check(&[], &[], "dimensions", "found 0, expected 1 to 10");
    check(&many, &[], "dimensions", "found 11, expected 1 to 10");
    check(&["a", "a"], &[], "dimensions", "found a twice");
    check(&["a", "b"], &[&[None]], &values(0), "found 1 values, expected 2, one per dimension");
    check(
        &["a"],
        &[&[Some("x")], &[None], &[Some("x")]],
        &values(2),
        "found the values of cell 0 again",
    );
    let long = "x".repeat(129);
    check(
        &["a"],
        &[&[Some(&long)]],
        &values(0),
        "found a value of 129 bytes, expected at most 128",
    );
    let long = ["x"; 3].map(|value| value.repeat(128));
    let cells: Vec<_> = (0..68).map(|index| format!("{}{index}", &long[0][..100])).collect();
    let cells: Vec<_> = cells.iter().map(|own| [own, &long[1], &long[2]]).collect();
    let cells: Vec<_> = cells.iter().map(|cell| cell.map(|value| Some(value.as_str()))).collect();
    let cells: Vec<_> = cells.iter().map(<[_; 3]>::as_slice).collect();
    // They have 24,334 bytes.
    let and_last = |last: &str| {
        let last = [Some(&*long[1]), Some(last), None];
        let cells: Vec<_> = cells.iter().copied().chain([last.as_slice()]).collect();
        matrix(&["a", "b", "c"], &cells)
    };
    created(price(usage(and_last(&"y".repeat(114)))));
    let bytes = "found 24577 bytes of values, expected at most 24576";
    let at = "charge.model.matrix.matrix_values";
    model_refused(and_last(&"y".repeat(115)), at, bytes);
}

#[test]
fn cells_are_counted() {
    let model = |count: usize| {
        let texts: Vec<_> = (0..count).map(|index| index.to_string()).collect();
        let cells: Vec<_> = texts.iter().map(|text| [Some(text.as_str())]).collect();
        matrix(&["a"], &cells.iter().map(<[_; 1]>::as_slice).collect::<Vec<_>>())
    };
    created(price(usage(model(100))));
    model_refused(
        model(0),
        "charge.model.matrix.matrix_values",
        "found 0 cells, expected 1 to 100",
    );
    model_refused(
        model(101),
        "charge.model.matrix.matrix_values",
        "found 101 cells, expected 1 to 100",
    );
}

#[test]
fn a_fixed_price_has_a_quantity_and_no_events() {
    created(price(fixed(number("0"), unit())));
    refused(&price(fixed(number("-1"), unit())), "charge.quantity", "found -1, expected 0 or more");
    refused(
        &price(fixed(number("1"), matrix(&["a"], &[]))),
        "charge.model",
        "found matrix, expected a model that needs no events: a fixed price has none",
    );
}

#[test]
fn usage_recurs() {
    let once = |charge| NewPrice { cadence: Cadence::OneTime, ..price(charge) };
    created(once(fixed(number("1"), unit())));
    refused(
        &once(usage(unit())),
        "cadence",
        "found one_time, expected a recurring cadence for a usage price",
    );
}

#[test]
fn a_cycle_has_bounds() {
    let custom = |cycle| NewPrice { cadence: Cadence::Custom(cycle), ..price(usage(unit())) };
    let check = |cycle, message: &str| {
        refused(&custom(cycle), "cadence.duration", message);
    };
    for cycle in [Cycle::Days(1), Cycle::Days(3_660), Cycle::Months(1), Cycle::Months(120)] {
        created(custom(cycle));
    }
    check(Cycle::Days(0), "found 0 days, expected 1 to 3660");
    check(Cycle::Days(3_661), "found 3661 days, expected 1 to 3660");
    check(Cycle::Months(0), "found 0 months, expected 1 to 120");
    check(Cycle::Months(121), "found 121 months, expected 1 to 120");
}

#[test]
fn a_conversion_rate_is_positive() {
    let rate = |text: &str| NewPrice {
        conversion_rate: Some(number(text).into()),
        ..price(usage(unit()))
    };
    created(rate("0.0001"));
    refused(&rate("0"), "conversion_rate", "found 0, expected more than 0");
    refused(&rate("-2"), "conversion_rate", "found -2, expected more than 0");
}

#[test]
fn adjustments_have_bounds() {
    let with = |discounts: Vec<Discount>, minimum: Option<&str>, maximum: Option<&str>| {
        let (minimum, maximum) = (minimum.map(number), maximum.map(number));
        NewPrice {
            adjustments: Adjustments { discounts, minimum, maximum },
            ..price(usage(unit()))
        }
    };
    let discount = |discount| with(vec![discount], None, None);
    for text in ["0", "0.5", "1"] {
        created(discount(Discount::Percentage(Fraction::parse(text).unwrap())));
    }
    created(discount(Discount::Usage(number("1.5"))));
    created(with(Vec::new(), Some("5"), Some("5")));
    for text in ["-0.1", "1.1"] {
        let message = format!("found {text}, expected a fraction of 0 to 1");
        assert_eq!(Fraction::parse(text).unwrap_err().to_string(), message);
    }
    let twice = vec![Discount::Amount(number("1")), Discount::Amount(number("2"))];
    let message = "found a kind of discount more than once, expected each once";
    refused(&with(twice, None, None), "adjustments.discounts[0]", message);
    let negative = "found -1, expected 0 or more";
    refused(&discount(Discount::Amount(number("-1"))), "adjustments.discounts[0]", negative);
    refused(&discount(Discount::Usage(number("-1"))), "adjustments.discounts[0]", negative);
    refused(&with(Vec::new(), Some("-1"), None), "adjustments.minimum", negative);
    refused(&with(Vec::new(), None, Some("-1")), "adjustments.maximum", negative);
    refused(
        &with(Vec::new(), Some("6"), Some("5")),
        "adjustments.minimum",
        "found 6, expected at most the maximum of 5",
    );
}

#[test]
fn bands_of_a_discount_adjoin_from_zero_on() {
    let tier = |lower: &str, upper: Option<&str>| DiscountTier {
        lower_bound: number(lower),
        upper_bound: upper.map(number),
        percentage: Fraction::parse("0.1").unwrap(),
    };
    let with = |tiers: Vec<DiscountTier>| {
        let discounts = vec![Discount::TieredPercentage(tiers)];
        let adjustments = Adjustments { discounts, ..Adjustments::default() };
        NewPrice { adjustments, ..price(usage(unit())) }
    };
    created(with(vec![tier("0", Some("10")), tier("10", None)]));
    let check = |tiers: Vec<DiscountTier>, at: &str, message: &str| {
        refused(&with(tiers), &format!("adjustments.discounts[0].tiers{at}"), message);
    };
    check(vec![tier("0", None)], "", "found 1 tiers, expected 2 to 200");
    check(vec![tier("1", Some("10")), tier("10", None)], "[0]", "begins at 1, expected 0");
    check(vec![tier("0", Some("10")), tier("11", None)], "[1]", "begins at 11, expected 10");
    check(vec![tier("0", Some("0")), tier("0", None)], "[0]", "ends at 0, expected more than 0");
    check(vec![tier("0", None), tier("0", None)], "[1]", "found a tier after the last one");
    check(vec![tier("0", Some("1")), tier("1", Some("2"))], "[1]", "ends at 2, expected no end");
}

#[test]
fn units_are_taken_off_usage_whose_units_are_alike() {
    let with = |charge| {
        let discounts = vec![Discount::Usage(number("1"))];
        let adjustments = Adjustments { discounts, ..Adjustments::default() };
        NewPrice { adjustments, ..price(charge) }
    };
    refused(
        &with(fixed(number("1"), unit())),
        "adjustments.discounts[0]",
        "found a discount of units on a fixed price, expected a usage price",
    );
    refused(
        &with(usage(matrix(&["a"], &[&[Some("x")]]))),
        "adjustments.discounts[0]",
        "found a discount of units on a matrix, whose units are not alike",
    );
}

#[test]
fn cycles_are_shown_with_their_unit() {
    let shown = [Cycle::Days(1), Cycle::Days(7), Cycle::Months(1), Cycle::Months(3)];
    assert_eq!(shown.map(|of| of.to_string()), ["day", "7 days", "month", "3 months"]);
}
