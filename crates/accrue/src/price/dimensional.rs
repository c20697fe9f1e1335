use serde::{Deserialize, Serialize};

use super::{DimensionalPriceGroup, NewCharge};
use crate::{DimensionalPriceGroupId, Error, IdOr, PropertyName, limits};

/// Combination of a dimensional price group: the events whose usage a price charges (subscriptions 6.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DimensionalPriceConfiguration {
    /// Group that the price is of.
    pub dimensional_price_group_id: DimensionalPriceGroupId,
    /// Values of the group's dimensions that its events have, in their order.
    pub dimension_values: Vec<String>,
    /// The dimensions, which never change.
    pub(crate) dimensions: Vec<PropertyName>,
}

/// Combination of a dimensional price group that a price to create charges the usage of (subscriptions 6.3).
///
/// ```
/// use accrue::{Currency, Decimal, ExternalId, ItemId, Name};
/// use accrue::price::{Cadence, Model, NewDimensionalPriceConfiguration, NewPrice, Unit};
///
/// # fn price(item_id: ItemId) -> Result<NewPrice, Box<dyn std::error::Error>> {
/// let gold = NewDimensionalPriceConfiguration::new(ExternalId::parse("by-region")?, ["eu", "gold"]);
/// let each = Model::Unit(Unit::new(Decimal::parse("0.02")?));
/// let price = NewPrice::builder(Name::parse("eu, gold")?, item_id)
///     .billed(Cadence::Monthly, Currency::parse("USD")?)
///     .usage_of(gold, each);
/// # Ok(price)
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NewDimensionalPriceConfiguration {
    /// Group.
    pub dimensional_price_group: IdOr<DimensionalPriceGroupId>,
    /// Values of the group's dimensions, one for each in their order, of at most [128
    /// bytes](crate::limits::DIMENSION_VALUE_BYTES). A number or a boolean is compared by its shortest text: `1`
    /// and not `1.0`.
    pub dimension_values: Vec<String>,
}

impl NewDimensionalPriceConfiguration {
    /// Names the combination of a group that has some values.
    pub fn new(
        group: impl Into<IdOr<DimensionalPriceGroupId>>,
        dimension_values: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let dimension_values = dimension_values.into_iter().map(Into::into).collect();
        Self { dimensional_price_group: group.into(), dimension_values }
    }

    /// Says what is wrong with it, whatever the group.
    pub(super) fn check(&self) -> Result<(), Error> {
        check_values("dimension_values", &self.dimension_values)
    }
}

impl DimensionalPriceConfiguration {
    /// Decides whether a price can be of a group.
    pub(super) fn decide(
        new: NewDimensionalPriceConfiguration,
        group: &DimensionalPriceGroup,
        charge: &NewCharge,
    ) -> Result<Self, Error> {
        if charge.is_fixed() || charge.is_composite() {
            let what = if charge.is_fixed() { "a fee" } else { "a composite price" };
            let detail = format!("{what} has no usage, and can be of no dimensional price group");
            return Err(Error::constraint(detail));
        }
        if let Some(other) = charge.metric_id().filter(|metric| *metric != group.metric_id) {
            let detail = format!(
                "the prices of the dimensional price group {} have its metric {}, and not {other}",
                group.id, group.metric_id
            );
            return Err(Error::constraint(detail));
        }
        let (found, expected) = (new.dimension_values.len(), group.dimensions.len());
        if found != expected {
            let detail = format!(
                "found {found} values, expected {expected}: one for each dimension of the group {}",
                group.id
            );
            return Err(Error::constraint(detail));
        }
        Ok(Self {
            dimensional_price_group_id: group.id,
            dimension_values: new.dimension_values,
            dimensions: group.dimensions.clone(),
        })
    }
}

/// Refuses values of dimensions that are too long.
pub(super) fn check_values(at: &str, values: &[String]) -> Result<(), Error> {
    let most = limits::DIMENSION_VALUE_BYTES;
    match values.iter().position(|value| value.len() > most) {
        Some(index) => {
            let field = format!("{at}[{index}]");
            Err(Error::invalid(field, format!("has more than {most} bytes")))
        }
        None => Ok(()),
    }
}
