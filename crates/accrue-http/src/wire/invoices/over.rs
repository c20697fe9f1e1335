//! Adjustments over an invoice, and not of one price (invoicing 3.3).

use accrue::{
    Decimal, JsonNumber,
    invoice::{Invoice, LineAdjustment},
    price::{Adjustment, Discount},
};
use serde::Serialize;

use super::lines::PercentageTier;
use crate::{
    shape::{NoRows, Nothing, Sparse, choices, response},
    wire::price_filters::PriceFilter,
};

response! {
    /// A discount over an invoice. It has the member that its type is named after.
    pub(crate) struct InvoiceLevelDiscount {
        /// Type of the discount.
        discount_type: OverType,
        /// Fraction that is taken off.
        percentage_discount: Sparse<JsonNumber>,
        /// Amount that is taken off.
        amount_discount: Sparse<Decimal>,
        /// Fractions that are taken off bands of the amount.
        tiers: Sparse<Vec<PercentageTier>>,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
        /// Always empty: prices are named by their ids.
        filters: NoRows,
        /// Always null.
        reason: Nothing,
    }

    /// The minimum over an invoice.
    pub(crate) struct InvoiceMinimum {
        /// Least amount.
        minimum_amount: Decimal,
        /// Always empty: prices are named by their ids.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
    }

    /// The maximum over an invoice.
    pub(crate) struct InvoiceMaximum {
        /// Greatest amount.
        maximum_amount: Decimal,
        /// Always empty: prices are named by their ids.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
    }
}

/// The type of a discount over an invoice.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OverType {
    Percentage,
    Amount,
    TieredPercentage,
}

choices! {
    "InvoiceDiscountType" OverType {
        "percentage" => OverType::Percentage,
        "amount" => OverType::Amount,
        "tiered_percentage" => OverType::TieredPercentage,
    }
}

/// Adjustments over an invoice: the discounts, and the first minimum and maximum.
#[derive(Default)]
pub(super) struct Over {
    pub(super) discounts: Vec<InvoiceLevelDiscount>,
    pub(super) minimum: Option<InvoiceMinimum>,
    pub(super) maximum: Option<InvoiceMaximum>,
}

impl Over {
    pub(super) fn of(invoice: &Invoice) -> Self {
        let mut seen: Vec<&LineAdjustment> = Vec::new();
        for of in invoice.lines.iter().flat_map(|line| &line.adjustments) {
            if of.is_invoice_level() && seen.iter().all(|other| other.id != of.id) {
                seen.push(of);
            }
        }
        let mut over = Self::default();
        for of in seen {
            let applies_to_price_ids = of.price_ids.iter().map(ToString::to_string).collect();
            match &of.adjustment {
                Adjustment::Discount(discount) => {
                    over.discounts.extend(InvoiceLevelDiscount::of(discount, applies_to_price_ids));
                }
                Adjustment::Minimum(least) => {
                    over.minimum.get_or_insert_with(|| InvoiceMinimum {
                        minimum_amount: least.clone(),
                        filters: Vec::new(),
                        applies_to_price_ids,
                    });
                }
                Adjustment::Maximum(most) => {
                    over.maximum.get_or_insert_with(|| InvoiceMaximum {
                        maximum_amount: most.clone(),
                        filters: Vec::new(),
                        applies_to_price_ids,
                    });
                }
                _ => {}
            }
        }
        over
    }
}

impl InvoiceLevelDiscount {
    /// Shows a discount; none of units, which is of one price.
    fn of(discount: &Discount, applies_to_price_ids: Vec<String>) -> Option<Self> {
        let mut shown = Self {
            discount_type: OverType::Amount,
            percentage_discount: Sparse(None),
            amount_discount: Sparse(None),
            tiers: Sparse(None),
            applies_to_price_ids,
            filters: NoRows,
            reason: Nothing,
        };
        match discount {
            Discount::Percentage(off) => {
                shown.discount_type = OverType::Percentage;
                shown.percentage_discount = Sparse(Some(JsonNumber(off.as_decimal().clone())));
            }
            Discount::Amount(off) => shown.amount_discount = Sparse(Some(off.clone())),
            Discount::TieredPercentage(tiers) => {
                shown.discount_type = OverType::TieredPercentage;
                shown.tiers = Sparse(Some(tiers.iter().map(PercentageTier::from).collect()));
            }
            _ => return None,
        }
        Some(shown)
    }
}
