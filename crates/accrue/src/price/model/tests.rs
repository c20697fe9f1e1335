//! Examples that billing systems publish, each under the title of its page and its publisher, and
//! the table of models. Where a page ends its last tier, it has no end here.

mod cells;
mod composites;
mod groups;
mod scalar;
mod slow;

use super::*;
use crate::{PropertyName, WrittenDecimal};

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn one(text: &str) -> Quantity {
    Quantity::One(number(text))
}

fn costs(model: &Model, quantity: &Quantity, expect: &str) {
    model.check().unwrap();
    let rating = model.rate(quantity);
    assert_eq!(rating.amount, number(expect), "{model:?} of {quantity:?}");
    assert_eq!(rating.amount, rating.parts.into_iter().map(|part| part.amount).sum());
}

fn unit_costs(unit_amount: &str, quantity: &str, expect: &str) {
    let model = Model::Unit(Unit::new(number(unit_amount)));
    costs(&model, &one(quantity), expect);
}

#[test]
fn unit() {
    // "Charges", Lago.
    unit_costs("0.05", "1000", "50");
    // "Per-Unit Pricing", OpenMeter.
    unit_costs("0.01", "10000", "100");
    // "Pricing Models", Zuplo.
    unit_costs("0.001", "100000", "100");
    // "Example: Per unit pricing model", Zuora.
    unit_costs("100.00", "120", "12000");
    // "Billable Dimensions", Suger.
    unit_costs("0.5", "10", "5");
    // "Setting subscription quantities", Stripe.
    unit_costs("9.99", "1", "9.99");
    unit_costs("9.99", "2", "19.98");
    // "How invoicing works", Metronome: cents.
    unit_costs("100", "50", "5000");
    unit_costs("100", "30", "3000");
    // "What happens when I send more SMS text messages than included in the plan", BuyFi.
    unit_costs("0.03", "500", "15");
    // None, and less than none.
    unit_costs("0.05", "0", "0");
    unit_costs("0.05", "-1", "0");
    // A fraction.
    unit_costs("0.03", "0.001", "0.00003");
}

fn package_costs(package_amount: &str, package_size: u64, quantity: &str, expect: &str) {
    let package_amount = number(package_amount);
    costs(&Model::Package(Package::new(package_amount, package_size)), &one(quantity), expect);
}

#[test]
fn package() {
    // "Package pricing", Zenskar.
    package_costs("8.00", 100, "100", "8.00");
    package_costs("8.00", 100, "101", "16.00");
    package_costs("8.00", 100, "250", "24.00");
    package_costs("8.00", 100, "301", "32.00");
    // "Package pricing", Zenskar, an earlier version.
    package_costs("10", 10, "10", "10");
    package_costs("10", 10, "11", "20");
    // "Package Pricing", Chargebee.
    package_costs("1.25", 1_000_000, "10", "1.25");
    package_costs("1.25", 1_000_000, "1000000", "1.25");
    package_costs("1.25", 1_000_000, "1500000", "2.50");
    // "Quantity transformation", Stripe.
    package_costs("10", 5, "1", "10");
    package_costs("10", 5, "3", "10");
    package_costs("10", 5, "5", "10");
    package_costs("10", 5, "6", "20");
    package_costs("10", 5, "7", "20");
    // "Transform quantities", Stripe: minutes by the hour.
    package_costs("10", 60, "150", "30");
    // "Package", Plude.
    package_costs("1500", 100, "305", "6000");
    // "Package pricing", PaymentKit.
    package_costs("45", 3, "3", "45");
    package_costs("45", 3, "5", "90");
    // "Billable Dimensions", Suger.
    package_costs("5", 5, "4", "5");
    package_costs("5", 5, "6", "10");
    // "Tiered", Flexprice: the packages of the first tier.
    package_costs("1.00", 1_000, "4500", "5");
    // None, less than none, and a fraction.
    package_costs("10", 5, "0", "0");
    package_costs("10", 5, "-6", "0");
    package_costs("10", 5, "5.0001", "20");
}

/// The end of a tier, none for the last, and what a unit costs.
type Tiers<'a> = &'a [(Option<&'a str>, &'a str)];

