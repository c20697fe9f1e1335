//! Dimensional price groups on the wire (subscriptions 6).

use accrue::{
    ExternalId, ItemId, JsonNumber, Metadata, MetricId, Name, PricingUnit, PropertyName,
    price::{
        self, Cadence, DimensionalPriceFilter, DimensionalPriceGroupFilter,
        DimensionalPriceGroupUpdate, DimensionalPriceRow, NewDimensionalPrices, PriceStatus,
        TierBounds,
    },
};
use serde::Serialize;

use super::{
    pages::{Limit, Sought},
    prices::Price,
};
use crate::shape::{
    Fields, Maybe, MetadataIn, Reader, Source, choices, metadata_update, new_metadata, request,
    response,
};

request! {
    /// A dimensional price group to create.
    pub(crate) struct NewDimensionalPriceGroup {
        /// Its name.
        name: Name,
        /// Id of the metric that measures the usage of its prices.
        billable_metric_id: MetricId,
        /// Properties whose values tell its prices apart, in order: one to ten, each once.
        dimensions: Vec<PropertyName>,
        /// External id: the caller's own alias.
        external_dimensional_price_group_id: Option<ExternalId>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }

    /// Changes to a dimensional price group.
    pub(crate) struct UpdateDimensionalPriceGroup {
        /// External id from now on; null removes it.
        external_dimensional_price_group_id: Maybe<ExternalId>,
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
    }

    /// Filters and page of a list of dimensional price groups.
    pub(crate) struct DimensionalPriceGroupListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Id of the metric of the groups.
        billable_metric_id: Option<Sought<MetricId>>,
    }

    /// Filters and page of a list of the prices of a dimensional price group.
    pub(crate) struct DimensionalPriceListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Status of the prices: active ones where nothing is said.
        status: Option<StatusSought>,
    }

    /// Prices of a dimensional price group to create at once.
    pub(crate) struct NewPricesOfGroup => tiers_belong_to_a_model {
        /// Type of their model.
        model_type: ModelOfGroup,
        /// Cadence at which they bill.
        cadence: CadenceOfGroup,
        /// Currency or pricing unit of their amounts.
        currency: PricingUnit,
        /// Id of the item that they sell: that of the group's metric.
        item_id: ItemId,
        /// Tiers of all of them, for the model `tiered`.
        tiers: Option<Vec<TierBoundsIn>>,
        /// Prices, 1 to 100.
        prices: Vec<PriceOfGroup>,
    }

    /// The bounds of a tier.
    pub(crate) struct TierBoundsIn {
        /// Lower bound of the tier; not part of it.
        first_unit: JsonNumber,
        /// Its last unit; null for the last tier.
        last_unit: Option<JsonNumber>,
    }

    /// A price of a dimensional price group to create.
    pub(crate) struct PriceOfGroup {
        /// Values of the group's dimensions, one for each in their order.
        dimension_values: Vec<String>,
        /// Amounts per unit: one, or one for each tier.
        amounts: Vec<JsonNumber>,
        /// Its name: the values where none is given, with `, ` between them.
        name: Option<Name>,
    }
}

response! {
    /// A dimensional price group: prices of one metric, each for one combination of the values of some
    /// properties.
    pub(crate) struct DimensionalPriceGroup {
        /// Its id.
        id: String,
        /// External id: the caller's own alias.
        external_dimensional_price_group_id: Option<ExternalId>,
        /// Its name.
        name: Name,
        /// Id of the metric that measures the usage of its prices.
        billable_metric_id: String,
        /// Properties whose values tell its prices apart, in order.
        dimensions: Vec<String>,
        /// Number of its prices.
        price_count: u64,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
    }

    /// Prices that were created, in the order of the request.
    pub(crate) struct CreatedPrices {
        /// Prices.
        data: Vec<Price>,
    }
}

/// The models that several prices of a group are created of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum ModelOfGroup {
    Unit,
    Tiered,
}

/// The cadences that several prices of a group are created at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum CadenceOfGroup {
    OneTime,
    Monthly,
    Quarterly,
    SemiAnnual,
    Annual,
}

/// The status of the prices that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum StatusSought {
    Active,
    Archived,
    All,
}

