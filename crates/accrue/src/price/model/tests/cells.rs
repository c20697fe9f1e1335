//! Models that divide usage into cells: what they cost, and of which parts.

use super::*;

fn written(text: &str) -> WrittenDecimal {
    WrittenDecimal::parse(text).unwrap()
}

fn property(name: &str) -> PropertyName {
    PropertyName::parse(name).unwrap()
}

fn cells(figures: &[&str]) -> Quantity {
    Quantity::Cells(figures.iter().map(|figure| number(figure)).collect())
}

/// Checks the amount of some figures, and each part: its name or what it is of, its units and its amount.
fn parts_of(model: &Model, figures: &[&str], amount: &str, expect: &[(&str, &str, &str)]) {
    costs(model, &cells(figures), amount);
    let parts = model.rate(&cells(figures)).parts;
    let shown: Vec<_> = parts
        .iter()
        .map(|part| {
            let of = match (&part.name, &part.grouping, &part.of) {
                (Some(name), _, _) => name.clone(),
                (None, Some(of), _) => of.value.clone().unwrap_or_else(|| "others".to_owned()),
                (None, None, PartOf::Cell { dimension_values }) => {
                    let values = dimension_values.iter().flatten().cloned();
                    values.collect::<Vec<_>>().join(",")
                }
                (None, None, PartOf::Tier { first_unit, .. }) => format!("from {first_unit}"),
                (None, None, _) => "others".to_owned(),
            };
            (of, part.quantity.to_string(), part.amount.to_string())
        })
        .collect();
    let owned = |(of, units, amount): &(&str, &str, &str)| {
        ((*of).to_owned(), (*units).to_owned(), (*amount).to_owned())
    };
    assert_eq!(shown, expect.iter().map(owned).collect::<Vec<_>>());
}

fn volume(tiers: &[(&str, &str)]) -> Vec<VolumeTier> {
    let tier = |(bound, amount): &(&str, &str)| VolumeTier {
        tier_lower_bound: Some(written(bound)),
        unit_amount: written(amount),
    };
    tiers.iter().map(tier).collect()
}

#[test]
fn price_models_4_1_all_events_decide_on_the_tier_of_those_that_match() {
    let filter = BulkFilter { property_key: property("region"), property_value: "us".to_owned() };
    let model = Model::BulkWithFilters(BulkWithFilters {
        filters: vec![filter],
        tiers: volume(&[("0", "1.00"), ("100", "0.80")]),
    });
    // Those that match, all others, and the metric as a whole.
    parts_of(&model, &["75", "75", "150"], "60", &[("from 100", "75", "60")]);
    parts_of(&model, &["75", "24", "99"], "75", &[("from 0", "75", "75")]);
    parts_of(&model, &["75", "25", "100"], "60", &[("from 100", "75", "60")]);
    // The figure of all events need not be the sum: of a greatest value it is the greater one.
    parts_of(&model, &["75", "80", "80"], "75", &[("from 0", "75", "75")]);
    assert_eq!(model.line_quantity(&cells(&["75", "75", "150"])), number("75"));
    costs(&model, &cells(&["-5", "5", "0"]), "0");
}

#[test]
fn price_models_4_3_values_without_a_row_cost_nothing() {
    let row = |value: &str, name: &str, amount| DisplayedAmount {
        dimension_value: value.to_owned(),
        display_name: name.to_owned(),
        unit_amount: written(amount),
    };
    let model = Model::MatrixWithDisplayName(MatrixWithDisplayName {
        dimension: property("size"),
        unit_amounts: vec![row("s", "Small", "1"), row("l", "Large", "5")],
    });
    parts_of(&model, &["3", "2", "9"], "13", &[("Small", "3", "3"), ("Large", "2", "10")]);
}

