//! Models that divide usage into groups that are not known beforehand.

use accrue::{PropertyName, WrittenDecimal, price};

use super::both::{WholeText, configs};
use crate::shape::Sparse;

configs! {
    /// Graduated tiers of each value of a property, whichever values there are.
    GroupedTiered: GroupedTieredConfigIn, GroupedTieredConfig {
        /// Property whose value decides on the group.
        grouping_key: PropertyName,
        /// Tiers of each group, two or more, by rising bounds from 0 on.
        tiers: Vec<price::LowerBoundTier>,
    }

    /// Graduated tiers of packages of each value of a property.
    GroupedTieredPackage: GroupedTieredPackageConfigIn, GroupedTieredPackageConfig {
        /// Property whose value decides on the group.
        grouping_key: PropertyName,
        /// Number of units of a package: a whole number, at least 1. The units of each group are rounded up.
        package_size: WholeText,
        /// Tiers of each group, two or more, by rising bounds from 0 on.
        tiers: Vec<price::PackageTier>,
    }

    /// Graduated tiers of packages of the value of a property that has the most units.
    MaxGroupTieredPackage: MaxGroupTieredPackageConfigIn, MaxGroupTieredPackageConfig {
        /// Property whose value decides on the group.
        grouping_key: PropertyName,
        /// Number of units of a package: a whole number, at least 1.
        package_size: WholeText,
        /// Tiers of the largest group, two or more, by rising bounds from 0 on: amounts are of packages.
        tiers: Vec<price::LowerBoundTier>,
    }

    /// One amount for every unit of each value of a property above an allocation.
    GroupedAllocation: GroupedAllocationConfigIn, GroupedAllocationConfig {
        /// Property whose value decides on the group.
        grouping_key: PropertyName,
        /// Units of each group that are free.
        allocation: WrittenDecimal,
        /// Amount for each unit above.
        overage_unit_rate: WrittenDecimal,
    }

    /// One amount for every unit of each value of a property above its own allocation, or above what is left of that
    /// of all, whichever is more.
    CumulativeGroupedAllocation:
        CumulativeGroupedAllocationConfigIn, CumulativeGroupedAllocationConfig
    {
        /// Property whose value decides on the group.
        grouping_key: PropertyName,
        /// Units of each group that are free.
        group_allocation: WrittenDecimal,
        /// Units of all groups together that are free: they draw on it in the order of their values.
        cumulative_allocation: WrittenDecimal,
        /// Amount for each unit above.
        unit_amount: WrittenDecimal,
    }

    /// One amount for every unit of each value of a property, with a least and a greatest amount of each.
    GroupedWithMinMaxThresholds:
        GroupedWithMinMaxThresholdsConfigIn, GroupedWithMinMaxThresholdsConfig
    {
        /// Property whose value decides on the group.
        grouping_key: PropertyName,
        /// Amount for each unit.
        per_unit_rate: WrittenDecimal,
        /// Least amount of a group that has events, once the period is over.
        minimum_charge: WrittenDecimal,
        /// Greatest amount of a group: no less than the least one.
        maximum_charge: WrittenDecimal,
    }

    /// One amount for every unit of each value of a property, with a least amount of each by the days served.
    GroupedWithProratedMinimum:
        GroupedWithProratedMinimumConfigIn, GroupedWithProratedMinimumConfig
    {
        /// Property whose value decides on the group.
        grouping_key: PropertyName,
        /// Amount for each unit.
        unit_rate: WrittenDecimal,
        /// Least amount of a group that has events, for a whole period that is over.
        minimum: WrittenDecimal,
    }

    /// Rates and factors of each value of a property, with a least amount for each unit of it.
    GroupedWithMeteredMinimum:
        GroupedWithMeteredMinimumConfigIn, GroupedWithMeteredMinimumConfig
    {
        /// Property whose value decides on the group.
        grouping_key: PropertyName,
        /// Property whose value decides on the rate.
        pricing_key: PropertyName,
        /// Property whose value decides on the factor.
        scaling_key: PropertyName,
        /// Least amount for each unit of a group; usage whose rate is not there costs it.
        minimum_unit_amount: WrittenDecimal,
        /// Rates, one or more.
        unit_amounts: Vec<price::PricingAmount>,
        /// Factors, one or more: any other value has 1.
        scaling_factors: Vec<price::ScalingFactor>,
    }

    /// The rate of a value.
    PricingAmount: PricingAmountIn, PricingAmount {
        /// The value.
        pricing_value: String,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }

    /// The factor of a value.
    ScalingFactor: ScalingFactorIn, ScalingFactor {
        /// The value.
        scaling_value: String,
        /// What the rate is multiplied by, more than 0.
        scaling_factor: WrittenDecimal,
    }

    /// Every unit at the rate that its event says.
    EventOutput: EventOutputConfigIn, EventOutputConfig {
        /// Property that says the rate: a number, or a text that is one.
        unit_rating_key: PropertyName,
        /// Property whose value decides on the group.
        grouping_key: Sparse<PropertyName>,
        /// Amount per unit of events that say no rate: they are not counted where there is none.
        default_unit_rate: Sparse<WrittenDecimal>,
    }

    /// A matrix whose units of each day cost nothing up to an allowance.
    DailyCreditAllowance: DailyCreditAllowanceConfigIn, DailyCreditAllowanceConfig {
        /// Property that says the day.
        event_day_property: PropertyName,
        /// Properties that decide on the cell, one or two; a null behind them is none.
        dimensions: Vec<Option<PropertyName>>,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// Amount of each day that is free.
        daily_allowance: WrittenDecimal,
        /// Cells, one or more.
        matrix_values: Vec<price::DailyAmount>,
    }

    /// The unit amount of a cell of a day.
    DailyAmount: DailyAmountIn, DailyAmount {
        /// Values of the dimensions; null for events that have none.
        dimension_values: Vec<Option<String>>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }
}
