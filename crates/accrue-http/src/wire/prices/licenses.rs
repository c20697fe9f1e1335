//! Prices of licenses that have allocations (subscriptions 7.4).

use accrue::{Decimal, PricingUnit, price::LicenseAllocation};

use crate::shape::request;

request! {
    /// Credits that each active license may use in a period before usage is charged.
    pub(crate) struct LicenseAllocationIn {
        /// Currency or pricing unit of the usage that it is for: each once.
        currency: PricingUnit,
        /// Amount for a license and a period: 0 or more.
        amount: Decimal,
        /// True if usage beyond it costs nothing; else it is paid with the customer's credits, and then billed.
        write_off_overage: Option<bool>,
    }
}

/// Makes the allocations of a price.
pub(super) fn allocations(of: Option<Vec<LicenseAllocationIn>>) -> Vec<LicenseAllocation> {
    let allocations = of.into_iter().flatten().map(|of| {
        let mut new = LicenseAllocation::new(of.currency, of.amount);
        new.write_off_overage = of.write_off_overage.unwrap_or_default();
        new
    });
    allocations.collect()
}
