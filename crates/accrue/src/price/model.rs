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
mod cumulative_grouped_bulk;
mod grouped_tiered_matrix;
mod matrix;
mod matrix_with_allocation;
mod matrix_with_display_name;
mod matrix_with_threshold_discounts;
mod metered_allowance;
mod package;
mod package_with_allocation;
mod part;
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

pub(super) use self::tiered::{check_graduated, graduated};
use self::tiers::Tiers;
pub use self::{
    bulk::{Bulk, BulkTier},
    bulk_with_filters::{BulkFilter, BulkWithFilters},
    bulk_with_proration::BulkWithProration,
    cumulative_grouped_bulk::{CumulativeGroupedBulk, GroupTier},
    grouped_tiered_matrix::{GroupedTieredMatrix, ValueTier},
    matrix::{Matrix, MatrixCell},
    matrix_with_allocation::MatrixWithAllocation,
    matrix_with_display_name::{DisplayedAmount, MatrixWithDisplayName},
    matrix_with_threshold_discounts::{
        MatrixWithThresholdDiscounts, PairAmount, ThresholdDiscount,
    },
    metered_allowance::MeteredAllowance,
    package::Package,
    package_with_allocation::PackageWithAllocation,
    part::{Grouping, Part, PartOf},
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
pub(crate) use self::{cells::DeclaredCells, part::Parts};
use super::{Share, check_bounds};
use crate::{Decimal, Error, PropertyName, limits};

/// Quantity that a model rates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// Quantity of the whole.
    One(Decimal),
    /// Quantity of each cell of a matrix, in the order of its cells, the default cell last.
    Cells(Vec<Decimal>),
}

/// Rating of a quantity: the amount, and its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rating {
    /// Amount, exact, in the unit of the price.
    pub amount: Decimal,
    /// Parts of the amount: their amounts add up to it.
    pub parts: Vec<Part>,
}

/// Operations of every model.
pub(super) trait Rates {
    /// Says what is wrong with the configuration.
    fn check(&self) -> Result<(), Error>;

    /// Returns the cells that usage is divided into, of a model that rates more than one figure.
    fn cells(&self) -> Option<DeclaredCells> {
        None
    }

    /// Rates a quantity, as long as its period runs. One below zero costs nothing.
    fn rate(&self, quantity: &Quantity) -> Rating;

    /// Returns the amount of [`rate`](Self::rate), and nothing else.
    fn amount(&self, quantity: &Quantity) -> Decimal {
        self.rate(quantity).amount
    }

    /// Returns the amount for the quantity of one cell, of a model whose cells add up: what follows usage
    /// looks at no other cell then.
    fn cell_amount(&self, _cell: usize, _quantity: &Decimal) -> Option<Decimal> {
        None
    }

    /// Returns the least amount of a period that is over, of a model that has one.
    fn minimum(&self, _quantity: &Quantity) -> Option<Decimal> {
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
        /// The types of model that the wire knows, and those that are here:
        ///
        /// | `model_type` | here |
        /// |---|---|
        /// | `bulk` | [`Bulk`], `price/model/bulk.rs` |
        /// | `bulk_with_filters` | [`BulkWithFilters`], `price/model/bulk_with_filters.rs` |
        /// | `bulk_with_proration` | [`BulkWithProration`], `price/model/bulk_with_proration.rs` |
        /// | `cumulative_grouped_allocation` | – |
        /// | `cumulative_grouped_bulk` | [`CumulativeGroupedBulk`], `price/model/cumulative_grouped_bulk.rs` |
        /// | `daily_credit_allowance` | – |
        /// | `event_output` | – |
        /// | `grouped_allocation` | – |
        /// | `grouped_tiered` | – |
        /// | `grouped_tiered_matrix` | [`GroupedTieredMatrix`], `price/model/grouped_tiered_matrix.rs` |
        /// | `grouped_tiered_package` | – |
        /// | `grouped_with_metered_minimum` | – |
        /// | `grouped_with_min_max_thresholds` | – |
        /// | `grouped_with_prorated_minimum` | – |
        /// | `matrix` | [`Matrix`], `price/model/matrix.rs` |
        /// | `matrix_with_allocation` | [`MatrixWithAllocation`], `price/model/matrix_with_allocation.rs` |
        /// | `matrix_with_display_name` | [`MatrixWithDisplayName`], `price/model/matrix_with_display_name.rs` |
        /// | `matrix_with_threshold_discounts` | [`MatrixWithThresholdDiscounts`], `price/model/matrix_with_threshold_discounts.rs` |
        /// | `max_group_tiered_package` | – |
        /// | `metered_allowance` | [`MeteredAllowance`], `price/model/metered_allowance.rs` |
        /// | `minimum_composite` | – |
        /// | `package` | [`Package`], `price/model/package.rs` |
        /// | `package_with_allocation` | [`PackageWithAllocation`], `price/model/package_with_allocation.rs` |
        /// | `percent` | – |
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
}

impl Model {
    /// Rates a quantity of a period that is over and was served on all of its days. One below zero counts
    /// as none.
    ///
    /// The amount is exact and is the sum of the parts.
    #[must_use]
    pub fn rate(&self, quantity: &Quantity) -> Rating {
        let rating = self.rate_so_far(quantity);
        let top_up = self.top_up(quantity, &rating.amount);
        rating.topped_up(top_up)
    }

