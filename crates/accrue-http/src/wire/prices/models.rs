//! The models of prices: their types, and the object that each is set up with. A further model is an entry of
//! `models!`, and its declaration in the file of its family.

mod both;
mod cells;
mod composites;
mod groups;
mod scalar;

use accrue::price::Model;
use serde::Serialize;

pub(super) use self::both::Both;
use crate::{
    json::Json,
    shape::{Describe, Fields, Members, Property, Read, Reader, Schema, read_choice},
};

/// The type of a model that is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModelType(&'static str);

/// A model that is built, as the wire has it.
pub(super) struct WireModel {
    /// Its type.
    pub(super) model_type: &'static str,
    /// Name of the object that it is set up with.
    pub(super) config: &'static str,
    /// Names of a price of it in the document: as it is, to create, and to create with a plan.
    pub(super) names: [&'static str; 3],
    /// Schema of the object as it comes in.
    given: fn() -> Schema,
    /// Schema of the object as it goes out.
    pub(super) shown: fn() -> Schema,
    /// Reads the object, which may be left out.
    read: fn(&Fields<'_>, &mut Reader) -> Option<Option<Model>>,
}

/// Declares the models that are built.
macro_rules! models {
    ($($name:ident = $model_type:literal, $config:literal;)*) => {
        /// The models that are built.
        pub(super) const MODELS: &[WireModel] = &[$(WireModel {
            model_type: $model_type,
            config: $config,
            names: [
                concat!(stringify!($name), "Price"),
                concat!("New", stringify!($name), "Price"),
                concat!("New", stringify!($name), "PriceOfPlan"),
            ],
            given: <accrue::price::$name as Both>::In::schema,
            shown: <accrue::price::$name as Both>::Out::schema,
            read: |fields, reader| {
                type Given = <accrue::price::$name as Both>::In;
                let given: Option<Given> = fields.read($config, reader)?;
                Some(given.map(|given| Model::$name(<accrue::price::$name as Both>::read(given))))
            },
        },)*];

        /// The object that a model is set up with, under its own name.
        #[derive(Clone, Debug, Serialize)]
        pub(crate) enum Config {$(
            #[serde(rename = $config)]
            $name(<accrue::price::$name as Both>::Out),
        )*}

        impl Config {
            pub(super) fn of(model: &Model) -> Option<Self> {
                Some(match model {
                    $(Model::$name(own) => Self::$name(<accrue::price::$name as Both>::write(own)),)*
                    _ => return None,
                })
            }
        }
    };
}

models! {
    Unit = "unit", "unit_config";
    Package = "package", "package_config";
    Tiered = "tiered", "tiered_config";
    Bulk = "bulk", "bulk_config";
    UnitWithProration = "unit_with_proration", "unit_with_proration_config";
    UnitWithPercent = "unit_with_percent", "unit_with_percent_config";
    PackageWithAllocation = "package_with_allocation", "package_with_allocation_config";
    TieredWithProration = "tiered_with_proration", "tiered_with_proration_config";
    TieredWithMinimum = "tiered_with_minimum", "tiered_with_minimum_config";
    TieredPackage = "tiered_package", "tiered_package_config";
    TieredPackageWithMinimum = "tiered_package_with_minimum", "tiered_package_with_minimum_config";
    BulkWithProration = "bulk_with_proration", "bulk_with_proration_config";
    ThresholdTotalAmount = "threshold_total_amount", "threshold_total_amount_config";
    Matrix = "matrix", "matrix_config";
    BulkWithFilters = "bulk_with_filters", "bulk_with_filters_config";
    MatrixWithDisplayName = "matrix_with_display_name", "matrix_with_display_name_config";
    MatrixWithAllocation = "matrix_with_allocation", "matrix_with_allocation_config";
    MatrixWithThresholdDiscounts = "matrix_with_threshold_discounts", "matrix_with_threshold_discounts_config";
    TieredMatrixWithAllocation = "tiered_matrix_with_allocation", "tiered_matrix_with_allocation_config";
    GroupedTieredMatrix = "grouped_tiered_matrix", "grouped_tiered_matrix_config";
    ScalableMatrixWithUnitPricing = "scalable_matrix_with_unit_pricing", "scalable_matrix_with_unit_pricing_config";
    ScalableMatrixWithTieredPricing = "scalable_matrix_with_tiered_pricing", "scalable_matrix_with_tiered_pricing_config";
    CumulativeGroupedBulk = "cumulative_grouped_bulk", "cumulative_grouped_bulk_config";
    MeteredAllowance = "metered_allowance", "metered_allowance_config";
    GroupedTiered = "grouped_tiered", "grouped_tiered_config";
    CumulativeGroupedAllocation = "cumulative_grouped_allocation", "cumulative_grouped_allocation_config";
    DailyCreditAllowance = "daily_credit_allowance", "daily_credit_allowance_config";
    EventOutput = "event_output", "event_output_config";
    GroupedAllocation = "grouped_allocation", "grouped_allocation_config";
    GroupedTieredPackage = "grouped_tiered_package", "grouped_tiered_package_config";
    GroupedWithMeteredMinimum = "grouped_with_metered_minimum", "grouped_with_metered_minimum_config";
    GroupedWithMinMaxThresholds = "grouped_with_min_max_thresholds", "grouped_with_min_max_thresholds_config";
    GroupedWithProratedMinimum = "grouped_with_prorated_minimum", "grouped_with_prorated_minimum_config";
    MaxGroupTieredPackage = "max_group_tiered_package", "max_group_tiered_package_config";
    Percent = "percent", "percent_config";
    MinimumComposite = "minimum_composite", "minimum_composite_config";
}

impl ModelType {
    /// Tells whether the model rates what other prices come to.
    pub(super) fn is_composite(self) -> bool {
        matches!(self.0, "percent" | "minimum_composite")
    }
}

impl Describe for ModelType {
    fn schema() -> Schema {
        let words = MODELS.iter().map(|of| of.model_type).collect();
        Schema::Choice { name: "ModelType", words }
    }
}

impl Read for ModelType {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let types = MODELS.iter().map(|of| (of.model_type, Self(of.model_type)));
        read_choice(json, at, reader, &types.collect::<Vec<_>>())
    }
}

/// The objects of models beside the type of one: `None` of what could not be read, which was told.
#[derive(Clone, Debug)]
pub(super) struct Configs(Vec<Option<Option<Model>>>);

impl Configs {
    /// Returns each with its type, and the name of its object.
    pub(super) fn each(
        &self,
    ) -> impl Iterator<Item = (ModelType, &'static str, &Option<Option<Model>>)> {
        let models = MODELS.iter().zip(&self.0);
        models.map(|(of, model)| (ModelType(of.model_type), of.config, model))
    }

    /// Reads them as far as that goes, for a rule: what is wrong with them is told elsewhere.
    pub(super) fn peek(fields: &Fields<'_>) -> Self {
        Self(MODELS.iter().map(|of| (of.read)(fields, &mut Reader::new())).collect())
    }
}

impl Members for Configs {
    fn properties() -> Vec<Property> {
        let property = |of: &WireModel| Property {
            name: of.config,
            description: format!("Object of the model `{}`.", of.model_type),
            schema: Schema::Nullable(Box::new((of.given)())),
            is_required: false,
        };
        MODELS.iter().map(property).collect()
    }

    fn read(fields: &Fields<'_>, reader: &mut Reader) -> Option<Self> {
        let models: Vec<_> = MODELS.iter().map(|of| (of.read)(fields, reader)).collect();
        models.iter().all(Option::is_some).then_some(Self(models))
    }
}
