//! Models for properties: one of each type, with numbers that often meet their bounds.

mod groups;

pub(super) use self::groups::of_groups;
use super::*;
use crate::{
    WrittenDecimal,
    price::{
        BulkFilter, BulkWithFilters, BulkWithProration, CumulativeGroupedBulk, DisplayedAmount,
        GroupTier, GroupedTieredMatrix, LowerBoundTier, MatrixTier, MatrixWithAllocation,
        MatrixWithDisplayName, MatrixWithThresholdDiscounts, MeteredAllowance, MinimumPackageTier,
        MinimumTier, PackageTier, PackageWithAllocation, PairAmount, PairFactor,
        ScalableMatrixWithTieredPricing, ScalableMatrixWithUnitPricing, ThresholdDiscount,
        ThresholdStep, ThresholdTotalAmount, TieredMatrixWithAllocation, TieredPackage,
        TieredPackageWithMinimum, TieredWithMinimum, TieredWithProration, UnitWithPercent,
        UnitWithProration, ValueTier, VolumeTier,
    },
};

fn amount() -> impl Strategy<Value = Decimal> {
    (-500_i32..5_000).prop_map(|n| number(&format!("{n}e-2")))
}

/// What two tiers are made of: where the second begins, their amounts, their minimums, a switch.
#[derive(Clone, Debug)]
struct Two {
    bound: Decimal,
    amounts: [Decimal; 2],
    minimums: [Decimal; 2],
    is_on: bool,
}

fn two() -> impl Strategy<Value = Two> {
    let minimum = || (0_u64..40).prop_map(Decimal::from);
    let of = (1_u64..20, [amount(), amount()], [minimum(), minimum()], any::<bool>());
    of.prop_map(|(bound, amounts, minimums, is_on)| Two {
        bound: bound.into(),
        amounts,
        minimums,
        is_on,
    })
}

impl Two {
    /// Returns the bound, the amount and the minimum of each tier.
    fn tiers(&self) -> [(WrittenDecimal, WrittenDecimal, WrittenDecimal); 2] {
        let bounds = [Decimal::zero(), self.bound.clone()];
        let mut rows = bounds.into_iter().zip(self.amounts.clone()).zip(self.minimums.clone());
        std::array::from_fn(|_| {
            let ((bound, amount), least) = rows.next().unwrap();
            (bound.into(), amount.into(), least.into())
        })
    }

    fn each<T>(
        &self,
        make: impl Fn(WrittenDecimal, WrittenDecimal, WrittenDecimal) -> T,
    ) -> Vec<T> {
        self.tiers().map(|(bound, amount, least)| make(bound, amount, least)).into()
    }

    fn lower_bound_tiers(&self) -> Vec<LowerBoundTier> {
        self.each(|tier_lower_bound, unit_amount, _| LowerBoundTier {
            tier_lower_bound,
            unit_amount,
        })
    }

    fn volume_tiers(&self) -> Vec<VolumeTier> {
        self.each(|bound, unit_amount, _| VolumeTier { tier_lower_bound: Some(bound), unit_amount })
    }

    /// Returns each model that is made of them.
    fn models(self) -> Vec<Model> {
        let [one, other] = self.amounts.clone();
        let prorate = self.is_on;
        let mut unit = Unit::new(one.clone());
        unit.prorated = prorate;
        let mut tiered = Tiered::new([
            Tier::new(Decimal::zero(), Some(self.bound.clone()), one.clone()),
            Tier::new(self.bound.clone(), None, other.clone()),
        ]);
        tiered.prorated = prorate;
        let steps =
            self.each(|threshold, total_amount, _| ThresholdStep { threshold, total_amount });
        // Bounds are multiples of such a package.
        let package_size = self.bound.to_string().parse().unwrap();
        vec![
            Model::Unit(unit),
            Model::UnitWithProration(UnitWithProration { unit_amount: one.clone().into() }),
            Model::UnitWithPercent(UnitWithPercent {
                unit_amount: one.clone().into(),
                percent: self.bound.clone().into(),
            }),
            Model::Package(Package::new(one.clone(), package_size)),
            Model::PackageWithAllocation(PackageWithAllocation {
                package_amount: one.clone().into(),
                package_size: 3,
                allocation: self.bound.clone().into(),
            }),
            Model::Tiered(tiered),
            Model::TieredWithProration(TieredWithProration { tiers: self.lower_bound_tiers() }),
            Model::TieredWithMinimum(TieredWithMinimum {
                tiers: self.each(|tier_lower_bound, unit_amount, minimum_amount| MinimumTier {
                    tier_lower_bound,
                    unit_amount,
                    minimum_amount,
                }),
                hide_zero_amount_tiers: self.is_on,
                prorate,
            }),
            Model::TieredPackage(TieredPackage {
                tiers: self.each(|tier_lower_bound, per_unit, _| PackageTier {
                    tier_lower_bound,
                    per_unit,
                }),
                package_size,
            }),
            Model::TieredPackageWithMinimum(TieredPackageWithMinimum {
                tiers: self.each(|tier_lower_bound, per_unit, minimum_amount| MinimumPackageTier {
                    tier_lower_bound,
                    per_unit,
                    minimum_amount,
                }),
                package_size,
            }),
            Model::Bulk(Bulk::new([
                BulkTier::new(Some(self.bound.clone()), one.clone()),
                BulkTier::new(None, other.clone()),
            ])),
            Model::BulkWithProration(BulkWithProration { tiers: self.volume_tiers() }),
            Model::ThresholdTotalAmount(ThresholdTotalAmount { consumption_table: steps, prorate }),
            matrix(one, other),
        ]
    }

