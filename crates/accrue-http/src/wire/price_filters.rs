use std::str::FromStr;

use accrue::{
    ItemId, PriceId,
    price::{self, FilterOperator, FilterValues, PriceType},
};
use serde::Serialize;

use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema, choices, request, response},
};

request! {
    /// A filter of the prices that count.
    struct NewPriceFilter open {
        /// Field of a price that the filter looks at: `price_id`, `item_id` or `price_type`.
        field: FilterField,
        /// Operator: prices that have one of the values count, or all others.
        operator: FilterOperator,
        /// Values.
        values: Vec<String>,
    }
}

response! {
    /// A filter of the prices that count.
    pub(crate) struct PriceFilter {
        /// Field of a price that the filter looks at.
        field: &'static str,
        /// Operator: prices that have one of the values count, or all others.
        operator: FilterOperator,
        /// Values.
        values: Values,
    }
}

/// The values of a filter.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Values {
    Ids(Vec<String>),
    Types(Vec<PriceType>),
}

impl Describe for Values {
    fn schema() -> Schema {
        Vec::<String>::schema()
    }
}

/// The field of a price that a filter looks at.
#[derive(Clone, Copy, Debug)]
enum FilterField {
    PriceId,
    ItemId,
    PriceType,
    Currency,
    PricingUnitId,
}

choices! {
    FilterField {
        "price_id" => FilterField::PriceId,
        "item_id" => FilterField::ItemId,
        "price_type" => FilterField::PriceType,
        "currency" => FilterField::Currency,
        "pricing_unit_id" => FilterField::PricingUnitId,
    }
}

/// A filter of an alert, which has its currency beside it.
#[derive(Clone, Debug)]
pub(crate) struct PriceFilterIn(price::PriceFilter);

impl Describe for PriceFilterIn {
    fn schema() -> Schema {
        NewPriceFilter::schema()
    }
}

impl Read for PriceFilterIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let NewPriceFilter { field, operator, values } = NewPriceFilter::read(json, at, reader)?;
        let values = match field {
            FilterField::PriceId => FilterValues::PriceId(all(&values, |_, text| {
                PriceId::from_str(text).ok().or_else(|| reader.unknown("price"))
            })?),
            FilterField::ItemId => FilterValues::ItemId(all(&values, |_, text| {
                ItemId::from_str(text).ok().or_else(|| reader.unknown("item"))
            })?),
            FilterField::PriceType => FilterValues::PriceType(all(&values, |index, text| {
                let text = Json::String(text.to_owned());
                PriceType::read(&text, &format!("{at}/values/{index}"), reader)
            })?),
            FilterField::Currency | FilterField::PricingUnitId => {
                let message = "expected one of price_id, item_id, price_type";
                return reader.wrong(&format!("{at}/field"), message);
            }
        };
        Some(Self(price::PriceFilter { operator, values }))
    }
}

/// A filter of a credit block: it names items (wire 4.4).
#[derive(Clone, Debug)]
pub(crate) struct BlockFilterIn(pub(crate) price::PriceFilter);

impl Describe for BlockFilterIn {
    fn schema() -> Schema {
        NewPriceFilter::schema()
    }
}

impl Read for BlockFilterIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let PriceFilterIn(filter) = PriceFilterIn::read(json, at, reader)?;
        match filter.values {
            FilterValues::ItemId(_) => Some(Self(filter)),
            _ => reader.wrong(&format!("{at}/field"), "expected item_id"),
        }
    }
}

/// Reads all values: each that is wrong is told of.
fn all<T, S: FromIterator<T>>(
    values: &[String],
    mut read: impl FnMut(usize, &str) -> Option<T>,
) -> Option<S> {
    let read: Vec<_> = values.iter().enumerate().map(|(at, text)| read(at, text)).collect();
    read.into_iter().collect()
}

impl From<PriceFilterIn> for price::PriceFilter {
    fn from(PriceFilterIn(filter): PriceFilterIn) -> Self {
        filter
    }
}

impl From<&price::PriceFilter> for PriceFilter {
    fn from(filter: &price::PriceFilter) -> Self {
        let (field, values) = match &filter.values {
            FilterValues::PriceId(ids) => {
                ("price_id", Values::Ids(ids.iter().map(ToString::to_string).collect()))
            }
            FilterValues::ItemId(ids) => {
                ("item_id", Values::Ids(ids.iter().map(ToString::to_string).collect()))
            }
            FilterValues::PriceType(types) => {
                ("price_type", Values::Types(types.iter().copied().collect()))
            }
            _ => ("price_id", Values::Ids(Vec::new())),
        };
        Self { field, operator: filter.operator, values }
    }
}
