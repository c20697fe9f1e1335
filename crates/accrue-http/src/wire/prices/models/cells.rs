//! Models that divide usage into cells.

use accrue::{Decimal, JsonNumber, PropertyName, WrittenDecimal, price};

use super::both::{Both, Listed, configs};
use crate::shape::{Sparse, request, response};

configs! {
    /// A unit amount for each combination of values of one to ten properties.
    Matrix: MatrixConfigIn, MatrixConfig {
        /// Properties, one to ten; a null behind them is none.
        dimensions: Vec<Option<PropertyName>>,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// What the quantity in no cell is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Sparse<JsonNumber>,
        /// Cells.
        matrix_values: Vec<price::MatrixCell>,
    }

    /// A cell of a matrix.
    MatrixCell: MatrixValueIn, MatrixValue {
        /// Values of the dimensions; null for events that have none.
        dimension_values: Vec<Option<String>>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity in the cell is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Sparse<JsonNumber>,
    }

    /// Volume tiers over the units of the events that match some filters: the units of all events decide on the
    /// tier.
    BulkWithFilters: BulkWithFiltersConfigIn, BulkWithFiltersConfig {
        /// Filters, one or more: an event matches all of them.
        filters: Vec<price::BulkFilter>,
        /// Tiers, two or more, by rising bounds from 0 on.
        tiers: Vec<price::VolumeTier>,
    }

    /// A value of a property that events have.
    BulkFilter: BulkFilterIn, BulkFilter {
        /// The property.
        property_key: PropertyName,
        /// Its value.
        property_value: String,
    }

    /// A unit amount for each of some values of a property, shown by a name of its own.
    MatrixWithDisplayName: MatrixWithDisplayNameConfigIn, MatrixWithDisplayNameConfig {
        /// Property whose value decides.
        dimension: PropertyName,
        /// Amounts of values, one or more: others cost nothing.
        unit_amounts: Vec<price::DisplayedAmount>,
    }

    /// The unit amount of a value, with the name that it is shown by.
    DisplayedAmount: DisplayedAmountIn, DisplayedAmount {
        /// The value.
        dimension_value: String,
        /// The name.
        display_name: String,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }

    /// A matrix with discounts of what groups of cells come to, below and above a threshold.
    MatrixWithThresholdDiscounts:
        MatrixWithThresholdDiscountsConfigIn, MatrixWithThresholdDiscountsConfig
    {
        /// Property whose value decides on the cell.
        first_dimension: PropertyName,
        /// Second property whose value does.
        second_dimension: Option<PropertyName>,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// Cells, one or more.
        matrix_values: Vec<price::PairAmount>,
        /// Groups of cells that have a discount.
        threshold_discount_groups: Listed<price::ThresholdDiscount>,
    }

    /// The unit amount of a cell of one or two properties.
    PairAmount: PairAmountIn, PairAmount {
        /// Value of the first property.
        first_dimension_value: String,
        /// Value of the second property; null for events without it.
        second_dimension_value: Option<String>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }

    /// A discount of what some cells come to together.
    ThresholdDiscount: ThresholdDiscountIn, ThresholdDiscount {
        /// The cells: their values joined by a comma, one cell after the other, joined by semicolons.
        cell_coordinates: String,
        /// Amount up to which the one part is taken off, and above which the other is.
        threshold_amount: WrittenDecimal,
        /// Part that is taken off up to the threshold, 0 to 1.
        below_threshold_discount_percentage: WrittenDecimal,
        /// Part that is taken off above the threshold, 0 to 1.
        above_threshold_discount_percentage: WrittenDecimal,
        /// Name of the discount.
        description: Option<String>,
    }

    /// Graduated tiers of each cell of a matrix, whose cells share an allocation of free units.
    TieredMatrixWithAllocation:
        TieredMatrixWithAllocationConfigIn, TieredMatrixWithAllocationConfig
    {
        /// Properties whose values decide on the cell.
        dimensions: Vec<PropertyName>,
        /// Units that are free, of all cells together: cells draw on it in the order of their first tiers.
        allocation: WrittenDecimal,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// Tiers of cells, one or more: the bounds of each cell rise from 0 on.
        tiers: Vec<price::MatrixTier>,
    }

    /// A tier of a cell of a matrix.
    MatrixTier: MatrixTierIn, MatrixTier {
        /// Values of the dimensions.
        dimension_values: Vec<String>,
        /// Lower bound of the tier, not part of it.
        tier_lower_bound: WrittenDecimal,
        /// Amount per unit of the tier.
        unit_amount: WrittenDecimal,
    }

    /// Graduated tiers of each of some values of a property.
    GroupedTieredMatrix: GroupedTieredMatrixConfigIn, GroupedTieredMatrixConfig {
        /// Property whose value decides.
        dimension: PropertyName,
        /// Amount per unit of any other value.
        default_unit_amount: WrittenDecimal,
        /// Tiers of values, one or more: the bounds of each value rise from 0 on.
        tiers: Vec<price::ValueTier>,
    }

    /// A tier of a value of a property.
    ValueTier: ValueTierIn, ValueTier {
        /// The value.
        dimension_value: String,
        /// Lower bound of the tier, not part of it.
        tier_lower_bound: WrittenDecimal,
        /// Amount per unit of the tier.
        unit_amount: WrittenDecimal,
    }

    /// One amount for every unit, which counts as many as the factor of its cell says.
    ScalableMatrixWithUnitPricing:
        ScalableMatrixWithUnitPricingConfigIn, ScalableMatrixWithUnitPricingConfig
    {
        /// Amount per unit that counts once.
        unit_price: WrittenDecimal,
        /// Property whose value decides on the cell.
        first_dimension: PropertyName,
        /// Second property whose value does.
        second_dimension: Option<PropertyName>,
        /// Factors of cells, one or more; that of all others is 1.
        matrix_scaling_factors: Vec<price::PairFactor>,
        /// Property by whose values the usage is told apart: kept as it is given, sub line items are of cells.
        grouping_key: Sparse<PropertyName>,
        /// True if usage is prorated to the days that it is served.
        prorate: bool,
    }

    /// Graduated tiers of units, which count as many as the factors of their cells say.
    ScalableMatrixWithTieredPricing:
        ScalableMatrixWithTieredPricingConfigIn, ScalableMatrixWithTieredPricingConfig
    {
        /// Tiers, two or more, by rising bounds from 0 on.
        tiers: Vec<price::LowerBoundTier>,
        /// Property whose value decides on the cell.
        first_dimension: PropertyName,
        /// Second property whose value does.
        second_dimension: Option<PropertyName>,
        /// Factors of cells, one or more; that of all others is 1.
        matrix_scaling_factors: Vec<price::PairFactor>,
    }

    /// The scaling factor of a cell of one or two properties.
    PairFactor: PairFactorIn, PairFactor {
        /// Value of the first property.
        first_dimension_value: String,
        /// Value of the second property; null for events without it.
        second_dimension_value: Option<String>,
        /// What the quantity of the cell is multiplied by, more than 0.
        scaling_factor: WrittenDecimal,
    }

    /// Volume amounts of each of some values of a property: the units of all values decide on the tier.
    CumulativeGroupedBulk: CumulativeGroupedBulkConfigIn, CumulativeGroupedBulkConfig {
        /// Property whose value decides.
        group: PropertyName,
        /// Tiers of values, one or more: each bound is there for each value, and the least is 0.
        dimension_values: Vec<price::GroupTier>,
    }

    /// A tier of a value.
    GroupTier: GroupTierIn, GroupTier {
        /// Lower bound of the tier, part of it.
        tier_lower_bound: WrittenDecimal,
        /// The value.
        grouping_key: String,
        /// Amount per unit of the value.
        unit_amount: WrittenDecimal,
    }

    /// One amount for every unit of one value of a property above the units of another one.
    MeteredAllowance: MeteredAllowanceConfigIn, MeteredAllowanceConfig {
        /// Property whose value decides.
        grouping_key: PropertyName,
        /// Value of events that consume.
        consumption_grouping_value: String,
        /// Value of events that allow.
        allowance_grouping_value: String,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// Name of what is consumed; `Consumption` where there is none.
        consumption_display_name: Sparse<String>,
        /// Name of the allowance; `Allowance credit` where there is none.
        allowance_display_name: Sparse<String>,
    }
}

