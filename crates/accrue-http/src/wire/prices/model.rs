//! The models of prices: their types, and the object that each is set up with.

use accrue::{
    Decimal, JsonNumber, PropertyName, WrittenDecimal,
    price::{self, Model},
};
use serde::Serialize;

use crate::shape::{Describe, Schema, Sparse, Whole, choices, request, response};

/// Types of models that the wire knows and that are not built (wire 5.2).
pub(super) const NOT_BUILT: &[&str] = &[
    "bulk_with_filters",
    "bulk_with_proration",
    "cumulative_grouped_allocation",
    "cumulative_grouped_bulk",
    "daily_credit_allowance",
    "event_output",
    "grouped_allocation",
    "grouped_tiered",
    "grouped_tiered_matrix",
    "grouped_tiered_package",
    "grouped_with_metered_minimum",
    "grouped_with_min_max_thresholds",
    "grouped_with_prorated_minimum",
    "matrix_with_allocation",
    "matrix_with_display_name",
    "matrix_with_threshold_discounts",
    "max_group_tiered_package",
    "metered_allowance",
    "minimum_composite",
    "package_with_allocation",
    "percent",
    "scalable_matrix_with_tiered_pricing",
    "scalable_matrix_with_unit_pricing",
    "threshold_total_amount",
    "tiered_matrix_with_allocation",
    "tiered_package",
    "tiered_package_with_minimum",
    "tiered_with_minimum",
    "tiered_with_proration",
    "unit_with_percent",
    "unit_with_proration",
];

/// The types of model that are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelType {
    Unit,
    Package,
    Tiered,
    Bulk,
    Matrix,
}

choices! {
    ModelType {
        "unit" => ModelType::Unit,
        "package" => ModelType::Package,
        "tiered" => ModelType::Tiered,
        "bulk" => ModelType::Bulk,
        "matrix" => ModelType::Matrix,
    }
}

request! {
    /// One amount for every unit.
    pub(crate) struct UnitConfigIn {
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity is multiplied by, more than 0; null is 1.
        scaling_factor: Option<JsonNumber>,
        /// True if it is prorated by days: fees always are, and usage never is. The other is not available
        /// until all price models are built.
        prorated: Option<bool>,
    }

    /// An amount for each started package of units.
    pub(crate) struct PackageConfigIn {
        /// Amount per package.
        package_amount: WrittenDecimal,
        /// Number of units of a package.
        package_size: Whole<0, 9_007_199_254_740_991>,
    }

    /// Graduated tiers: each prices the units that lie in it.
    pub(crate) struct TieredConfigIn {
        /// Tiers, each from where the one before ends.
        tiers: Vec<TierIn>,
        /// True if it is prorated by days: fees always are, and usage never is. The other is not available
        /// until all price models are built.
        prorated: Option<bool>,
    }

    /// A tier of a graduated price.
    pub(crate) struct TierIn {
        /// Lower bound of the tier; not part of it.
        first_unit: JsonNumber,
        /// Its last unit; null for the last tier.
        last_unit: Option<JsonNumber>,
        /// Amount per unit of the tier.
        unit_amount: WrittenDecimal,
    }

    /// Volume tiers: the one that the quantity lies in prices all units.
    pub(crate) struct BulkConfigIn {
        /// Tiers, by rising maximum.
        tiers: Vec<BulkTierIn>,
    }

    /// A tier of a volume price.
    pub(crate) struct BulkTierIn {
        /// Largest quantity that lies in it; null for the last tier.
        maximum_units: Option<JsonNumber>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }

    /// A unit amount for each combination of values of one to ten properties.
    pub(crate) struct MatrixConfigIn {
        /// Properties, one to ten; a null behind them is none.
        dimensions: Vec<Option<PropertyName>>,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// What the quantity in no cell is multiplied by, more than 0; null is 1.
        scaling_factor: Option<JsonNumber>,
        /// Cells.
        matrix_values: Vec<MatrixValueIn>,
    }

    /// A cell of a matrix.
    pub(crate) struct MatrixValueIn {
        /// Values of the dimensions; null for events that have none.
        dimension_values: Vec<Option<String>>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity in the cell is multiplied by, more than 0; null is 1.
        scaling_factor: Option<JsonNumber>,
    }
}

