//! Taxes of lines (invoicing 3.4).

use accrue::{
    PricingUnit,
    invoice::{self, TaxReason},
};

use crate::{
    shape::{choices, response},
    wire::amounts::Amount,
};

response! {
    /// A tax of a line.
    pub(crate) struct TaxAmount {
        /// What it is called.
        tax_rate_description: String,
        /// Its rate, out of 100.
        tax_rate_percentage: Option<String>,
        /// Amount, in the currency of the invoice.
        amount: Amount,
        /// Why it is what it is.
        tax_reason: Option<TaxReason>,
    }
}

choices! {
    TaxReason {
        "taxed" => TaxReason::Taxed,
        "reverse_charge" => TaxReason::ReverseCharge,
        "customer_exempt" => TaxReason::CustomerExempt,
        "product_exempt" => TaxReason::ProductExempt,
        "not_registered" => TaxReason::NotRegistered,
        "zero_rated" => TaxReason::ZeroRated,
        "not_taxed_other" => TaxReason::NotTaxedOther,
    }
}

impl TaxAmount {
    pub(crate) fn of(tax: &invoice::TaxAmount, unit: &PricingUnit) -> Self {
        Self {
            tax_rate_description: tax.description.to_string(),
            tax_rate_percentage: tax.percentage.as_ref().map(ToString::to_string),
            amount: Amount::of(&tax.amount, unit),
            tax_reason: tax.reason,
        }
    }
}
