use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Cadence, Model, NewDimensionalPriceConfiguration, NewPrice, Tier, Tiered, Unit, check_bounds,
    dimensional::check_values, model::Rates as _,
};
use crate::{
    Decimal, DimensionalPriceGroupId, Error, ExternalId, ItemId, Metadata, MetadataUpdate,
    MetricId, Name, Patch, PricingUnit, PropertyName, Timestamp, limits, metadata,
};

/// Dimensional price group: prices of one metric, each for one combination of the values of some properties of
/// the events (subscriptions 6).
///
/// Events with other values, or without one of the properties, are in no price of the group. Its metric and its
/// dimensions never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DimensionalPriceGroup {
    /// Its id.
    pub id: DimensionalPriceGroupId,
    /// The caller's alias for the id, unique in the account.
    pub external_dimensional_price_group_id: Option<ExternalId>,
    /// Its name.
    pub name: Name,
    /// Metric that measures the usage of its prices.
    pub metric_id: MetricId,
    /// Properties whose values tell its prices apart, in order.
    pub dimensions: Vec<PropertyName>,
    /// Number of its prices: no price is archived.
    pub price_count: u64,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Instant at which it was created.
    pub created_at: Timestamp,
}

/// Dimensional price group to create (subscriptions 6.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NewDimensionalPriceGroup {
    /// Its name.
    pub name: Name,
    /// Metric that measures the usage of its prices.
    pub metric_id: MetricId,
    /// Properties whose values tell its prices apart, in order: 1 to [10](crate::limits::DIMENSIONS) different
    /// ones.
    pub dimensions: Vec<PropertyName>,
    /// The caller's alias, unique in the account.
    pub external_dimensional_price_group_id: Option<ExternalId>,
    /// The caller's own strings.
    pub metadata: Metadata,
}

/// Changes to a dimensional price group (subscriptions 6.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DimensionalPriceGroupUpdate {
    /// Change of the caller's alias, unique in the account. The one that it had is free again.
    pub external_dimensional_price_group_id: Patch<ExternalId>,
    /// Changes to its metadata.
    pub metadata: MetadataUpdate,
}

/// Filter of a list of dimensional price groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DimensionalPriceGroupFilter {
    /// Metric that they are of; any where none is given.
    pub metric_id: Option<MetricId>,
}

/// Filter of a list of the prices of a dimensional price group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DimensionalPriceFilter {
    /// Status that they have; any where none is given.
    pub status: Option<PriceStatus>,
}

/// Status of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PriceStatus {
    /// Price that can be used, as every one.
    Active,
    /// Price that cannot be used. No operation archives one: a list of them is empty.
    Archived,
}

/// Prices of a dimensional price group to create at once, all of one model (subscriptions 6.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NewDimensionalPrices {
    /// Item that they sell: that of the group's metric.
    pub item_id: ItemId,
    /// Cadence: how often they bill.
    pub cadence: Cadence,
    /// Currency or pricing unit of their amounts.
    pub currency: PricingUnit,
    /// Bounds of the tiers that all of them have: of the model [`Tiered`]. Without, they are of the model
    /// [`Unit`].
    pub tiers: Option<Vec<TierBounds>>,
    /// Rows, one for each price: 1 to [100](crate::limits::DIMENSIONAL_PRICES).
    pub prices: Vec<DimensionalPriceRow>,
}

/// Bounds of a tier that several prices have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TierBounds {
    /// Lower bound of the tier, not part of it.
    pub first_unit: Decimal,
    /// Its last unit; `None` for the last tier.
    pub last_unit: Option<Decimal>,
}

/// Price of a dimensional price group, in a row of several to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DimensionalPriceRow {
    /// Its name; the values where none is given, with `, ` between them.
    pub name: Option<Name>,
    /// Values of the group's dimensions, one for each in their order.
    pub dimension_values: Vec<String>,
    /// Amounts for a unit: one, or one for each tier.
    pub amounts: Vec<Decimal>,
}

impl NewDimensionalPriceGroup {
    /// Prepares a group with the values that every group needs.
    pub fn new(
        name: Name,
        metric_id: MetricId,
        dimensions: impl IntoIterator<Item = PropertyName>,
    ) -> Self {
        Self {
            name,
            metric_id,
            dimensions: dimensions.into_iter().collect(),
            external_dimensional_price_group_id: None,
            metadata: Metadata::new(),
        }
    }

