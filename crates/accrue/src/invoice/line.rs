use serde::{Deserialize, Serialize};

use super::TaxAmount;
use crate::{
    AdjustmentIntervalId, CouponId, Decimal, InvoiceLineId, Name, PriceId, PricingUnit,
    PropertyName, Timeframe, Timestamp,
    expression::Expression,
    meter::UsageCustomers,
    price::{Adjustment, AdjustmentScope, Part, PartOf, round_to},
    subscription::{InForce, Lane},
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
    /// Lane of that.
    #[serde(default, skip_serializing_if = "Lane::is_first")]
    pub(crate) lane: Lane,
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

/// Digits behind the point of shares that have no end.
const PLACES: u32 = 20;

/// Quantity of a value of a property, and what that would cost by itself.
pub(crate) type Alone = (Decimal, Decimal);

/// Shares an amount in proportion to some weights, whose sum is above zero: the last one has what is left.
fn shares(amount: &Decimal, weights: &[&Decimal]) -> Vec<Decimal> {
    let whole: Decimal = weights.iter().copied().sum();
    let (mut so_far, mut shared) = (Decimal::zero(), Decimal::zero());
    let last = weights.len().saturating_sub(1);
    let parts = weights.iter().enumerate().map(|(place, weight)| {
        so_far += *weight;
        let part = match place == last {
            true => amount - &shared,
            false => amount.share(&so_far, &whole, PLACES) - &shared,
        };
        shared += &part;
        part
    });
    parts.collect()
}

/// Returns what a unit comes to; nothing of what is not above zero.
fn unit_amount(amount: &Decimal, quantity: &Decimal) -> Decimal {
    match *quantity > Decimal::zero() {
        true => amount.share(&Decimal::from(1), quantity, PLACES),
        false => Decimal::zero(),
    }
}

impl InvoiceLine {
    /// Returns the parts that it shows, with their amounts, which add up to the subtotal as that is shown: values of
    /// the property that its price is broken down by, or what its model rated one by one. Those that are nothing are
    /// left out (invoicing 3.4), and so is a whole amount that has nothing beside it.
    #[must_use]
    pub fn sub_lines(&self) -> Vec<(&Part, Decimal)> {
        let is_one =
            |part: &Part| part.of != PartOf::Whole || part.name.is_some() && self.parts.len() > 1;
        let is_shown =
            |part: &&Part| is_one(part) && !(part.quantity.is_zero() && part.amount.is_zero());
        let parts: Vec<_> = self.parts.iter().filter(is_shown).collect();
        let exact: Vec<_> = parts.iter().map(|part| part.amount.clone()).collect();
        let shown = match self.currency.currency() {
            Some(currency) => round_to(&exact, &self.subtotal, currency.places()),
            None => exact,
        };
        parts.into_iter().zip(shown).collect()
    }

    /// Returns what the usage that it charges is known by.
    pub(crate) fn in_force(&self) -> InForce {
        InForce { price: self.price_id, lane: self.lane }
    }

    /// Breaks its subtotal down by the values of a property, each with its quantity and what that would cost by
    /// itself. Where these do not add up, since tiers or packages begin anew in each, they share the subtotal: by
    /// their quantities, or by what they would cost where units are not alike. What a minimum adds is of none of
    /// them.
    pub(crate) fn break_down(
        &mut self,
        key: &PropertyName,
        are_alike: bool,
        groups: Vec<(Option<String>, Alone)>,
    ) {
        let groups = groups.into_iter().filter(|(_, (quantity, _))| !quantity.is_zero());
        let groups: Vec<_> = groups.collect();
        let minimum = self.parts.pop_if(|part| part.is_minimum());
        let told: Decimal = self.parts.iter().map(|part| &part.amount).sum();
        // The parts are exact, and the subtotal is not. It says how much there is where they cannot be told.
        let exact = if self.parts.is_empty() && minimum.is_none() { &self.subtotal } else { &told };
        let by_quantity: Vec<_> = groups.iter().map(|(_, (quantity, _))| quantity).collect();
        let by_cost: Vec<_> = groups.iter().map(|(_, (_, alone))| alone).collect();
        let counts =
            |weights: &[&Decimal]| weights.iter().copied().sum::<Decimal>() > Decimal::zero();
        let amounts = if by_cost.iter().copied().sum::<Decimal>() == *exact {
            by_cost.into_iter().cloned().collect()
        } else if !are_alike && counts(&by_cost) {
            shares(exact, &by_cost)
        } else if counts(&by_quantity) {
            shares(exact, &by_quantity)
        } else {
            // Nothing can be said of values that take off as much as others add.
            self.parts.extend(minimum);
            return;
        };
        let parts = groups.into_iter().zip(amounts).map(|((value, (quantity, _)), amount)| {
            let unit_amount = unit_amount(&amount, &quantity);
            let of = PartOf::Group { key: key.clone(), value };
            Part::of_group(of, quantity, unit_amount, amount)
        });
        self.parts = parts.chain(minimum).collect();
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
