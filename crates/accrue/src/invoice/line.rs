use serde::{Deserialize, Serialize};

use super::TaxAmount;
use crate::{
    AdjustmentIntervalId, CouponId, Decimal, InvoiceLineId, Name, PriceId, PricingUnit,
    PropertyName, Timeframe, Timestamp,
    expression::Expression,
    meter::UsageCustomers,
    price::{Adjustment, AdjustmentScope, Part, PartOf, round_lines},
};

/// Line of an invoice (invoicing 3.4): a price in a service period.
///
/// Amounts are rounded to the minor unit of the currency, column by column (invoicing 7.5); those in a
/// pricing unit are exact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvoiceLine {
    /// Its id, the same from the draft on.
    pub id: InvoiceLineId,
    /// Price that it charges.
    pub price_id: PriceId,
    /// Name of the price.
    pub name: Name,
    /// Currency or pricing unit of the price: that of all amounts but `amount`.
    pub currency: PricingUnit,
    /// Usage of the service period, or quantity of the fee, before a usage discount.
    pub quantity: Decimal,
    /// Service period.
    pub period: Timeframe,
    /// Amount before adjustments.
    pub subtotal: Decimal,
    /// Adjustments, in the order in which they apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<LineAdjustment>,
    /// Amount after adjustments.
    pub adjusted_subtotal: Decimal,
    /// Prepaid credits that paid for it.
    pub credits_applied: Decimal,
    /// Amount that earlier threshold invoices billed of it, in the currency of the invoice.
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub partially_invoiced: Decimal,
    /// Amount that it adds to the invoice before taxes, in the currency of that.
    pub amount: Decimal,
    /// Taxes, of the amount: of a draft none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tax_amounts: Vec<TaxAmount>,
    /// Parts that the subtotal is made of, exact, where they can be told: by the values of a property where
    /// the price names one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Condition on the events that count, beside that of the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expression>,
    /// Customers whose usage counts, where that is not the subscriber's alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_customers: Option<UsageCustomers>,
}

/// Adjustment of a line (invoicing 3.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LineAdjustment {
    /// Interval of the adjustment.
    pub id: AdjustmentIntervalId,
    /// Start of that interval; `None` of the discount of a one-off invoice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_date: Option<Timestamp>,
    /// Id of the adjustment, and of what it took the place of, where a plan or a subscription was given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Box<AdjustmentScope>>,
    /// The adjustment.
    pub adjustment: Adjustment,
    /// Coupon that it comes from, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupon_id: Option<CouponId>,
    /// Prices that it reaches.
    pub price_ids: Vec<PriceId>,
    /// Amount that it adds to the line: below zero where it takes something off.
    pub amount: Decimal,
    /// Whether it is the discount of a one-off invoice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_of_invoice: bool,
}

/// Returns a part of an amount; nothing of what is not above zero.
fn share(amount: &Decimal, part: &Decimal, whole: &Decimal) -> Decimal {
    const PLACES: u32 = 20;
    match whole.is_negative() || whole.is_zero() {
        true => Decimal::zero(),
        false => amount.share(part, whole, PLACES),
    }
}

impl InvoiceLine {
    /// Returns the parts that it shows, with their amounts, rounded together: values of the property that its
    /// price is broken down by, or what its model rated one by one. Those that are nothing are left out (invoicing
    /// 3.4).
    #[must_use]
    pub fn sub_lines(&self) -> Vec<(&Part, Decimal)> {
        let is_shown = |part: &&Part| {
            part.of != PartOf::Whole && !(part.quantity.is_zero() && part.amount.is_zero())
        };
        let parts = self.parts.iter().filter(is_shown);
        let parts: Vec<_> = parts.collect();
        let exact: Vec<_> = parts.iter().map(|part| part.amount.clone()).collect();
        parts.into_iter().zip(round_lines(&exact, self.currency.places())).collect()
    }

    /// Breaks its subtotal down by the values of a property, each with its quantity and what that would cost by
    /// itself. Where these do not add up, since tiers or packages begin anew in each, quantities share the
    /// subtotal in proportion.
    pub(crate) fn break_down(
        &mut self,
        key: &PropertyName,
        groups: impl Iterator<Item = (Option<String>, (Decimal, Decimal))>,
    ) {
        let groups: Vec<_> = groups.filter(|(_, (quantity, _))| !quantity.is_zero()).collect();
        let alone: Decimal = groups.iter().map(|(_, (_, amount))| amount).sum();
        let is_shared = alone != self.subtotal;
        let (mut so_far, mut shared) = (Decimal::zero(), Decimal::zero());
        let parts = groups.into_iter().map(|(value, (quantity, alone))| {
            so_far += &quantity;
            let amount = match is_shared {
                true => share(&self.subtotal, &so_far, &self.quantity) - &shared,
                false => alone,
            };
            shared += &amount;
            let unit_amount = share(&amount, &Decimal::from(1), &quantity);
            let of = PartOf::Group { key: key.clone(), value };
            Part::of_group(of, quantity, unit_amount, amount)
        });
        self.parts = parts.collect();
    }
}

impl LineAdjustment {
    /// Tells whether it is over the invoice, and not of one price.
    #[must_use]
    pub fn is_invoice_level(&self) -> bool {
        match &self.scope {
            Some(scope) => scope.is_invoice_level,
            None => self.is_of_invoice || self.coupon_id.is_some() || self.price_ids.len() > 1,
        }
    }
}