    pub(crate) fn decide(
        self,
        id: DimensionalPriceGroupId,
        now: Timestamp,
    ) -> Result<DimensionalPriceGroup, Error> {
        metadata::check(&self.metadata)?;
        self.check_dimensions()?;
        Ok(DimensionalPriceGroup {
            id,
            external_dimensional_price_group_id: self.external_dimensional_price_group_id,
            name: self.name,
            metric_id: self.metric_id,
            dimensions: self.dimensions,
            price_count: 0,
            metadata: self.metadata,
            created_at: now,
        })
    }

    fn check_dimensions(&self) -> Result<(), Error> {
        let (found, most) = (self.dimensions.len(), limits::DIMENSIONS);
        if !(1..=most).contains(&found) {
            let message = format!("found {found}, expected 1 to {most}");
            return Err(Error::invalid("dimensions", message));
        }
        let mut seen = BTreeSet::new();
        match self.dimensions.iter().position(|dimension| !seen.insert(dimension)) {
            Some(twice) => {
                let field = format!("dimensions[{twice}]");
                Err(Error::invalid(field, "found a property again, expected each once"))
            }
            None => Ok(()),
        }
    }
}

impl DimensionalPriceGroupUpdate {
    pub(crate) fn decide(
        self,
        mut group: DimensionalPriceGroup,
    ) -> Result<DimensionalPriceGroup, Error> {
        self.external_dimensional_price_group_id
            .apply(&mut group.external_dimensional_price_group_id);
        self.metadata.apply(&mut group.metadata)?;
        Ok(group)
    }
}

impl NewDimensionalPrices {
    /// Prepares prices of one amount for every unit, one for each row.
    pub fn new(
        item_id: ItemId,
        cadence: Cadence,
        currency: impl Into<PricingUnit>,
        prices: impl IntoIterator<Item = DimensionalPriceRow>,
    ) -> Self {
        let prices = prices.into_iter().collect();
        Self { item_id, cadence, currency: currency.into(), tiers: None, prices }
    }

    /// Decides which prices they are, in the order of the rows.
    pub(crate) fn decide(self, group: &DimensionalPriceGroup) -> Result<Vec<NewPrice>, Error> {
        let (found, most) = (self.prices.len(), limits::DIMENSIONAL_PRICES);
        if !(1..=most).contains(&found) {
            let message = format!("found {found}, expected 1 to {most}");
            return Err(Error::invalid("prices", message));
        }
        if let Some(tiers) = &self.tiers {
            Tiered::new(tiers.iter().map(|bounds| bounds.tier(Decimal::zero()))).check()?;
        }
        if self.cadence.cycle().is_none() {
            let detail = "a price of usage cannot be charged once, but at a recurring cadence";
            return Err(Error::constraint(detail));
        }
        let prices = self.prices.iter().enumerate();
        prices
            .map(|(index, row)| {
                self.price(group, row).map_err(|error| error.within(&format!("prices[{index}]")))
            })
            .collect()
    }

    fn price(
        &self,
        group: &DimensionalPriceGroup,
        row: &DimensionalPriceRow,
    ) -> Result<NewPrice, Error> {
        check_values("dimension_values", &row.dimension_values)?;
        let joined = || Name::parse(row.dimension_values.join(", "));
        let name = row.name.clone().map_or_else(joined, Ok);
        let name = name.map_err(|error| Error::invalid("name", error.to_string()))?;
        let of = NewDimensionalPriceConfiguration::new(group.id, row.dimension_values.clone());
        Ok(NewPrice::builder(name, self.item_id)
            .billed(self.cadence, self.currency.clone())
            .usage_of(of, self.model(&row.amounts)?))
    }

    fn model(&self, amounts: &[Decimal]) -> Result<Model, Error> {
        let (found, expected) = (amounts.len(), self.tiers.as_ref().map_or(1, Vec::len));
        if found != expected {
            let message = match self.tiers {
                Some(_) => format!("found {found}, expected {expected}: one for each tier"),
                None => format!("found {found}, expected one"),
            };
            return Err(Error::invalid("amounts", message));
        }
        for (index, amount) in amounts.iter().enumerate() {
            check_bounds(format!("amounts[{index}]"), amount)?;
        }
        let mut amounts = amounts.iter().cloned();
        Ok(match &self.tiers {
            Some(tiers) => {
                let tiers = tiers.iter().zip(amounts).map(|(bounds, amount)| bounds.tier(amount));
                Model::Tiered(Tiered::new(tiers))
            }
            None => Model::Unit(Unit::new(amounts.next().unwrap_or_default())),
        })
    }
}

impl TierBounds {
    fn tier(&self, unit_amount: Decimal) -> Tier {
        Tier::new(self.first_unit.clone(), self.last_unit.clone(), unit_amount)
    }
}
