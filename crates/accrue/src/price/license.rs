use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Adjustment, Charge, DeclaredGroups, Discount, LicensePool, Model, NewPrice, Price,
    ScopedAdjustment, Unit, check_not_negative,
};
use crate::{Decimal, Error, LicenseTypeId, PricingUnit, PropertyName};

/// Allocation of a license fee: what each of its licenses may use in each of its periods (subscriptions 7.4).
///
/// The cost of what a license uses while it is active draws from it, event by event. What is left when the period
/// ends is lost.
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

    /// Returns the allocation of its licenses that the usage of another price draws from (subscriptions 7.4.4).
    pub(crate) fn allocation_for(&self, usage: &Self) -> Option<&LicenseAllocation> {
        let license_type = self.license_fee()?;
        let is_own = usage.charge.is_usage() && usage.license_type_id == Some(license_type);
        let mut allocations = self.license_allocations.iter().filter(|_| is_own);
        allocations.find(|of| of.currency == usage.currency)
    }

    /// Returns how events name the licenses whose allocations its usage draws from, where one of some prices gives
    /// such.
    pub(crate) fn license_key<'p>(
        &self,
        prices: impl IntoIterator<Item = &'p Self>,
    ) -> Option<LicenseKey> {
        let mut fees = prices.into_iter().filter(|fee| fee.allocation_for(self).is_some());
        fees.find_map(|fee| {
            let (license_type, grouping_key) =
                (fee.license_fee()?, fee.license_grouping_key.clone()?);
            Some(LicenseKey { license_type, grouping_key })
        })
    }

    /// Returns the pools that the usage of another price draws from.
    pub(crate) fn pool_for(&self, usage: &Self) -> Option<LicensePool> {
        let key = usage.license_key([self])?;
        Some(LicensePool::new(key, usage.drawing_unit()?.clone(), self.allocation_for(usage)?))
    }

    /// Returns the model of its usage where that can draw from allocations.
    const fn drawing_unit(&self) -> Option<&Unit> {
        match &self.charge {
            Charge::Usage { model: Model::Unit(unit), .. } => Some(unit),
            _ => None,
        }
    }

    /// Refuses usage that cannot draw from the allocations of a fee, where it would.
    pub(crate) fn check_draws_from(&self, fee: &Self) -> Result<(), Error> {
        if fee.allocation_for(self).is_none() {
            return Ok(());
        }
        let takes_units = |of: &Discount| matches!(of, Discount::Usage(_));
        let expected = if self.drawing_unit().is_none_or(|unit| unit.prorated) {
            "the model unit, not prorated"
        } else if self.cadence != fee.cadence {
            "the same cadence"
        } else if self.invoice_grouping_key.is_some() {
            "no invoice_grouping_key"
        } else if self.adjustments.discounts.iter().any(takes_units) {
            "no discount of units"
        } else {
            return Ok(());
        };
        let detail = format!(
            "the price {} draws from allocations of the price {}, expected {expected}",
            self.id, fee.id
        );
        Err(Error::constraint(detail))
    }
}

/// How events name licenses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LicenseKey {
    pub(crate) license_type: LicenseTypeId,
    /// Property that has the external id of a license.
    pub(crate) grouping_key: PropertyName,
}

impl LicenseKey {
    /// Returns the groups of usage by license: its external id, and then its id where it was active.
    pub(crate) fn groups(&self) -> DeclaredGroups {
        let licenses_of = Some(self.license_type);
        DeclaredGroups { licenses_of, ..DeclaredGroups::by(&self.grouping_key) }
    }
}

/// Refuses two prices whose usage would draw from one allocation at the same time
/// (`docs/decisions/pools-are-groups.md`).
pub(crate) fn check_draws_alone(one: &Price, other: &Price, fee: &Price) -> Result<(), Error> {
    let draw = [one, other].map(|usage| fee.allocation_for(usage));
    match draw {
        [Some(of), Some(another)] if of.currency == another.currency => {
            let detail = format!(
                "the prices {} and {} both draw from the allocation in {} of the price {}, expected one",
                one.id, other.id, of.currency, fee.id
            );
            Err(Error::constraint(detail))
        }
        _ => Ok(()),
    }
}

/// Refuses adjustments that take units off usage which draws from allocations: what is drawn is the cost of each event.
pub(crate) fn check_no_units_off(
    prices: &[Price],
    adjustments: &[ScopedAdjustment],
) -> Result<(), Error> {
    let takes_units =
        |of: &&ScopedAdjustment| matches!(of.adjustment, Adjustment::Discount(Discount::Usage(_)));
    for of in adjustments.iter().filter(takes_units) {
        if let Some(usage) = of.reached(prices).find(|usage| usage.license_key(prices).is_some()) {
            let detail = format!(
                "the adjustment {} takes units off the price {}, which draws from allocations of licenses",
                of.scope.id, usage.id
            );
            return Err(Error::constraint(detail));
        }
    }
    Ok(())
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
    if !fee.license_allocations.is_empty() && fee.license_grouping_key.is_none() {
        let detail = format!("the price {} was made before usage could draw from it", fee.id);
        return Err(Error::constraint(detail));
    }
    for (place, one) in prices.iter().enumerate() {
        one.check_draws_from(fee)?;
        prices.iter().take(place).try_for_each(|other| check_draws_alone(other, one, fee))?;
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
