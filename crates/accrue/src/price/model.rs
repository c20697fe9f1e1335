//! Models, which turn quantities into amounts: one file for each, one line here.
//!
//! A further model is a file beside the others, a line of `models!` and its row of the table on
//! [`Model`].

mod bulk;
mod matrix;
mod package;
mod tiered;
mod unit;

use serde::{Deserialize, Serialize};

pub use self::{
    bulk::{Bulk, BulkTier},
    matrix::{Matrix, MatrixCell},
    package::Package,
    tiered::{Tier, Tiered},
    unit::Unit,
};
use crate::{Decimal, Error, limits};

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

/// Part of an amount: so many units at so much each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Part {
    /// Kind of the part.
    pub of: PartOf,
    /// Number of units (packages, for a package price).
    pub quantity: Decimal,
    /// Amount for each unit.
    pub unit_amount: Decimal,
    /// Amount for all of them together.
    pub amount: Decimal,
}

/// Kind of a part: all of an amount, a tier, or a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartOf {
    /// The whole amount.
    Whole,
    /// A tier: the units above the one bound, up to and including the other. For a volume price it is
    /// the tier that prices all units.
    Tier {
        /// Lower bound of the tier, not part of it.
        first_unit: Decimal,
        /// Upper bound of the tier, part of it; `None` for the last tier.
        last_unit: Option<Decimal>,
    },
    /// The units of one cell of a matrix.
    Cell {
        /// Values of the dimensions that its events have.
        dimension_values: Vec<Option<String>>,
    },
    /// The units that are in no cell of the matrix.
    DefaultCell,
}

/// Operations of every model.
trait Rates {
    /// Says what is wrong with the configuration.
    fn check(&self) -> Result<(), Error>;

    /// Rates a quantity. One below zero costs nothing.
    fn rate(&self, quantity: &Quantity) -> Rating;

    /// Returns the amount for the quantity of one cell, and nothing else: of a matrix in its order, of
    /// any other model the first. The cells add up to the amount of [`rate`](Self::rate).
    fn amount(&self, cell: usize, quantity: &Decimal) -> Decimal;
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
        /// let model = Model::Package(Package { package_amount, package_size: 1_000 });
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
        /// | `bulk_with_filters` | – |
        /// | `bulk_with_proration` | – |
        /// | `cumulative_grouped_allocation` | – |
        /// | `cumulative_grouped_bulk` | – |
        /// | `daily_credit_allowance` | – |
        /// | `event_output` | – |
        /// | `grouped_allocation` | – |
        /// | `grouped_tiered` | – |
        /// | `grouped_tiered_matrix` | – |
        /// | `grouped_tiered_package` | – |
        /// | `grouped_with_metered_minimum` | – |
        /// | `grouped_with_min_max_thresholds` | – |
        /// | `grouped_with_prorated_minimum` | – |
        /// | `matrix` | [`Matrix`], `price/model/matrix.rs` |
        /// | `matrix_with_allocation` | – |
        /// | `matrix_with_display_name` | – |
        /// | `matrix_with_threshold_discounts` | – |
        /// | `max_group_tiered_package` | – |
        /// | `metered_allowance` | – |
        /// | `minimum_composite` | – |
        /// | `package` | [`Package`], `price/model/package.rs` |
        /// | `package_with_allocation` | – |
        /// | `percent` | – |
        /// | `scalable_matrix_with_tiered_pricing` | – |
        /// | `scalable_matrix_with_unit_pricing` | – |
        /// | `threshold_total_amount` | – |
        /// | `tiered` | [`Tiered`], `price/model/tiered.rs` |
        /// | `tiered_matrix_with_allocation` | – |
        /// | `tiered_package` | – |
        /// | `tiered_package_with_minimum` | – |
        /// | `tiered_with_minimum` | – |
        /// | `tiered_with_proration` | – |
        /// | `unit` | [`Unit`], `price/model/unit.rs` |
        /// | `unit_with_percent` | – |
        /// | `unit_with_proration` | – |
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

            /// Rates a quantity. One below zero costs nothing, and so does none.
            ///
            /// The amount is exact and is the sum of the parts.
            #[must_use]
            pub fn rate(&self, quantity: &Quantity) -> Rating {
                match self {
                    $(Self::$name(config) => config.rate(quantity),)*
                }
            }

            /// Returns the amount for the quantity of one cell, without its parts.
            pub(crate) fn amount(&self, cell: usize, quantity: &Decimal) -> Decimal {
                match self {
                    $(Self::$name(config) => config.amount(cell, quantity),)*
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
    /// A unit amount for each combination of up to two properties of the events.
    Matrix(Matrix) = "matrix",
}

impl Quantity {
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
}

impl Rating {
    /// Adds up the parts.
    fn of(parts: Vec<Part>) -> Self {
        Self { amount: parts.iter().map(|part| part.amount.clone()).sum(), parts }
    }
}

impl Part {
    /// Prices so many units.
    fn new(of: PartOf, quantity: Decimal, unit_amount: &Decimal) -> Self {
        let amount = &quantity * unit_amount;
        Self { of, quantity, unit_amount: unit_amount.clone(), amount }
    }
}

fn check_number_of_tiers(field: &str, found: usize) -> Result<(), Error> {
    if (1..=limits::TIERS).contains(&found) {
        return Ok(());
    }
    let message = format!("found {found} tiers, expected 1 to {}", limits::TIERS);
    Err(Error::invalid(field, message))
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
