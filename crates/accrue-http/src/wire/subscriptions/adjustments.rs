use accrue::{
    JsonNumber, PricingUnit,
    price::{Adjustment, Discount, FilterOperator, FilterValues},
    subscription::{self, Subscription},
};
use serde::Serialize;

use crate::{
    shape::{Moment, Nothing, Sparse, choices, response},
    wire::{amounts::Amount, coupons::DiscountType, price_filters::PriceFilter},
};

response! {
    /// An adjustment over prices of a subscription: from its start to its end.
    pub(crate) struct AdjustmentInterval {
        /// Its id.
        id: String,
        /// Adjustment.
        adjustment: IntervalAdjustment,
        /// Its start.
        start_date: Moment,
        /// Its end; null where it has none.
        end_date: Option<Moment>,
        /// Ids of the price intervals that it applies to.
        applies_to_price_interval_ids: Vec<String>,
    }

    /// An adjustment over prices. It has the member that its type is named after.
    pub(crate) struct IntervalAdjustment {
        /// Its id.
        id: String,
        /// Type of the adjustment.
        adjustment_type: IntervalAdjustmentType,
        /// Fraction that is taken off, from 0 to 1.
        percentage_discount: Sparse<JsonNumber>,
        /// Amount that is taken off, once in each billing period.
        amount_discount: Sparse<Amount>,
        /// Always true: it is over the whole invoice.
        is_invoice_level: bool,
        /// Filter of the prices that it applies to, by their ids.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
        /// Always null.
        reason: Nothing,
        /// Always null: it takes the place of no other.
        replaces_adjustment_id: Nothing,
        /// Always null: plans have no phases.
        plan_phase_order: Nothing,
    }

    /// A discount over prices of a subscription: from its start to its end. It has the member that its type
    /// is named after.
    pub(crate) struct DiscountInterval {
        /// Type of the discount.
        discount_type: DiscountType,
        /// Fraction that is taken off, from 0 to 1.
        percentage_discount: Sparse<JsonNumber>,
        /// Amount that is taken off, once in each billing period.
        amount_discount: Sparse<Amount>,
        /// Its start.
        start_date: Moment,
        /// Its end; null where it has none.
        end_date: Option<Moment>,
        /// Filter of the prices that it applies to, by their ids.
        filters: Vec<PriceFilter>,
        /// Ids of the price intervals that it applies to.
        applies_to_price_interval_ids: Vec<String>,
    }

    /// The coupon that a subscription has redeemed.
    pub(crate) struct RedeemedCoupon {
        /// Id of the coupon.
        coupon_id: String,
        /// Start of its discount.
        start_date: Moment,
        /// End of its discount; null where it has none.
        end_date: Option<Moment>,
    }
}

/// The type of an adjustment over prices.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntervalAdjustmentType {
    PercentageDiscount,
    AmountDiscount,
}

choices! {
    IntervalAdjustmentType {
        "percentage_discount" => IntervalAdjustmentType::PercentageDiscount,
        "amount_discount" => IntervalAdjustmentType::AmountDiscount,
    }
}

/// A discount of a coupon, taken apart.
struct Off {
    percentage: Option<JsonNumber>,
    amount: Option<Amount>,
}

impl Off {
    /// Takes the discount of an interval apart, where it is one of a coupon.
    fn of(of: &subscription::AdjustmentInterval, subscription: &Subscription) -> Option<Self> {
        let Adjustment::Discount(discount) = &of.adjustment else { return None };
        let nothing = Self { percentage: None, amount: None };
        of.coupon_id?;
        match discount {
            Discount::Percentage(fraction) => {
                let number = JsonNumber(fraction.as_decimal().clone());
                Some(Self { percentage: Some(number), ..nothing })
            }
            Discount::Amount(off) => {
                let amount = Amount::of(off, &PricingUnit::from(subscription.currency));
                Some(Self { amount: Some(amount), ..nothing })
            }
            _ => None,
        }
    }
}

impl AdjustmentInterval {
    /// Writes the adjustments over prices of a subscription, by their start.
    pub(super) fn all(subscription: &Subscription) -> Vec<Self> {
        let all = discounts(subscription).into_iter().map(|(of, off)| Self {
            id: of.id.to_string(),
            adjustment: IntervalAdjustment::of(of, off),
            start_date: of.start_date.into(),
            end_date: of.end_date.map(Moment::from),
            applies_to_price_interval_ids: price_intervals(of, subscription),
        });
        all.collect()
    }
}

impl IntervalAdjustment {
    fn of(of: &subscription::AdjustmentInterval, off: Off) -> Self {
        Self {
            id: of.id.to_string(),
            adjustment_type: match off.percentage {
                Some(_) => IntervalAdjustmentType::PercentageDiscount,
                None => IntervalAdjustmentType::AmountDiscount,
            },
            percentage_discount: Sparse(off.percentage),
            amount_discount: Sparse(off.amount),
            is_invoice_level: of.is_invoice_level(),
            filters: filters(of),
            applies_to_price_ids: of.price_ids.iter().map(ToString::to_string).collect(),
            reason: Nothing,
            replaces_adjustment_id: Nothing,
            plan_phase_order: Nothing,
        }
    }
}

impl DiscountInterval {
    /// Writes the discounts over prices of a subscription, by their start.
    pub(super) fn all(subscription: &Subscription) -> Vec<Self> {
        let all = discounts(subscription).into_iter().map(|(of, off)| Self {
            discount_type: match off.percentage {
                Some(_) => DiscountType::Percentage,
                None => DiscountType::Amount,
            },
            percentage_discount: Sparse(off.percentage),
            amount_discount: Sparse(off.amount),
            start_date: of.start_date.into(),
            end_date: of.end_date.map(Moment::from),
            filters: filters(of),
            applies_to_price_interval_ids: price_intervals(of, subscription),
        });
        all.collect()
    }
}

/// Returns the discounts of coupons that a subscription has, by their start.
fn discounts(subscription: &Subscription) -> Vec<(&subscription::AdjustmentInterval, Off)> {
    let all = subscription.adjustment_intervals.iter();
    let mut all: Vec<_> = all.filter_map(|of| Some((of, Off::of(of, subscription)?))).collect();
    all.sort_by_key(|(of, _)| of.start_date);
    all
}

fn filters(of: &subscription::AdjustmentInterval) -> Vec<PriceFilter> {
    let values = FilterValues::PriceId(of.price_ids.clone());
    vec![PriceFilter::from(&accrue::price::PriceFilter {
        operator: FilterOperator::Includes,
        values,
    })]
}

fn price_intervals(
    of: &subscription::AdjustmentInterval,
    subscription: &Subscription,
) -> Vec<String> {
    let intervals = subscription.price_intervals.iter();
    let reached = intervals.filter(|interval| of.price_ids.contains(&interval.price_id));
    reached.map(|interval| interval.id.to_string()).collect()
}

impl From<subscription::RedeemedCoupon> for RedeemedCoupon {
    fn from(redeemed: subscription::RedeemedCoupon) -> Self {
        Self {
            coupon_id: redeemed.coupon_id.to_string(),
            start_date: redeemed.start_date.into(),
            end_date: redeemed.end_date.map(Moment::from),
        }
    }
}
