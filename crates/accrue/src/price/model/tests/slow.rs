//! Models of tiers, packages and cells against slow, obvious ones: a loop over tenths of a unit, in thousandths
//! of an amount.

use proptest::prelude::*;

use super::super::{
    oracle::{comes_to, hundredths, tenths, thousandths},
    *,
};
use crate::{PropertyName, WrittenDecimal};

/// Numbers that a model is made of, and what it rates.
#[derive(Clone, Debug)]
struct Story {
    /// Where the second and the third tier begin, in units.
    bounds: [u32; 2],
    /// Amounts of the three tiers, or of cells.
    amounts: [i64; 3],
    /// Least amounts of the three tiers, in hundredths.
    minimums: [i64; 3],
    /// Units that are free.
    allocation: u32,
    /// Quantities of two cells and of all others, in tenths: often exactly a bound.
    cells: [u32; 3],
}

fn story() -> impl Strategy<Value = Story> {
    let cell = || prop_oneof![0_u32..400, (0_u32..40).prop_map(|units| units * 10)];
    let amounts = || [-50_i64..500, -50_i64..500, -50_i64..500];
    let minimum = || 0_i64..5_000;
    let minimums = [minimum(), minimum(), minimum()];
    (1_u32..12, 1_u32..12, amounts(), minimums, 0_u32..40, [cell(), cell(), cell()]).prop_map(
        |(first, more, amounts, minimums, allocation, cells)| Story {
            bounds: [first, first + more],
            amounts,
            minimums,
            allocation,
            cells,
        },
    )
}

fn whole(units: u32) -> WrittenDecimal {
    Decimal::from(u64::from(units)).into()
}

fn property() -> PropertyName {
    PropertyName::parse("kind").unwrap()
}

impl Story {
    /// Returns the bound, the amount and the least amount of each tier, whose bounds are so many times as much.
    fn tiers(&self, times: u32) -> [(WrittenDecimal, WrittenDecimal, WrittenDecimal); 3] {
        let bounds = [0, self.bounds[0] * times, self.bounds[1] * times];
        std::array::from_fn(|place| {
            let amount = hundredths(self.amounts[place]).into();
            (whole(bounds[place]), amount, hundredths(self.minimums[place]).into())
        })
    }

    fn lower_bound_tiers(&self) -> Vec<LowerBoundTier> {
        let tier =
            |(tier_lower_bound, unit_amount, _)| LowerBoundTier { tier_lower_bound, unit_amount };
        self.tiers(1).map(tier).into()
    }

    fn volume_tiers(&self) -> Vec<VolumeTier> {
        let tier =
            |(bound, unit_amount, _)| VolumeTier { tier_lower_bound: Some(bound), unit_amount };
        self.tiers(1).map(tier).into()
    }

    /// Returns the place of the tier of some tenths, where a bound belongs to the upper one.
    fn upper(&self, tenths: u32) -> usize {
        self.bounds.iter().filter(|bound| **bound * 10 <= tenths).count()
    }

    /// Returns the place of the tier of some tenths, where a bound belongs to the lower one.
    fn lower(&self, tenths: u32) -> usize {
        self.bounds.iter().filter(|bound| **bound * 10 < tenths).count()
    }

    /// Returns what so many tenths cost, each in its tier.
    fn graduated(&self, tenths: u32) -> i64 {
        (1..=tenths).map(|tenth| self.amounts[self.lower(tenth)]).sum()
    }

    /// Returns what is left of each cell when free tenths are taken one by one, cell by cell.
    fn rest(&self) -> [u32; 3] {
        let (mut pool, mut rest) = (self.allocation * 10, [0; 3]);
        for (cell, left) in self.cells.iter().zip(&mut rest) {
            for _ in 0..*cell {
                if pool > 0 { pool -= 1 } else { *left += 1 }
            }
        }
        rest
    }

    fn quantity(&self) -> Quantity {
        Quantity::Cells(self.cells.map(tenths).into())
    }

    fn one(&self) -> Quantity {
        Quantity::One(tenths(self.cells[0]))
    }

    fn agrees(&self, model: Model, quantity: &Quantity, expect: i64) {
        comes_to(&model, quantity, &thousandths(expect));
    }
}

/// Two cells, each with its amount.
fn two_cells<T>(story: &Story, make: impl Fn(&str, WrittenDecimal) -> T) -> Vec<T> {
    vec![
        make("a", hundredths(story.amounts[0]).into()),
        make("b", hundredths(story.amounts[1]).into()),
    ]
}

