use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    ItemId, PriceId,
    price::{Price, PriceClass},
};

/// Filter of the prices that an alert on spend counts (wire 1.2).
///
/// ```
/// use accrue::{
///     alert::{FilterOperator, FilterValues, PriceFilter},
///     price::PriceClass,
/// };
///
/// let usage_alone = PriceFilter {
///     operator: FilterOperator::Includes,
///     values: FilterValues::PriceType([PriceClass::Usage].into()),
/// };
/// # let _ = usage_alone;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PriceFilter {
    /// Operator: the named prices count, or all others.
    pub operator: FilterOperator,
    /// Values that name the prices.
    pub values: FilterValues,
}

/// Operator of a price filter: the prices that it names count, or all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilterOperator {
    /// The named prices count.
    Includes,
    /// All other prices count.
    Excludes,
}

/// Values by which a filter names prices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FilterValues {
    /// Ids of the prices.
    PriceId(BTreeSet<PriceId>),
    /// Ids of the items that the prices sell.
    ItemId(BTreeSet<ItemId>),
    /// Classes of the prices, by their types.
    PriceType(BTreeSet<PriceClass>),
}

impl PriceFilter {
    /// Tells whether a price counts.
    pub(crate) fn passes(&self, price: &Price) -> bool {
        let is_named = match &self.values {
            FilterValues::PriceId(ids) => ids.contains(&price.id),
            FilterValues::ItemId(ids) => ids.contains(&price.item_id),
            FilterValues::PriceType(classes) => {
                classes.iter().any(|class| price.charge.is_of(*class))
            }
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

    /// Returns the number of values.
    pub(super) fn count(&self) -> usize {
        match &self.values {
            FilterValues::PriceId(ids) => ids.len(),
            FilterValues::ItemId(ids) => ids.len(),
            FilterValues::PriceType(types) => types.len(),
        }
    }
}
