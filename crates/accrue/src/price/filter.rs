use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Price, PriceClass};
use crate::{Error, ItemId, PriceId, PricingUnit, limits};

/// Filter of prices: of those that an alert on spend counts (wire 1.2), or that a credit block pays for
/// (wire 4.4).
///
/// ```
/// use accrue::price::{FilterOperator, FilterValues, PriceFilter, PriceClass};
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
    /// Currencies or pricing units of the prices.
    Currency(BTreeSet<PricingUnit>),
}

impl PriceFilter {
    /// Tells whether a price counts.
    fn passes(&self, price: &Price) -> bool {
        let is_named = match &self.values {
            FilterValues::PriceId(ids) => ids.contains(&price.id),
            FilterValues::ItemId(ids) => ids.contains(&price.item_id),
            FilterValues::PriceType(classes) => {
                classes.iter().any(|class| price.charge.is_of(*class))
            }
            FilterValues::Currency(units) => units.contains(&price.currency),
        };
        match self.operator {
            FilterOperator::Includes => is_named,
            FilterOperator::Excludes => !is_named,
        }
    }

    /// Names another price, where it names one by its id.
    pub(crate) fn rename(&mut self, old: &PriceId, new: PriceId) {
        if let FilterValues::PriceId(ids) = &mut self.values
            && ids.remove(old)
        {
            ids.insert(new);
        }
    }

    /// Tells whether a price counts for a list of filters: it passes all of them, or there are none.
    pub(crate) fn all_pass(filters: &[Self], price: &Price) -> bool {
        filters.iter().all(|filter| filter.passes(price))
    }

    /// Tells whether two lists of filters let the same prices pass, whatever their order.
    pub(crate) fn are_the_same(one: &[Self], other: &[Self]) -> bool {
        one.iter().collect::<BTreeSet<_>>() == other.iter().collect()
    }

    /// Returns the number of values.
    fn count(&self) -> usize {
        match &self.values {
            FilterValues::PriceId(ids) => ids.len(),
            FilterValues::ItemId(ids) => ids.len(),
            FilterValues::PriceType(types) => types.len(),
            FilterValues::Currency(units) => units.len(),
        }
    }
}

/// Checks filters by themselves, in a field of some name.
pub(crate) fn check_filters(field: &str, filters: &[PriceFilter]) -> Result<(), Error> {
    if filters.len() > limits::PRICE_FILTERS {
        let (found, most) = (filters.len(), limits::PRICE_FILTERS);
        let message = format!("found {found} filters, expected at most {most}");
        return Err(Error::invalid(field, message));
    }
    if let Some(empty) = filters.iter().position(|filter| filter.count() == 0) {
        let field = format!("{field}[{empty}].values");
        return Err(Error::invalid(field, "found no values, expected one or more"));
    }
    let found: usize = filters.iter().map(PriceFilter::count).sum();
    if found > limits::PRICE_FILTER_VALUES {
        let most = limits::PRICE_FILTER_VALUES;
        let message = format!("found {found} values together, expected at most {most}");
        return Err(Error::invalid(field, message));
    }
    Ok(())
}