fn scalar_models_agree(story: &Story) {
    let (quantity, units) = (story.one(), story.cells[0]);
    let graduated = story.graduated(units);
    let tiers = story.lower_bound_tiers();
    story.agrees(Model::TieredWithProration(TieredWithProration { tiers }), &quantity, graduated);
    let tiers = story.tiers(1).map(|(tier_lower_bound, unit_amount, minimum_amount)| MinimumTier {
        tier_lower_bound,
        unit_amount,
        minimum_amount,
    });
    let least = story.minimums[story.lower(units)] * 10;
    let model =
        TieredWithMinimum { tiers: tiers.into(), hide_zero_amount_tiers: false, prorate: false };
    story.agrees(Model::TieredWithMinimum(model), &quantity, graduated.max(least));
    let volume = BulkWithProration { tiers: story.volume_tiers() };
    let each = story.amounts[story.upper(units)];
    story.agrees(Model::BulkWithProration(volume), &quantity, i64::from(units) * each);
    let steps = story
        .tiers(1)
        .map(|(threshold, total_amount, _)| ThresholdStep { threshold, total_amount });
    let passed = (units > 0).then(|| story.amounts[story.lower(units)] * 10);
    let model = ThresholdTotalAmount { consumption_table: steps.into(), prorate: false };
    story.agrees(Model::ThresholdTotalAmount(model), &quantity, passed.unwrap_or(0));
}

/// Counts packages of three units one by one.
fn packages_agree(story: &Story) {
    const SIZE: u32 = 3;
    let (quantity, units) = (story.one(), story.cells[0]);
    let packages = |units: u32| (0..units).filter(|tenth| tenth % (SIZE * 10) == 0).count();
    let amount = hundredths(story.amounts[0]).into();
    let model = PackageWithAllocation {
        package_amount: amount,
        package_size: SIZE.into(),
        allocation: whole(story.allocation),
    };
    let rest = story.rest()[0];
    let expect = i64::try_from(packages(rest)).unwrap() * story.amounts[0] * 10;
    story.agrees(Model::PackageWithAllocation(model), &quantity, expect);
    // The tiers begin at so many packages: the last unit of each says where it lies.
    let tier_of = |package: usize| {
        story.bounds.iter().filter(|bound| usize::try_from(**bound).unwrap() < package).count()
    };
    let count = packages(units);
    let expect: i64 = (1..=count).map(|package| story.amounts[tier_of(package)] * 10).sum();
    let tiers = story
        .tiers(SIZE)
        .map(|(tier_lower_bound, per_unit, _)| PackageTier { tier_lower_bound, per_unit });
    let model = TieredPackage { tiers: tiers.into(), package_size: SIZE.into() };
    story.agrees(Model::TieredPackage(model), &quantity, expect);
    let tiers = story.tiers(SIZE).map(|(tier_lower_bound, per_unit, minimum_amount)| {
        MinimumPackageTier { tier_lower_bound, per_unit, minimum_amount }
    });
    let least = story.minimums[tier_of(count)] * 10;
    let model = TieredPackageWithMinimum { tiers: tiers.into(), package_size: SIZE.into() };
    story.agrees(Model::TieredPackageWithMinimum(model), &quantity, expect.max(least));
}

fn cells_with_allocations_agree(story: &Story) {
    let cells = two_cells(story, |value, amount| MatrixCell::new([Some(value.to_owned())], amount));
    let matrix = Matrix::new([property()], hundredths(story.amounts[2]), cells);
    let allocation = whole(story.allocation);
    let rest = story.rest();
    let expect = rest.iter().zip(story.amounts).map(|(units, each)| i64::from(*units) * each).sum();
    let model = MatrixWithAllocation { matrix, allocation: allocation.clone() };
    story.agrees(Model::MatrixWithAllocation(model), &story.quantity(), expect);
    let tiers = story.lower_bound_tiers().into_iter().flat_map(|tier| {
        ["a", "b"].map(|value| MatrixTier {
            dimension_values: vec![value.to_owned()],
            tier_lower_bound: tier.tier_lower_bound.clone(),
            unit_amount: tier.unit_amount.clone(),
        })
    });
    let model = TieredMatrixWithAllocation {
        dimensions: vec![property()],
        allocation,
        default_unit_amount: hundredths(7).into(),
        tiers: tiers.collect(),
    };
    let expect = story.graduated(rest[0]) + story.graduated(rest[1]) + i64::from(rest[2]) * 7;
    story.agrees(Model::TieredMatrixWithAllocation(model), &story.quantity(), expect);
}

fn tiers_of_cells_agree(story: &Story) {
    let [one, other, rest] = story.cells;
    let all = one + other + rest;
    let rows = || {
        story
            .lower_bound_tiers()
            .into_iter()
            .flat_map(|tier| ["a", "b"].map(|of| (tier.clone(), of)))
    };
    let tiers = rows().map(|(tier, value)| ValueTier {
        dimension_value: value.to_owned(),
        tier_lower_bound: tier.tier_lower_bound,
        unit_amount: tier.unit_amount,
    });
    let model = GroupedTieredMatrix {
        dimension: property(),
        default_unit_amount: hundredths(7).into(),
        tiers: tiers.collect(),
    };
    let expect = story.graduated(one) + story.graduated(other) + i64::from(rest) * 7;
    story.agrees(Model::GroupedTieredMatrix(model), &story.quantity(), expect);
    let tiers = rows().map(|(tier, value)| GroupTier {
        tier_lower_bound: tier.tier_lower_bound,
        grouping_key: value.to_owned(),
        unit_amount: tier.unit_amount,
    });
    let model = CumulativeGroupedBulk { group: property(), dimension_values: tiers.collect() };
    let expect = i64::from(one + other) * story.amounts[story.upper(all)];
    story.agrees(Model::CumulativeGroupedBulk(model), &story.quantity(), expect);
    let filter = BulkFilter { property_key: property(), property_value: "a".to_owned() };
    let model = BulkWithFilters { filters: vec![filter], tiers: story.volume_tiers() };
    let figures = Quantity::Cells([one, other + rest, all].map(tenths).into());
    let expect = i64::from(one) * story.amounts[story.upper(all)];
    comes_to_by_figures(&Model::BulkWithFilters(model), &figures, &thousandths(expect));
}

