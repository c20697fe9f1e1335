use accrue::{
    JsonNumber,
    related::Related,
    subscription::{self, Subscription},
};

use crate::{
    shape::{Moment, Sparse, response},
    wire::{
        adjustments::{Adjustment, AnyDiscountType, PercentageTier, Values, filters_of},
        amounts::Amount,
        price_filters::PriceFilter,
    },
};

response! {
    /// An adjustment over prices of a subscription: from its start to its end.
    pub(crate) struct AdjustmentInterval {
        /// Its id.
        id: String,
        /// Adjustment.
        adjustment: Adjustment,
        /// Its start.
        start_date: Moment,
        /// Its end; null where it has none.
        end_date: Option<Moment>,
        /// Ids of the price intervals that it applies to.
        applies_to_price_interval_ids: Vec<String>,
    }

    /// A discount over prices of a subscription: from its start to its end. It has the member that its type
    /// is named after.
    pub(crate) struct DiscountInterval {
        /// Type of the discount.
        discount_type: AnyDiscountType,
        /// Number of units that are taken off.
        usage_discount: Sparse<JsonNumber>,
        /// Fraction that is taken off, from 0 to 1.
        percentage_discount: Sparse<JsonNumber>,
        /// Amount that is taken off, once in each billing period.
        amount_discount: Sparse<Amount>,
        /// Fractions that are taken off bands of the amount.
        tiers: Sparse<Vec<PercentageTier>>,
        /// Its start.
        start_date: Moment,
        /// Its end; null where it has none.
        end_date: Option<Moment>,
        /// Filters of the prices that it is over.
        filters: Vec<PriceFilter>,
        /// Ids of the price intervals that it applies to.
        applies_to_price_interval_ids: Vec<String>,
    }

    /// A minimum over prices of a subscription: from its start to its end.
    pub(crate) struct MinimumInterval {
        /// Least amount of a billing period.
        minimum_amount: Amount,
        /// Its start.
        start_date: Moment,
        /// Its end; null where it has none.
        end_date: Option<Moment>,
        /// Filters of the prices that it is over.
        filters: Vec<PriceFilter>,
        /// Ids of the price intervals that it applies to.
        applies_to_price_interval_ids: Vec<String>,
    }

    /// A maximum over prices of a subscription: from its start to its end.
    pub(crate) struct MaximumInterval {
        /// Greatest amount of a billing period.
        maximum_amount: Amount,
        /// Its start.
        start_date: Moment,
        /// Its end; null where it has none.
        end_date: Option<Moment>,
        /// Filters of the prices that it is over.
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

/// Adjustments of a subscription by their start, and once more by their kinds.
#[derive(Default)]
pub(super) struct Adjusted {
    pub(super) all: Vec<AdjustmentInterval>,
    pub(super) discounts: Vec<DiscountInterval>,
    pub(super) minimums: Vec<MinimumInterval>,
    pub(super) maximums: Vec<MaximumInterval>,
}

impl Adjusted {
    pub(super) fn of(subscription: &Subscription, related: &Related) -> Self {
        // The discount of a trial is shown with its prices.
        let intervals = subscription.adjustment_intervals.iter().filter(|of| !of.is_trial);
        let mut intervals: Vec<_> = intervals.collect();
        intervals.sort_by_key(|of| of.start_date);
        let mut adjusted = Self::default();
        for of in intervals {
            adjusted.add(of, subscription, related);
        }
        adjusted
    }

    fn add(
        &mut self,
        of: &subscription::AdjustmentInterval,
        subscription: &Subscription,
        related: &Related,
    ) {
        let currency = subscription.currency;
        let Some(adjustment) = Adjustment::of_interval(of, currency, related) else { return };
        let Some((kind, values)) = Values::of(&of.adjustment, currency) else { return };
        let (start_date, end_date) = (of.start_date.into(), of.end_date.map(Moment::from));
        let applies_to_price_interval_ids = price_intervals(of, subscription);
        let filters = filters_of(of);
        if let Some(discount_type) = AnyDiscountType::of(kind) {
            self.discounts.push(DiscountInterval {
                discount_type,
                usage_discount: Sparse(values.usage),
                percentage_discount: Sparse(values.percentage),
                amount_discount: Sparse(values.amount),
                tiers: Sparse(values.tiers),
                start_date,
                end_date,
                filters: filters.clone(),
                applies_to_price_interval_ids: applies_to_price_interval_ids.clone(),
            });
        }
        self.minimums.extend(values.minimum.map(|minimum_amount| MinimumInterval {
            minimum_amount,
            start_date,
            end_date,
            filters: filters.clone(),
            applies_to_price_interval_ids: applies_to_price_interval_ids.clone(),
        }));
        self.maximums.extend(values.maximum.map(|maximum_amount| MaximumInterval {
            maximum_amount,
            start_date,
            end_date,
            filters,
            applies_to_price_interval_ids: applies_to_price_interval_ids.clone(),
        }));
        self.all.push(AdjustmentInterval {
            id: of.id.to_string(),
            adjustment,
            start_date,
            end_date,
            applies_to_price_interval_ids,
        });
    }
}

fn price_intervals(
    of: &subscription::AdjustmentInterval,
    subscription: &Subscription,
) -> Vec<String> {
    let intervals = subscription.price_intervals.iter();
    let reached = intervals.filter(|interval| of.is_over(interval));
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
