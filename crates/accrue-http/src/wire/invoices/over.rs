//! Adjustments over an invoice, and not of one price (invoicing 3.3).

use accrue::{
    Description, JsonNumber, PricingUnit,
    invoice::{Invoice, InvoiceDiscount, LineAdjustment},
    price::{Adjustment, Discount},
};
use serde::Serialize;

use crate::{
    shape::{Sparse, choices, response},
    wire::{adjustments::PercentageTier, amounts::Amount, price_filters::PriceFilter},
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
        /// Filters of those prices, where it has some.
        filters: Vec<PriceFilter>,
        /// Reason for it.
        reason: Option<Description>,
    }

    /// The minimum over an invoice.
    pub(crate) struct InvoiceMinimum {
        /// Least amount.
        minimum_amount: Amount,
        /// Filters of those prices, where it has some.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
    }

    /// The maximum over an invoice.
    pub(crate) struct InvoiceMaximum {
        /// Greatest amount.
        maximum_amount: Amount,
        /// Filters of those prices, where it has some.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
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

/// Adjustments over an invoice: the discounts, and the first minimum and maximum by start and id.
#[derive(Default)]
pub(super) struct Over {
    pub(super) discounts: Vec<InvoiceLevelDiscount>,
    pub(super) minimum: Option<InvoiceMinimum>,
    pub(super) maximum: Option<InvoiceMaximum>,
}

impl Over {
    pub(super) fn of(invoice: &Invoice) -> Self {
        let mut over = Self::default();
        let unit = PricingUnit::from(invoice.currency);
        let own = invoice.discount.as_ref();
        over.discounts.extend(own.and_then(|of| {
            let InvoiceDiscount { discount, filters, price_ids, reason, .. } = of;
            let shown = InvoiceLevelDiscount::of(discount, ids(price_ids), &unit)?;
            let filters = filters.iter().map(PriceFilter::from).collect();
            Some(InvoiceLevelDiscount { filters, reason: reason.clone(), ..shown })
        }));
        let mut seen: Vec<&LineAdjustment> = Vec::new();
        for of in invoice.lines.iter().flat_map(|line| &line.adjustments) {
            let is_known = own.is_some_and(|own| own.id == of.id)
                || seen.iter().any(|other| other.id == of.id);
            if of.is_invoice_level() && !is_known {
                seen.push(of);
            }
        }
        // Discounts stay as they were applied.
        seen.sort_by_key(|of| match of.adjustment {
            Adjustment::Discount(_) => None,
            _ => Some((of.start_date, of.id)),
        });
        for of in seen {
            over.show(of, &unit);
        }
        over
    }

    fn show(&mut self, of: &LineAdjustment, unit: &PricingUnit) {
        let applies_to_price_ids = ids(&of.price_ids);
        let filters = of.scope.iter().flat_map(|of| &of.filters).map(PriceFilter::from).collect();
        match &of.adjustment {
            Adjustment::Discount(discount) => {
                let shown = InvoiceLevelDiscount::of(discount, applies_to_price_ids, unit);
                self.discounts.extend(shown.map(|of| InvoiceLevelDiscount { filters, ..of }));
            }
            Adjustment::Minimum(least) => {
                self.minimum.get_or_insert_with(|| InvoiceMinimum {
                    minimum_amount: Amount::of(least, unit),
                    filters,
                    applies_to_price_ids,
                });
            }
            Adjustment::Maximum(most) => {
                self.maximum.get_or_insert_with(|| InvoiceMaximum {
                    maximum_amount: Amount::of(most, unit),
                    filters,
                    applies_to_price_ids,
                });
            }
            _ => {}
        }
    }
}

fn ids<'a>(prices: impl IntoIterator<Item = &'a accrue::PriceId>) -> Vec<String> {
    prices.into_iter().map(ToString::to_string).collect()
}

impl InvoiceLevelDiscount {
    /// Shows a discount; none of units, which is of one price.
    fn of(
        discount: &Discount,
        applies_to_price_ids: Vec<String>,
        unit: &PricingUnit,
    ) -> Option<Self> {
        use InvoiceLevelDiscountType::{Amount as OfAmount, Percentage, TieredPercentage};

        let (discount_type, percentage, amount, tiers) = match discount {
            Discount::Percentage(off) => {
                (Percentage, Some(JsonNumber(off.as_decimal().clone())), None, None)
            }
            Discount::Amount(off) => (OfAmount, None, Some(Amount::of(off, unit)), None),
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
            applies_to_price_ids,
            filters: Vec::new(),
            reason: None,
        })
    }
}
