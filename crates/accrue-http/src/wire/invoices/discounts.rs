//! Discounts over invoices, as they are answered (invoicing 3.3).

use accrue::{
    Description, JsonNumber, PricingUnit,
    invoice::{Invoice, InvoiceDiscount},
    price::Discount,
};
use serde::Serialize;

use super::lines::PercentageTier;
use crate::{
    shape::{Sparse, choices, response},
    wire::{amounts::Amount, price_filters::PriceFilter},
};

response! {
    /// A discount over an invoice. It has the member that its type is named after.
    pub(crate) struct InvoiceLevelDiscount {
        /// Type of the discount.
        discount_type: InvoiceLevelDiscountType,
        /// Fraction that is taken off.
        percentage_discount: Sparse<JsonNumber>,
        /// Amount that is taken off.
        amount_discount: Sparse<Amount>,
        /// Fractions that are taken off bands of the amount.
        tiers: Sparse<Vec<PercentageTier>>,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
        /// Filters of those prices.
        filters: Vec<PriceFilter>,
        /// Reason for it.
        reason: Option<Description>,
    }
}

/// The type of a discount over an invoice.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InvoiceLevelDiscountType {
    Percentage,
    Amount,
    TieredPercentage,
}

choices! {
    InvoiceLevelDiscountType {
        "percentage" => InvoiceLevelDiscountType::Percentage,
        "amount" => InvoiceLevelDiscountType::Amount,
        "tiered_percentage" => InvoiceLevelDiscountType::TieredPercentage,
    }
}

impl InvoiceLevelDiscount {
    /// Writes the discount over an invoice, where there is one.
    pub(super) fn of(invoice: &Invoice) -> Option<Self> {
        use InvoiceLevelDiscountType::{Amount as OfAmount, Percentage, TieredPercentage};

        let InvoiceDiscount { discount, filters, price_ids, reason, .. } =
            invoice.discount.as_ref()?;
        let (discount_type, percentage, amount, tiers) = match discount {
            Discount::Percentage(off) => {
                (Percentage, Some(JsonNumber(off.as_decimal().clone())), None, None)
            }
            Discount::Amount(off) => {
                let unit = PricingUnit::from(invoice.currency);
                (OfAmount, None, Some(Amount::of(off, &unit)), None)
            }
            Discount::TieredPercentage(tiers) => {
                let tiers = tiers.iter().map(PercentageTier::from).collect();
                (TieredPercentage, None, None, Some(tiers))
            }
            _ => return None,
        };
        Some(Self {
            discount_type,
            percentage_discount: Sparse(percentage),
            amount_discount: Sparse(amount),
            tiers: Sparse(tiers),
            applies_to_price_ids: price_ids.iter().map(ToString::to_string).collect(),
            filters: filters.iter().map(PriceFilter::from).collect(),
            reason: reason.clone(),
        })
    }
}
