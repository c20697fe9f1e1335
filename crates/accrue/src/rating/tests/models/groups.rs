//! Models of groups for properties.

use super::*;
use crate::price::{
    CumulativeGroupedAllocation, DailyAmount, DailyCreditAllowance, EventOutput, GroupedAllocation,
    GroupedTiered, GroupedTieredPackage, GroupedWithMeteredMinimum, GroupedWithMinMaxThresholds,
    GroupedWithProratedMinimum, MaxGroupTieredPackage, PricingAmount, ScalingFactor,
};

/// Returns each model that divides usage into groups.
pub(super) fn of(two: &Two) -> Vec<Model> {
    let grouping_key = PropertyName::parse("user").unwrap();
    let [one, other] = two.amounts.clone().map(WrittenDecimal::from);
    let [least, most] = two.minimums.clone();
    let minimum = WrittenDecimal::from(least.clone());
    let allocation = WrittenDecimal::from(two.bound.clone());
    let package_size = two.bound.to_string().parse().unwrap();
    vec![
        Model::GroupedTiered(GroupedTiered {
            grouping_key: grouping_key.clone(),
            tiers: two.lower_bound_tiers(),
        }),
        Model::GroupedTieredPackage(GroupedTieredPackage {
            grouping_key: grouping_key.clone(),
            package_size,
            tiers: two
                .each(|tier_lower_bound, per_unit, _| PackageTier { tier_lower_bound, per_unit }),
        }),
        Model::MaxGroupTieredPackage(MaxGroupTieredPackage {
            grouping_key: grouping_key.clone(),
            package_size,
            tiers: two.lower_bound_tiers(),
        }),
        Model::GroupedAllocation(GroupedAllocation {
            grouping_key: grouping_key.clone(),
            allocation: allocation.clone(),
            overage_unit_rate: one.clone(),
        }),
        Model::CumulativeGroupedAllocation(CumulativeGroupedAllocation {
            grouping_key: grouping_key.clone(),
            group_allocation: allocation.clone(),
            cumulative_allocation: minimum.clone(),
            unit_amount: one.clone(),
        }),
        Model::GroupedWithMinMaxThresholds(GroupedWithMinMaxThresholds {
            grouping_key: grouping_key.clone(),
            per_unit_rate: one.clone(),
            minimum_charge: minimum.clone(),
            maximum_charge: (least + most).into(),
        }),
        Model::GroupedWithProratedMinimum(GroupedWithProratedMinimum {
            grouping_key: grouping_key.clone(),
            unit_rate: one.clone(),
            minimum: minimum.clone(),
        }),
        Model::GroupedWithMeteredMinimum(GroupedWithMeteredMinimum {
            grouping_key: grouping_key.clone(),
            pricing_key: PropertyName::parse("gpu").unwrap(),
            scaling_key: PropertyName::parse("region").unwrap(),
            minimum_unit_amount: minimum,
            unit_amounts: vec![PricingAmount {
                pricing_value: "a".to_owned(),
                unit_amount: one.clone(),
            }],
            scaling_factors: vec![ScalingFactor {
                scaling_value: "eu".to_owned(),
                scaling_factor: written("1.5"),
            }],
        }),
        Model::EventOutput(EventOutput {
            unit_rating_key: PropertyName::parse("rate").unwrap(),
            grouping_key: Some(grouping_key.clone()).filter(|_| two.is_on),
            default_unit_rate: Some(other.clone()).filter(|_| two.is_on),
        }),
        Model::DailyCreditAllowance(DailyCreditAllowance {
            event_day_property: grouping_key,
            dimensions: vec![Some(PropertyName::parse("model").unwrap())],
            default_unit_amount: other,
            daily_allowance: allocation,
            matrix_values: vec![DailyAmount {
                dimension_values: vec![Some("a".to_owned())],
                unit_amount: one,
            }],
        }),
    ]
}

/// Some model of groups.
pub(in super::super) fn of_groups() -> impl Strategy<Value = Model> {
    let any = (two(), any::<prop::sample::Index>());
    any.prop_map(|(two, index)| {
        let models = of(&two);
        models[index.index(models.len())].clone()
    })
}
