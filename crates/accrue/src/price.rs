//! Prices: they turn usage, or a fixed quantity of each period, into amounts.

mod adjustment;
mod allocation;
mod builder;
mod cadence;
mod conversion;
mod dimensional;
mod filter;
mod group;
mod license;
mod license_pool;
mod model;
mod new;
mod origin;
mod phase;
mod references;
mod rounding;
mod scoped;
mod usage;
mod uses;

use serde::{Deserialize, Serialize};

pub(crate) use self::adjustment::Share;
pub use self::{
    adjustment::{Adjustment, Adjustments, Discount, DiscountTier},
    allocation::{AllocationExpiry, CreditAllocation, NewAllocationPrice},
    builder::{BilledPriceBuilder, PriceBuilder},
    cadence::{Cadence, Cycle},
    conversion::{ConversionRate, Converted},
    dimensional::{DimensionalPriceConfiguration, NewDimensionalPriceConfiguration},
    filter::{FilterOperator, FilterValues, PriceFilter},
    group::{
        DimensionalPriceFilter, DimensionalPriceGroup, DimensionalPriceGroupFilter,
        DimensionalPriceGroupUpdate, DimensionalPriceRow, NewDimensionalPriceGroup,
        NewDimensionalPrices, PriceStatus, TierBounds,
    },
    license::LicenseAllocation,
    model::{
        Bulk, BulkFilter, BulkTier, BulkWithFilters, BulkWithProration,
        CumulativeGroupedAllocation, CumulativeGroupedBulk, DailyAmount, DailyCreditAllowance,
        DisplayedAmount, EventOutput, GroupQuantity, GroupTier, GroupedAllocation, GroupedTiered,
        GroupedTieredMatrix, GroupedTieredPackage, GroupedWithMeteredMinimum,
        GroupedWithMinMaxThresholds, GroupedWithProratedMinimum, Grouping, LowerBoundTier, Matrix,
        MatrixCell, MatrixTier, MatrixWithAllocation, MatrixWithDisplayName,
        MatrixWithThresholdDiscounts, MaxGroupTieredPackage, MeteredAllowance, MinimumComposite,
        MinimumPackageTier, MinimumTier, Model, Package, PackageTier, PackageWithAllocation,
        PairAmount, PairFactor, Part, PartOf, Percent, PricingAmount, Quantity, Rating,
        ScalableMatrixWithTieredPricing, ScalableMatrixWithUnitPricing, ScalingFactor,
        ThresholdDiscount, ThresholdStep, ThresholdTotalAmount, Tier, Tiered,
        TieredMatrixWithAllocation, TieredPackage, TieredPackageWithMinimum, TieredWithMinimum,
        TieredWithProration, Unit, UnitWithPercent, UnitWithProration, ValueTier, VolumeTier,
    },
    new::{NewCharge, NewPrice},
    origin::PriceOrigin,
    phase::PhaseOrder,
    rounding::round_lines,
    scoped::{AdjustmentScope, NewAdjustment, ScopedAdjustment},
};
pub(crate) use self::{
    conversion::Worth,
    filter::check_filters,
    license::{LicenseKey, check_beside_licenses, check_draws_alone, check_no_units_off},
    license_pool::{LicensePool, LicensePools, last_in_force},
    model::{Combination, DeclaredCells, DeclaredGroups, GroupRater, GroupSum, Parts},
    references::References,
    rounding::round_to,
    scoped::{AdjustmentIds, check_adjustments, remaining, same_phase},
    usage::PricedUsage,
};
use crate::{
    Carried, Decimal, Error, ExternalId, ItemId, LicenseTypeId, Metadata, MetadataUpdate, MetricId,
    Name, PriceId, PricingUnit, PropertyName, Timestamp,
    expression::Expression,
    meter::{CellId, Cells, Meter},
};

