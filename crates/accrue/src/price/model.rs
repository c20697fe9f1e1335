//! Models, which turn quantities into amounts: one file for each, one line here.
//!
//! A further model is a file beside the others, a line of `models!` and its row of the table on
//! [`Model`].

mod arithmetic;
mod bulk;
mod bulk_with_filters;
mod bulk_with_proration;
mod cell_tiers;
mod cells;
mod cumulative_grouped_allocation;
mod cumulative_grouped_bulk;
mod daily_credit_allowance;
mod event_output;
mod grouped_allocation;
mod grouped_tiered;
mod grouped_tiered_matrix;
mod grouped_tiered_package;
mod grouped_with_metered_minimum;
mod grouped_with_min_max_thresholds;
mod grouped_with_prorated_minimum;
mod groups;
mod matrix;
mod matrix_with_allocation;
mod matrix_with_display_name;
mod matrix_with_threshold_discounts;
mod max_group_tiered_package;
mod metered_allowance;
mod minimum_composite;
mod package;
mod package_with_allocation;
mod part;
mod percent;
mod quantity;
mod scalable_matrix_with_tiered_pricing;
mod scalable_matrix_with_unit_pricing;
mod scaling;
mod threshold_total_amount;
mod tiered;
mod tiered_matrix_with_allocation;
mod tiered_package;
mod tiered_package_with_minimum;
mod tiered_with_minimum;
mod tiered_with_proration;
mod tiers;
mod unit;
mod unit_with_percent;
mod unit_with_proration;

use serde::{Deserialize, Serialize};

pub(super) use self::groups::RatesGroups;
pub(super) use self::tiered::{check_graduated, graduated};
use self::tiers::Tiers;
pub use self::{
    bulk::{Bulk, BulkTier},
    bulk_with_filters::{BulkFilter, BulkWithFilters},
    bulk_with_proration::BulkWithProration,
    cumulative_grouped_allocation::CumulativeGroupedAllocation,
    cumulative_grouped_bulk::{CumulativeGroupedBulk, GroupTier},
    daily_credit_allowance::{DailyAmount, DailyCreditAllowance},
    event_output::EventOutput,
    grouped_allocation::GroupedAllocation,
    grouped_tiered::GroupedTiered,
    grouped_tiered_matrix::{GroupedTieredMatrix, ValueTier},
    grouped_tiered_package::GroupedTieredPackage,
    grouped_with_metered_minimum::{GroupedWithMeteredMinimum, PricingAmount, ScalingFactor},
    grouped_with_min_max_thresholds::GroupedWithMinMaxThresholds,
    grouped_with_prorated_minimum::GroupedWithProratedMinimum,
    groups::GroupQuantity,
    matrix::{Matrix, MatrixCell},
    matrix_with_allocation::MatrixWithAllocation,
    matrix_with_display_name::{DisplayedAmount, MatrixWithDisplayName},
    matrix_with_threshold_discounts::{
        MatrixWithThresholdDiscounts, PairAmount, ThresholdDiscount,
    },
    max_group_tiered_package::MaxGroupTieredPackage,
    metered_allowance::MeteredAllowance,
    minimum_composite::MinimumComposite,
    package::Package,
    package_with_allocation::PackageWithAllocation,
    part::{Grouping, Part, PartOf},
    percent::Percent,
    quantity::{Quantity, Rating},
    scalable_matrix_with_tiered_pricing::ScalableMatrixWithTieredPricing,
    scalable_matrix_with_unit_pricing::ScalableMatrixWithUnitPricing,
    scaling::PairFactor,
    threshold_total_amount::{ThresholdStep, ThresholdTotalAmount},
    tiered::{Tier, Tiered},
    tiered_matrix_with_allocation::{MatrixTier, TieredMatrixWithAllocation},
    tiered_package::{PackageTier, TieredPackage},
    tiered_package_with_minimum::{MinimumPackageTier, TieredPackageWithMinimum},
    tiered_with_minimum::{MinimumTier, TieredWithMinimum},
    tiered_with_proration::TieredWithProration,
    tiers::{LowerBoundTier, VolumeTier},
    unit::Unit,
    unit_with_percent::UnitWithPercent,
    unit_with_proration::UnitWithProration,
};
pub(crate) use self::{
    cells::DeclaredCells,
    groups::{Combination, DeclaredGroups, GroupRater, GroupSum},
    part::Parts,
};
use super::{Share, check_bounds};
use crate::{Decimal, Error, PropertyName, limits};

/// Operations of every model.
pub(super) trait Rates {
    /// Says what is wrong with the configuration.
    fn check(&self) -> Result<(), Error>;

