use accrue::{
    CustomerId, ExternalId, JsonNumber, Pace, PriceId, PricingUnit,
    cost::{self, EvaluationEntry},
    expression::{ComputedProperty, Expression},
    limits,
    usage::PropertyValue,
};
use serde::Serialize;

use super::FloatingPrice;
use crate::{
    shape::{Describe, Fields, Moment, Reader, Schema, Several, request, response, texts},
    wire::{
        amounts::Amount,
        customers::names_one_customer_at_most,
        dates::instants_are_in_order,
        events::{PreviewEventIn, is_of_one_customer, scalar},
        pages::Written,
        parameters::NoParameters,
    },
};

/// The prices of an evaluation.
pub(crate) type EvaluationsIn = Several<PriceEvaluationIn, { limits::EVALUATION_PRICES }>;

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
        /// Values of parameters of the metric: no metric has any.
        metric_parameter_overrides: Option<NoParameters>,
    }

    /// The usage to rate by several prices.
    pub(crate) struct EvaluateMultiple => its_rules {
        /// Start of the timeframe, at most 100 days ago.
        timeframe_start: Moment,
        /// End of the timeframe.
        timeframe_end: Moment,
        /// Customer of the usage: that of all customers is not available until usage is kept by account.
        customer_id: Option<CustomerId>,
        /// External id of that customer.
        external_customer_id: Option<ExternalId>,
        /// Prices to rate it by, 1 to 100: the same one may be there several times.
        price_evaluations: EvaluationsIn,
    }

    /// The events to rate by several prices: nothing is ingested.
    pub(crate) struct EvaluatePreviewEvents => previewed_rules {
        /// Start of the timeframe.
        timeframe_start: Moment,
        /// End of the timeframe.
        timeframe_end: Moment,
        /// Customer of the events that count.
        customer_id: Option<CustomerId>,
        /// External id of that customer.
        external_customer_id: Option<ExternalId>,
        /// Prices to rate them by, 1 to 100: the same one may be there several times.
        price_evaluations: EvaluationsIn,
        /// Events, 1 to 500: each of them counts.
        events: Several<PreviewEventIn, { limits::EVALUATION_PREVIEW_EVENTS }>,
    }

    /// A price to rate usage by: one that is stored, by one of its ids, or one that is not.
    pub(crate) struct PriceEvaluationIn open => names_one_price {
        /// Id of the price.
        price_id: Option<PriceId>,
        /// External id of the price.
        external_price_id: Option<ExternalId>,
        /// Price as one is created, which is not stored.
        price: Option<FloatingPrice>,
        /// Condition over the properties of the events that count.
        filter: Option<Expression>,
        /// Computed properties to group the usage by.
        grouping_keys: Option<Vec<ComputedProperty>>,
        /// Values of parameters of the metric: no metric has any.
        metric_parameter_overrides: Option<NoParameters>,
    }
}

response! {
    /// The usage of one group of events, and its cost.
    pub(crate) struct EvaluatedGroup {
        /// Values of what was grouped by; an empty text where events have none.
        grouping_values: Vec<Scalar>,
        /// Quantity that was used.
        quantity: JsonNumber,
        /// Cost of the quantity.
        amount: Amount,
    }

    /// A price that usage was rated by.
    pub(crate) struct EvaluatedPrice {
        /// Groups of events, in the order of their values.
        price_groups: Written<EvaluatedGroup>,
        /// Currency or pricing unit of the amounts.
        currency: PricingUnit,
        /// Id of the price; null for one that is not stored.
        price_id: Option<String>,
        /// External id of the price; null for one that is not stored.
        external_price_id: Option<ExternalId>,
        /// Place among the prices of the request, from 0, of a price that is not stored.
        inline_price_index: Option<u64>,
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

fn previewed_rules(fields: &Fields<'_>, reader: &mut Reader) {
    is_of_one_customer(fields, reader);
    instants_are_in_order(fields, reader);
}

fn names_one_price(fields: &Fields<'_>, reader: &mut Reader) {
    fields.names_one_of(&["price_id", "external_price_id", "price"], reader);
}

impl PriceEvaluationIn {
    /// Makes an entry of the engine of it; none where it names no price, which was told then.
    pub(crate) fn into_entry(self) -> Option<EvaluationEntry> {
        let stored = self.price_id.map(Into::into).or(self.external_price_id.map(Into::into));
        let price = stored.or(self.price.map(|price| price.into_price().into()))?;
        let grouping = self.grouping_keys.unwrap_or_default();
        Some(EvaluationEntry { price, filter: self.filter, grouping })
    }
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

impl EvaluatedPrice {
    /// Writes a price and its groups, from its place in the request.
    pub(crate) async fn of(place: u64, evaluated: cost::EvaluatedPrice, pace: &Pace) -> Self {
        let stored = evaluated.price;
        Self {
            price_groups: Written::of(evaluated.groups, pace, EvaluatedGroup::from).await,
            currency: evaluated.currency,
            inline_price_index: stored.is_none().then_some(place),
            price_id: stored.as_ref().map(|price| price.id.to_string()),
            external_price_id: stored.and_then(|price| price.external_price_id),
        }
    }
}

impl From<cost::EvaluatedGroup> for EvaluatedGroup {
    fn from(group: cost::EvaluatedGroup) -> Self {
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
