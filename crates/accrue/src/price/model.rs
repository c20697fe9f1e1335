//! How a quantity becomes an amount: one file for each model, one line here.

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
use crate::{Decimal, Error};

/// What a model rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// One quantity.
    One(Decimal),
    /// The quantity of each cell of a matrix, in the order of its cells, the default cell last.
    Cells(Vec<Decimal>),
}

/// What a quantity costs, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rating {
    /// The amount, exact, in the unit of the price.
    pub amount: Decimal,
    /// What it is made of: the amounts of the parts add up to it.
    pub parts: Vec<Part>,
}

/// A part of an amount: so many units at so much each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Part {
    /// Which part it is.
    pub of: PartOf,
    /// How many units (packages, for a package price).
    pub quantity: Decimal,
    /// What each costs.
    pub unit_amount: Decimal,
    /// What they cost together.
    pub amount: Decimal,
}

/// Which part of an amount it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartOf {
    /// All of it.
    Whole,
    /// The units above the one bound, up to and including the other.
    Tier {
        /// Where the tier begins; not part of it.
        first_unit: Decimal,
        /// Where it ends; `None` for the last tier.
        last_unit: Option<Decimal>,
    },
    /// The units of one cell of a matrix.
    Cell {
        /// The values that its events have.
        dimension_values: Vec<Option<String>>,
    },
    /// The units that are in no cell of the matrix.
    DefaultCell,
}

/// What every model can do.
trait Rates {
    /// Says what is wrong with the configuration.
    fn check(&self) -> Result<(), Error>;

    /// Rates a quantity. One below zero costs nothing.
    fn rate(&self, quantity: &Quantity) -> Rating;
}

/// Declares the models: one line for each.
macro_rules! models {
    ($($(#[$doc:meta])* $name:ident($config:ty) = $wire:literal,)*) => {
        /// How a quantity becomes an amount (wire 5.2).
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
                    $(Self::$name(config) => config.check(),)*
                }
            }

            /// Rates a quantity. One below zero costs nothing.
            #[must_use]
            pub fn rate(&self, quantity: &Quantity) -> Rating {
                match self {
                    $(Self::$name(config) => config.rate(quantity),)*
                }
            }
        }
    };
}

models! {
    /// The same for every unit.
    Unit(Unit) = "unit",
    /// So much for each started package of units.
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
            Self::Cells(cells) => {
                cells.iter().cloned().fold(Decimal::zero(), |sum, cell| sum + cell)
            }
        }
    }
}