    /// Returns the operations of a model that divides usage into groups: it has no others of those below but
    /// whether more units never cost less.
    fn grouped(&self) -> Option<&dyn RatesGroups> {
        None
    }

    /// Returns the cells that usage is divided into, of a model that rates more than one figure.
    fn cells(&self) -> Option<DeclaredCells> {
        None
    }

    /// Tells whether it rates what other prices come to: its quantity is the sum of that.
    fn is_composite(&self) -> bool {
        false
    }

    /// Rates a quantity, as long as its period runs. One below zero costs nothing.
    fn rate(&self, _quantity: &Quantity) -> Rating {
        Rating::of(Vec::new())
    }

    /// Returns the amount of [`rate`](Self::rate), and nothing else.
    fn amount(&self, quantity: &Quantity) -> Decimal {
        self.rate(quantity).amount
    }

    /// Returns the amount for the quantity of one cell, of a model whose cells add up: what follows usage
    /// looks at no other cell then.
    fn cell_amount(&self, _cell: usize, _quantity: &Decimal) -> Option<Decimal> {
        None
    }

    /// Returns the least amount of a period that is over, of which some days were served, of a model that has
    /// one.
    fn minimum(&self, _quantity: &Quantity, _served: Share) -> Option<Decimal> {
        None
    }

    /// Returns the quantity of a line: the sum of the cells, for most.
    fn line_quantity(&self, quantity: &Quantity) -> Decimal {
        quantity.total()
    }

    /// Tells whether usage is prorated to the days that it was served.
    fn is_prorated(&self) -> bool {
        false
    }

    /// Tells whether more units never cost less. A model that does not say so is rated event by event
    /// where somebody asks for the cost of a batch.
    fn only_rises(&self) -> bool {
        false
    }
}

