use serde::{Deserialize, Serialize};

use super::{
    Adjustments, Cadence, Charge, Cycle, Model, Price, PriceBuilder, check_bounds,
    check_not_negative,
};
use crate::{
    Carried, Decimal, Error, ExternalId, ItemId, Metadata, Name, PriceId, PricingUnit,
    PropertyName, Timestamp, limits, metadata,
};

/// Price to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    pub charge: Charge,
    /// Adjustments of its amounts.
    pub adjustments: Adjustments,
    /// Property of the events by whose values invoices break its usage down (invoicing 6.1): one part of a line
    /// for each value, with its share of the amount. The metric counts or sums, and a customer's usage has at
    /// most [1,000](crate::limits::GROUPS) values in four weeks. For a price of usage.
    pub invoice_grouping_key: Option<PropertyName>,
    /// Conversion rate: how much of the invoicing currency one of its unit is worth.
    pub conversion_rate: Option<Decimal>,
    /// The caller's alias, unique in the account.
    pub external_price_id: Option<ExternalId>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Further fields: those that the engine has no use for, and `invoicing_cycle_configuration`, which says how
    /// often usage is invoiced within a billing period (invoicing 6.1).
    pub carried: Carried,
}

impl NewPrice {
    /// Begins a price with its name and its item.
    pub const fn builder(name: Name, item_id: ItemId) -> PriceBuilder {
        PriceBuilder { name, item_id }
    }

    pub(crate) fn decide(self, id: PriceId, now: Timestamp) -> Result<Price, Error> {
        metadata::check(&self.metadata)?;
        self.check()?;
        Ok(Price {
            id,
            external_price_id: self.external_price_id,
            name: self.name,
            item_id: self.item_id,
            currency: self.currency,
            conversion_rate: self.conversion_rate,
            cadence: self.cadence,
            charge: self.charge,
            adjustments: self.adjustments,
            invoice_grouping_key: self.invoice_grouping_key,
            metadata: self.metadata,
            carried: self.carried,
            created_at: now,
        })
    }

    /// Says everything that is wrong with the price.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_charge()?;
        self.check_cycle()?;
        invoicing_cycle(&self.carried)?;
        if let Some(rate) = &self.conversion_rate {
            check_bounds("conversion_rate", rate)?;
            if rate.is_negative() || rate.is_zero() {
                let message = format!("found {rate}, expected more than 0");
                return Err(Error::invalid("conversion_rate", message));
            }
        }
        if self.charge.is_fixed() && self.invoice_grouping_key.is_some() {
            let message = "found a property on a fixed price, which has no events";
            return Err(Error::invalid("invoice_grouping_key", message));
        }
        self.adjustments.check(&self.charge)
    }

    fn check_charge(&self) -> Result<(), Error> {
        match &self.charge {
            Charge::Usage { .. } if self.cadence.cycle().is_none() => {
                let message = "found one_time, expected a recurring cadence for a usage price";
                return Err(Error::invalid("cadence", message));
            }
            Charge::Fixed { model: Model::Matrix(_), .. } => {
                let message = "found matrix, expected a model that needs no events: a fixed price \
                               has none";
                return Err(Error::invalid("charge.model", message));
            }
            Charge::Fixed { quantity, .. } => {
                check_not_negative("charge.quantity", quantity)?;
            }
            Charge::Usage { .. } => {}
        }
        self.charge.model().check().map_err(|error| error.within("charge.model"))
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

fn check_length(field: &str, cycle: Cycle) -> Result<(), Error> {
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
