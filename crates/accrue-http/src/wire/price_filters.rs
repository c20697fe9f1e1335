use std::str::FromStr;

use accrue::{
    ItemId, PriceId, PricingUnit,
    price::{self, FilterOperator, FilterValues, PriceClass},
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
        /// Values: ids, or of `price_type` the words `usage`, `fixed_in_advance`, `fixed_in_arrears`,
        /// `fixed` (both kinds of fees) and `in_arrears` (usage, and fees in arrears).
        values: Vec<String>,
    }
}

response! {
    /// A filter of the prices that count.
    pub(crate) struct PriceFilter {
        /// Field of a price that the filter looks at.
        field: FilterField,
        /// Operator: prices that have one of the values count, or all others.
        operator: FilterOperator,
        /// Values.
        values: Vec<String>,
    }
}

/// The field of a price that a filter looks at.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FilterField {
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
    PriceClass {
        "usage" => PriceClass::Usage,
        "fixed_in_advance" => PriceClass::FixedInAdvance,
        "fixed_in_arrears" => PriceClass::FixedInArrears,
        "fixed" => PriceClass::Fixed,
        "in_arrears" => PriceClass::InArrears,
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
                PriceClass::read(&text, &format!("{at}/values/{index}"), reader)
            })?),
            FilterField::Currency | FilterField::PricingUnitId => {
                let message = "expected one of price_id, item_id, price_type";
                return reader.wrong(&format!("{at}/field"), message);
            }
        };
        Some(Self(price::PriceFilter { operator, values }))
    }
}

/// A filter of a discount over an invoice: it may name currencies too (invoicing 9.1).
#[derive(Clone, Debug)]
pub(crate) struct DiscountFilterIn(pub(crate) price::PriceFilter);

impl Describe for DiscountFilterIn {
    fn schema() -> Schema {
        NewPriceFilter::schema()
    }
}

impl Read for DiscountFilterIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let NewPriceFilter { field, operator, values } = NewPriceFilter::read(json, at, reader)?;
        // A pricing unit has its name for its id.
        if !matches!(field, FilterField::Currency | FilterField::PricingUnitId) {
            return PriceFilterIn::read(json, at, reader).map(|PriceFilterIn(filter)| Self(filter));
        }
        let units = all(&values, |index, text| {
            let text = Json::String(text.to_owned());
            PricingUnit::read(&text, &format!("{at}/values/{index}"), reader)
        })?;
        Some(Self(price::PriceFilter { operator, values: FilterValues::Currency(units) }))
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
            FilterValues::PriceId(ids) => (FilterField::PriceId, texts(ids)),
            FilterValues::ItemId(ids) => (FilterField::ItemId, texts(ids)),
            FilterValues::PriceType(classes) => {
                (FilterField::PriceType, texts(classes.iter().map(|class| class.name())))
            }
            FilterValues::Currency(units) => (FilterField::Currency, texts(units)),
            _ => (FilterField::PriceId, Vec::new()),
        };
        Self { field, operator: filter.operator, values }
    }
}

fn texts(values: impl IntoIterator<Item: ToString>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}