/// The figures are not cells of which each may grow by itself.
fn comes_to_by_figures(model: &Model, figures: &Quantity, expect: &Decimal) {
    model.check().unwrap();
    assert_eq!(model.rate(figures).amount, *expect, "{model:?} of {figures:?}");
    assert_eq!(model.amount(figures), *expect);
}

fn scaled_and_discounted_cells_agree(story: &Story) {
    let factors = || {
        let row = |(value, factor): (&str, u32)| PairFactor {
            first_dimension_value: value.to_owned(),
            second_dimension_value: None,
            scaling_factor: whole(factor),
        };
        [("a", 2), ("b", 3)].map(row).to_vec()
    };
    let scaled = story.cells[0] * 2 + story.cells[1] * 3 + story.cells[2];
    let model = ScalableMatrixWithUnitPricing {
        unit_price: hundredths(story.amounts[0]).into(),
        first_dimension: property(),
        second_dimension: None,
        matrix_scaling_factors: factors(),
        grouping_key: None,
        prorate: false,
    };
    let expect = i64::from(scaled) * story.amounts[0];
    story.agrees(Model::ScalableMatrixWithUnitPricing(model), &story.quantity(), expect);
    let model = ScalableMatrixWithTieredPricing {
        tiers: story.lower_bound_tiers(),
        first_dimension: property(),
        second_dimension: None,
        matrix_scaling_factors: factors(),
    };
    let expect = story.graduated(scaled);
    story.agrees(Model::ScalableMatrixWithTieredPricing(model), &story.quantity(), expect);
    let spent: Vec<_> = (0..3).map(|of| i64::from(story.cells[of]) * story.amounts[of]).collect();
    let (group, threshold) = ((spent[0] + spent[1]).max(0), i64::from(story.allocation) * 1_000);
    let off = group.min(threshold) + 5 * (group - threshold).max(0);
    let expect = Decimal::parse(&format!("{}e-4", spent.iter().sum::<i64>() * 10 - off)).unwrap();
    let model = MatrixWithThresholdDiscounts {
        first_dimension: property(),
        second_dimension: None,
        default_unit_amount: hundredths(story.amounts[2]).into(),
        matrix_values: two_cells(story, |value, unit_amount| PairAmount {
            first_dimension_value: value.to_owned(),
            second_dimension_value: None,
            unit_amount,
        }),
        threshold_discount_groups: vec![ThresholdDiscount {
            cell_coordinates: "a;b".to_owned(),
            threshold_amount: whole(story.allocation),
            below_threshold_discount_percentage: WrittenDecimal::parse("0.1").unwrap(),
            above_threshold_discount_percentage: WrittenDecimal::parse("0.5").unwrap(),
            description: None,
        }],
    };
    comes_to(&Model::MatrixWithThresholdDiscounts(model), &story.quantity(), &expect);
}

fn names_and_allowances_agree(story: &Story) {
    let [one, other, _] = story.cells.map(i64::from);
    let unit_amounts = two_cells(story, |value, unit_amount| DisplayedAmount {
        dimension_value: value.to_owned(),
        display_name: value.to_uppercase(),
        unit_amount,
    });
    let model = MatrixWithDisplayName { dimension: property(), unit_amounts };
    let expect = one * story.amounts[0] + other * story.amounts[1];
    story.agrees(Model::MatrixWithDisplayName(model), &story.quantity(), expect);
    let model = MeteredAllowance {
        grouping_key: property(),
        consumption_grouping_value: "a".to_owned(),
        allowance_grouping_value: "b".to_owned(),
        unit_amount: hundredths(story.amounts[0]).into(),
        consumption_display_name: None,
        allowance_display_name: None,
    };
    let expect = (one - other).max(0) * story.amounts[0];
    story.agrees(Model::MeteredAllowance(model), &story.quantity(), expect);
}

// rustfmt leaves what is in here as it is: no more than the calls.
proptest! {
    #[test]
    fn scalar_models(story in story()) {
        scalar_models_agree(&story);
    }

    #[test]
    fn packages(story in story()) {
        packages_agree(&story);
    }

    #[test]
    fn cells_with_allocations(story in story()) {
        cells_with_allocations_agree(&story);
    }

    #[test]
    fn tiers_of_cells(story in story()) {
        tiers_of_cells_agree(&story);
    }

    #[test]
    fn scaled_and_discounted_cells(story in story()) {
        scaled_and_discounted_cells_agree(&story);
    }

    #[test]
    fn names_and_allowances(story in story()) {
        names_and_allowances_agree(&story);
    }
}