fn tiered(tiers: Tiers<'_>) -> Model {
    let mut first_unit = Decimal::zero();
    let tiers = tiers.iter().map(|(last_unit, unit_amount)| {
        let last_unit = last_unit.map(number);
        let next = last_unit.clone().unwrap_or_default();
        let first_unit = std::mem::replace(&mut first_unit, next);
        Tier::new(first_unit, last_unit, number(unit_amount))
    });
    Model::Tiered(Tiered::new(tiers))
}

fn bulk(tiers: Tiers<'_>) -> Model {
    let tiers = tiers.iter().map(|(maximum_units, unit_amount)| {
        BulkTier::new(maximum_units.map(number), number(unit_amount))
    });
    Model::Bulk(Bulk::new(tiers))
}

fn tiered_costs(tiers: Tiers<'_>, quantity: &str, expect: &str) {
    costs(&tiered(tiers), &one(quantity), expect);
}

fn bulk_costs(tiers: Tiers<'_>, quantity: &str, expect: &str) {
    costs(&bulk(tiers), &one(quantity), expect);
}

const FONTS: Tiers<'_> = &[(Some("5"), "7"), (Some("10"), "6.5"), (None, "6")];
const LOGS: Tiers<'_> = &[(Some("500"), "2.00"), (Some("2000"), "1.50"), (None, "1.00")];
const API: Tiers<'_> = &[(Some("1000"), "0.10"), (Some("10000"), "0.05"), (None, "0.01")];
const SLABS: Tiers<'_> = &[(Some("250"), "1"), (Some("500"), "2"), (None, "3")];
const LAGO: Tiers<'_> = &[(Some("100"), "4"), (Some("500"), "3"), (None, "2")];
const LICENCES: Tiers<'_> = &[(Some("100"), "100"), (Some("200"), "90"), (None, "80")];
const METRIFOX: Tiers<'_> = &[(Some("1000"), "0.10"), (None, "0.08")];
const METEROID: Tiers<'_> = &[(Some("100"), "10"), (Some("500"), "8"), (None, "6")];

#[test]
fn graduated() {
    // "Set up tiered pricing", Stripe: the first tier costs the same as with volume pricing.
    tiered_costs(FONTS, "5", "35");
    // "Tiered pricing", Zenskar.
    tiered_costs(LOGS, "1500", "2500");
    // "Tiered pricing", Zenskar, an earlier version: 100 x 100, 100 x 90 and 50 x 80.
    tiered_costs(LICENCES, "250", "23000");
    // "Graduated Pricing", Autumn.
    let requests: Tiers<'_> = &[(Some("1000"), "0.01"), (Some("10000"), "0.008"), (None, "0.005")];
    tiered_costs(requests, "15000", "107");
    // "Pricing Models", Zuplo.
    tiered_costs(API, "15000", "600");
    // "Tiered pricing", PaymentKit.
    let calls: Tiers<'_> = &[(Some("1000"), "0.01"), (Some("5000"), "0.008"), (None, "0.005")];
    tiered_costs(calls, "3000", "26");
    // "Graduated Pricing", Meteroid.
    tiered_costs(METEROID, "600", "4800");
    // "Volume pricing model for charges", the community of Lago.
    tiered_costs(LAGO, "400", "1300");
    // "Pricing models", Metrifox.
    tiered_costs(METRIFOX, "2500", "220");
    // "Examples for Tier Based Amount", Oracle.
    tiered_costs(SLABS, "1000", "2250");
    // "Billable Dimensions", Suger.
    let storage: Tiers<'_> = &[(Some("5"), "0.5"), (Some("10"), "0.3"), (None, "0.2")];
    tiered_costs(storage, "4", "2");
    tiered_costs(storage, "8", "3.4");
    tiered_costs(storage, "15", "5");
    // "Example: Tiered pricing mode", Zuora.
    tiered_costs(&[(Some("100"), "0.00"), (None, "2.00")], "130", "60");
    // "Meters", Lava: millions.
    tiered_costs(&[(Some("1"), "5.00"), (Some("10"), "3.00"), (None, "1.00")], "5", "17");
    // None, less than none, fractions on both sides of a bound.
    tiered_costs(LOGS, "0", "0");
    tiered_costs(LOGS, "-1", "0");
    tiered_costs(LOGS, "499.5", "999");
    tiered_costs(LOGS, "500.5", "1000.75");
}