/// Price: a charge for an item, at a cadence (wire 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Price {
    /// Its id.
    pub id: PriceId,
    /// The caller's alias for the id, unique in the account.
    pub external_price_id: Option<ExternalId>,
    /// Its name.
    pub name: Name,
    /// Item that it sells.
    pub item_id: ItemId,
    /// Currency or pricing unit of its amounts.
    pub currency: PricingUnit,
    /// Conversion rate: how much of the invoicing currency its amounts are worth.
    pub conversion_rate: Option<ConversionRate>,
    /// Cadence: how often it bills.
    pub cadence: Cadence,
    /// Charge: usage, or a fixed quantity.
    pub charge: Charge,
    /// Adjustments of its amounts.
    pub adjustments: Adjustments,
    /// Property of the events by whose values invoices break its usage down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice_grouping_key: Option<PropertyName>,
    /// Combination of a dimensional price group whose usage it charges (subscriptions 6.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensional_price_configuration: Option<DimensionalPriceConfiguration>,
    /// Type of the licenses that it is for (subscriptions 7.4): of a fee, whose quantity is how many there are,
    /// or of usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license_type_id: Option<LicenseTypeId>,
    /// Allocations of each of these licenses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub license_allocations: Vec<LicenseAllocation>,
    /// Property of the events that names one of these licenses, of a fee that has allocations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license_grouping_key: Option<PropertyName>,
    /// Credits that it gives with each of its periods, where it is an allocation (subscriptions 9.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_allocation: Option<CreditAllocation>,
    /// Phase of its plan that it is charged in, where that has phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase_order: Option<PhaseOrder>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    #[serde(default, skip_serializing_if = "Carried::is_empty")]
    pub carried: Carried,
    /// What it was made with.
    #[serde(default, skip_serializing_if = "PriceOrigin::is_account")]
    pub origin: PriceOrigin,
    /// Instant at which it was created.
    pub created_at: Timestamp,
}

/// Charge of a price: usage, a fixed quantity, or what other prices come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Charge {
    /// Usage that a metric measured, charged when the billing period ends: a `usage_price`.
    Usage {
        /// Metric that measures it.
        metric_id: MetricId,
        /// Model that rates its figure.
        model: Model,
    },
    /// Quantity that the subscription has: a `fixed_price`.
    Fixed {
        /// Quantity, unless the subscription has another.
        quantity: Decimal,
        /// Model that rates the quantity.
        model: Model,
        /// Billing mode: when in a billing period it falls due.
        billing_mode: BillingMode,
    },
    /// What the other prices of the subscription in its currency come to before adjustments, charged when the
    /// billing period ends: a `composite_price` (price models 6).
    ///
    /// Of usage these are the periods that end within its own, of a fee what falls due in that.
    Composite {
        /// Model that rates the sum of what they come to.
        model: Model,
    },
}

impl Charge {
    /// Returns when in a billing period it falls due: usage in arrears.
    pub(crate) const fn billing_mode(&self) -> BillingMode {
        match self {
            Self::Fixed { billing_mode, .. } => *billing_mode,
            Self::Usage { .. } | Self::Composite { .. } => BillingMode::InArrear,
        }
    }

    /// Returns the metric that measures it; none of what is no usage.
    pub(crate) const fn metric_id(&self) -> Option<MetricId> {
        match self {
            Self::Usage { metric_id, .. } => Some(*metric_id),
            Self::Fixed { .. } | Self::Composite { .. } => None,
        }
    }
}

/// Type of a price (wire 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PriceType {
    /// Price of usage that a metric measured.
    #[serde(rename = "usage_price")]
    Usage,
    /// Price of a quantity that the subscription has.
    #[serde(rename = "fixed_price")]
    Fixed,
    /// Price of what other prices come to.
    #[serde(rename = "composite_price")]
    Composite,
}

/// Class of prices that a filter names by their type (subscriptions 1.4).
///
/// What is stored has the words of [`PriceType`] where that has the class too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PriceClass {
    /// Prices of usage.
    #[serde(rename = "usage_price")]
    Usage,
    /// Fees, whenever they fall due.
    #[serde(rename = "fixed_price")]
    Fixed,
    /// Fees in advance.
    FixedInAdvance,
    /// Fees in arrears.
    FixedInArrears,
    /// Prices of usage, fees in arrears, and prices of what others come to.
    InArrears,
}