/// Declares the models: one line for each.
macro_rules! models {
    ($($(#[$doc:meta])* $name:ident($config:ty) = $wire:literal,)*) => {
        /// Model that turns a quantity into an amount (wire 5.2).
        ///
        /// ```
        /// use accrue::{
        ///     Decimal,
        ///     price::{Model, Package, Quantity},
        /// };
        ///
        /// let package_amount = Decimal::parse("1.25")?;
        /// let model = Model::Package(Package::new(package_amount, 1_000));
        /// let rating = model.rate(&Quantity::One(Decimal::from(1_001)));
        /// assert_eq!(rating.amount, Decimal::parse("2.50")?);
        /// assert_eq!(rating.parts[0].quantity, Decimal::from(2));
        /// # Ok::<(), accrue::DecimalError>(())
        /// ```
        ///
        /// The types of model that the wire knows:
        ///
        /// | `model_type` | here |
        /// |---|---|
        /// | `bulk` | [`Bulk`], `price/model/bulk.rs` |
        /// | `bulk_with_filters` | [`BulkWithFilters`], `price/model/bulk_with_filters.rs` |
        /// | `bulk_with_proration` | [`BulkWithProration`], `price/model/bulk_with_proration.rs` |
        /// | `cumulative_grouped_allocation` | [`CumulativeGroupedAllocation`], `price/model/cumulative_grouped_allocation.rs` |
        /// | `cumulative_grouped_bulk` | [`CumulativeGroupedBulk`], `price/model/cumulative_grouped_bulk.rs` |
        /// | `daily_credit_allowance` | [`DailyCreditAllowance`], `price/model/daily_credit_allowance.rs` |
        /// | `event_output` | [`EventOutput`], `price/model/event_output.rs` |
        /// | `grouped_allocation` | [`GroupedAllocation`], `price/model/grouped_allocation.rs` |
        /// | `grouped_tiered` | [`GroupedTiered`], `price/model/grouped_tiered.rs` |
        /// | `grouped_tiered_matrix` | [`GroupedTieredMatrix`], `price/model/grouped_tiered_matrix.rs` |
        /// | `grouped_tiered_package` | [`GroupedTieredPackage`], `price/model/grouped_tiered_package.rs` |
        /// | `grouped_with_metered_minimum` | [`GroupedWithMeteredMinimum`], `price/model/grouped_with_metered_minimum.rs` |
        /// | `grouped_with_min_max_thresholds` | [`GroupedWithMinMaxThresholds`], `price/model/grouped_with_min_max_thresholds.rs` |
        /// | `grouped_with_prorated_minimum` | [`GroupedWithProratedMinimum`], `price/model/grouped_with_prorated_minimum.rs` |
        /// | `matrix` | [`Matrix`], `price/model/matrix.rs` |
        /// | `matrix_with_allocation` | [`MatrixWithAllocation`], `price/model/matrix_with_allocation.rs` |
        /// | `matrix_with_display_name` | [`MatrixWithDisplayName`], `price/model/matrix_with_display_name.rs` |
        /// | `matrix_with_threshold_discounts` | [`MatrixWithThresholdDiscounts`], `price/model/matrix_with_threshold_discounts.rs` |
        /// | `max_group_tiered_package` | [`MaxGroupTieredPackage`], `price/model/max_group_tiered_package.rs` |
        /// | `metered_allowance` | [`MeteredAllowance`], `price/model/metered_allowance.rs` |
        /// | `minimum_composite` | [`MinimumComposite`], `price/model/minimum_composite.rs` |
        /// | `package` | [`Package`], `price/model/package.rs` |
        /// | `package_with_allocation` | [`PackageWithAllocation`], `price/model/package_with_allocation.rs` |
        /// | `percent` | [`Percent`], `price/model/percent.rs` |
        /// | `scalable_matrix_with_tiered_pricing` | [`ScalableMatrixWithTieredPricing`], `price/model/scalable_matrix_with_tiered_pricing.rs` |
        /// | `scalable_matrix_with_unit_pricing` | [`ScalableMatrixWithUnitPricing`], `price/model/scalable_matrix_with_unit_pricing.rs` |
        /// | `threshold_total_amount` | [`ThresholdTotalAmount`], `price/model/threshold_total_amount.rs` |
        /// | `tiered` | [`Tiered`], `price/model/tiered.rs` |
        /// | `tiered_matrix_with_allocation` | [`TieredMatrixWithAllocation`], `price/model/tiered_matrix_with_allocation.rs` |
        /// | `tiered_package` | [`TieredPackage`], `price/model/tiered_package.rs` |
        /// | `tiered_package_with_minimum` | [`TieredPackageWithMinimum`], `price/model/tiered_package_with_minimum.rs` |
        /// | `tiered_with_minimum` | [`TieredWithMinimum`], `price/model/tiered_with_minimum.rs` |
        /// | `tiered_with_proration` | [`TieredWithProration`], `price/model/tiered_with_proration.rs` |
        /// | `unit` | [`Unit`], `price/model/unit.rs` |
        /// | `unit_with_percent` | [`UnitWithPercent`], `price/model/unit_with_percent.rs` |
        /// | `unit_with_proration` | [`UnitWithProration`], `price/model/unit_with_proration.rs` |
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Model {
            $($(#[$doc])* $name($config),)*
        }

        impl Model {
            /// Returns the type of model on the wire.
            #[must_use]
            pub const fn model_type(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $wire,)*
                }
            }

            /// Says what is wrong with the configuration.
            pub(crate) fn check(&self) -> Result<(), Error> {
                match self {
                    $(Self::$name(config) => config.check().map_err(|error| error.within($wire)),)*
                }
            }

            fn rates(&self) -> &dyn Rates {
                match self {
                    $(Self::$name(config) => config,)*
                }
            }
        }

        #[cfg(test)]
        const MODEL_TYPES: &[&str] = &[$($wire),*];
    };
}

models! {
    /// One amount for every unit.
    Unit(Unit) = "unit",
    /// One amount for each started package of units.
    Package(Package) = "package",
    /// Graduated: each tier prices the units that lie in it.
    Tiered(Tiered) = "tiered",
    /// Volume: the tier that the quantity lies in prices all units.
    Bulk(Bulk) = "bulk",
    /// One amount for every unit, prorated.
    UnitWithProration(UnitWithProration) = "unit_with_proration",
    /// A percentage of an amount for every unit.
    UnitWithPercent(UnitWithPercent) = "unit_with_percent",
    /// One amount for each started package of the units above an allocation.
    PackageWithAllocation(PackageWithAllocation) = "package_with_allocation",
    /// Graduated, prorated.
    TieredWithProration(TieredWithProration) = "tiered_with_proration",
    /// Graduated, with a least amount by the tier that the whole quantity lies in.
    TieredWithMinimum(TieredWithMinimum) = "tiered_with_minimum",
    /// Graduated in packages.
    TieredPackage(TieredPackage) = "tiered_package",
    /// Graduated in packages, with a least amount by the tier that all of them lie in.
    TieredPackageWithMinimum(TieredPackageWithMinimum) = "tiered_package_with_minimum",
    /// Volume, prorated.
    BulkWithProration(BulkWithProration) = "bulk_with_proration",
    /// Stair steps: one amount for all units.
    ThresholdTotalAmount(ThresholdTotalAmount) = "threshold_total_amount",
    /// A unit amount for each combination of values of up to ten properties of the events.
    Matrix(Matrix) = "matrix",
    /// Volume over the units of the events that match some filters.
    BulkWithFilters(BulkWithFilters) = "bulk_with_filters",
    /// A unit amount for each of some values of a property, shown by a name of its own.
    MatrixWithDisplayName(MatrixWithDisplayName) = "matrix_with_display_name",
    /// A matrix whose cells share an allocation of free units.
    MatrixWithAllocation(MatrixWithAllocation) = "matrix_with_allocation",
    /// A matrix with discounts of what groups of cells come to.
    MatrixWithThresholdDiscounts(MatrixWithThresholdDiscounts) = "matrix_with_threshold_discounts",
    /// Graduated tiers of each cell of a matrix, with an allocation of free units.
    TieredMatrixWithAllocation(TieredMatrixWithAllocation) = "tiered_matrix_with_allocation",
    /// Graduated tiers of each of some values of a property.
    GroupedTieredMatrix(GroupedTieredMatrix) = "grouped_tiered_matrix",
    /// One amount for every unit, which counts as many as the factor of its cell says.
    ScalableMatrixWithUnitPricing(ScalableMatrixWithUnitPricing) = "scalable_matrix_with_unit_pricing",
    /// Graduated, in units that count as many as the factors of their cells say.
    ScalableMatrixWithTieredPricing(ScalableMatrixWithTieredPricing) = "scalable_matrix_with_tiered_pricing",
    /// Volume amounts of each of some values of a property, by the tier of all of them.
    CumulativeGroupedBulk(CumulativeGroupedBulk) = "cumulative_grouped_bulk",
    /// One amount for every unit of a value of a property above the units of another one.
    MeteredAllowance(MeteredAllowance) = "metered_allowance",
    /// Graduated tiers of each value of a property.
    GroupedTiered(GroupedTiered) = "grouped_tiered",
    /// One amount for every unit of a value of a property above its own allocation, or above that of all.
    CumulativeGroupedAllocation(CumulativeGroupedAllocation) = "cumulative_grouped_allocation",
    /// A matrix whose units of each day cost nothing up to an allowance.
    DailyCreditAllowance(DailyCreditAllowance) = "daily_credit_allowance",
    /// Every unit at the rate that its event says.
    EventOutput(EventOutput) = "event_output",
    /// One amount for every unit of a value of a property above its allocation.
    GroupedAllocation(GroupedAllocation) = "grouped_allocation",
    /// Graduated tiers of packages of each value of a property.
    GroupedTieredPackage(GroupedTieredPackage) = "grouped_tiered_package",
    /// Rates and factors of each value of a property, with a least amount for each unit of it.
    GroupedWithMeteredMinimum(GroupedWithMeteredMinimum) = "grouped_with_metered_minimum",
    /// One amount for every unit of each value of a property, with a least and a greatest amount of it.
    GroupedWithMinMaxThresholds(GroupedWithMinMaxThresholds) = "grouped_with_min_max_thresholds",
    /// One amount for every unit of each value of a property, with a least amount of it by the days served.
    GroupedWithProratedMinimum(GroupedWithProratedMinimum) = "grouped_with_prorated_minimum",
    /// Graduated tiers of packages of the value of a property that has the most units.
    MaxGroupTieredPackage(MaxGroupTieredPackage) = "max_group_tiered_package",
    /// A fraction of what other prices come to, between a least and a greatest amount.
    Percent(Percent) = "percent",
    /// What other prices lack of an amount.
    MinimumComposite(MinimumComposite) = "minimum_composite",
}

impl Model {
    /// Rates a quantity of a period that is over and was served on all of its days. One below zero counts
    /// as none.
    ///
    /// The amount is exact and is the sum of the parts.
    #[must_use]
    pub fn rate(&self, quantity: &Quantity) -> Rating {
        self.rate_ended(quantity, Share::ALL)
    }

    /// Rates a quantity of a period that is over, of which some days were served.
    pub(crate) fn rate_ended(&self, quantity: &Quantity, served: Share) -> Rating {
        if let Some(rater) = self.group_rater(served) {
            return rater.rating(quantity, true);
        }
        let rating = self.rate_so_far(quantity);
        let top_up = self.top_up(quantity, &rating.amount, served);
        rating.topped_up(top_up)
    }

    /// Rates a quantity, as long as its period runs: without what a minimum of the model adds at the end.
    pub(crate) fn rate_so_far(&self, quantity: &Quantity) -> Rating {
        match self.group_rater(Share::ALL) {
            Some(rater) => rater.rating(quantity, false),
            None => self.rates().rate(quantity),
        }
    }

    /// Returns the amount of a quantity, as long as its period runs.
    pub(crate) fn amount(&self, quantity: &Quantity) -> Decimal {
        match self.group_rater(Share::ALL) {
            Some(rater) => rater.sum_of(quantity).amount,
            None => self.rates().amount(quantity),
        }
    }

    /// Returns what rates groups, of a model that divides usage into such, in a period of which some days are
    /// served.
    pub(crate) fn group_rater(&self, served: Share) -> Option<GroupRater<'_>> {
        self.rates().grouped().map(|model| GroupRater { model, served })
    }

    /// Returns the amount for the quantity of one cell, where the cells of the model add up.
    pub(crate) fn cell_amount(&self, cell: usize, quantity: &Decimal) -> Option<Decimal> {
        self.rates().cell_amount(cell, quantity)
    }

    /// Returns what a minimum of the model adds to the amount of a quantity when its period ends, of which some
    /// days were served.
    pub(crate) fn top_up(&self, quantity: &Quantity, amount: &Decimal, served: Share) -> Decimal {
        if let Some(rater) = self.group_rater(served) {
            return rater.sum_of(quantity).ended - amount;
        }
        let minimum = self.rates().minimum(quantity, served);
        minimum.map_or_else(Decimal::zero, |least| (least - amount).max(Decimal::zero()))
    }

    /// Returns the cells that usage, or each group of it, is divided into.
    pub(crate) fn cells(&self) -> Option<DeclaredCells> {
        match self.rates().grouped() {
            Some(model) => model.groups().cells,
            None => self.rates().cells(),
        }
    }

    /// Returns the groups that usage is divided into.
    pub(crate) fn groups(&self) -> Option<DeclaredGroups> {
        self.rates().grouped().map(RatesGroups::groups)
    }

    /// Returns the rules that it rates by, as a text.
    pub(crate) fn rules(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the properties whose values decide on the cell that usage lies in; none where there are no
    /// cells.
    #[must_use]
    pub fn dimensions(&self) -> Vec<PropertyName> {
        self.cells().map(|of| of.dimensions).unwrap_or_default()
    }

    /// Tells whether it rates more than one figure: that of each cell, or group. A fee has no events to divide,
    /// and units of different cells are not alike.
    pub(crate) fn is_divided(&self) -> bool {
        self.cells().is_some() || self.rates().grouped().is_some()
    }

    /// Tells whether it rates what other prices come to, and no quantity of its own (price models 6).
    #[must_use]
    pub fn is_composite(&self) -> bool {
        self.rates().is_composite()
    }

    /// Returns the quantity of a line.
    pub(crate) fn line_quantity(&self, quantity: &Quantity) -> Decimal {
        match self.group_rater(Share::ALL) {
            Some(rater) => rater.sum_of(quantity).quantity,
            None => self.rates().line_quantity(quantity),
        }
    }

    /// Tells whether usage is prorated to the days that it was served: its whole amount is, and no unit
    /// amount.
    pub(crate) fn is_prorated(&self) -> bool {
        self.rates().is_prorated()
    }

    /// Tells whether more units never cost less.
    pub(crate) fn only_rises(&self) -> bool {
        self.rates().only_rises()
    }
}

/// Returns a quantity times its scaling factor.
fn scaled(quantity: Decimal, factor: Option<&Decimal>) -> Decimal {
    match factor {
        Some(factor) => quantity * factor,
        None => quantity,
    }
}

fn check_scaling_factor(field: impl Into<String>, factor: Option<&Decimal>) -> Result<(), Error> {
    let Some(factor) = factor else { return Ok(()) };
    let field = field.into();
    check_bounds(field.as_str(), factor)?;
    if factor.is_negative() || factor.is_zero() {
        return Err(Error::invalid(field, format!("found {factor}, expected more than 0")));
    }
    Ok(())
}

/// Refuses a text that is only shown, where it is too long.
fn check_text(field: impl Into<String>, text: &str) -> Result<(), Error> {
    let (found, most) = (text.len(), limits::MODEL_TEXT_BYTES);
    if found > most {
        let message = format!("found a text of {found} bytes, expected at most {most}");
        return Err(Error::invalid(field, message));
    }
    Ok(())
}

fn check_number_of_tiers(found: usize) -> Result<(), Error> {
    if (1..=limits::TIERS).contains(&found) {
        return Ok(());
    }
    let message = format!("found {found} tiers, expected 1 to {}", limits::TIERS);
    Err(Error::invalid("tiers", message))
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