response! {
    /// One amount for every unit.
    pub(crate) struct UnitConfig {
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity is multiplied by, more than 0; absent is 1.
        scaling_factor: Sparse<JsonNumber>,
    }

    /// An amount for each started package of units.
    pub(crate) struct PackageConfig {
        /// Amount per package.
        package_amount: WrittenDecimal,
        /// Number of units of a package.
        package_size: u64,
    }

    /// Graduated tiers: each prices the units that lie in it.
    pub(crate) struct TieredConfig {
        /// Tiers, each from where the one before ends.
        tiers: Vec<Tier>,
    }

    /// A tier of a graduated price.
    pub(crate) struct Tier {
        /// Lower bound of the tier; not part of it.
        first_unit: JsonNumber,
        /// Its last unit; null for the last tier.
        last_unit: Option<JsonNumber>,
        /// Amount per unit of the tier.
        unit_amount: WrittenDecimal,
    }

    /// Volume tiers: the one that the quantity lies in prices all units.
    pub(crate) struct BulkConfig {
        /// Tiers, by rising maximum.
        tiers: Vec<BulkTier>,
    }

    /// A tier of a volume price.
    pub(crate) struct BulkTier {
        /// Largest quantity that lies in it; null for the last tier.
        maximum_units: Option<JsonNumber>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
    }

    /// A unit amount for each combination of values of one to ten properties.
    pub(crate) struct MatrixConfig {
        /// Properties, one to ten; a null behind them is none.
        dimensions: Vec<Option<PropertyName>>,
        /// Amount per unit that is in no cell.
        default_unit_amount: WrittenDecimal,
        /// What the quantity in no cell is multiplied by, more than 0; absent is 1.
        scaling_factor: Sparse<JsonNumber>,
        /// Cells.
        matrix_values: Vec<MatrixValue>,
    }

    /// A cell of a matrix.
    pub(crate) struct MatrixValue {
        /// Values of the dimensions; null for events that have none.
        dimension_values: Vec<Option<String>>,
        /// Amount per unit.
        unit_amount: WrittenDecimal,
        /// What the quantity in the cell is multiplied by, more than 0; absent is 1.
        scaling_factor: Sparse<JsonNumber>,
    }
}

/// The object that a model is set up with, under its own name.
#[derive(Clone, Debug, Serialize)]
pub(crate) enum Config {
    #[serde(rename = "unit_config")]
    Unit(UnitConfig),
    #[serde(rename = "package_config")]
    Package(PackageConfig),
    #[serde(rename = "tiered_config")]
    Tiered(TieredConfig),
    #[serde(rename = "bulk_config")]
    Bulk(BulkConfig),
    #[serde(rename = "matrix_config")]
    Matrix(MatrixConfig),
}