/// Billing mode of a fee: when in a billing period it falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BillingMode {
    /// Due with the first instant of the billing period.
    InAdvance,
    /// Due with the end of the billing period.
    InArrear,
}

/// Properties by which the usage of a price is in groups beside those of its model.
#[derive(Default)]
struct By<'a> {
    /// Those of an alert.
    watched: &'a [PropertyName],
    /// That by which invoices break it down.
    broken_down: Vec<PropertyName>,
}

/// Refuses a number that exceeds a bound of numbers that come in.
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
    /// Returns the meters that are needed to rate usage that a condition holds for, where that is no whole metric, as of a
    /// revision of the metrics.
    pub(crate) fn rated_meters(
        &self,
        filter: Option<&Expression>,
        since: u64,
    ) -> impl Iterator<Item = Meter> {
        let is_part = filter.is_some() || self.dimensional_price_configuration.is_some();
        let model = self.charge.model();
        let (cells, groups) = (model.cells(), model.groups());
        let is_divided = is_part || model.is_divided();
        let divided = self.meter_by(filter, By::default(), cells.as_ref(), groups, since);
        let divided = divided.filter(|_| is_divided);
        let whole = self.meter_by(filter, By::default(), None, None, since);
        let whole = whole.filter(|_| is_part && cells.is_some_and(|of| of.has_whole));
        divided.into_iter().chain(whole)
    }

    /// Returns the meters by which alerts watch its usage in the groups of some properties: that of what its model
    /// rates, and that of all usage where the model rates it beside its cells; none of a fee.
    pub(crate) fn watched_meters(
        &self,
        filter: Option<&Expression>,
        keys: &[PropertyName],
        since: u64,
    ) -> impl Iterator<Item = Meter> {
        let model = self.charge.model();
        let (cells, groups) = (model.cells(), model.groups());
        let by = || By { watched: keys, ..By::default() };
        let divided = self.meter_by(filter, by(), cells.as_ref(), groups, since);
        let has_whole = cells.is_some_and(|of| of.has_whole);
        let whole = self.meter_by(filter, by(), None, None, since).filter(|_| has_whole);
        divided.into_iter().chain(whole)
    }

    /// Returns the meter of its usage, in groups by some properties, then in those of a model, and in cells; none of
    /// a fee.
    fn meter_by(
        &self,
        filter: Option<&Expression>,
        by: By<'_>,
        cells: Option<&DeclaredCells>,
        groups: Option<DeclaredGroups>,
        since: u64,
    ) -> Option<Meter> {
        let metric_id = self.charge.metric_id()?;
        let cells = cells.map(|of| Cells::new(of.dimensions.clone(), of.values.clone()));
        let cells = cells.unwrap_or_default();
        let (mut rated_by, mut licenses_of) = (None, None);
        let mut group_by = by.broken_down;
        if let Some(groups) = groups {
            group_by.extend(groups.group_by);
            (rated_by, licenses_of) = (groups.rated_by, groups.licenses_of);
        }
        let mut meter = Meter::new(metric_id, filter.cloned(), group_by, cells, since);
        if let Some(property) = rated_by {
            meter = meter.rated_by(property);
        }
        if let Some(license_type) = licenses_of {
            meter = meter.of_licenses(license_type);
        }
        if !by.watched.is_empty() {
            meter = meter.watched_by(by.watched);
        }
        Some(match &self.dimensional_price_configuration {
            Some(of) => meter.of_combination(&of.dimensions, &of.dimension_values),
            None => meter,
        })
    }

    /// Returns the cells whose figures its usage that a condition holds for is rated by, in the order of the model; none
    /// for a fee.
    pub(crate) fn cells(&self, filter: Option<&Expression>) -> Vec<CellId> {
        let Some(metric_id) = self.charge.metric_id() else { return Vec::new() };
        let declared = self.charge.model().cells();
        let mut meters = self.rated_meters(filter, 0);
        let whole = CellId::from(metric_id);
        let Some(divided) = meters.next() else { return vec![whole] };
        let Some(declared) = declared else { return divided.only_cells([]) };
        let mut cells = divided.only_cells(declared.values());
        if declared.has_whole {
            cells.extend(meters.next().map_or_else(|| vec![whole], |of| of.only_cells([])));
        }
        cells
    }

    /// Returns the meter of its usage that a condition holds for, in groups by the license that it is of; none of a
    /// fee.
    pub(crate) fn licensed_meter(
        &self,
        filter: Option<&Expression>,
        key: &LicenseKey,
        since: u64,
    ) -> Option<Meter> {
        self.meter_by(filter, By::default(), None, Some(key.groups()), since)
    }

    /// Returns the meters that are kept for it: what its usage is rated by, and what invoices break it down
    /// by; as of a revision of the metrics.
    pub(crate) fn meters(
        &self,
        filter: Option<&Expression>,
        since: u64,
    ) -> impl Iterator<Item = Meter> {
        self.rated_meters(filter, since).chain(self.grouping_meter(filter, since))
    }

    /// Returns the meter that invoices break its usage down by.
    pub(crate) fn grouping_meter(&self, filter: Option<&Expression>, since: u64) -> Option<Meter> {
        let model = self.charge.model();
        let by = vec![self.invoice_grouping_key.clone()?];
        let by = By { broken_down: by, ..By::default() };
        self.meter_by(filter, by, model.cells().as_ref(), model.groups(), since)
    }

    /// Returns the cycle in which its usage is invoiced within its billing periods (invoicing 6.1): that of
    /// `invoicing_cycle_configuration`. What is no usage has none: it falls due once in each of its periods.
    #[must_use]
    pub fn invoicing_cycle(&self) -> Option<Cycle> {
        new::invoicing_cycle(&self.carried).ok().flatten().filter(|_| self.charge.is_usage())
    }
}

