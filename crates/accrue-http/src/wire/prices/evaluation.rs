use accrue::{
    CustomerId, ExternalId, JsonNumber, PropertyName, cost::EvaluatedGroup, expression::Expression,
    limits, usage::PropertyValue,
};
use serde::Serialize;

use crate::{
    json::Json,
    shape::{Describe, Fields, Moment, Read, Reader, Schema, request, response, texts},
    wire::{
        amounts::Amount,
        costs::ends_after_its_start,
        customers::names_one_customer_at_most,
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
        /// Customer of the usage: that of all customers is not available.
        customer_id: Option<CustomerId>,
        /// External id of that customer.
        external_customer_id: Option<ExternalId>,
        /// Condition over the properties of the events that count.
        filter: Option<Expression>,
        /// Properties to group the usage by. Other expressions are not available.
        grouping_keys: Option<Vec<GroupingKey>>,
        /// Not available with a value.
        metric_parameter_overrides: Option<NotBuilt<AnyObject>>,
    }
}

response! {
    /// The usage of one group of events, and its cost.
    pub(crate) struct EvaluatedPrice {
        /// Values of the properties that were grouped by; an empty text where events have none.
        grouping_values: Vec<Scalar>,
        /// Quantity that was used.
        quantity: JsonNumber,
        /// Cost of the quantity.
        amount: Amount,
    }
}

texts! {
    Expression: 1, limits::EXPRESSION_BYTES;
}

fn its_rules(fields: &Fields<'_>, reader: &mut Reader) {
    names_one_customer_at_most(fields, reader);
    ends_after_its_start(fields, reader);
}

/// A property to group by: its name, as SQL has it.
#[derive(Clone, Debug)]
pub(crate) struct GroupingKey(pub(crate) PropertyName);

impl Read for GroupingKey {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let text = String::read(json, at, reader)?;
        let Some(name) = property_name(&text) else {
            return reader.unavailable(format!("{at}: grouping by an expression is not available"));
        };
        match PropertyName::parse(name) {
            Ok(name) => Some(Self(name)),
            Err(error) => reader.wrong(at, error.to_string()),
        }
    }
}

impl Describe for GroupingKey {
    fn schema() -> Schema {
        PropertyName::schema()
    }
}

/// Returns the name that a text is, bare or in double quotes; `None` where it is an expression.
fn property_name(text: &str) -> Option<String> {
    if let Some(quoted) = text.strip_prefix('"') {
        // A quote within is there twice.
        let name = quoted.strip_suffix('"')?.replace("\"\"", "\0");
        return (!name.contains('"')).then(|| name.replace('\0', "\""));
    }
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_bare = text.chars().all(is_inside) && !text.starts_with(|c: char| c.is_ascii_digit());
    is_bare.then(|| text.to_owned())
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
        Schema::Any
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