#[test]
fn price_models_4_4_cells_draw_on_the_allocation_in_their_order() {
    let mut linux = MatrixCell::new([Some("linux".to_owned())], number("1"));
    linux.scaling_factor = Some(number("2"));
    let windows = MatrixCell::new([Some("windows".to_owned())], number("3"));
    let model = |allocation| {
        Model::MatrixWithAllocation(MatrixWithAllocation {
            matrix: Matrix::new([property("os")], number("7"), [linux.clone(), windows.clone()]),
            allocation: written(allocation),
        })
    };
    let expect = [
        ("linux", "0", "0"),
        ("windows", "3", "9"),
        ("others", "1", "7"),
        ("Allocation", "6", "0"),
    ];
    parts_of(&model("6"), &["5", "4", "1"], "16", &expect);
    let expect = [
        ("linux", "1", "2"),
        ("windows", "4", "12"),
        ("others", "1", "7"),
        ("Allocation", "4", "0"),
    ];
    parts_of(&model("4"), &["5", "4", "1"], "21", &expect);
    costs(&model("100"), &cells(&["5", "4", "1"]), "0");
    // A cell below zero gives nothing back.
    costs(&model("4"), &cells(&["-5", "4", "1"]), "7");
}

#[test]
fn price_models_4_5_a_discount_is_of_what_its_cells_come_to() {
    let row = |first: &str, second: &str, amount| PairAmount {
        first_dimension_value: first.to_owned(),
        second_dimension_value: Some(second.to_owned()),
        unit_amount: written(amount),
    };
    let group = ThresholdDiscount {
        cell_coordinates: "blue,circle; green,triangle".to_owned(),
        threshold_amount: written("100"),
        below_threshold_discount_percentage: written("0.05"),
        above_threshold_discount_percentage: written("0.20"),
        description: Some("Volume".to_owned()),
    };
    let model = Model::MatrixWithThresholdDiscounts(MatrixWithThresholdDiscounts {
        first_dimension: property("color"),
        second_dimension: Some(property("shape")),
        default_unit_amount: written("1"),
        matrix_values: vec![
            row("blue", "circle", "2"),
            row("green", "triangle", "4"),
            row("red", "circle", "10"),
        ],
        threshold_discount_groups: vec![group],
    });
    let expect = [
        ("blue,circle", "10", "20"),
        ("green,triangle", "20", "80"),
        ("red,circle", "1", "10"),
        ("others", "0", "0"),
        ("Volume", "1", "-5"),
    ];
    parts_of(&model, &["10", "20", "1", "0"], "105", &expect);
    costs(&model, &cells(&["60", "20", "1", "0"]), "185");
}

#[test]
fn price_models_4_6_what_is_left_of_a_cell_fills_its_tiers_from_zero() {
    let tier = |value: &str, bound, amount| MatrixTier {
        dimension_values: vec![value.to_owned()],
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
    };
    let model = Model::TieredMatrixWithAllocation(TieredMatrixWithAllocation {
        dimensions: vec![property("region")],
        allocation: written("50"),
        default_unit_amount: written("5"),
        tiers: vec![tier("us", "0", "0.10"), tier("eu", "0", "0.20"), tier("us", "100", "0.05")],
    });
    let expect = [
        ("us", "100", "10"),
        ("us", "20", "1"),
        ("eu", "10", "2"),
        ("others", "1", "5"),
        ("Allocation", "50", "0"),
    ];
    parts_of(&model, &["170", "10", "1"], "18", &expect);
    costs(&model, &cells(&["30", "10", "11"]), "5");
}

#[test]
fn price_models_4_7_each_value_has_tiers_of_its_own() {
    let tier = |value: &str, bound, amount| ValueTier {
        dimension_value: value.to_owned(),
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
    };
    let model = Model::GroupedTieredMatrix(GroupedTieredMatrix {
        dimension: property("region"),
        default_unit_amount: written("3"),
        tiers: vec![tier("us", "0", "2"), tier("us", "10", "1"), tier("eu", "0", "4")],
    });
    let expect = [("us", "10", "20"), ("us", "5", "5"), ("eu", "15", "60"), ("others", "2", "6")];
    parts_of(&model, &["15", "15", "2"], "91", &expect);
}

