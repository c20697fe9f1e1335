use serde::{Deserialize, Serialize};

use super::{
    Adjustments, Cadence, Charge, ConversionRate, Cycle, DimensionalPriceConfiguration,
    DimensionalPriceGroup, LicenseAllocation, Model, NewDimensionalPriceConfiguration, PhaseOrder,
    Price, PriceBuilder, PriceOrigin, check_not_negative,
};
use crate::{
    Carried, Error, ExternalId, ItemId, LicenseTypeId, Metadata, MetricId, Name, PriceId,
    PricingUnit, PropertyName, Timestamp, limits, metadata,
};

/// Price to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPrice {
    /// Its name.
    pub name: Name,
    /// Item that it sells.
    pub item_id: ItemId,
    /// Currency or pricing unit of its amounts.
    pub currency: PricingUnit,
    /// Cadence: how often it bills.
    pub cadence: Cadence,
    /// Charge: usage, or a fixed quantity.
    pub charge: NewCharge,
    /// Adjustments of its amounts.
    pub adjustments: Adjustments,
    /// Property of the events by whose values invoices break its usage down (invoicing 6.1): one part of a line
    /// for each value, with its share of the amount. The metric counts or sums, and a customer's usage has at
    /// most [1,000](crate::limits::GROUPS) values in four weeks. For a price of usage.
    pub invoice_grouping_key: Option<PropertyName>,
    /// Combination of a dimensional price group whose usage it charges (subscriptions 6.3). For a price of
    /// usage, of the group's metric, which is not a latest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensional_price_configuration: Option<NewDimensionalPriceConfiguration>,
    /// Type of the licenses that it is for (subscriptions 7.4): of a fee, whose quantity is how many licenses of
    /// the type a subscription may have at once, or of usage, of the model unit. A version of a plan has one such
    /// fee at most, and beside it no usage of another model, nor any that invoices break down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license_type_id: Option<LicenseTypeId>,
    /// Allocations of each of these licenses, one for each currency: of a fee of the model unit, at a recurring
    /// cadence. Usage of the type in one of the currencies draws from them: of one price at a time, which has the
    /// cadence of the fee, is not prorated and has no discount of units. A customer's usage that does has at most
    /// [1,000](crate::limits::GROUPS) values of the property that names licenses in four weeks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub license_allocations: Vec<LicenseAllocation>,
    /// Conversion rate: how much of the invoicing currency its amounts are worth.
    pub conversion_rate: Option<ConversionRate>,
    /// The caller's alias, unique in the account.
    pub external_price_id: Option<ExternalId>,
    /// What the request that makes it calls it, for its adjustments (subscriptions 1.2). It is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_id: Option<String>,
    /// Phase of its plan that it is charged in: of a price that is made with a plan that has phases, and of no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase_order: Option<PhaseOrder>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Further fields: those that the engine has no use for, and `invoicing_cycle_configuration`, which says how
    /// often usage is invoiced within a billing period (invoicing 6.1).
    pub carried: Carried,
}

/// Charge of a price to create.
///
/// ```
/// # use accrue::{Decimal, MetricId, price::{Charge, Model, NewCharge, Unit}};
/// # fn charges(metric_id: MetricId) {
/// let model = Model::Unit(Unit::new(Decimal::from(2)));
/// let usage: NewCharge = Charge::Usage { metric_id, model }.into();
/// assert!(!usage.is_fixed());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NewCharge {
    /// Usage that the metric of the price's dimensional price group measures, with the model that rates it.
    UsageOfGroup(Model),
    /// Charge as it will be.
    #[serde(untagged)]
    Of(Charge),
}

impl From<Charge> for NewCharge {
    fn from(charge: Charge) -> Self {
        Self::Of(charge)
    }
}

impl NewCharge {
    /// Returns the model that rates the quantity.
    #[must_use]
    pub const fn model(&self) -> &Model {
        match self {
            Self::Of(charge) => charge.model(),
            Self::UsageOfGroup(model) => model,
        }
    }

    /// Tells whether it is a fee: charged whatever is used.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        match self {
            Self::Of(charge) => charge.is_fixed(),
            Self::UsageOfGroup(_) => false,
        }
    }

    /// Tells whether it is of what other prices come to.
    #[must_use]
    pub const fn is_composite(&self) -> bool {
        match self {
            Self::Of(charge) => charge.is_composite(),
            Self::UsageOfGroup(_) => false,
        }
    }

    /// Returns the metric that it names.
    pub(crate) const fn metric_id(&self) -> Option<MetricId> {
        match self {
            Self::Of(charge) => charge.metric_id(),
            Self::UsageOfGroup(_) => None,
        }
    }

    /// Returns the charge, of a price of a group or of none.
    fn decide(self, group: Option<&DimensionalPriceGroup>) -> Result<Charge, Error> {
        match (self, group) {
            (Self::Of(charge), _) => Ok(charge),
            (Self::UsageOfGroup(model), Some(group)) => {
                Ok(Charge::Usage { metric_id: group.metric_id, model })
            }
            (Self::UsageOfGroup(_), None) => {
                let message = "is missing, and the metric is that of a group";
                Err(Error::invalid("dimensional_price_configuration", message))
            }
        }
    }
}

impl NewPrice {
    /// Begins a price with its name and its item.
    pub const fn builder(name: Name, item_id: ItemId) -> PriceBuilder {
        PriceBuilder { name, item_id }
    }