request! {
    /// A matrix whose cells share an allocation of free units.
    pub(crate) struct MatrixWithAllocationConfigIn {
        /// Properties, one to ten; a null behind them is none.
        dimensions: Vec<Option<PropertyName>>,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// What the quantity in no cell is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Option<Decimal>,
        /// Cells, one or more.
        matrix_values: Vec<AllocatedValueIn>,
        /// Units that are free, of all cells together: cells draw on it in their order.
        allocation: WrittenDecimal,
    }

    /// A cell of a matrix with an allocation.
    pub(crate) struct AllocatedValueIn {
        /// Values of the dimensions; null for events that have none.
        dimension_values: Vec<Option<String>>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity in the cell is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Option<Decimal>,
    }
}

response! {
    /// A matrix whose cells share an allocation of free units.
    pub(crate) struct MatrixWithAllocationConfig {
        /// Properties, one to ten; a null behind them is none.
        dimensions: Vec<Option<PropertyName>>,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// What the quantity in no cell is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Sparse<Decimal>,
        /// Cells, one or more.
        matrix_values: Vec<AllocatedValue>,
        /// Units that are free, of all cells together: cells draw on it in their order.
        allocation: WrittenDecimal,
    }

    /// A cell of a matrix with an allocation.
    pub(crate) struct AllocatedValue {
        /// Values of the dimensions; null for events that have none.
        dimension_values: Vec<Option<String>>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity in the cell is multiplied by, more than 0; 1 where there is none.
        scaling_factor: Sparse<Decimal>,
    }
}

/// The wire has the members of its matrix beside the allocation, with factors in strings.
impl Both for price::MatrixWithAllocation {
    type Domain = Self;
    type In = MatrixWithAllocationConfigIn;
    type Out = MatrixWithAllocationConfig;

    fn read(given: Self::In) -> Self {
        let cells = given.matrix_values.into_iter().map(|cell| price::MatrixCell {
            dimension_values: cell.dimension_values,
            unit_amount: cell.unit_amount,
            scaling_factor: cell.scaling_factor,
        });
        let matrix = price::Matrix {
            dimensions: given.dimensions,
            default_unit_amount: given.default_unit_amount,
            scaling_factor: given.scaling_factor,
            matrix_values: cells.collect(),
        };
        Self { matrix, allocation: given.allocation }
    }

    fn write(own: &Self) -> Self::Out {
        let price::Matrix { dimensions, default_unit_amount, scaling_factor, matrix_values } =
            own.matrix.clone();
        let cells = matrix_values.into_iter().map(|cell| AllocatedValue {
            dimension_values: cell.dimension_values,
            unit_amount: cell.unit_amount,
            scaling_factor: Sparse(cell.scaling_factor),
        });
        MatrixWithAllocationConfig {
            dimensions,
            default_unit_amount,
            scaling_factor: Sparse(scaling_factor),
            matrix_values: cells.collect(),
            allocation: own.allocation.clone(),
        }
    }
}