/// "Tiered pricing", Zenskar: the parts of 1500 units, also that of the tier that none has reached.
#[test]
fn every_tier_is_a_part() {
    let quantities = |quantity: &str| -> Vec<_> {
        let parts = tiered(LOGS).rate(&one(quantity)).parts.into_iter();
        parts.map(|part| (part.quantity.to_string(), part.amount.to_string())).collect()
    };
    let expect = |parts: [(&str, &str); 3]| parts.map(|(q, a)| (q.to_owned(), a.to_owned()));
    assert_eq!(quantities("1500"), expect([("500", "1000"), ("1000", "1500"), ("0", "0")]));
    assert_eq!(quantities("0"), expect([("0", "0"), ("0", "0"), ("0", "0")]));
}

#[test]
fn volume() {
    // "Set up tiered pricing", Stripe.
    bulk_costs(FONTS, "1", "7");
    bulk_costs(FONTS, "5", "35");
    bulk_costs(FONTS, "6", "39");
    bulk_costs(FONTS, "20", "120");
    bulk_costs(FONTS, "25", "150");
    // "Price Configuration", Orb.
    let orb: Tiers<'_> = &[(Some("10"), "0.50"), (None, "0.40")];
    bulk_costs(orb, "10", "5.00");
    bulk_costs(orb, "101", "40.40");
    // "Volume pricing", Zenskar, and an earlier version: 250 x 80.
    bulk_costs(LOGS, "1500", "2250");
    bulk_costs(LICENCES, "250", "20000");
    // "Volume pricing model for charges", the community of Lago.
    bulk_costs(LAGO, "400", "1200");
    // "Volume", Lago, without the fixed fee of 10.
    let calls: Tiers<'_> = &[
        (Some("10000"), "0.0010"),
        (Some("50000"), "0.0008"),
        (Some("100000"), "0.0006"),
        (None, "0.0004"),
    ];
    bulk_costs(calls, "65000", "39");
    // "Pricing Models", Zuplo.
    bulk_costs(API, "15000", "150");
    // "Pricing models", Metrifox.
    bulk_costs(METRIFOX, "2500", "200");
    // "Volume Pricing", JustOn.
    let just: Tiers<'_> =
        &[(Some("10"), "2.50"), (Some("20"), "2.40"), (Some("30"), "2.30"), (None, "2.20")];
    bulk_costs(just, "25", "57.50");
    // "Top-tiered pricing", Solvimon.
    let top: Tiers<'_> = &[(Some("100"), "0.10"), (Some("1000"), "0.08"), (None, "0.05")];
    bulk_costs(top, "500", "40");
    // "Examples for Tier Based Amount", Oracle.
    bulk_costs(SLABS, "1000", "3000");
    // "Graduated Pricing", Meteroid.
    bulk_costs(METEROID, "600", "3600");
    // "Tiered pricing", PaymentKit.
    bulk_costs(&[(Some("10"), "10"), (Some("50"), "9"), (None, "8")], "12", "108");
    // "Volume pricing", Zuora.
    let licences: Tiers<'_> = &[(Some("50"), "120"), (None, "100")];
    bulk_costs(licences, "5", "600");
    bulk_costs(licences, "60", "6000");
    // None, less than none, and fractions on both sides of a bound.
    bulk_costs(FONTS, "0", "0");
    bulk_costs(FONTS, "-6", "0");
    bulk_costs(FONTS, "4.5", "31.5");
    bulk_costs(FONTS, "5.5", "35.75");
}

