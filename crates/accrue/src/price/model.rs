//! Models, which turn quantities into amounts: one file for each, one line here.
//!
//! A further model is a file beside the others, a line of `models!` and its row of the table on
//! [`Model`].

mod bulk;
mod matrix;
mod package;
mod part;
mod tiered;
mod unit;

use serde::{Deserialize, Serialize};

pub(crate) use self::part::Parts;
pub use self::{
    bulk::{Bulk, BulkTier},
    matrix::{Matrix, MatrixCell},
    package::Package,
    part::{Part, PartOf},
    tiered::{Tier, Tiered},
    unit::Unit,
};
use super::check_bounds;
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

/// Operations of every model.
pub(super) trait Rates {
    /// Says what is wrong with the configuration.
    fn check(&self) -> Result<(), Error>;

    /// Rates a quantity. One below zero costs nothing.
    fn rate(&self, quantity: &Quantity) -> Rating;

    /// Returns the amount for the quantity of one cell, and nothing else: of a matrix in its order, of
    /// any other model the first. The cells add up to the amount of [`rate`](Self::rate).
    fn amount(&self, cell: usize, quantity: &Decimal) -> Decimal;

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

            /// Tells whether more units never cost less.
            pub(crate) fn only_rises(&self) -> bool {
                match self {
                    $(Self::$name(config) => config.only_rises(),)*
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
    /// A unit amount for each combination of values of up to ten properties of the events.
    Matrix(Matrix) = "matrix",
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
}

impl Rating {
    /// Adds up the parts.
    fn of(parts: Vec<Part>) -> Self {
        Self { amount: parts.iter().map(|part| part.amount.clone()).sum(), parts }
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