/// Each type of model that is built: its name, the name of a price of it, and the name and the schema
/// of its object.
pub(super) fn built() -> [(&'static str, &'static str, &'static str, Schema); 5] {
    [
        ("unit", "UnitPrice", "unit_config", UnitConfig::schema()),
        ("package", "PackagePrice", "package_config", PackageConfig::schema()),
        ("tiered", "TieredPrice", "tiered_config", TieredConfig::schema()),
        ("bulk", "BulkPrice", "bulk_config", BulkConfig::schema()),
        ("matrix", "MatrixPrice", "matrix_config", MatrixConfig::schema()),
    ]
}

/// Each type of model that is built: its name, the name of its object, and the names of a price of it
/// to create, of its own and with a plan.
pub(super) const REQUESTED: [(&str, &str, [&str; 2]); 5] = [
    ("unit", "unit_config", ["NewUnitPrice", "NewUnitPriceOfPlan"]),
    ("package", "package_config", ["NewPackagePrice", "NewPackagePriceOfPlan"]),
    ("tiered", "tiered_config", ["NewTieredPrice", "NewTieredPriceOfPlan"]),
    ("bulk", "bulk_config", ["NewBulkPrice", "NewBulkPriceOfPlan"]),
    ("matrix", "matrix_config", ["NewMatrixPrice", "NewMatrixPriceOfPlan"]),
];

impl Config {
    pub(super) fn of(model: &Model) -> Option<Self> {
        Some(match model {
            Model::Unit(unit) => Self::Unit(UnitConfig {
                unit_amount: unit.unit_amount.clone(),
                scaling_factor: Sparse(unit.scaling_factor.clone().map(JsonNumber)),
            }),
            Model::Package(package) => Self::Package(PackageConfig {
                package_amount: package.package_amount.clone(),
                package_size: package.package_size,
            }),
            Model::Tiered(tiered) => {
                let tiers = tiered.tiers.iter().map(|tier| Tier {
                    first_unit: JsonNumber(tier.first_unit.clone()),
                    last_unit: tier.last_unit.clone().map(JsonNumber),
                    unit_amount: tier.unit_amount.clone(),
                });
                Self::Tiered(TieredConfig { tiers: tiers.collect() })
            }
            Model::Bulk(bulk) => {
                let tiers = bulk.tiers.iter().map(|tier| BulkTier {
                    maximum_units: tier.maximum_units.clone().map(JsonNumber),
                    unit_amount: tier.unit_amount.clone(),
                });
                Self::Bulk(BulkConfig { tiers: tiers.collect() })
            }
            Model::Matrix(matrix) => {
                let values = matrix.matrix_values.iter().map(|cell| MatrixValue {
                    dimension_values: cell.dimension_values.clone(),
                    unit_amount: cell.unit_amount.clone(),
                    scaling_factor: Sparse(cell.scaling_factor.clone().map(JsonNumber)),
                });
                Self::Matrix(MatrixConfig {
                    dimensions: matrix.dimensions.clone(),
                    default_unit_amount: matrix.default_unit_amount.clone(),
                    scaling_factor: Sparse(matrix.scaling_factor.clone().map(JsonNumber)),
                    matrix_values: values.collect(),
                })
            }
            _ => return None,
        })
    }
}

impl From<PackageConfigIn> for Model {
    fn from(config: PackageConfigIn) -> Self {
        let package_size = u64::try_from(config.package_size.0).unwrap_or(0);
        Self::Package(price::Package::new(config.package_amount, package_size))
    }
}

impl From<UnitConfigIn> for Model {
    fn from(config: UnitConfigIn) -> Self {
        let mut unit = price::Unit::new(config.unit_amount);
        unit.scaling_factor = number(config.scaling_factor);
        Self::Unit(unit)
    }
}

impl From<TieredConfigIn> for Model {
    fn from(config: TieredConfigIn) -> Self {
        let tiers = config.tiers.into_iter().map(|tier| {
            price::Tier::new(tier.first_unit.0, number(tier.last_unit), tier.unit_amount)
        });
        Self::Tiered(price::Tiered::new(tiers))
    }
}

impl From<BulkConfigIn> for Model {
    fn from(config: BulkConfigIn) -> Self {
        let tiers = config.tiers.into_iter();
        let tiers =
            tiers.map(|tier| price::BulkTier::new(number(tier.maximum_units), tier.unit_amount));
        Self::Bulk(price::Bulk::new(tiers))
    }
}

impl From<MatrixConfigIn> for Model {
    fn from(config: MatrixConfigIn) -> Self {
        let cells = config.matrix_values.into_iter().map(|cell| {
            let mut of = price::MatrixCell::new(cell.dimension_values, cell.unit_amount);
            of.scaling_factor = number(cell.scaling_factor);
            of
        });
        let mut matrix = price::Matrix::new([], config.default_unit_amount, cells);
        matrix.dimensions = config.dimensions;
        matrix.scaling_factor = number(config.scaling_factor);
        Self::Matrix(matrix)
    }
}

fn number(of: Option<JsonNumber>) -> Option<Decimal> {
    of.map(|JsonNumber(number)| number)
}