/// The values of a cell, and what a unit costs.
type Cells<'a> = &'a [(&'a [&'a str], &'a str)];

fn matrix_costs(default: &str, cells: Cells<'_>, quantities: &[&str], expect: &str) {
    let dimensions = ["first", "second"].into_iter().take(cells[0].0.len());
    let matrix_values = cells.iter().map(|(values, unit_amount)| {
        MatrixCell::new(values.iter().map(|value| Some((*value).to_owned())), number(unit_amount))
    });
    let model = Model::Matrix(Matrix::new(
        dimensions.map(|name| PropertyName::parse(name).unwrap()),
        number(default),
        matrix_values,
    ));
    let quantities = quantities.iter().map(|quantity| number(quantity)).collect();
    costs(&model, &Quantity::Cells(quantities), expect);
}

#[test]
fn matrix() {
    // "Price Configuration", Orb: any call is 3.00, in the regions alpha and west 2.00.
    let regions: Cells<'_> = &[(&["alpha"], "2.00"), (&["west"], "2.00")];
    matrix_costs("3.00", regions, &["1", "0", "0"], "2.00");
    matrix_costs("3.00", regions, &["0", "1", "0"], "2.00");
    matrix_costs("3.00", regions, &["0", "0", "1"], "3.00");
    // "Dimensional Pricing", Monk. The page gives rates and quantities, the sum is ours.
    let calls: Cells<'_> = &[
        (&["US", "resolved"], "2.00"),
        (&["US", "transferred"], "4.00"),
        (&["US", "escalated"], "6.00"),
        (&["EU", "resolved"], "2.50"),
        (&["EU", "transferred"], "5.00"),
        (&["EU", "escalated"], "7.50"),
    ];
    matrix_costs("4.00", calls, &["60", "30", "10", "50", "0", "0", "0"], "425.00");
    // "Set Up Dimensional Pricing", Monk.
    matrix_costs("4.00", calls, &["1", "0", "0", "0", "0", "0", "0"], "2.00");
    matrix_costs("4.00", calls, &["0", "0", "0", "0", "0", "1", "0"], "7.50");
    matrix_costs("4.00", calls, &["0", "0", "0", "0", "0", "0", "1"], "4.00");
    // A use case of token pricing, Flexprice: millions of tokens by type.
    let tokens: Cells<'_> = &[(&["input"], "15.00"), (&["output"], "60.00"), (&["cached"], "7.50")];
    matrix_costs("0", tokens, &["5", "2", "1", "0"], "202.50");
    // "Token-based pricing", Guiom.
    let tokens: Cells<'_> = &[(&["input"], "0.10"), (&["output"], "0.40")];
    matrix_costs("0", tokens, &["5", "1.2", "0"], "0.98");
    // "Matrix pricing", Vayu. The page gives the rates of an hour.
    let hours: Cells<'_> = &[(&["Small", "EU"], "0.15"), (&["Medium", "Asia"], "0.35")];
    matrix_costs("0", hours, &["1", "0", "0"], "0.15");
    matrix_costs("0", hours, &["0", "1", "0"], "0.35");
    // "Calculating SMS costs", The Smart Growth Co: segments by country.
    let segments: Cells<'_> = &[(&["UK"], "0.06"), (&["US"], "0.02")];
    matrix_costs("0", segments, &["0", "500", "0"], "10");
    // None, a cell below zero, quantities that are not given.
    matrix_costs("4.00", calls, &[], "0");
    matrix_costs("3.00", regions, &["-5", "1", "0"], "2.00");
    matrix_costs("3.00", regions, &["1"], "2.00");
}

/// A price of 3 for each two units.
fn scaled_unit() -> Model {
    let mut unit = Unit::new(number("3"));
    unit.scaling_factor = Some(number("0.5"));
    Model::Unit(unit)
}

