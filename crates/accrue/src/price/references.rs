use std::collections::{BTreeMap, BTreeSet};

use super::{FilterOperator, FilterValues, PriceFilter};
use crate::{Error, PriceId};

/// Prices that a request makes, by the names that it gives them in itself (subscriptions 1.2).
#[derive(Debug, Default)]
pub(crate) struct References(BTreeMap<String, PriceId>);

impl References {
    /// Notes the price that goes by a name, which was given in some field.
    pub(crate) fn note(&mut self, at: &str, name: &str, id: PriceId) -> Result<(), Error> {
        match self.0.insert(name.to_owned(), id) {
            None => Ok(()),
            Some(_) => {
                let message = format!("found {name}, which names another price of the request");
                Err(Error::invalid(format!("{at}.reference_id"), message))
            }
        }
    }

    /// Adds the prices that go by some names to those that filters let pass by their ids.
    pub(super) fn resolve(
        &self,
        mut filters: Vec<PriceFilter>,
        names: &BTreeSet<String>,
    ) -> Result<Vec<PriceFilter>, Error> {
        let ids = names.iter().map(|name| {
            let found = self.0.get(name).copied();
            found.ok_or_else(|| Error::not_found("price", name))
        });
        let ids: BTreeSet<_> = ids.collect::<Result<_, _>>()?;
        if ids.is_empty() {
            return Ok(filters);
        }
        let by_id = filters.iter_mut().find_map(|filter| match &mut filter.values {
            FilterValues::PriceId(known) if filter.operator == FilterOperator::Includes => {
                Some(known)
            }
            _ => None,
        });
        match by_id {
            Some(known) => known.extend(ids),
            None => filters.push(PriceFilter {
                operator: FilterOperator::Includes,
                values: FilterValues::PriceId(ids),
            }),
        }
        Ok(filters)
    }
}
