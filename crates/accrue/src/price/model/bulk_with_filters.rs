use serde::{Deserialize, Serialize};

use super::{
    DeclaredCells, Quantity, Rates, Rating, VolumeTier,
    tiers::{Tiers, check_rows, tier_field},
};
use crate::{Decimal, Error, PropertyName};

/// Volume over the units of the events that match some filters: the tier follows from the units of all events
/// (price models 4.1).
///
/// It rates the metric over the events that match, and the metric as a whole. A quantity that is exactly a bound
/// lies in the upper tier. One part: the tier, with the units that match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkWithFilters {
    /// Filters, one or more, of different properties: an event matches all of them.
    pub filters: Vec<BulkFilter>,
    /// Tiers, two or more, by rising bounds from 0 on.
    pub tiers: Vec<VolumeTier>,
}

/// Value of a property that events have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkFilter {
    /// The property.
    pub property_key: PropertyName,
    /// Its value.
    pub property_value: String,
}

impl BulkWithFilters {
    fn filtered(&self) -> DeclaredCells {
        let names = self.filters.iter().map(|filter| filter.property_key.clone());
        let values = self.filters.iter().map(|filter| Some(filter.property_value.clone()));
        DeclaredCells { has_whole: true, ..DeclaredCells::new(names, [values.collect()]) }
    }

    /// Returns the units that match, and those of all events.
    fn figures(quantity: &Quantity) -> [Decimal; 2] {
        let billable = |units: Option<&Decimal>| {
            units.map(|units| units.clone().max(Decimal::zero())).unwrap_or_default()
        };
        match quantity {
            Quantity::One(all) => [Decimal::zero(), billable(Some(all))],
            Quantity::Cells(figures) => [billable(figures.first()), billable(figures.last())],
            Quantity::Groups(_) => [Decimal::zero(), Decimal::zero()],
        }
    }
}

impl Rates for BulkWithFilters {
    fn check(&self) -> Result<(), Error> {
        let cells = self.filtered();
        cells.check_dimensions("filters")?;
        cells.check_sizes("filters")?;
        if let Some(place) = self.filters.iter().position(|of| of.property_value.is_empty()) {
            let field = format!("filters[{place}].property_value");
            return Err(Error::invalid(field, "found an empty text"));
        }
        check_rows("tiers", self.tiers.len(), 2)?;
        Tiers::of_volume(&self.tiers).check("unit_amount", tier_field)
    }

    fn cells(&self) -> Option<DeclaredCells> {
        Some(self.filtered())
    }

    fn rate(&self, quantity: &Quantity) -> Rating {
        let ([matching, all], tiers) = (Self::figures(quantity), Tiers::of_volume(&self.tiers));
        Rating::of(tiers.part(tiers.volume(&all), matching).into_iter().collect())
    }

    fn line_quantity(&self, quantity: &Quantity) -> Decimal {
        let [matching, _] = Self::figures(quantity);
        matching
    }
}
