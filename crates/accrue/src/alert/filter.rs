use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    ItemId, PriceId,
    price::{Price, PriceType},
};

/// Which prices an alert on spend counts (wire 1.2).
///
/// ```
/// use accrue::{
///     alert::{FilterOperator, FilterValues, PriceFilter},
///     price::PriceType,
/// };
///
/// let usage_alone = PriceFilter {
///     operator: FilterOperator::Includes,
///     values: FilterValues::PriceType([PriceType::Usage].into()),
/// };
/// # let _ = usage_alone;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PriceFilter {
    /// Whether the prices named count, or all others.
    pub operator: FilterOperator,
    /// Which prices are named.
    pub values: FilterValues,
}

/// Whether the prices that a filter names count, or all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilterOperator {
    /// Those named.
    Includes,
    /// All others.
    Excludes,
}

/// What a filter names prices by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FilterValues {
    /// The prices.
    PriceId(BTreeSet<PriceId>),
    /// The items that they sell.
    ItemId(BTreeSet<ItemId>),
    /// What they charge for.
    PriceType(BTreeSet<PriceType>),
}

impl PriceFilter {
    /// Tells whether a price counts.
    pub(crate) fn passes(&self, price: &Price) -> bool {
        let is_named = match &self.values {
            FilterValues::PriceId(ids) => ids.contains(&price.id),
            FilterValues::ItemId(ids) => ids.contains(&price.item_id),
            FilterValues::PriceType(types) => types.contains(&price.charge.price_type()),
        };
        match self.operator {
            FilterOperator::Includes => is_named,
            FilterOperator::Excludes => !is_named,
        }
    }

    /// Tells whether two lists of filters let the same prices pass, whatever their order.
    pub(super) fn are_the_same(one: &[Self], other: &[Self]) -> bool {
        one.iter().collect::<BTreeSet<_>>() == other.iter().collect()
    }

    /// Returns how many values there are.
    pub(super) fn count(&self) -> usize {
        match &self.values {
            FilterValues::PriceId(ids) => ids.len(),
            FilterValues::ItemId(ids) => ids.len(),
            FilterValues::PriceType(types) => types.len(),
        }
    }
}
