use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    DeclaredCells, Quantity, Rates, Rating,
    cell_tiers::{CellTiers, Row, grouped},
    tiers::check_rows,
};
use crate::{Decimal, Error, PropertyName, WrittenDecimal};

/// Volume amounts of each of some values of a property: the tier follows from the units of all values together
/// (price models 4.10).
///
/// Units of other values cost nothing, and count for the tier. A quantity that is exactly a bound lies in the
/// upper tier. One part for each value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CumulativeGroupedBulk {
    /// Property whose value decides.
    pub group: PropertyName,
    /// Tiers of values, one or more: each bound is there for each value, and the least is 0.
    pub dimension_values: Vec<GroupTier>,
}

/// Tier of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTier {
    /// Lower bound of the tier, part of it.
    pub tier_lower_bound: WrittenDecimal,
    /// The value.
    pub grouping_key: String,
    /// Amount for each unit of the value.
    pub unit_amount: WrittenDecimal,
}

impl CumulativeGroupedBulk {
    fn tiers(&self) -> CellTiers<'_> {
        CellTiers::new(self.dimension_values.iter().map(|tier| Row {
            values: std::slice::from_ref(&tier.grouping_key),
            bound: &tier.tier_lower_bound,
            unit_amount: &tier.unit_amount,
        }))
    }

    /// Refuses a value that lacks a bound that others have.
    fn check_bounds_of_values(&self) -> Result<(), Error> {
        let rows = || self.dimension_values.iter();
        let values: BTreeSet<_> = rows().map(|tier| &tier.grouping_key).collect();
        let bounds: BTreeSet<_> = rows().map(|tier| tier.tier_lower_bound.number()).collect();
        let named: BTreeSet<_> =
            rows().map(|tier| (&tier.grouping_key, tier.tier_lower_bound.number())).collect();
        let mut all = values.iter().flat_map(|value| bounds.iter().map(move |of| (*value, *of)));
        match all.find(|pair| !named.contains(pair)) {
            Some((value, bound)) => {
                let message = format!("found no tier of {value:?} from {bound} on, as others have");
                Err(Error::invalid("dimension_values", message))
            }
            None => Ok(()),
        }
    }
}

impl Rates for CumulativeGroupedBulk {
    fn check(&self) -> Result<(), Error> {
        check_rows("dimension_values", self.dimension_values.len(), 1)?;
        if let Some(place) = self.dimension_values.iter().position(|of| of.grouping_key.is_empty())
        {
            let field = format!("dimension_values[{place}].grouping_key");
            return Err(Error::invalid(field, "found an empty text"));
        }
        let tiers = self.tiers();
        tiers.declared([self.group.clone()]).check("group", "dimension_values")?;
        tiers.check("dimension_values")?;
        self.check_bounds_of_values()
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.tiers().declared([self.group.clone()]))
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let tiers = self.tiers();
        let (cells, others) = quantity.in_cells(tiers.count());
        let all = cells.iter().sum::<Decimal>() + others;
        let parts = tiers.iter().zip(cells).filter_map(|(cell, units)| {
            let part = cell.tiers.part(cell.tiers.volume(&all), units)?;
            Some(grouped(part, self.group.as_str(), cell.values.first().cloned()))
        });
        Rating::of(parts.collect())
    }
}