    /// Rates a quantity, as long as its period runs: without what a minimum of the model adds at the end.
    pub(crate) fn rate_so_far(&self, quantity: &Quantity) -> Rating {
        self.rates().rate(quantity)
    }

    /// Returns the amount of a quantity, as long as its period runs.
    pub(crate) fn amount(&self, quantity: &Quantity) -> Decimal {
        self.rates().amount(quantity)
    }

    /// Returns the amount for the quantity of one cell, where the cells of the model add up.
    pub(crate) fn cell_amount(&self, cell: usize, quantity: &Decimal) -> Option<Decimal> {
        self.rates().cell_amount(cell, quantity)
    }

    /// Returns what a minimum of the model adds to the amount of a quantity when its period ends.
    pub(crate) fn top_up(&self, quantity: &Quantity, amount: &Decimal) -> Decimal {
        let minimum = self.rates().minimum(quantity);
        minimum.map_or_else(Decimal::zero, |least| (least - amount).max(Decimal::zero()))
    }

    /// Returns the cells that usage is divided into.
    pub(crate) fn cells(&self) -> Option<DeclaredCells> {
        self.rates().cells()
    }

    /// Returns the properties whose values decide on the cell that usage lies in; none where there are no
    /// cells.
    #[must_use]
    pub fn dimensions(&self) -> Vec<PropertyName> {
        self.cells().map(|of| of.dimensions).unwrap_or_default()
    }

    /// Tells whether it rates more than one figure: that of each cell. A fee has no events to divide, and
    /// units of different cells are not alike.
    pub(crate) fn has_cells(&self) -> bool {
        self.cells().is_some()
    }

    /// Returns the quantity of a line.
    pub(crate) fn line_quantity(&self, quantity: &Quantity) -> Decimal {
        self.rates().line_quantity(quantity)
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

impl Quantity {
    /// Returns the quantity that the figures of the cells make.
    pub(crate) fn of(figures: impl Iterator<Item = Decimal>) -> Self {
        let mut figures: Vec<_> = figures.collect();
        match figures.len() {
            1 => Self::One(figures.remove(0)),
            _ => Self::Cells(figures),
        }
    }

    /// Returns the quantity as one number: the sum of the cells.
    #[must_use]
    pub fn total(&self) -> Decimal {
        match self {
            Self::One(quantity) => quantity.clone(),
            Self::Cells(cells) => cells.iter().sum(),
        }
    }

    /// Returns the quantity as one number that is not below zero.
    fn billable(&self) -> Decimal {
        self.total().max(Decimal::zero())
    }

    /// Returns the quantities of so many cells, and that of all others: none is below zero.
    fn in_cells(&self, cells: usize) -> (Vec<Decimal>, Decimal) {
        let (own, others) = match self {
            Self::One(quantity) => (&[][..], std::slice::from_ref(quantity)),
            Self::Cells(figures) => figures.split_at(figures.len().min(cells)),
        };
        let billable = |units: &Decimal| units.clone().max(Decimal::zero());
        let own = own.iter().map(billable).chain(std::iter::repeat_with(Decimal::zero));
        (own.take(cells).collect(), others.iter().map(billable).sum())
    }

    /// Returns the figures that it is made of.
    pub(crate) fn figures_mut(&mut self) -> &mut [Decimal] {
        match self {
            Self::One(quantity) => std::slice::from_mut(quantity),
            Self::Cells(figures) => figures,
        }
    }
}

impl Rating {
    /// Adds up the parts.
    fn of(parts: Vec<Part>) -> Self {
        Self { amount: parts.iter().map(|part| part.amount.clone()).sum(), parts }
    }

    /// Adds what a minimum adds.
    fn topped_up(mut self, top_up: Decimal) -> Self {
        if !top_up.is_zero() {
            self.amount += &top_up;
            self.parts.push(Part::minimum(&top_up));
        }
        self
    }

    /// Prorates it to the days that are served: rounded once, and the parts so that they add up.
    pub(crate) fn prorated(mut self, share: Share) -> Self {
        let (mut whole, mut prorated) = (Decimal::zero(), Decimal::zero());
        for part in &mut self.parts {
            whole += &part.amount;
            let so_far = share.of(&whole);
            part.amount = &so_far - &prorated;
            prorated = so_far;
        }
        self.amount = share.of(&self.amount);
        self
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
