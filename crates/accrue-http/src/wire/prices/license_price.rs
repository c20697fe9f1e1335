//! The price of licenses that have allocations, of a plan (subscriptions 7.4).

use accrue::{Currency, price::NewPrice};

use super::new::{PlanPriceIn, of_licenses};
use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema},
};

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