fn factors() -> Vec<PairFactor> {
    let row = |value: &str, factor| PairFactor {
        first_dimension_value: value.to_owned(),
        second_dimension_value: None,
        scaling_factor: written(factor),
    };
    vec![row("windows", "2"), row("macos", "10")]
}

#[test]
fn price_models_4_8_and_4_9_units_count_as_many_as_their_factors_say() {
    let unit = Model::ScalableMatrixWithUnitPricing(ScalableMatrixWithUnitPricing {
        unit_price: written("0.008"),
        first_dimension: property("os"),
        second_dimension: None,
        matrix_scaling_factors: factors(),
        grouping_key: None,
        prorate: false,
    });
    let expect = [("windows", "2000", "32"), ("macos", "0", "0"), ("others", "3000", "24")];
    parts_of(&unit, &["2000", "0", "3000"], "56", &expect);
    let tier = |bound, amount| LowerBoundTier {
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
    };
    let tiered = Model::ScalableMatrixWithTieredPricing(ScalableMatrixWithTieredPricing {
        tiers: vec![tier("0", "1"), tier("100", "0.5")],
        first_dimension: property("os"),
        second_dimension: None,
        matrix_scaling_factors: factors(),
    });
    let expect = [("from 0", "100", "100"), ("from 100", "45", "22.5")];
    parts_of(&tiered, &["10", "12", "5"], "122.5", &expect);
    assert_eq!(tiered.line_quantity(&cells(&["10", "12", "5"])), number("27"));
}

#[test]
fn price_models_4_10_the_tier_follows_from_all_values_together() {
    let tier = |bound, value: &str, amount| GroupTier {
        tier_lower_bound: written(bound),
        grouping_key: value.to_owned(),
        unit_amount: written(amount),
    };
    let model = Model::CumulativeGroupedBulk(CumulativeGroupedBulk {
        group: property("product"),
        dimension_values: vec![
            tier("0", "a", "1.00"),
            tier("0", "b", "2.00"),
            tier("100", "a", "0.80"),
            tier("100", "b", "1.50"),
        ],
    });
    parts_of(&model, &["60", "39", "0"], "138", &[("a", "60", "60"), ("b", "39", "78")]);
    parts_of(&model, &["60", "39", "1"], "106.5", &[("a", "60", "48"), ("b", "39", "58.5")]);
}

#[test]
fn price_models_4_11_an_allowance_takes_off_what_is_consumed() {
    let model = Model::MeteredAllowance(MeteredAllowance {
        grouping_key: property("kind"),
        consumption_grouping_value: "download".to_owned(),
        allowance_grouping_value: "storage".to_owned(),
        unit_amount: written("0.01"),
        consumption_display_name: Some("Egress".to_owned()),
        allowance_display_name: None,
    });
    let expect = [("Egress", "500", "5"), ("Allowance credit", "300", "-3")];
    parts_of(&model, &["500", "300", "40"], "2", &expect);
    costs(&model, &cells(&["500", "900", "40"]), "0");
    assert_eq!(model.line_quantity(&cells(&["500", "300", "40"])), number("500"));
}

/// What the engine has cells for is rated the same by one cell after the other, where that is a sum.
#[test]
fn models_whose_cells_add_up_say_so() {
    let one = |name: &str| Quantity::One(number(name));
    let model = Model::MatrixWithDisplayName(MatrixWithDisplayName {
        dimension: property("size"),
        unit_amounts: vec![DisplayedAmount {
            dimension_value: "s".to_owned(),
            display_name: "Small".to_owned(),
            unit_amount: written("2"),
        }],
    });
    assert_eq!(model.cell_amount(0, &number("3")), Some(number("6")));
    assert_eq!(model.cell_amount(1, &number("3")), Some(number("0")));
    costs(&model, &one("3"), "0");
}
