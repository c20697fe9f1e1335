//! The combination of a dimensional price group that a price is for (subscriptions 6.3).

use accrue::{
    DimensionalPriceGroupId, ExternalId, IdOr,
    price::{self, NewDimensionalPriceConfiguration},
};

use crate::shape::{Fields, Reader, request, response};

request! {
    /// The combination of a dimensional price group whose usage a price charges.
    pub(crate) struct DimensionalPriceConfigurationIn => names_one_group {
        /// Id of the group.
        dimensional_price_group_id: Option<DimensionalPriceGroupId>,
        /// External id of the group.
        external_dimensional_price_group_id: Option<ExternalId>,
        /// Values of the group's dimensions that its events have, one for each in their order. A number or a
        /// boolean is its shortest text.
        dimension_values: Vec<String>,
    }
}

response! {
    /// The combination of a dimensional price group whose usage a price charges.
    pub(crate) struct DimensionalPriceConfiguration {
        /// Id of the group.
        dimensional_price_group_id: String,
        /// Values of the group's dimensions that its events have, one for each in their order.
        dimension_values: Vec<String>,
    }
}

fn names_one_group(fields: &Fields<'_>, reader: &mut Reader) {
    let (id, external) = ("dimensional_price_group_id", "external_dimensional_price_group_id");
    let (pointer, message) = match (fields.has(id), fields.has(external)) {
        (true, true) => (
            fields.pointer(external),
            "is there beside dimensional_price_group_id, expected one of the two",
        ),
        (false, false) => (
            fields.pointer(id),
            "is missing, as is external_dimensional_price_group_id: expected one of the two",
        ),
        _ => return,
    };
    let _: Option<()> = reader.wrong(&pointer, message);
}

impl DimensionalPriceConfigurationIn {
    /// Returns it for the engine; none where it names no group, which was told.
    pub(super) fn into_new(self) -> Option<NewDimensionalPriceConfiguration> {
        let external = self.external_dimensional_price_group_id.map(IdOr::External);
        let group = self.dimensional_price_group_id.map(IdOr::Id).or(external)?;
        Some(NewDimensionalPriceConfiguration::new(group, self.dimension_values))
    }
}

impl DimensionalPriceConfiguration {
    pub(super) fn of(configuration: &price::DimensionalPriceConfiguration) -> Self {
        Self {
            dimensional_price_group_id: configuration.dimensional_price_group_id.to_string(),
            dimension_values: configuration.dimension_values.clone(),
        }
    }
}
