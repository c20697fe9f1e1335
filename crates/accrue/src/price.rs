//! Prices: how what was used, or is owed each period, becomes an amount.

mod adjustment;
mod builder;
mod cadence;
mod model;
mod new;
mod rounding;
mod uses;

use serde::{Deserialize, Serialize};

pub(crate) use self::adjustment::Share;
pub use self::{
    adjustment::{Adjustment, Adjustments, Discount, DiscountTier},
    builder::{BilledPriceBuilder, PriceBuilder},
    cadence::{Cadence, Cycle},
    model::{
        Bulk, BulkTier, Matrix, MatrixCell, Model, Package, Part, PartOf, Quantity, Rating, Tier,
        Tiered, Unit,
    },
    new::NewPrice,
    rounding::round_lines,
};
use crate::{
    Carried, Currency, Decimal, Error, ExternalId, ItemId, Metadata, MetadataUpdate, MetricId,
    Name, PriceId, PricingUnit, Timestamp,
    meter::{CellId, Cells, Meter, Values},
};

/// A price (wire 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Price {
    /// Its id.
    pub id: PriceId,
    /// The caller's alias for the id, unique in the account.
    pub external_price_id: Option<ExternalId>,
    /// Its name.
    pub name: Name,
    /// What it sells.
    pub item_id: ItemId,
    /// What its amounts are in.
    pub currency: PricingUnit,
    /// How much of the invoicing currency one of its unit is worth.
    pub conversion_rate: Option<Decimal>,
    /// How often it bills.
    pub cadence: Cadence,
    /// What it charges for.
    pub charge: Charge,
    /// What changes its amounts.
    pub adjustments: Adjustments,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    #[serde(default, skip_serializing_if = "Carried::is_empty")]
    pub carried: Carried,
    /// When it was created.
    pub created_at: Timestamp,
}

/// What a price charges for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Charge {
    /// What a metric measured, when the billing period ends: a `usage_price`.
    Usage {
        /// The metric.
        metric_id: MetricId,
        /// How its figure becomes an amount.
        model: Model,
    },
    /// A quantity that the subscription has: a `fixed_price`.
    Fixed {
        /// How many, unless the subscription says otherwise.
        quantity: Decimal,
        /// How the quantity becomes an amount.
        model: Model,
        /// When in a billing period it falls due.
        billing_mode: BillingMode,
    },
}

impl Charge {
    /// Returns the meter that is needed to rate usage, where that is no whole metric, as of a revision of the
    /// metrics.
    pub(crate) fn meter(&self, since: u64) -> Option<Meter> {
        match self {
            Self::Usage { metric_id, model: Model::Matrix(matrix) } => {
                let cells = Cells::new(matrix.dimensions.clone(), matrix.values().cloned());
                Some(Meter::new(*metric_id, None, Vec::new(), cells, since))
            }
            _ => None,
        }
    }

    /// Returns what is added up to rate usage, in the order of the model; nothing for a fee.
    pub(crate) fn cells(&self) -> Vec<CellId> {
        match (self, self.meter(0), self.model()) {
            (Self::Fixed { .. }, ..) => Vec::new(),
            (_, Some(meter), Model::Matrix(matrix)) => meter.cells(&Values::new(), matrix.values()),
            (Self::Usage { metric_id, .. }, ..) => vec![(*metric_id).into()],
        }
    }
}

/// What a price charges for, in one word (wire 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PriceType {
    /// What a metric measured.
    #[serde(rename = "usage_price")]
    Usage,
    /// A quantity that the subscription has.
    #[serde(rename = "fixed_price")]
    Fixed,
}

/// When in a billing period a fee falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BillingMode {
    /// With its first instant.
    InAdvance,
    /// With its end.
    InArrear,
}

/// Says which bound of what comes in a number exceeds.
fn check_bounds(field: impl Into<String>, number: &Decimal) -> Result<(), Error> {
    number.check_bounds().map_err(|error| Error::invalid(field, error.to_string()))
}

fn check_not_negative(field: &str, number: &Decimal) -> Result<(), Error> {
    check_bounds(field, number)?;
    if number.is_negative() {
        return Err(Error::invalid(field, format!("found {number}, expected 0 or more")));
    }
    Ok(())
}

impl Price {
    /// Returns what an amount of it is worth in a unit, where one currency is invoiced: nothing
    /// where it does not count in that unit.
    pub(crate) fn worth_in(&self, unit: &PricingUnit, invoiced_in: Currency) -> Option<Decimal> {
        if self.currency == *unit {
            return Some(Decimal::from(1));
        }
        self.conversion_rate.clone().filter(|_| unit.as_str() == invoiced_in.code())
    }
}

impl Charge {
    /// Returns how the quantity becomes an amount.
    #[must_use]
    pub const fn model(&self) -> &Model {
        match self {
            Self::Usage { model, .. } | Self::Fixed { model, .. } => model,
        }
    }

    /// Tells whether it is a fee: owed whatever is used.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed { .. })
    }

    /// Returns which of the two it is.
    #[must_use]
    pub const fn price_type(&self) -> PriceType {
        match self {
            Self::Usage { .. } => PriceType::Usage,
            Self::Fixed { .. } => PriceType::Fixed,
        }
    }
}

/// What to change of a price: what it charges never changes (wire 5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PriceUpdate {
    /// The caller's own strings.
    pub metadata: MetadataUpdate,
}

impl PriceUpdate {
    pub(crate) fn decide(self, mut price: Price) -> Result<Price, Error> {
        self.metadata.apply(&mut price.metadata)?;
        Ok(price)
    }
}

#[cfg(test)]
mod tests;