    /// Decides what it will be, with the dimensional price group that it is of.
    pub(crate) fn decide(
        self,
        id: PriceId,
        group: Option<&DimensionalPriceGroup>,
        now: Timestamp,
    ) -> Result<Price, Error> {
        metadata::check(&self.metadata)?;
        self.check()?;
        let configuration = self.dimensional_price_configuration.zip(group);
        let configuration = configuration
            .map(|(own, group)| DimensionalPriceConfiguration::decide(own, group, &self.charge));
        Ok(Price {
            id,
            external_price_id: self.external_price_id,
            name: self.name,
            item_id: self.item_id,
            currency: self.currency,
            conversion_rate: self.conversion_rate,
            cadence: self.cadence,
            charge: self.charge.decide(group)?,
            adjustments: self.adjustments,
            invoice_grouping_key: self.invoice_grouping_key,
            dimensional_price_configuration: configuration.transpose()?,
            license_type_id: self.license_type_id,
            license_allocations: self.license_allocations,
            license_grouping_key: None,
            credit_allocation: None,
            plan_phase_order: self.plan_phase_order,
            metadata: self.metadata,
            carried: self.carried,
            origin: PriceOrigin::Account,
            created_at: now,
        })
    }

    /// Says everything that is wrong with the price.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_charge()?;
        self.check_cycle()?;
        if let Some(own) = &self.dimensional_price_configuration {
            own.check().map_err(|error| error.within("dimensional_price_configuration"))?;
        }
        invoicing_cycle(&self.carried)?;
        self.check_licenses()?;
        if let Some(rate) = &self.conversion_rate {
            rate.check()?;
        }
        if self.invoice_grouping_key.is_some() {
            let what = match &self.charge {
                of if of.is_fixed() => "fixed",
                of if of.is_composite() => "composite",
                _ => return self.adjustments.check(&self.charge),
            };
            let message = format!("found a property on a {what} price, which has no events");
            return Err(Error::invalid("invoice_grouping_key", message));
        }
        self.adjustments.check(&self.charge)
    }

    fn check_charge(&self) -> Result<(), Error> {
        self.check_composite()?;
        match &self.charge {
            NewCharge::Of(Charge::Fixed { model, .. }) if model.is_divided() => {
                let model = model.model_type();
                let message = format!(
                    "found {model}, expected a model that needs no events: a fixed price has none"
                );
                return Err(Error::invalid("charge.model", message));
            }
            NewCharge::Of(Charge::Fixed { quantity, .. }) => {
                check_not_negative("charge.quantity", quantity)?;
            }
            _ if self.cadence.cycle().is_none() => {
                let what = if self.charge.is_composite() { "composite" } else { "usage" };
                let message =
                    format!("found one_time, expected a recurring cadence for a {what} price");
                return Err(Error::invalid("cadence", message));
            }
            _ => {}
        }
        self.charge.model().check().map_err(|error| error.within("charge.model"))
    }

    /// Refuses a model of what other prices come to for any other charge, and another one for that; and what goes
    /// with usage alone (subscriptions 9.4).
    fn check_composite(&self) -> Result<(), Error> {
        let model = self.charge.model();
        let model_type = model.model_type();
        match (self.charge.is_composite(), model.is_composite()) {
            (false, false) => Ok(()),
            (true, false) => {
                let message = format!("found {model_type}, expected a model of other prices");
                Err(Error::invalid("charge.model", message))
            }
            (false, true) => {
                let message = format!(
                    "found {model_type}, which rates other prices, and neither usage nor a quantity"
                );
                Err(Error::invalid("charge.model", message))
            }
            (true, true) if self.license_type_id.is_some() => {
                Err(Error::constraint("a composite price has no usage, and can be of no licenses"))
            }
            (true, true) => Ok(()),
        }
    }

    fn check_cycle(&self) -> Result<(), Error> {
        let Cadence::Custom(cycle) = self.cadence else { return Ok(()) };
        check_length("cadence.duration", cycle)
    }
}

/// Cycle as callers write it.
#[derive(Deserialize)]
struct CycleText {
    duration: u16,
    duration_unit: UnitText,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnitText {
    Day,
    Month,
}

/// Reads the cycle in which usage is invoiced within its billing periods (invoicing 6.1).
pub(super) fn invoicing_cycle(carried: &Carried) -> Result<Option<Cycle>, Error> {
    let field = "invoicing_cycle_configuration";
    let Some(text) = carried.get(field) else { return Ok(None) };
    let Ok(CycleText { duration, duration_unit }) = serde_json::from_str(text) else {
        let message = format!("found {text}, expected a duration and its unit, day or month");
        return Err(Error::invalid(field, message));
    };
    let cycle = match duration_unit {
        UnitText::Day => Cycle::Days(duration),
        UnitText::Month => Cycle::Months(duration),
    };
    check_length("invoicing_cycle_configuration.duration", cycle)?;
    Ok(Some(cycle))
}

pub(super) fn check_length(field: &str, cycle: Cycle) -> Result<(), Error> {
    let (duration, unit, most) = match cycle {
        Cycle::Days(days) => (days, "days", limits::CYCLE_DAYS),
        Cycle::Months(months) => (months, "months", limits::CYCLE_MONTHS),
    };
    if (1..=most).contains(&duration) {
        return Ok(());
    }
    let message = format!("found {duration} {unit}, expected 1 to {most}");
    Err(Error::invalid(field, message))
}