#[test]
fn clients_8_a_scaling_factor_multiplies_the_quantity() {
    let check = |model: &Model, quantity: &Quantity, expect: &str, scaled: &[Option<&str>]| {
        costs(model, quantity, expect);
        let parts = model.rate(quantity).parts.into_iter();
        let found: Vec<_> = parts.map(|part| part.scaled_quantity).collect();
        assert_eq!(found, scaled.iter().map(|units| units.map(number)).collect::<Vec<_>>());
        let Quantity::Cells(cells) = quantity else { return };
        let amounts = cells.iter().enumerate().map(|(cell, units)| model.cell_amount(cell, units));
        if let Some(amounts) = amounts.collect::<Option<Vec<_>>>() {
            assert_eq!(amounts.into_iter().sum::<Decimal>(), number(expect));
        }
    };
    check(&scaled_unit(), &Quantity::Cells(vec![number("10")]), "15", &[Some("5")]);
    let mut cell = MatrixCell::new([Some("small".to_owned())], number("2"));
    cell.scaling_factor = Some(number("0.25"));
    let other = MatrixCell::new([Some("large".to_owned())], number("7"));
    let size = PropertyName::parse("size").unwrap();
    let mut matrix = Matrix::new([size], number("1"), [cell, other]);
    let cells = Quantity::Cells(["4", "1", "6"].map(number).into());
    check(&Model::Matrix(matrix.clone()), &cells, "15", &[Some("1"), None, None]);
    matrix.scaling_factor = Some(number("10"));
    check(&Model::Matrix(matrix), &cells, "69", &[Some("1"), None, Some("60")]);
}

#[test]
fn parts_of_scaled_units_add_up() {
    fn parts(rating: &Rating) -> Parts<'_> {
        Parts { amount: &rating.amount, parts: &rating.parts }
    }
    let [four, six, ten] = ["4", "6", "10"].map(|quantity| scaled_unit().rate(&one(quantity)));
    assert_eq!(parts(&four).and(&parts(&six)), ten.parts);
    assert_eq!(parts(&ten).less(&parts(&four)), six.parts);
}

#[test]
fn what_has_no_cells_is_in_the_default_cell_and_cells_add_up_for_other_models() {
    let model = Model::Matrix(Matrix::new(
        vec![PropertyName::parse("region").unwrap()],
        number("3"),
        vec![MatrixCell::new(vec![None], number("2"))],
    ));
    costs(&model, &one("7"), "21");
    let cells = Quantity::Cells(["3", "2", "1.5"].map(number).into());
    costs(&tiered(FONTS), &cells, "44.75");
    costs(&bulk(FONTS), &cells, "42.25");
}

#[test]
fn a_configuration_that_was_never_checked_is_rated_too() {
    let rate = |model: Model| model.rate(&one("10")).amount.to_string();
    assert_eq!(rate(Model::Tiered(Tiered::new(Vec::new()))), "0");
    assert_eq!(rate(Model::Bulk(Bulk::new(Vec::new()))), "0");
    assert_eq!(rate(bulk(&[(Some("2"), "5"), (Some("3"), "4")])), "40");
    assert_eq!(rate(Model::Package(Package::new(number("2"), 0))), "20");
}

/// Holds the table on [`Model`] against the models and their files.
#[test]
fn the_table_of_models_is_right() {
    let source = include_str!("../model.rs");
    let rows: Vec<_> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("/// | `")?.split_once("` | "))
        .filter(|(name, _)| *name != "model_type")
        .collect();
    let names: Vec<_> = rows.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), 36, "the wire knows 36 types of model");
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    let here = rows.into_iter().filter(|(_, here)| *here != "– |");
    let mut here: Vec<_> = here
        .inspect(|(name, here)| {
            let (variant, _) = here.strip_prefix("[`").unwrap().split_once("`]").unwrap();
            assert!(here.ends_with(&format!("`price/model/{name}.rs` |")), "{here}");
            assert!(source.contains(&format!("\nmod {name};\n")), "no module {name}");
            assert!(source.contains(&format!("{variant}({variant}) = \"{name}\",")), "{here}");
        })
        .map(|(name, _)| name)
        .collect();
    let mut models = MODEL_TYPES.to_vec();
    here.sort_unstable();
    models.sort_unstable();
    assert_eq!(here, models);
}

#[test]
fn volume_beyond_the_last_maximum_lies_in_the_last_tier() {
    let model = bulk(&[(Some("10"), "0.50"), (Some("1000"), "0.40")]);
    let rating = model.rate(&one("1001"));
    let of = PartOf::Tier { first_unit: number("10"), last_unit: Some(number("1000")) };
    assert_eq!((rating.amount, &rating.parts[0].of), (number("400.40"), &of));
}
