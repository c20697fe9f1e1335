//! Prices of licenses that have allocations (subscriptions 7.4).

use accrue::{
    Currency, Decimal, PricingUnit,
    price::{LicenseAllocation, NewPrice},
};

use super::new::{PlanPriceIn, of_licenses};
use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema, request},
};

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

/// The price of the licenses of a plan, with what each of them may use.
#[derive(Clone, Debug)]
pub(crate) struct LicensePriceIn(PlanPriceIn);

/// The type of its model.
const MODEL: &str = "unit";

impl LicensePriceIn {
    pub(crate) fn into_price(self, currency: Currency) -> NewPrice {
        self.0.into_price(currency)
    }
}

impl Read for LicensePriceIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let price = PlanPriceIn::read_any(json, at, reader);
        let fields = reader.fields(json, at, &[], false)?;
        for name in ["license_allocations", "license_type_id"] {
            if !fields.has(name) {
                let _: Option<()> = reader.wrong(&fields.pointer(name), "is missing");
            }
        }
        let price = price?;
        if !price.is_unit() {
            let message = format!("found another model, expected {MODEL}");
            let _: Option<()> = reader.wrong(&fields.pointer("model_type"), message);
        }
        Some(Self(price))
    }
}

impl Describe for LicensePriceIn {
    fn schema() -> Schema {
        Schema::Object(of_licenses("NewLicensePriceOfPlan")).told_by("model_type", MODEL)
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
