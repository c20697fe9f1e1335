use accrue::{
    CustomerId, Decimal, ExternalId, JsonNumber, PropertyName, cost::EvaluatedGroup,
    usage::PropertyValue,
};
use serde::Serialize;

use crate::{
    shape::{Describe, Moment, Schema, request, response},
    wire::not_built::NotBuilt,
};

request! {
    /// Which usage to rate by a price.
    pub(crate) struct Evaluate {
        /// From when.
        timeframe_start: Moment,
        /// Until when.
        timeframe_end: Moment,
        /// Whose usage.
        customer_id: Option<CustomerId>,
        /// Whose usage, by the caller's alias.
        external_customer_id: Option<ExternalId>,
        /// Which events: a condition over their properties.
        filter: Option<String>,
        /// By the values of which properties.
        grouping_keys: Option<Vec<PropertyName>>,
        /// Not available with a value.
        metric_parameter_overrides: Option<NotBuilt>,
    }
}

response! {
    /// The usage of one group of events, and what it costs.
    pub(crate) struct EvaluatedPrice {
        /// The values of the properties that were grouped by.
        grouping_values: Vec<Scalar>,
        /// What was used.
        quantity: JsonNumber,
        /// What it costs.
        amount: Decimal,
    }
}

/// A value of a property.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Null,
    Boolean(bool),
    Number(JsonNumber),
    Text(String),
}

impl Describe for Scalar {
    fn schema() -> Schema {
        Schema::Any
    }
}

impl From<EvaluatedGroup> for EvaluatedPrice {
    fn from(group: EvaluatedGroup) -> Self {
        Self {
            grouping_values: group.grouping_values.into_iter().map(Scalar::from).collect(),
            quantity: JsonNumber(group.quantity),
            amount: group.amount,
        }
    }
}

impl From<PropertyValue> for Scalar {
    fn from(value: PropertyValue) -> Self {
        match value {
            PropertyValue::Null => Self::Null,
            PropertyValue::Boolean(value) => Self::Boolean(value),
            PropertyValue::Number(number) => Self::Number(JsonNumber(number)),
            PropertyValue::Text(text) => Self::Text(text.to_string()),
        }
    }
}