choices! {
    "DimensionalPriceModelType" ModelOfGroup {
        "unit" => ModelOfGroup::Unit,
        "tiered" => ModelOfGroup::Tiered,
    }
    "DimensionalPriceCadence" CadenceOfGroup {
        "one_time" => CadenceOfGroup::OneTime,
        "monthly" => CadenceOfGroup::Monthly,
        "quarterly" => CadenceOfGroup::Quarterly,
        "semi_annual" => CadenceOfGroup::SemiAnnual,
        "annual" => CadenceOfGroup::Annual,
    }
    "DimensionalPriceStatus" StatusSought {
        "active" => StatusSought::Active,
        "archived" => StatusSought::Archived,
        "all" => StatusSought::All,
    }
}

fn tiers_belong_to_a_model(fields: &Fields<'_>, reader: &mut Reader) {
    let message = match (fields.peek("model_type", Source::Body), fields.has("tiers")) {
        (Some(ModelOfGroup::Unit), true) => "is there, but the model is another one",
        (Some(ModelOfGroup::Tiered), false) => "is missing, which the model tiered needs",
        _ => return,
    };
    let _: Option<()> = reader.wrong(&fields.pointer("tiers"), message);
}

impl From<NewDimensionalPriceGroup> for price::NewDimensionalPriceGroup {
    fn from(new: NewDimensionalPriceGroup) -> Self {
        let mut group = Self::new(new.name, new.billable_metric_id, new.dimensions);
        group.external_dimensional_price_group_id = new.external_dimensional_price_group_id;
        group.metadata = new_metadata(new.metadata);
        group
    }
}

impl From<UpdateDimensionalPriceGroup> for DimensionalPriceGroupUpdate {
    fn from(update: UpdateDimensionalPriceGroup) -> Self {
        Self {
            external_dimensional_price_group_id: update.external_dimensional_price_group_id.into(),
            metadata: metadata_update(update.metadata),
        }
    }
}

impl DimensionalPriceGroupListQuery {
    /// Returns the filter; none where the metric is looked for in vain.
    pub(crate) fn filter(&self) -> Option<DimensionalPriceGroupFilter> {
        let metric_id = match self.billable_metric_id {
            Some(Sought(found)) => Some(found?),
            None => None,
        };
        Some(DimensionalPriceGroupFilter { metric_id })
    }
}

impl DimensionalPriceListQuery {
    pub(crate) fn filter(&self) -> DimensionalPriceFilter {
        let status = match self.status {
            None | Some(StatusSought::Active) => Some(PriceStatus::Active),
            Some(StatusSought::Archived) => Some(PriceStatus::Archived),
            Some(StatusSought::All) => None,
        };
        DimensionalPriceFilter { status }
    }
}

impl From<NewPricesOfGroup> for NewDimensionalPrices {
    fn from(new: NewPricesOfGroup) -> Self {
        let cadence = match new.cadence {
            CadenceOfGroup::OneTime => Cadence::OneTime,
            CadenceOfGroup::Monthly => Cadence::Monthly,
            CadenceOfGroup::Quarterly => Cadence::Quarterly,
            CadenceOfGroup::SemiAnnual => Cadence::SemiAnnual,
            CadenceOfGroup::Annual => Cadence::Annual,
        };
        let rows = new.prices.into_iter().map(|row| DimensionalPriceRow {
            name: row.name,
            dimension_values: row.dimension_values,
            amounts: row.amounts.into_iter().map(|amount| amount.0).collect(),
        });
        let mut prices = Self::new(new.item_id, cadence, new.currency, rows);
        prices.tiers = new.tiers.map(|tiers| {
            let bounds = tiers.into_iter().map(|tier| TierBounds {
                first_unit: tier.first_unit.0,
                last_unit: tier.last_unit.map(|unit| unit.0),
            });
            bounds.collect()
        });
        prices
    }
}

impl From<&price::DimensionalPriceGroup> for DimensionalPriceGroup {
    fn from(group: &price::DimensionalPriceGroup) -> Self {
        Self {
            id: group.id.to_string(),
            external_dimensional_price_group_id: group.external_dimensional_price_group_id.clone(),
            name: group.name.clone(),
            billable_metric_id: group.metric_id.to_string(),
            dimensions: group.dimensions.iter().map(ToString::to_string).collect(),
            price_count: group.price_count,
            metadata: group.metadata.clone(),
        }
    }
}