impl PriceClass {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Fixed => "fixed",
            Self::FixedInAdvance => "fixed_in_advance",
            Self::FixedInArrears => "fixed_in_arrears",
            Self::InArrears => "in_arrears",
        }
    }
}

impl Charge {
    /// Returns the model that rates the quantity.
    #[must_use]
    pub const fn model(&self) -> &Model {
        match self {
            Self::Usage { model, .. } | Self::Fixed { model, .. } | Self::Composite { model } => {
                model
            }
        }
    }

    /// Tells whether it is a fee: charged whatever is used.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed { .. })
    }

    /// Tells whether it is of usage that a metric measures.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Usage { .. })
    }

    /// Tells whether it is of what other prices come to.
    #[must_use]
    pub const fn is_composite(&self) -> bool {
        matches!(self, Self::Composite { .. })
    }

    /// Returns the type of the price.
    #[must_use]
    pub const fn price_type(&self) -> PriceType {
        match self {
            Self::Usage { .. } => PriceType::Usage,
            Self::Fixed { .. } => PriceType::Fixed,
            Self::Composite { .. } => PriceType::Composite,
        }
    }

    /// Tells whether the price is of a class.
    #[must_use]
    pub const fn is_of(&self, class: PriceClass) -> bool {
        use BillingMode::{InAdvance, InArrear};

        match class {
            PriceClass::Usage => self.is_usage(),
            PriceClass::Fixed => self.is_fixed(),
            PriceClass::FixedInAdvance => {
                matches!(self, Self::Fixed { billing_mode: InAdvance, .. })
            }
            PriceClass::FixedInArrears => {
                matches!(self, Self::Fixed { billing_mode: InArrear, .. })
            }
            PriceClass::InArrears => !matches!(self, Self::Fixed { billing_mode: InAdvance, .. }),
        }
    }
}

/// Changes to a price. Its charge never changes (wire 5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PriceUpdate {
    /// Changes to its metadata.
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
