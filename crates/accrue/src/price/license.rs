use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Charge, Model, NewPrice, Price, check_not_negative};
use crate::{Decimal, Error, LicenseTypeId, PricingUnit};

/// Allocation of a license fee: what each of its licenses may use in each of its periods (subscriptions 7.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LicenseAllocation {
    /// Currency or pricing unit of the usage that it is for.
    pub currency: PricingUnit,
    /// Amount for a license and a period: 0 or more.
    pub amount: Decimal,
    /// True if usage beyond it costs nothing.
    #[serde(default)]
    pub write_off_overage: bool,
}

impl LicenseAllocation {
    /// Prepares an allocation beyond which usage is charged.
    pub fn new(currency: impl Into<PricingUnit>, amount: Decimal) -> Self {
        Self { currency: currency.into(), amount, write_off_overage: false }
    }
}

impl Price {
    /// Returns the type of the licenses whose number is its quantity; none where it is no license fee.
    pub(crate) fn license_fee(&self) -> Option<LicenseTypeId> {
        self.license_type_id.filter(|_| self.charge.is_fixed())
    }

    /// Refuses a price that a subscription could be charged by, and whose allocations nothing would draw from.
    pub(crate) fn check_no_allocations(&self) -> Result<(), Error> {
        match self.license_allocations.is_empty() {
            true => Ok(()),
            false => Err(Error::feature("allocations of licenses are not available")),
        }
    }
}

/// Refuses prices that cannot be beside a license fee in one version of a plan (subscriptions 7.4.2, 7.4.3).
pub(crate) fn check_beside_licenses(prices: &[Price]) -> Result<(), Error> {
    let mut fees = prices.iter().filter(|price| price.license_fee().is_some());
    let Some(fee) = fees.next() else { return Ok(()) };
    if let Some(other) = fees.next() {
        let detail =
            format!("the prices {} and {} are both of licenses, expected one", fee.id, other.id);
        return Err(Error::constraint(detail));
    }
    for price in prices {
        let Charge::Usage { model, .. } = &price.charge else { continue };
        if !matches!(model, Model::Unit(_)) {
            let detail = format!(
                "the price {} has the model {}, expected unit: a price of the plan is of licenses",
                price.id,
                model.model_type()
            );
            return Err(Error::constraint(detail));
        }
        if price.invoice_grouping_key.is_some() {
            let detail = format!(
                "the price {} has an invoice_grouping_key, expected none: a price of the plan is of \
                 licenses",
                price.id
            );
            return Err(Error::constraint(detail));
        }
    }
    Ok(())
}

impl NewPrice {
    /// Says what is wrong with what it has to do with licenses.
    pub(super) fn check_licenses(&self) -> Result<(), Error> {
        let model = self.charge.model();
        let is_unit = matches!(model, Model::Unit(_));
        let expected_unit = |why: &str| {
            let message = format!("found {}, expected unit: {why}", model.model_type());
            Err(Error::invalid("charge.model", message))
        };
        if self.license_type_id.is_some() && !self.charge.is_fixed() && !is_unit {
            return expected_unit("the usage is of licenses");
        }
        if self.license_allocations.is_empty() {
            return Ok(());
        }
        if self.license_type_id.is_none() {
            let message = "is missing, and the price has allocations of licenses";
            return Err(Error::invalid("license_type_id", message));
        }
        if !self.charge.is_fixed() {
            let message = "is there on a price of usage, expected a fee";
            return Err(Error::invalid("license_allocations", message));
        }
        if self.cadence.cycle().is_none() {
            let message =
                "found one_time, expected a recurring cadence for allocations of licenses";
            return Err(Error::invalid("cadence", message));
        }
        if !is_unit {
            return expected_unit("the price has allocations of licenses");
        }
        let mut currencies = BTreeSet::new();
        for (place, of) in self.license_allocations.iter().enumerate() {
            let at = format!("license_allocations[{place}]");
            check_not_negative(&format!("{at}.amount"), &of.amount)?;
            if !currencies.insert(&of.currency) {
                let message = format!("found {} again, expected each once", of.currency);
                return Err(Error::invalid(format!("{at}.currency"), message));
            }
        }
        Ok(())
    }
}
