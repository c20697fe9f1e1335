//! Models for properties: one of each type, with numbers that often meet their bounds.

use super::*;
use crate::{
    WrittenDecimal,
    price::{
        BulkWithProration, LowerBoundTier, MinimumPackageTier, MinimumTier, PackageTier,
        PackageWithAllocation, ThresholdStep, ThresholdTotalAmount, TieredPackage,
        TieredPackageWithMinimum, TieredWithMinimum, TieredWithProration, UnitWithPercent,
        UnitWithProration, VolumeTier,
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
        let models = two.models();
        models[index.index(models.len())].clone()
    })
}