    /// Returns each model that divides usage into cells: that of the value `a`, and another one where it has to.
    fn divided(&self) -> Vec<Model> {
        let [one, other] = self.amounts.clone().map(WrittenDecimal::from);
        let property = || PropertyName::parse("model").unwrap();
        let a = || "a".to_owned();
        let allocation = WrittenDecimal::from(self.bound.clone());
        let factors = || {
            vec![PairFactor {
                first_dimension_value: a(),
                second_dimension_value: None,
                scaling_factor: written("2.5"),
            }]
        };
        let rows = self.tiers();
        let of_values = || rows.iter().flat_map(|row| ["a", "b"].map(|value| (row.clone(), value)));
        vec![
            Model::BulkWithFilters(BulkWithFilters {
                filters: vec![BulkFilter { property_key: property(), property_value: a() }],
                tiers: self.volume_tiers(),
            }),
            Model::MatrixWithDisplayName(MatrixWithDisplayName {
                dimension: property(),
                unit_amounts: vec![DisplayedAmount {
                    dimension_value: a(),
                    display_name: "A".to_owned(),
                    unit_amount: one.clone(),
                }],
            }),
            Model::MatrixWithAllocation(MatrixWithAllocation {
                matrix: Matrix::new(
                    [property()],
                    other.clone(),
                    [MatrixCell::new([Some(a())], one.clone())],
                ),
                allocation: allocation.clone(),
            }),
            Model::MatrixWithThresholdDiscounts(MatrixWithThresholdDiscounts {
                first_dimension: property(),
                second_dimension: None,
                default_unit_amount: other.clone(),
                matrix_values: vec![PairAmount {
                    first_dimension_value: a(),
                    second_dimension_value: None,
                    unit_amount: one.clone(),
                }],
                threshold_discount_groups: vec![ThresholdDiscount {
                    cell_coordinates: a(),
                    threshold_amount: allocation.clone(),
                    below_threshold_discount_percentage: written("0.1"),
                    above_threshold_discount_percentage: written("0.75"),
                    description: None,
                }],
            }),
            Model::TieredMatrixWithAllocation(TieredMatrixWithAllocation {
                dimensions: vec![property()],
                allocation,
                default_unit_amount: other.clone(),
                tiers: self.each(|tier_lower_bound, unit_amount, _| MatrixTier {
                    dimension_values: vec![a()],
                    tier_lower_bound,
                    unit_amount,
                }),
            }),
            Model::GroupedTieredMatrix(GroupedTieredMatrix {
                dimension: property(),
                default_unit_amount: other,
                tiers: self.each(|tier_lower_bound, unit_amount, _| ValueTier {
                    dimension_value: a(),
                    tier_lower_bound,
                    unit_amount,
                }),
            }),
            Model::ScalableMatrixWithUnitPricing(ScalableMatrixWithUnitPricing {
                unit_price: one.clone(),
                first_dimension: property(),
                second_dimension: None,
                matrix_scaling_factors: factors(),
                grouping_key: None,
                prorate: self.is_on,
            }),
            Model::ScalableMatrixWithTieredPricing(ScalableMatrixWithTieredPricing {
                tiers: self.lower_bound_tiers(),
                first_dimension: property(),
                second_dimension: None,
                matrix_scaling_factors: factors(),
            }),
            Model::CumulativeGroupedBulk(CumulativeGroupedBulk {
                group: property(),
                dimension_values: of_values()
                    .map(|((tier_lower_bound, unit_amount, _), value)| GroupTier {
                        tier_lower_bound,
                        grouping_key: value.to_owned(),
                        unit_amount,
                    })
                    .collect(),
            }),
            Model::MeteredAllowance(MeteredAllowance {
                grouping_key: property(),
                consumption_grouping_value: a(),
                allowance_grouping_value: "b".to_owned(),
                unit_amount: one,
                consumption_display_name: None,
                allowance_display_name: None,
            }),
        ]
    }
}

fn written(text: &str) -> WrittenDecimal {
    WrittenDecimal::parse(text).unwrap()
}

fn matrix(one: Decimal, default_unit_amount: Decimal) -> Model {
    let cell = MatrixCell::new([Some("a".to_owned())], one);
    let dimensions = [PropertyName::parse("model").unwrap()];
    Model::Matrix(Matrix::new(dimensions, default_unit_amount, [cell]))
}

/// Some model of any type.
pub(super) fn model() -> impl Strategy<Value = Model> {
    let any = (two(), any::<prop::sample::Index>());
    any.prop_map(|(two, index)| {
        let models = [two.divided(), groups::of(&two), two.models()].concat();
        models[index.index(models.len())].clone()
    })
}
