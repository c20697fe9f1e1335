use accrue::{
    CustomerId, ExternalId, JsonNumber,
    cost::EvaluatedGroup,
    expression::{ComputedProperty, Expression},
    limits,
    usage::PropertyValue,
};
use serde::Serialize;

use crate::{
    shape::{Describe, Fields, Moment, Reader, Schema, request, response, texts},
    wire::{
        amounts::Amount,
        customers::names_one_customer_at_most,
        dates::instants_are_in_order,
        events::scalar,
        not_built::{AnyObject, NotBuilt},
    },
};

request! {
    /// The usage to rate by a price.
    pub(crate) struct Evaluate => its_rules {
        /// Start of the timeframe.
        timeframe_start: Moment,
        /// End of the timeframe.
        timeframe_end: Moment,
        /// Customer of the usage: that of all customers is not available until usage is kept by account.
        customer_id: Option<CustomerId>,
        /// External id of that customer.
        external_customer_id: Option<ExternalId>,
        /// Condition over the properties of the events that count.
        filter: Option<Expression>,
        /// Computed properties to group the usage by.
        grouping_keys: Option<Vec<ComputedProperty>>,
        /// Other parameters of the metric: not available until metrics have parameters.
        metric_parameter_overrides: Option<NotBuilt<AnyObject>>,
    }
}

response! {
    /// The usage of one group of events, and its cost.
    pub(crate) struct EvaluatedPrice {
        /// Values of what was grouped by; an empty text where events have none.
        grouping_values: Vec<Scalar>,
        /// Quantity that was used.
        quantity: JsonNumber,
        /// Cost of the quantity.
        amount: Amount,
    }
}

texts! {
    Expression: 1, limits::EXPRESSION_BYTES;
    ComputedProperty: 1, limits::EXPRESSION_BYTES;
}

fn its_rules(fields: &Fields<'_>, reader: &mut Reader) {
    names_one_customer_at_most(fields, reader);
    instants_are_in_order(fields, reader);
}

/// A value of a property.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Boolean(bool),
    Number(JsonNumber),
    Text(String),
}

impl Describe for Scalar {
    fn schema() -> Schema {
        scalar()
    }
}

impl From<EvaluatedGroup> for EvaluatedPrice {
    fn from(group: EvaluatedGroup) -> Self {
        Self {
            grouping_values: group.grouping_values.into_iter().map(Scalar::from).collect(),
            quantity: JsonNumber(group.quantity),
            amount: Amount::of(&group.amount, &group.currency),
        }
    }
}

impl From<PropertyValue> for Scalar {
    fn from(value: PropertyValue) -> Self {
        match value {
            PropertyValue::Null => Self::Text(String::new()),
            PropertyValue::Boolean(value) => Self::Boolean(value),
            PropertyValue::Number(number) => Self::Number(JsonNumber(number)),
            PropertyValue::Text(text) => Self::Text(text.to_string()),
        }
    }
}
